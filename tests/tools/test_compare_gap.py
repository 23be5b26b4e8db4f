"""The table that tools/compare_gap.py keeps: rows of the same work are replaced, others stay."""

import compare_gap

ROW = {"graph": "kronecker-20-16", "m": 31_400_000, "kernel": "cc", "codec": "plain"}
TIMES = {"gap": 0.0312, "bigbfs": 0.00223, "ratio": 13.99, "place": 0.044}


def test_rows_are_replaced_and_added(tmp_path):
    page = tmp_path / "page.md"
    old = [
        "| Kronecker 20 | 31.4 M | cc | plain | 99 | 98 | 1.0 | 97 |",
        "| Kronecker 20 | 31.4 M | bfs | plain | 9 | 8 | 1.1 | 7 |",
    ]
    page.write_text("\n".join(["# Page", "", compare_gap.HEADER, "|---|---|---|---|---|---|---|---|", *old, "", "End"]))
    compare_gap.write_table(page, [ROW | TIMES, ROW | TIMES | {"graph": "road-2m"}])
    lines = page.read_text().splitlines()
    assert lines[4:7] == [
        "| kronecker-20-16 | 31.4 M | cc | plain | 31.2 | 2.23 | 14.0 | 44 |",
        old[1],
        "| road-2m | 31.4 M | cc | plain | 31.2 | 2.23 | 14.0 | 44 |",
    ]
    assert lines[:3] == ["# Page", "", compare_gap.HEADER]
    assert lines[7:] == ["", "End"]


def test_a_page_without_a_table_gets_one(tmp_path):
    page = tmp_path / "page.md"
    compare_gap.write_table(page, [ROW | TIMES])
    assert len(page.read_text().splitlines()) == 3
    assert page.read_text().splitlines()[1].count("|") == compare_gap.HEADER.count("|")
