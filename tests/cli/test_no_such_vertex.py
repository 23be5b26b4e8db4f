"""Words of a command line that name no vertex and no graph: refused in plain words that name them."""

from __future__ import annotations

import pytest

from bigbfs.formats.container.csrbin import save_graph
from bigbfs.graph.graph import Graph


@pytest.mark.parametrize("labels", [[10, 20], [20, 10]])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bfs", "--source", 2**63), f"--source {2**63}"),
        (("bfs", "--sources", f"10,{10**30}"), f"--sources {10**30}"),
        (("bfs", "--source", 10, "--target", 2**63), f"--target {2**63}"),
        (("distances", "--source", 10, "--source", 2**63), f"--source {2**63}"),
        (("distances", "--source", 10, "--targets", 2**64), f"--targets {2**64}"),
        (("path", 10, 2**63), f"B {2**63}"),
        (("path", "graph.csrbin", "9" * 5000, 10), f"A {'9' * 80}..."),
    ],
)
def test_a_number_beyond_all_ids_is_refused_by_name(run, tmp_path, monkeypatch, arguments, said, labels):
    monkeypatch.chdir(tmp_path)
    save_graph(Graph.from_csr([0, 1, 2], [1, 0], labels=labels), tmp_path / "graph.csrbin")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"bigbfs: error: {said}: no vertex has this id: ids are 0 to 2^63-1"


def test_path_without_any_graph_names_the_word_that_is_no_file(run, folder):
    code, out, err = run("path", "far", 10)
    assert (code, out) == (2, "")
    assert err.endswith("the graph is missing, there is no file 'far': write GRAPH A B\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("10,,17", "entry 2 of 3 is empty; write 10,17, or the number that is missing there"),
        ("10, ", "entry 2 of 2 is empty; write 10, or the number that is missing there"),
        (",9" * 41, "entry 1 of 42 is empty; leave a comma out, or write the number that is missing there"),
    ],
)
@pytest.mark.parametrize("option", ["--sources", "--targets"])
def test_an_empty_entry_is_called_so(given, said, option):
    """All that was said were the ways to name vertices, of which this is one."""
    from bigbfs.cli.sources import require_form
    from bigbfs.errors import UsageError

    with pytest.raises(UsageError) as caught:
        require_form(given, option)
    assert str(caught.value) == f"{option} {given[:80]!r}: {said}"
