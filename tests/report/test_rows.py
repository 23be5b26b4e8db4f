"""Rows of a bench: what is written is read again, and nothing else is."""

import json

import bench_records as records
import pytest

from bigbfs import record
from bigbfs.errors import FileAccessError, InputError
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


def test_a_run_is_disturbed_by_the_share_of_time_that_it_lost_and_not_by_how_often(monkeypatch):
    """Many short waits of a nearly idle machine are nothing; one of a tenth of the time is."""
    state = {"clock": 0.0, "switches": 0, "waited": 5.0}
    monkeypatch.setattr(record.time, "perf_counter", lambda: state["clock"])
    monkeypatch.setattr(record, "switches", lambda: state["switches"])
    monkeypatch.setattr(record, "waited", lambda: state["waited"])
    for switches, waited, share, told in ((40, 0.02, 0.02, False), (1, 0.11, 0.11, True), (3, 9.0, 1.0, True)):
        before = record.Cores.now()
        state.update(clock=before.clock + 1.0, switches=before.switches + switches, waited=before.waited + waited)
        assert before.since() == (1.0, pytest.approx(share))
        assert record.disturbed(before.lost()) == told
    monkeypatch.setattr(record, "waited", lambda: None)  # a system that does not say: a time slice for each switch
    before = record.Cores.now()
    state.update(clock=before.clock + 1.0, switches=before.switches + 20)
    assert before.lost() == pytest.approx(20 * record.SLICE) and not record.disturbed(before.lost())
    state.update(clock=before.clock + 0.01)
    assert record.disturbed(before.lost())


def test_waiting_is_what_the_system_says_of_every_thread(tmp_path, monkeypatch):
    assert record.waited() is None or record.waited() >= 0.0
    for name, text in (("1", "9 2000000000 4"), ("2", "9 500000000 4"), ("3", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "schedstat").write_text(text)
    monkeypatch.setattr(record, "_TASKS", tmp_path)
    assert record.waited() == 2.5
    monkeypatch.setattr(record, "_TASKS", tmp_path / "none")
    assert record.waited() is None


def test_least_bytes_count_edges_and_vertices():
    assert least_bytes(10, 3, 4, 4, parents=True) == 10 * 8 + 3 * (16 + 4 + 4)
    assert least_bytes(10, 3, 1.5, 8, parents=False) == 55 + 3 * 20


def test_what_one_thread_lost_is_the_time_that_it_did_not_run(monkeypatch):
    state = {"clock": 3.0, "worked": 1.0}
    monkeypatch.setattr(record.time, "perf_counter", lambda: state["clock"])
    monkeypatch.setattr(record.time, "thread_time", lambda: state["worked"])
    before = record.Alone.now()
    assert before.lost() == 0.0
    for worked, share in ((1.0, 0.0), (0.75, 0.25), (0.0, 1.0), (1.1, 0.0)):
        state.update(clock=4.0, worked=1.0 + worked)
        assert before.lost() == pytest.approx(share)
