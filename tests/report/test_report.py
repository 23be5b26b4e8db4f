import json

import pytest

from bigbfs.report.jsonout import dumps
from bigbfs.report.table import folded, labelled, markdown, table


def test_numbers_to_the_right_words_to_the_left():
    text = table(("name", "m"), [("star", 1_000_000), ("a longer name", 7)])
    assert text.splitlines() == ["name                   m", "star           1,000,000", "a longer name          7"]


def test_cells():
    assert table(("a", "b", "c", "d"), [(None, True, False, 0.123456)]).splitlines()[1].split() == [
        "-",
        "yes",
        "NO",
        "0.1235",
    ]


def test_a_number_after_a_dash_stands_to_the_right_too():
    assert table(("a", "b"), [("x", None), ("y", 12.5)]).splitlines()[1:] == ["x     -", "y  12.5"]


def test_empty_table_is_its_header():
    assert table(("a", "b"), []) == "a  b"


def test_markdown():
    assert markdown(("a", "b"), [(1, "x")]) == "| a | b |\n|---|---|\n| 1 | x |"


def test_json_is_one_line_and_never_nan():
    assert json.loads(dumps({"a": 1.5})) == {"a": 1.5}
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps({"a": float("nan")})


def test_a_wide_table_is_folded():
    headers, rows = ("name", *("abcdefghij" * 2,) * 6), [("one", *range(6)), ("two", 1, 2, 3, 4, 5, 10**6)]
    text = folded(headers, rows)
    parts = text.split("\n\n")
    assert len(parts) == 2 and all(len(line) <= 80 for line in text.splitlines())
    assert [line.split()[0] for part in parts for line in part.splitlines()] == ["name", "one", "two"] * 2
    assert parts[1].splitlines()[-1].endswith("1,000,000")
    assert folded(("a", "b"), [(1, 2)]) == table(("a", "b"), [(1, 2)])


def test_names_stay_on_their_line():
    """A name may hold anything; a terminal gets signs alone, a file the name."""
    assert table(["vertex"], [["line\nbreak"], ["münchen \x1b[2J"]]).split("\n") == [
        "vertex",
        "line\\nbreak",
        "münchen \\x1b[2J",
    ]
    assert labelled("deepest", "a\nb: 2 edges") == "deepest     a\\nb: 2 edges"
