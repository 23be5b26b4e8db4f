"""Run tests of the emulation on a copy of the kernels, in one build, and say how they ended.

A run is a pytest process that tells of each test as it ends (tests/emulated/seen.py). A sanitizer ends its process now
and then without a word: another one goes on behind the last test that ended. A test that ends its process three times
is a crash, one that takes longer than ``limit`` seconds hangs.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mutant import REPOSITORY, TESTS, Mutant, plant

sys.path.insert(0, str(TESTS))

from emulated.builds import cache_folder
from emulated.runtime import BUILD_VARIABLE, sanitizer_environment
from emulated.seen import ORDER_VARIABLE, SEEN_VARIABLE, read

ATTEMPTS = 3
FAULTS = tuple(-code for code in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL))
NO_RANDOM_ADDRESSES = 0x0040000  # personality(2)

REASONS = (
    ("data race", "race"),
    ("AddressSanitizer", "address"),
    ("undefined behaviour|runtime error", "undefined"),
    ("stored past|stored before", "guard"),
    ("divergent|does not name|returned from the kernel", "divergent"),
    ("deadlock", "deadlock"),
    ("livelock|ran for more than", "livelock"),
    ("entered a frontier|queue|counter of|frontiers are|levels in the frontier|seen is not", "invariant"),
    ("points up|is no root|another component", "invariant"),
)


class Unusable(RuntimeError):
    """A run that says nothing about the mutant."""


class OutOfTime(RuntimeError):
    """The run was ended because the time of all runs was up."""


@dataclass(frozen=True)
class Order:
    """Which tests run.

    Attributes
    ----------
    suites
        Files in tests/emulated.
    first
        Ids in the order that they run in; those that nobody names come before them.
    never
        Ids that do not run.
    only
        The one test that runs; none: all of the suites.
    tests
        What pytest's -k leaves of them.
    """

    suites: tuple[str, ...]
    first: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    only: str = ""
    tests: str = ""


@dataclass(frozen=True)
class Limits:
    """Seconds that a test may take, and when (``time.monotonic``) every run ends."""

    test: float = 150
    end: float = float("inf")


@dataclass(frozen=True)
class Outcome:
    """How a run ended: ``verdict`` is "passed", or in a word what failed in ``test``; ``rows`` are of all that ran."""

    verdict: str
    seconds: float
    test: str = ""
    message: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)


def run(mutant: Mutant | None, build: str, order: Order, work: Path, limits: Limits, *, on: bool = False) -> Outcome:
    """Run the tests of ``order`` on a mutant (None: the kernels as they are) until one fails; ``on``: all of them.

    Raises
    ------
    Unusable
        The mutant does not compile, or pytest could not run.
    OutOfTime
        ``limits.end`` has come.
    """
    folder = Path(tempfile.mkdtemp(dir=work, prefix=f"{build}-"))
    try:
        plant(mutant, folder / "kernels")
        environment, command = _process(build, order, folder, on=on)
        start, told, barren = time.monotonic(), 0, 0
        while barren < ATTEMPTS:
            ended = _attempt(command, environment, folder, limits)
            lines = read(folder / "seen")
            outcome = _judge(build, ended, lines, on=on)
            if outcome is not None:
                return replace(outcome, seconds=round(time.monotonic() - start, 1))
            barren, told = (barren + 1 if len(lines) == told else 0), len(lines)
        raise Unusable(f"pytest did not begin, exit code {ended.code}:\n{ended.output[-4000:]}")
    finally:
        shutil.rmtree(folder)


def libraries(work: Path) -> None:
    """Put what the cache has of compiled kernels where the runs in ``work`` look for it, and leave theirs."""
    folder = work / "cache" / "bigbfs" / "simt"
    folder.mkdir(parents=True)
    for library in cache_folder().glob("*.so"):
        with contextlib.suppress(OSError):  # another file system: compiled anew
            os.link(library, folder / library.name)


def _process(build: str, order: Order, folder: Path, *, on: bool) -> tuple[dict[str, str], list[str]]:
    """Return environment and command of a run."""
    environment = dict(os.environ)
    if build in ("asan", "tsan"):
        environment = sanitizer_environment(build, folder)
    (folder / "order").write_text(json.dumps({"first": order.first, "never": order.never}))
    environment |= {
        BUILD_VARIABLE: build,
        "SIMT_KERNELS": str(folder / "kernels"),
        "SIMT_GRAPHS": "few",
        SEEN_VARIABLE: str(folder / "seen"),
        ORDER_VARIABLE: str(folder / "order"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")])),
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
        "TMPDIR": str(folder),
    }
    plugins = ("-p", "emulated.seen", "-p", "no:cacheprovider", "-p", "no:xdist")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *plugins, *(() if on else ("-x",))]
    command += ["-k", order.tests] if order.tests else []
    return environment, [*command, *([order.only] if order.only else (f"tests/emulated/{s}" for s in order.suites))]


@dataclass(frozen=True)
class _Ended:
    """How a process ended: exit code (None: a test took too long), output, reports of the sanitizer."""

    code: int | None
    output: str
    report: str


def _attempt(command: Sequence[str], environment: dict[str, str], work: Path, limits: Limits) -> _Ended:
    with (work / "output").open("w+") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=REPOSITORY,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = _wait(process, work / "seen", limits)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        text = output.read()
    report = "".join(path.read_text(errors="replace") for path in work.glob("report-*"))
    return _Ended(code, text, report)


def fixed_addresses() -> None:
    """Have the processes that this one starts lie at fixed addresses: old thread sanitizers refuse most others."""
    ctypes.CDLL(None).personality(NO_RANDOM_ADDRESSES)


def _wait(process: subprocess.Popen[bytes], seen: Path, limits: Limits) -> int | None:
    """Return the exit code; None: a test has taken too long."""
    begun = time.time()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=0.5)
        if time.monotonic() > limits.end:
            raise OutOfTime
        told = max(begun, seen.stat().st_mtime) if seen.exists() else begun
        if time.time() - told > limits.test:
            return None


def _judge(build: str, ended: _Ended, lines: list[dict[str, Any]], *, on: bool) -> Outcome | None:
    """Return the outcome of a run; None: it goes on in another process."""
    rows = [line for line in lines if line.get("outcome", "begun") != "begun"]
    failed = next((row for row in rows if row["outcome"] == "failed"), None)
    if failed and "emulated.builds.CompileError" in failed["message"] + ended.output:
        raise Unusable(f"a kernel does not compile:\n{failed['message']}")
    if failed and not on:
        return Outcome(reason(failed["message"]), 0, failed["test"], failed["message"], rows)
    if not lines:
        return None
    if "exit" in lines[-1]:
        if lines[-1]["exit"] in (0, 5) or (failed and lines[-1]["exit"] == 1):
            return Outcome("failed" if failed else "passed", 0, rows=rows)
        raise Unusable(f"pytest ended with {lines[-1]['exit']}:\n{ended.output[-4000:]}")
    if lines[-1]["outcome"] != "begun":
        return None
    test = lines[-1]["test"]
    told = re.findall(r"\S+\.cuh?:\d+.*", ended.report)
    faulty = ended.code in FAULTS and build not in ("asan", "tsan")
    if ended.code is None:
        return Outcome("hangs", 0, test, "the test takes longer than its limit", rows)
    if told or faulty or sum(line.get("test") == test for line in lines) >= ATTEMPTS:
        message = "\n".join(told[:8]) or f"the process ended with {ended.code} in the middle of the test"
        return Outcome("crash", 0, test, message, rows)
    return None


def reason(message: str) -> str:
    """Return in a word what failed."""
    return next((word for pattern, word in REASONS if re.search(pattern, message)), "result")
