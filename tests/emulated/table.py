"""The table of builds and suites with their times, at the end of a test run (hooks that tests/conftest.py imports).

A test of the emulated kernels names its build in its parameters (``plain``, ``preempt``, ...). The sanitizers' builds
run in processes of their own, which leave their rows in the file named by ``SIMT_TABLE``; the test that started one
hands them on as the property ``simt_table``.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

TABLE_VARIABLE = "SIMT_TABLE"

_rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0, 0.0]))


def _suite(nodeid: str) -> str | None:
    file = Path(nodeid.split("::")[0])
    emulated = file.name == "test_emulation.py" or file.name.startswith("test_kernels_")
    return file.stem.removeprefix("test_") if emulated else None


def pytest_runtest_logreport(report: Any) -> None:
    """Count one finished test."""
    for key, value in report.user_properties:
        if key == TABLE_VARIABLE and report.when == "call":
            for suite, build, tests, seconds in json.loads(value):
                _add(suite, build, tests, seconds)
            return
    suite = _suite(report.nodeid)
    build = re.search(r"\[.*?\b(plain|preempt|asan|tsan)\b", report.nodeid)
    if suite is not None and build is not None and not report.skipped:
        _add(suite, build[1], report.when == "call", report.duration)


def _add(suite: str, build: str, tests: int, seconds: float) -> None:
    cell = _rows[suite][build]
    cell[0] += tests
    cell[1] += seconds


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table, or leave it for the process that asked for it."""
    if not _rows:
        return
    target = os.environ.get(TABLE_VARIABLE)
    if target:
        rows = [[suite, build, *cell] for suite, cells in _rows.items() for build, cell in cells.items()]
        Path(target).write_text(json.dumps(rows))
        return
    builds = [name for name in ("plain", "preempt", "asan", "tsan") if any(name in cells for cells in _rows.values())]
    terminalreporter.section("emulated kernels: tests and seconds")
    terminalreporter.write_line(f"{'suite':<24}" + "".join(f"{build:>18}" for build in builds))
    for suite, cells in sorted(_rows.items()):
        texts = (f"{cells[b][0]:>8} {cells[b][1]:>7.1f} s" if b in cells else "" for b in builds)
        terminalreporter.write_line(f"{suite:<24}" + "".join(f"{text:>18}" for text in texts))
    total = sum(cell[1] for cells in _rows.values() for cell in cells.values())
    terminalreporter.write_line(f"{'all':<24}{total:>16.1f} s, compilation included")
