"""The page of the strategies: pictures, tables, and no ratio that would not be honest."""

import dataclasses
from pathlib import Path

import bench_records as records
import pytest
import reported
import sentences
import strategy_page
import strategy_sections as sections

from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.bench.suite import read_suite
from bigbfs.errors import ConfigError
from bigbfs.report.rows import REFERENCE, line_of
from bigbfs.report.summary import summarize

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def tables():
    return reported.read_reported(ROOT / "configs/reported.toml")


@pytest.fixture(scope="module")
def lines():
    return {(line.graph, line.contender): line for line in summarize(records.record())}


def find(tables, report, title, graph):
    table = next(each for each in tables if each.report == report and each.title.startswith(title))
    return table, next(row for row in table.rows if row.graph == graph)


def test_sentences_divide_times_or_say_where_their_answer_stands(lines):
    found = sentences.read_sentences(ROOT / "configs/reported.toml")
    assert {"003", "004", "000"} <= {each.report for each in found}
    files = ("", "-places")
    known = {case.name for f in files for case in read_suite(ROOT / f"configs/bench-strategies{f}.toml").cases}
    assert {graph for each in found for graph in each.graphs} <= known
    graphs = ("as-caida2007", "cnr-2000", "no such graph")
    one = sentences.Sentence("004", "slower", "4x", "shape", "quadratic", "auto", graphs)
    ratios = [lines[g, "quadratic"].traversal / lines[g, "auto"].traversal for g in graphs[:2]]
    mean = f"{2 / sum(1 / ratio for ratio in ratios):.3g}x: quadratic / auto, harmonic of 2 graphs"
    assert sentences.answer(one, lines).startswith(mean)
    assert f"| 004 | slower | 4x | shape | {mean}" in sentences.in_words([one], list(lines.values()))
    most = dataclasses.replace(one, mean="largest")
    assert sentences.answer(most, lines).startswith(f"{max(ratios):.3g}x: ")
    assert sentences.answer(dataclasses.replace(one, graphs=graphs[2:]), lines) == "not measured"
    with pytest.raises(ConfigError, match="either ours"):
        dataclasses.replace(one, ours="both")
    with pytest.raises(ConfigError, match="mean 'usual'"):
        dataclasses.replace(one, mean="usual")


def test_what_is_written_by_hand_stands_on_the_page():
    """Else the next page made of rows would lack it."""
    page = ROOT / "docs/results/strategies.md"
    assert len(notes := strategy_page.notes_of(page)) > 1000
    assert notes in page.read_text()
    assert (ROOT / "docs/images/report.png").stat().st_size < 300_000


def test_every_stand_in_is_a_graph_of_the_suite(tables):
    files = ("configs/bench-strategies.toml", "configs/bench-strategies-places.toml")
    suites = {case.name for name in files for case in read_suite(ROOT / name).cases}
    assert {row.ours for table in tables for row in table.rows} <= suites


def test_other_places_that_are_compared_are_of_their_suite(tables):
    cases = {case.name: case for case in read_suite(ROOT / "configs/bench-strategies-places.toml").cases}
    wanted = {(row.ours, *sections.named(name)) for table in tables for row in table.rows for name in table.strategies}
    for graph, strategy, words in (each for each in wanted if each[2]):
        case = cases[graph]
        assert strategy in case.strategies
        assert "mapped" in case.residencies
        assert {"varint", "plain"} >= {word for word in words if word in case.codecs}
        assert all(word.removeprefix("by ") in ("mapped", *case.codecs, *case.orders) for word in words)


def test_every_column_has_a_strategy_that_is_known(tables):
    known = {*STRATEGIES, *records.STRATEGIES, REFERENCE}
    assert {sections.named(name)[0] for table in tables for name in table.strategies} <= known


def test_the_same_graph_gets_a_ratio_of_milliseconds(tables, lines):
    table, row = find(tables, "000", "Table 2", "as-caida2007")
    mine = 1e3 * lines["as-caida2007", "quadratic"].traversal
    assert reported.ratio(table, row, "simple", lines) == pytest.approx(15.2383 / mine)


def test_rates_become_milliseconds(tables):
    table, row = find(tables, "004", "Tables 1", "rmat.2Mv.128Me")
    assert reported.milliseconds(table, row, 3.3) == pytest.approx(38.79, abs=0.01)


@pytest.mark.parametrize(
    ("report", "title", "graph", "column"),
    [
        ("000", "Table 2", "web-uk-2005", "simple"),  # a graph of the same shape
        ("000", "Table 2", "kron_g500-logn21", "simple"),  # a figure that cannot be
        ("000", "Table 3", "as-caida2007", "simple"),  # two things
        ("002", "Tables 1", "luxembourg_osm", "bitmap"),
    ],
)
def test_no_ratio_where_none_is_honest(tables, lines, report, title, graph, column):
    table, row = find(tables, report, title, graph)
    assert reported.ours(table, row, column, lines) is not None
    assert reported.ratio(table, row, column, lines) is None


def test_serial_runs_are_set_beside_the_serial_reference(tables, lines):
    table, row = find(tables, "002", "Tables 1", "luxembourg_osm")
    mine = 1e3 * lines["luxembourg_osm", "serial reference"].traversal
    assert reported.ratio(table, row, "CPU serial", lines) == pytest.approx(3.1598 / mine)


def test_a_table_that_does_not_add_up_is_refused(tables):
    with pytest.raises(ConfigError, match="columns and"):
        dataclasses.replace(tables[0], columns=("simple",))
    with pytest.raises(ConfigError, match="impossible without why"):
        dataclasses.replace(tables[0].rows[0], why="")
    with pytest.raises(ConfigError, match="likeness is 'alike'"):
        dataclasses.replace(tables[0].rows[0], likeness="alike")


def test_the_page_and_its_pictures(tmp_path, monkeypatch, capsys):
    for module in ("altair", "vl_convert"):
        pytest.importorskip(module, reason="the extra `plot` is not installed")
    made = records.record(graphs=("as-caida2007", "luxembourg_osm"), strategies=("auto", "quadratic", "queue"))
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(line_of(i) + "\n" for i in (*made.sessions, *made.graphs.values(), *made.rows)))
    page = tmp_path / "strategies.md"
    monkeypatch.setattr("sys.argv", ["strategy_page.py", str(rows), "--output", str(page)])
    strategy_page.main()
    text = page.read_text()
    assert "11 pictures" in capsys.readouterr().out
    for words in ("## The best of each graph", "## Reported | ours", "### 004, Tables 1 and 2", "### luxembourg_osm"):
        assert words in text
    pictures = [line.partition("](")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert len(pictures) == 11
    for name in pictures:
        assert (tmp_path / name).read_text().startswith("<!-- made by bigbfs -->\n<svg")
