"""The tables of several ranks: bars held against what was measured, predictions where nothing was, Merrill beside."""

from pathlib import Path

import pytest
import rank_table
from rank_suite import cases, lines
from rank_suite.cases import Bar, Row, Suite

from bigbfs.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
PS = {"bfs": 16, "cc": 40}


def row(name="g", **more):
    given = {"residency": "vram", "counts": (1, 2), "picoseconds": PS}
    return Row(name, "kronecker", {"scale": 8}, **(given | more))


def line(seconds, ranks, name="g", section="rows", **more):
    found = {"section": section, "row": name, "work": "bfs", "ranks": ranks, "asked": {"parameters": {"scale": 8}}}
    found |= {"status": "measured", "reason": None, "slowest_seconds": 2 * seconds, "seconds": seconds}
    found |= {"share": 0.25, "bytes": 1500, "place": 0.4 / ranks, "median_gteps": 12.0, "ran_as": ranks}
    return found | {"predicted": {"seconds": 1.0 / ranks, "share": 0.1, "bytes": 2e6}} | more


def by_key(*given):
    return {lines.key_of(each): each for each in given}


def left_out(ranks, **more):
    found = line(1.0, ranks, status="left out", reason="no GPU", **more)
    return {name: value for name, value in found.items() if name not in ("seconds", "place", "ran_as")}


@pytest.mark.parametrize(
    ("bar", "of", "said"),
    [
        (Bar("bfs", 2, "times", 1.4), {}, "1.4 times: reached, 1.6"),
        (Bar("bfs", 2, "times", 2.0), {}, "2 times: missed by 20%, 1.6"),
        (Bar("bfs", 2, "times", 2.0, "other"), {}, "2 times that of 'other': reached, 3.2"),
        (Bar("bfs", 2, "place", 0.65), {}, "placed in 0.65 of one: reached, 0.5"),
        (Bar("bfs", 2, "place", 0.4), {}, "placed in 0.4 of one: missed by 20%, 0.5"),
        (Bar("bfs", 2, "efficiency", 0.8), {"grow": "scale"}, "80% of one: reached, 160%"),
        (Bar("bfs", 2, "stays"), {}, "stays on one: missed: ran on 2"),
        (Bar("cc", 2, "times", 1.5), {}, "1.5 times: not run"),
    ],
)
def test_bars_are_held_against_what_was_measured(bar, of, said):
    found = by_key(line(0.8, 1), line(0.5, 2), line(1.6, 1, "other"))
    assert rank_table.reached(bar, row(**of), found, "rows") == said


def test_auto_that_stays_reaches_its_bar():
    found = by_key(line(0.8, 1), line(0.8, 2, ran_as=1))
    assert rank_table.reached(Bar("bfs", 2, "stays"), row(), found, "rows") == "stays on one: reached"


def test_a_row_has_measured_and_predicted_beside_each_other():
    text = rank_table.section_table((row(),), by_key(line(0.0008, 1), line(0.0005, 2)), "rows")
    assert "| g | bfs | 1 | 0.8 / 1.6 | - | 12 | - | - | 0.40 | 1,000 | - |" in text
    assert "| g | bfs | 2 | 0.5 / 1 | 1.60 | 12 | 1.5 KB | 25% | 0.20 | 500, 2.00, 2 MB, 10% | - |" in text


def test_what_was_left_out_has_its_prediction_and_its_reason():
    bars = (Bar("bfs", 2, "times", 1.5),)
    text = rank_table.section_table((row(bars=bars),), by_key(left_out(1), left_out(2)), "rows")
    assert "| g | bfs | 2 | left out | - | - | - | - | - | 500, 2.00, 2 MB, 10% | 1.5 times: not run |" in text
    assert text.endswith("Left out:\n\n- no GPU (2 lines)")


def test_merrill_stands_beside_what_was_measured_or_else_predicted():
    rows = (row(counts=(1, 2, 4)), row("grows", grow="scale"))
    text = rank_table.merrill(rows, by_key(line(0.8, 1), line(0.5, 2), left_out(4)))
    assert "measured | 1.5 | 2.1 | 2.5 |" in text
    assert "| g, vram | 1.60 | - | 4.00 (predicted) |" in text
    assert "grows" not in text


def test_tables_go_between_their_marks():
    page = "a\n<!-- tools/rank_table.py: x -->\nold\n<!-- tools/rank_table.py: end of x -->\nb\n"
    text = rank_table.put(page, {"x": "| new |"})
    assert "old" not in text
    assert text.startswith("a\n")
    assert text.endswith("-->\nb\n")
    assert rank_table.put(text, {"x": "| new |"}) == text
    with pytest.raises(InputError, match="lacks the marks"):
        rank_table.put(page, {"y": ""})


def test_the_page_has_the_tables_of_its_lines():
    found = lines.read([RESULTS / "distributed.jsonl"])
    made = rank_table.tables(found, cases.read(rank_table.SUITE))
    page = (ROOT / "docs" / "notebook" / "ranks-predicted.md").read_text()
    assert rank_table.put(page, made) == page, "python tools/rank_table.py docs/results/distributed.jsonl --write PAGE"


def test_sections_without_lines_have_no_tables():
    suite = Suite(1, (row(),), (row("d", residency="host"),))
    assert list(rank_table.tables(by_key(line(0.8, 1, "d", "dry")), suite)) == ["dry"]
    assert list(rank_table.tables(by_key(left_out(1)), suite)) == ["GPUs", "Merrill"]
    with pytest.raises(InputError, match="no line"):
        rank_table.tables({}, suite)
