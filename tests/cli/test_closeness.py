"""``closeness`` of a sample: who is listed, and what is said of the rest. `small` is the path 10-20-30, and 40-50."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bigbfs


def test_a_sample_says_who_is_not_listed(run, small):
    code, out, err = run("closeness", "--sources", "random:1", "-o", "c.csv")
    assert code == 0, err
    found = json.loads(run("closeness", "--sources", "random:1", "--json")[1])
    assert found["unknown"] == 5 - len(found["top"]) > 0
    assert f"unknown     {found['unknown']} vert" in out and "that no source but themselves reaches" in out
    assert "1 of 5 vertices was a source: values say how near each vertex is to that one alone" in " ".join(out.split())
    assert (small / "c.csv").read_text().count("nan") == found["unknown"]
    ids = {row["id"] for row in found["top"]}
    assert {40, 50} <= ids and all(row["error"] == 0 for row in found["top"] if row["id"] in (40, 50))
    assert "off by" not in out  # by as much as there is: that says nothing
    said = " ".join(run("closeness", "--sources", "random:4")[1].split())
    assert "with probability 0.95 no mean distance of those listed is off by more than" in said


def test_that_the_largest_component_has_no_value_is_said(run, folder):
    """200 pairs have values whoever the sources are: 20 of 700, of which fewer than 10 lie in the path."""
    edges = [f"{i} {i + 1}\n" for i in range(299)] + [f"{i} {i + 1}\n" for i in range(1000, 1400, 2)]
    (folder / "apart.txt").write_text("".join(edges))
    assert run("convert", "apart.txt")[0] == 0
    seed = next(s for s in range(99) if (np.random.default_rng(s).permutation(700)[:20] < 300).sum() < 10)
    sample = ("closeness", "apart.csrbin", "--seed", seed, "--sources", "random:20")
    code, out, err = run(*sample)
    assert code == 0, err
    said = " ".join(out.split())
    assert "the largest component is not in this list: none of its 300 vertices has a value, so that smaller" in said
    assert "take more sources: --sources random:47 should do" in said
    found = json.loads(run(*sample, "--json")[1])
    assert found["largest_component"] == {"vertices": 300, "unknown": 300}
    code, out, err = run("closeness", "apart.csrbin", "--sources", "random:47")
    assert code == 0 and "not in this list" not in out, err
    assert json.loads(run("closeness", "apart.csrbin", "--json")[1])["largest_component"] is None


def test_no_line_of_the_table_is_no_table(small, run):
    for command, heading in (
        ("closeness", "vertex"),
        ("eccentricity", "eccentricity "),
        ("hops", "hops"),
        ("distances", "source  reached"),
    ):
        words = ("--source", 10) if command == "distances" else ()
        code, out, err = run(command, "graph.csrbin", *words, "--top", 0)
        assert code == 0, err
        assert not any(line.startswith(heading) for line in out.splitlines()), out


@pytest.mark.parametrize("kind", ["harmonic", "lin"])
def test_a_factor_that_a_kind_has_not_cannot_be_left_out(run, small, kind):
    code, out, err = run("closeness", "--kind", kind, "--no-wf")
    assert (code, out) == (2, "") and f"--no-wf does not go with --kind {kind}" in err and "leave it out" in err
    with pytest.raises(bigbfs.UsageError, match=r"^wf_improved=False: .* leave it out, or use kind=.closeness.$"):
        bigbfs.closeness("graph.csrbin", kind=kind, wf_improved=False)
    assert run("closeness", "--no-wf", "--json")[0] == 0
