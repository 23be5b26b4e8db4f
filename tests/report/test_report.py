import json

import pytest

from bigbfs.errors import UsageError
from bigbfs.report.jsonout import dumps
from bigbfs.report.plot import plot_rates
from bigbfs.report.table import markdown, table


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


def test_empty_table_is_its_header():
    assert table(("a", "b"), []) == "a  b"


def test_markdown():
    assert markdown(("a", "b"), [(1, "x")]) == "| a | b |\n|---|---|\n| 1 | x |"


def test_json_is_one_line_and_never_nan():
    assert json.loads(dumps({"a": 1.5})) == {"a": 1.5}
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps({"a": float("nan")})


ROW = {"graph": "star", "codec": "plain", "backend": "cpu", "residency": "host", "median_gteps": 2.0}


def test_plot_writes_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    plot_rates([ROW, ROW | {"graph": "grid", "median_gteps": 0.1}, ROW | {"codec": "varint"}], tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_plot_of_nothing_is_refused(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(UsageError, match="nothing to draw"):
        plot_rates([ROW | {"median_gteps": None}], tmp_path / "a.png")
