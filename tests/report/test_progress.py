"""The line that says what is being done: on a terminal alone, when it takes a while, and gone afterwards."""

from __future__ import annotations

import io
import time

import pytest

import bigbfs
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
    assert set(named) >= {"build: number the vertices"} and screen.getvalue().count("\n") == 0
