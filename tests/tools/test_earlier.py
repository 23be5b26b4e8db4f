"""Graphs that a run lacks, from an earlier page of the strategies."""

import bench_records as records
import pytest
import strategy_page
import strategy_sections as sections
from earlier import MARK, read_earlier

from bigbfs.errors import FileAccessError, InputError
from bigbfs.report.summary import summarize


@pytest.fixture(scope="module")
def both():
    """A record of two graphs, and one of the first alone."""
    first, second = list(records.GRAPHS)[:2]
    return records.record(graphs=(first, second)), records.record(graphs=(first,))


@pytest.fixture
def written(both, tmp_path):
    """The page of the whole record."""
    sources = strategy_page.Sources(strategy_page.ROOT / "configs/reported.toml", "python")
    path = tmp_path / "page.md"
    path.write_text(strategy_page.page(both[0], summarize(both[0]), {}, sources))
    return path


def test_what_a_run_lacks_is_read_back_and_marked(both, written):
    (first, *others), part = both[0].graphs, summarize(both[1])
    found = read_earlier(written, frozenset({first}))
    assert found.graphs == set(others)
    was = {(line.graph, line.contender): line for line in summarize(both[0])}
    for line in found.lines:
        before = was[line.graph, line.contender]
        assert line.traversal == pytest.approx(before.traversal, rel=1e-3)
        assert line.depth == before.depth
    sources = strategy_page.Sources(strategy_page.ROOT / "configs/reported.toml", "python", found, "Read this.")
    text = strategy_page.page(both[1], part, {}, sources)
    assert f"### {first}\n" in text
    assert all(f"### {name}{MARK}\n" in text for name in others)
    assert "†: of an earlier run: measured on " in text
    assert text.index("Read this.") < text.index("## Reported | ours")


def test_no_page_is_refused(tmp_path):
    with pytest.raises(FileAccessError, match="cannot read"):
        read_earlier(tmp_path / "none.md", frozenset())
    (tmp_path / "a.md").write_text("# Something else\n")
    with pytest.raises(InputError, match="no page of tools"):
        read_earlier(tmp_path / "a.md", frozenset())


def test_folders_of_the_machine_are_no_part_of_a_command():
    assert strategy_page._without_folders("bigbfs bench --output /a/b/rows.jsonl") == "bigbfs bench --output rows.jsonl"


def test_components_stand_beside_the_reports_with_their_commit():
    text = sections.components(strategy_page.COMPONENTS)
    assert "| 001, plain | 21,993 | Friendster's shape, original, plain | 8.06 | 132cc77 |" in text
    assert "not measured" in text
