"""Rows of a bench: what is written is read again, and nothing else is."""

import json

import bench_records as records
import pytest

from bigbfs.errors import FileAccessError, InputError
from bigbfs.record import disturbed
from bigbfs.report.rows import Levels, least_bytes, line_of, parse_line, read_rows


@pytest.mark.parametrize("item", [records.session(), records.row("as-caida2007", "queue")])
def test_a_line_holds_the_whole_object(item):
    text = line_of(item)
    assert "\n" not in text
    assert parse_line(text) == item


def test_a_record_is_read_again(tmp_path):
    made = records.record(graphs=("as-caida2007",), strategies=("auto", "queue"))
    items = [*made.sessions, *made.graphs.values(), *made.rows]
    (tmp_path / "a.jsonl").write_text("".join(line_of(item) + "\n" for item in items))
    read = read_rows([tmp_path / "a.jsonl"])
    assert (read.sessions, read.graphs, read.rows) == (made.sessions, made.graphs, made.rows)


def test_nan_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        line_of(records.row("as-caida2007", "queue", open=float("nan")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "a.jsonl:2: no row of a bench"),
        ("[1]", "no object of kind"),
        ('{"kind":"row"}', "missing keys: graph, seconds"),
        ('{"kind":"row","graph":"a","seconds":[1]}', "missing"),
        ('{"kind":"graph","sources_":"a"}', "sources_"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, says):
    path = tmp_path / "a.jsonl"
    path.write_text(line_of(records.session()) + "\n" + text + "\n")
    with pytest.raises(InputError, match=says.replace(".", r"\.")):
        read_rows([path])


def test_a_file_without_rows_and_no_file(tmp_path):
    (tmp_path / "a.jsonl").write_text(line_of(records.session()) + "\n")
    with pytest.raises(InputError, match="no row in it"):
        read_rows([tmp_path / "a.jsonl"])
    with pytest.raises(FileAccessError, match="cannot read"):
        read_rows([tmp_path / "none.jsonl"])


def test_levels_come_back_as_columns():
    row = records.row("as-caida2007", "queue", levels=Levels("tb", (1, 2), (), (), (None, 0.5)))
    assert json.loads(line_of(row))["levels"]["seconds"] == [None, 0.5]
    assert parse_line(line_of(row)).levels == row.levels


def test_end_to_end_is_the_sum_of_its_parts():
    row = records.row(
        "as-caida2007", "queue", open=1.0, start=2.0, place=4.0, compile=8.0, copy=16.0, seconds=(3, 32, 64)
    )
    assert row.traversal == 32
    assert row.end_to_end == 63.0


def test_a_short_run_is_disturbed_by_one_switch_and_a_long_one_by_many():
    assert disturbed(1, 0.003)
    assert not disturbed(0, 0.003)
    assert not disturbed(5, 1.0)
    assert disturbed(11, 1.0)


def test_least_bytes_count_edges_and_vertices():
    assert least_bytes(10, 3, 4, 4, parents=True) == 10 * 8 + 3 * (16 + 4 + 4)
    assert least_bytes(10, 3, 1.5, 8, parents=False) == 55 + 3 * 20
