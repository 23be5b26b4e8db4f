"""The line that says what is being done: on a terminal alone, when it takes a while, and gone afterwards."""

from __future__ import annotations

import io
import time

import pytest

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
        assert "write g.csrbin, " in screen.getvalue() and "MB/s" in screen.getvalue()
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
