"""The line that says what is being done when it takes a while: on a terminal, gone afterwards; in a log, rarely."""

from __future__ import annotations

import io
import threading
import time

import pytest

import bigbfs
from bigbfs.cli import main
from bigbfs.conversion import pipeline
from bigbfs.conversion.names import reading
from bigbfs.conversion.on_disk import convert as external
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.formats.container.check import check
from bigbfs.jit import compiling
from bigbfs.report import progress
from bigbfs.report.progress import Progress


class Terminal(io.StringIO):
    """A standard error that people watch."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.02)
    monkeypatch.setattr(progress, "EVERY", 0.01)


def test_a_long_step_is_named_with_share_and_rate(quick, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    told = Progress()
    with told.step("build"):
        told.now("build: sort", 2_000_000, "lines")
        told.advance(500_000)
        time.sleep(0.1)
        assert "build: sort, 25%, " in screen.getvalue() and " M lines/s, " in screen.getvalue()
        told.now("write g.csrbin", unit="B")
        told.advance(10)
        time.sleep(0.1)
        assert "write g.csrbin, " in screen.getvalue() and "MiB/s" in screen.getvalue()
        told.now("order", 200, "vertices", look=lambda: 50)
        time.sleep(0.1)
        assert "order, 25%, " in screen.getvalue() and " vertices/s, " in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_an_interrupt_while_the_line_begins_leaves_no_thread_that_writes(quick, monkeypatch):
    screen, start, started = Terminal(), threading.Thread.start, []
    monkeypatch.setattr("sys.stderr", screen)

    def interrupted(thread):
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), Progress().step("build"):
        pass
    assert [thread.is_alive() for thread in started] == [False]


def test_while_kernels_are_compiled_that_is_said_and_is_none_of_the_time_of_a_step(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: clock[0])
    told = Progress()
    told._begin("first sweep", 0, "")
    clock[0] += 2
    with compiling.measured("one"):
        clock[0] += 8
        assert told.line() == "compiling kernels, on the first run only, 8 s"
        told.rename("diameter 1 to 9")
        assert told.line() == "compiling kernels, on the first run only, 8 s"
    assert told.line() == "diameter 1 to 9, 2 s"
    told._begin("search", 4000, "sources")
    clock[0] += 5
    with compiling.measured("another"):
        clock[0] += 70
    told.advance(1000)
    assert told.line() == "search, 25%, 200 sources/s, 5 s, 15 s left"


def test_how_long_the_rest_takes_is_said(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: clock[0])
    told = Progress()
    told._begin("search", 4000, "sources")
    clock[0] += 50
    assert told.line() == "search, 0%, 50 s"  # nothing is done: nobody knows
    told.advance(1000)
    assert told.line() == "search, 25%, 20.0 sources/s, 50 s, 2 min left"
    told.advance(3000)
    assert told.line() == "search, 100%, 80.0 sources/s, 50 s"
    assert [progress.duration(s) for s in (0.4, 119, 121, 7199, 9000, 86400 * 12)] == [
        *("0 s", "119 s", "2 min", "120 min", "2.5 h", "12 days")
    ]


def test_a_log_gets_a_line_now_and_then_and_less_often_later(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    monkeypatch.setattr(progress, "LOGGED", (0.05, 0.1))
    told = Progress()
    with told.step("search", 4, "sources"):
        told.advance(1)
        time.sleep(0.5)
    lines = log.getvalue().splitlines()
    assert 2 <= len(lines) <= 6 and all(line.startswith("bigbfs: search, 25%, ") for line in lines)
    with Progress(False).step("build"):
        time.sleep(0.2)
    monkeypatch.setattr(progress, "logs", False)
    with Progress().step("build"):
        time.sleep(0.2)
    assert log.getvalue().splitlines() == lines


def test_a_log_that_is_closed_ends_no_run(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    monkeypatch.setattr(progress, "LOGGED", (0.02, 0.02))
    failed = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    with Progress().step("build"):
        log.close()
        time.sleep(0.1)
    assert not failed


@pytest.mark.parametrize(("rank", "logs"), [(None, True), ("0", True), ("1", False)])
def test_the_first_of_several_ranks_writes_to_the_log(rank, logs, monkeypatch):
    for module, name, value in ((progress, "logs", None), (compiling, "shared", False), (compiling, "command", None)):
        monkeypatch.setattr(module, name, value)  # which the call sets
    if rank is not None:
        monkeypatch.setenv("PMI_RANK", rank)
        monkeypatch.setenv("PMI_SIZE", "2")
    main.cli.get_command(None, "info")
    assert progress.logs is logs


def test_nobody_is_told_of_what_is_over_at_once(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Progress().step("build"):
        pass
    assert screen.getvalue() == ""


@pytest.mark.parametrize("wanted", [True, False])
def test_nothing_is_written_where_nobody_watches(quick, monkeypatch, wanted):
    screen = io.StringIO() if wanted else Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    told = Progress(wanted)
    with told.step("build"):
        told.now("sort", 10, "lines")
        told.advance(3)
        time.sleep(0.1)
    assert screen.getvalue() == ""


def test_the_line_goes_when_the_step_fails(quick, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with pytest.raises(ValueError, match="no"), Progress().step("read"):
        time.sleep(0.1)
        raise ValueError("no")
    assert "read" in screen.getvalue() and screen.getvalue().endswith("\r\x1b[K")


def test_a_line_of_the_result_takes_the_place_of_the_progress(quick, monkeypatch, capsys):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    told = Progress()
    with told.step("check", 200, "B"):
        told.advance(50)
        told.rename("check: rows")
        time.sleep(0.1)
        assert "check: rows, 25%, " in screen.getvalue()
        told.say("ok  header")
    assert capsys.readouterr().out == "ok  header\n"


@pytest.fixture
def seen(monkeypatch):
    """Every step that is named, with its total, unit, and how far it was when the next began."""
    found: list[list] = []
    begin = Progress._begin

    def note(self, name, total, unit):
        if found:
            last = found[-1][4]
            found[-1][3] = last._look() if last._look else last._done
        found.append([name, total, unit, 0, self])
        begin(self, name, total, unit)

    made = Progress.__init__

    def shown(self, wanted=True):
        made(self, wanted)
        self._shown = wanted

    monkeypatch.setattr(Progress, "__init__", shown)
    monkeypatch.setattr(Progress, "_begin", note)
    return found


def shares(seen):
    """Return name -> how much of its total each step with a total was told of; an end is marked by another step."""
    Progress()._begin("end", 0, "")
    return {name: (done / total, unit) for name, total, unit, done, _ in seen if total}


def test_numbering_and_checking_say_how_far_they_are(tmp_path, seen):
    for name, ids in (("gaps", 3), ("sparse", 10**15), ("dense", 1)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{v * ids} {(v * 7 % 101) * ids}\n" for v in range(101)))
        bigbfs.convert(tmp_path / f"{name}.txt", compressed=True, progress=True)
        share, unit = shares(seen)["build: number the vertices"]
        assert unit == "ids" and (share == 1.0 if name != "dense" else share > 0.5), name
    bigbfs.convert(tmp_path / "gaps.txt", tmp_path / "way.csrbin", directed=True)
    for path in ("gaps.csrbin", "sparse.ccsr", "way.csrbin"):
        seen.clear()
        told = Progress()
        with told.step("check"):
            assert list(check(tmp_path / path, told))
        assert shares(seen) == {"check: header": (1.0, "B")}


def test_names_are_read_sorted_and_merged_with_a_share(tmp_path, seen, monkeypatch):
    pytest.importorskip("pyarrow", reason="the extra `tables` is not installed")
    (tmp_path / "g.csv").write_text("source,target\n" + "".join(f"n{v},m{v * 7 % 101}\n" for v in range(101)))
    bigbfs.convert(tmp_path / "g.csv", progress=True)
    found = shares(seen)
    assert [found[name] for name in ("sort names", "merge names", "pack names")] == [(1.0, "names")] * 3
    assert found["read names"] == (1.0, "B")
    seen.clear()
    monkeypatch.setattr(reading, "room_for", lambda memory: 1 << 14)
    bigbfs.convert(tmp_path / "g.csv", tmp_path / "disk.csrbin", progress=True)
    assert shares(seen)["merge names"][0] == 1.0


def test_a_conversion_on_disk_names_what_it_does(tmp_path, seen, monkeypatch):
    (tmp_path / "g.txt").write_text("".join(f"{v * 10**14} {(v * 7 % 101) * 10**14}\n" for v in range(101)))
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
    small = Plan(room=1 << 28, pairs=50, block_bytes=1 << 12, present_bytes=8, parts=3)
    monkeypatch.setattr(external, "make_plan", lambda *_: small)
    bigbfs.convert(tmp_path / "g.txt", order="degree", progress=True)
    found = shares(seen)
    for name in ("read and spill", "number the vertices", "order the vertices (degree)", "sort"):
        assert found[name][0] == 1.0, name


def test_a_table_that_a_command_converts_is_told_too(tmp_path, seen, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.csv").write_text("source,target\n1,2\n")
    assert main.run(["bfs", "g.csv", "--source", "1", "--compressed", "--backend", "cpu"]) == 0
    assert {"build: sort", "compress to g.ccsr"} <= {name for name, *_ in seen}


def test_many_searches_say_how_many_are_done(tmp_path, seen, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    bigbfs.convert("g.txt")
    for line in (
        ["distances", "--sources", "all"],
        ["closeness"],
        ["hops", "--sources", "1,2"],
        ["path", "g.csrbin", "1", "3"],
    ):
        seen.clear()
        assert main.run(line) == 0
        assert any(unit in ("sources", "pairs") and share == 1.0 for share, unit in shares(seen).values()), line


def test_every_long_phase_of_a_conversion_has_its_name_share_and_rate(tmp_path, monkeypatch):
    seen = []

    def told(self, name, total=0, unit="", look=None):
        self._begin(name, total, unit)
        seen.append((name.removesuffix(str(tmp_path / "g.csrbin")), total, unit))
        self._look = look

    monkeypatch.setattr(Progress, "now", told)
    begin = Progress._begin
    monkeypatch.setattr(Progress, "_begin", lambda self, *about: (seen.append(about), begin(self, *about))[1])
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    compiling.tell(lambda: None)  # what a command of another test may have asked for
    text = tmp_path / "g.txt"
    text.write_text("".join(f"{v} {v * 7 % 101}\n" for v in range(101)))
    for more in ({"order": "rcm"}, {"memory": 1 << 40, "order": "bfs"}):
        bigbfs.convert(text, tmp_path / "g.csrbin", compressed=True, progress=True, force=True, **more)
    named = {name.split(str(tmp_path))[0].strip(): (total, unit) for name, total, unit in seen}
    size, edges = text.stat().st_size, bigbfs.open(tmp_path / "g.csrbin").m
    assert named["read"] == (size, "B") and named["build: sort"][1] == "lines"
    assert named["build: turn the rows round"][1] == named["build: put the rows in order"][1] == "edges"
    assert named["build: order the vertices (rcm)"] == named["build: order the vertices (bfs)"] == (101, "vertices")
    assert named["compress to"] == (edges, "edges") and named["write"][1] == "B" and named["write"][0] > 0
    assert named["build: number the vertices"] == (3 * 2 * 101, "ids") and screen.getvalue().count("\n") == 0
