"""CPU seconds of each test, its processes included: ``pytest --cpu FILE`` writes them, the dearest are told at the end.

Time on a clock says little where others use the machine; CPU time says what a test asks for. What a test compiles first
is counted there, so look at a second run for the tests and at a first one, without caches, for the kernels.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TOLD = 20
"""Folders, and tests, that are told."""


def used() -> float:
    """Return the CPU seconds of this process, and of those that it started and that have ended."""
    return sum(os.times()[:4])


class CpuSeconds:
    """A plugin of pytest that appends a line of JSON for each test to ``path``: ``{"test": ..., "cpu": seconds}``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Count one test, its fixtures included. Each process of xdist appends its own whole lines."""
        before = used()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = used() - before
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"test": item.nodeid, "cpu": round(self.seconds[item.nodeid], 3)}) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell the folders, and the functions, that took most: of this process, which under xdist has run none."""
        for what, group in (("folders", folder_of), ("tests", function_of)):
            sums = summed(self.seconds, group)
            if sums:
                terminalreporter.section(f"CPU seconds of {what}, {sum(sums.values()):.1f} in all")
            for name, seconds in sums.most_common(TOLD):
                terminalreporter.write_line(f"{seconds:>9.1f}  {name}")


def summed(seconds: dict[str, float], group: Any) -> Counter[str]:
    """Return the seconds of each ``group`` of names."""
    sums: Counter[str] = Counter()
    for name, took in seconds.items():
        sums[group(name)] += took
    return sums


def folder_of(name: str) -> str:
    """Return the folder of test ``name``."""
    return name.split("::")[0].rpartition("/")[0]


def function_of(name: str) -> str:
    """Return test ``name`` without its parameters."""
    return name.partition("[")[0]
