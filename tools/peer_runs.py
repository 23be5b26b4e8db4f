"""Run another program for ``compare_peers.py``: its command line, the lines that it prints, and whether they are right.

A peer is called as ``PROGRAM GRAPH --memory host|device --trials N [--sources A,B,...] [--variant NAME]`` and prints,
among anything else, one JSON object a line for each run that counts::

    {"work": "bfs", "source": 7, "trial": 0, "ms": 1.25, "reached": 10, "depth": 3, "level_sum": 19}
    {"work": "cc", "trial": 0, "ms": 3.5, "components": 4, "largest": 6}

``ms`` is the peer's own time of one run; runs before the first source to warm up are not printed.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bigbfs.errors import DeviceError, InputError, VerificationError

REQUIRED = {"bfs": ("reached",), "cc": ("components", "largest")}
"""What a peer must say of its result; more is compared where it is given."""


def command_line(
    program: Path, graph: Path, place: str, trials: int, sources: Sequence[int], variant: str = ""
) -> list[str]:
    """Return the call of ``program``; no sources: it finds components."""
    line = [str(program), str(graph), "--memory", place, "--trials", str(trials)]
    if sources:
        line += ["--sources", ",".join(map(str, sources))]
    return line + (["--variant", variant] if variant else [])


def run(name: str, line: Sequence[str], seconds: float) -> str:
    """Run a peer and return what it printed; what it says on standard error passes through.

    Raises
    ------
    DeviceError
        It cannot be started, fails, or takes longer than ``seconds``.
    """
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, text=True, timeout=seconds, check=False, errors="replace")
    except OSError as error:
        raise DeviceError(f"{name}: {line[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise DeviceError(f"{name}: not done after {seconds:g} s (--timeout)") from error
    if done.returncode:
        raise DeviceError(f"{name}: ended with exit code {done.returncode}: {done.stdout[-300:].strip()}")
    return done.stdout


def parse(name: str, text: str, work: str, sources: Sequence[int], trials: int) -> list[dict[str, Any]]:
    """Return the objects that a peer printed, in the order of ``sources`` and trials.

    Raises
    ------
    InputError
        A line is no such object, or a run is missing, doubled or not asked for.
    """
    runs: dict[tuple[int | None, int], dict[str, Any]] = {}
    wanted = [(source, trial) for source in (sources if work == "bfs" else [None]) for trial in range(trials)]
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            row = json.loads(line)
            key = (row["source"] if work == "bfs" else None, row["trial"])
            good = row["work"] == work and math.isfinite(row["ms"]) and row["ms"] > 0
            good = good and all(type(row[fact]) is int for fact in REQUIRED[work])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{name}: output line {number} is no run: {error!r}: {line[:200]}") from error
        if not good or key in runs or key not in wanted:
            raise InputError(f"{name}: output line {number} is no run that was asked for: {line[:200]}")
        runs[key] = row
    missing = [key for key in wanted if key not in runs]
    if missing:
        raise InputError(
            f"{name}: {len(missing)} of {len(wanted)} runs are missing; (source, trial) of the first: {missing[0]}"
        )
    return [runs[key] for key in wanted]


def check(name: str, runs: Sequence[Mapping[str, Any]], truth: Mapping[int | None, Mapping[str, int]]) -> None:
    """Compare what was found with ``truth``: a mapping of facts for each source, and for None the components.

    Raises
    ------
    VerificationError
        A fact differs.
    """
    for row in runs:
        source = row.get("source")
        for fact, right in truth[source].items():
            if fact in row and row[fact] != right:
                where = "" if source is None else f" from vertex {source}"
                raise VerificationError(f"{name}: {fact}{where} is {row[fact]:,}, not {right:,}")
