"""Plant bugs into copies of the kernels and report which build of the emulation catches which.

In: the kernels of the package; each mutant replaces a text that occurs exactly once in one file. Out: a table, mutants
x builds, on standard output. A mutant is caught when the suites tests/test_kernels_*.py (``SUITES``) fail (or hang, or
crash). Exit code 0: the kernels as they are pass in every build, and every mutant is
caught by some build; 1: not so; 2: a text to replace was not found once, or a mutant does not compile. Rows are
printed as they end, in that order.

    python tools/mutants.py                  # all, about a quarter of an hour on two cores
    python tools/mutants.py -k "varint|hub"  # some
    python tools/mutants.py --first          # each until a build catches it, in the order of BUILDS or of --build
    python tools/mutants.py -k "^scan:" --build plain --tests "scan and not fused"  # fewer tests: caught is caught
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
KERNELS = REPOSITORY / "bigbfs"
TESTS = REPOSITORY / "tests"
SUITES = (
    "test_kernels_rows.py",
    "test_kernels_heads.py",
    "test_kernels_prove.py",
    "test_kernels_components.py",
    "test_kernels_topological.py",
    "test_kernels_many.py",
    "test_kernels_engine.py",
    "test_kernels_streamed.py",
    "test_kernels_standby.py",
    "test_kernels_strategies.py",
    "test_kernels_windows.py",
    "test_kernels_peers.py",
)
BUILDS = ("plain", "preempt", "asan", "tsan")
SECONDS = 400
"""Default time limit of one run of the suites; a mutant that reaches it hangs, and is caught. The kernels as they are
have more: they run all of them to the end."""

sys.path.insert(0, str(TESTS))
sys.path.insert(0, str(REPOSITORY / "tools"))

from emulated.runtime import BUILD_VARIABLE, sanitizer_environment  # noqa: E402
from mutant_list import MUTANTS, Mutant  # noqa: E402


@dataclass(frozen=True)
class Run:
    """How the suites are run: suites of the kernels as they are, which tests of each (pytest's -k), seconds at most."""

    suites: tuple[str, ...] = SUITES
    tests: str = ""
    seconds: float = SECONDS


@dataclass(frozen=True)
class Outcome:
    """What one build made of one mutant: ``verdict`` is ``"-"`` where it survived."""

    verdict: str
    seconds: float
    output: str


class Unusable(RuntimeError):
    """A run of the suites that says nothing about the mutant."""


def plant(mutant: Mutant | None, folder: Path) -> None:
    """Copy the kernels to ``folder`` and replace the mutant's text.

    Raises
    ------
    SystemExit
        The text does not occur exactly once (code 2).
    """
    for path in (path for path in KERNELS.rglob("*.cu*") if path.suffix in (".cu", ".cuh")):
        copy = folder / path.relative_to(KERNELS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    if mutant is None:
        return
    path = folder / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        print(f"{mutant.name}: the text occurs {text.count(mutant.old)} times in {mutant.file}:\n{mutant.old}")
        raise SystemExit(2)
    path.write_text(text.replace(mutant.old, mutant.new))


def run(mutant: Mutant | None, build: str, work: Path, how: Run) -> Outcome:
    """Run the suites of one build on one mutant (None: on the kernels as they are)."""
    name = re.sub(r"\W+", "-", mutant.name) if mutant else "unchanged"
    folder = work / f"{name}-{build}"
    folder.mkdir()
    plant(mutant, folder / "kernels")
    environment = dict(os.environ)
    if build in ("asan", "tsan"):
        environment = sanitizer_environment(build, folder)
    environment |= {
        BUILD_VARIABLE: build,
        "SIMT_KERNELS": str(folder / "kernels"),
        "SIMT_GRAPHS": "few",
        "XDG_CACHE_HOME": str(work / "cache"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-k", how.tests] if how.tests else []
    suites = (mutant.suites or SUITES) if mutant else how.suites
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, *(str(TESTS / "emulated" / suite) for suite in suites)],
            env=environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=how.seconds if mutant else 4 * how.seconds,
            check=False,
        )
        code, output = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        code, output = None, str(error.stdout)
    shutil.rmtree(folder)
    if code == 0 and " passed" not in output.strip().rpartition("\n")[2]:
        code = -1  # a sanitizer ends the process with 0 where the kernel's fault is its own end
    if "emulated.builds.CompileError" in output or (code not in (0, 1, None) and code >= 0):
        raise Unusable(f"{output[-4000:]}\n{name}, {build}: neither passed nor failed (exit code {code})")
    verdict = "hangs" if code is None else "-" if code == 0 else "crash" if code < 0 else _reason(output)
    return Outcome(verdict, time.perf_counter() - start, output)


REASONS = (
    ("data race", "race"),
    ("AddressSanitizer", "address"),
    ("undefined behaviour", "undefined"),
    ("stored past|stored before", "guard"),
    ("divergent|does not name|returned from the kernel", "divergent"),
    ("deadlock", "deadlock"),
    ("livelock|ran for more than", "livelock"),
    ("entered a frontier|queue|counter of|frontiers are|levels in the frontier|seen is not", "invariant"),
    ("points up|is no root|another component", "invariant"),
)


def _reason(output: str) -> str:
    """Return in a word what failed."""
    raised = "\n".join(line for line in output.splitlines() if line.startswith("E  "))
    return next((word for pattern, word in REASONS if re.search(pattern, raised)), "result")


def run_in_turn(mutant: Mutant | None, builds: Sequence[str], work: Path, how: Run) -> dict[str, Outcome]:
    """Run one build after the other until one catches the mutant; return the outcome of each that ran."""
    outcomes: dict[str, Outcome] = {}
    for build in builds:
        outcomes[build] = run(mutant, build, work, how)
        if outcomes[build].verdict != "-":
            break
    return outcomes


def submit(
    pool: ThreadPoolExecutor,
    subjects: Sequence[Mutant | None],
    builds: Sequence[str],
    work: Path,
    how: Run,
    *,
    first: bool,
) -> dict[Mutant | None, list[Future[dict[str, Outcome]]]]:
    """Have the builds of each subject run: side by side, or in turn where the ``first`` that catches it is enough.

    The kernels as they are run in all builds side by side in any case: each of them must pass.
    """
    return {
        subject: [
            pool.submit(run_in_turn, subject, group, work, how)
            for group in ([builds] if first and subject else [(build,) for build in builds])
        ]
        for subject in subjects
    }


def main() -> int:
    """Run the mutants; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-k", dest="text", default="", help="only mutants whose name this regular expression matches")
    parser.add_argument("--build", action="append", choices=BUILDS, help="only this build (repeatable)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", action="store_true", help="run no further build on a mutant that is caught")
    parser.add_argument("--tests", default="", help="only these tests of the suites, as pytest's -k names them")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="limit of one run of the suites (%(default)s)")
    parser.add_argument("--verbose", action="store_true", help="print how each was caught")
    options = parser.parse_args()
    builds = tuple(options.build or BUILDS)
    chosen = [mutant for mutant in MUTANTS if re.search(options.text, mutant.name)]
    asked = {suite for mutant in chosen for suite in mutant.suites or SUITES}
    how = Run(tuple(suite for suite in SUITES if suite in asked), options.tests, options.seconds)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        work = Path(folder)
        for mutant in chosen:
            plant(mutant, work / "try")
            shutil.rmtree(work / "try")
        subjects: list[Mutant | None] = [None, *chosen]
        futures = submit(pool, subjects, builds, work, how, first=options.first)
        print(f"{'mutant':<52}" + "".join(f"{build:>16}" for build in builds), flush=True)
        missed, useless = [], []
        for subject, outcomes in as_they_end(futures):
            if isinstance(outcomes, Unusable):
                print(outcomes, flush=True)
                useless.append(subject)
                continue
            _print_row(subject, outcomes, builds)
            if options.verbose and subject:
                _print_first_failures(outcomes)
            caught = any(outcome.verdict != "-" for outcome in outcomes.values())
            if caught != (subject is not None):
                missed.append(subject.name if subject else "the kernels as they are do not pass")
    count = len(chosen) - len(missed) - sum(subject is not None for subject in useless)
    print(f"{count} of {len(chosen)} caught in {time.perf_counter() - start:.0f} s")
    for name in missed:
        print(f"MISSED: {name}")
    return 2 if useless else 1 if missed else 0


Futures = dict[Mutant | None, list[Future[dict[str, Outcome]]]]


def as_they_end(futures: Futures) -> Iterator[tuple[Mutant | None, dict[str, Outcome] | Unusable]]:
    """Yield each subject when its last run has ended, so that a run that is cut off has said what it knows."""
    owner = {future: subject for subject, group in futures.items() for future in group}
    left = {subject: len(group) for subject, group in futures.items()}
    for future in as_completed(owner):
        subject = owner[future]
        left[subject] -= 1
        if left[subject]:
            continue
        try:
            yield subject, {build: outcome for run in futures[subject] for build, outcome in run.result().items()}
        except Unusable as error:
            yield subject, error


def _print_row(subject: Mutant | None, outcomes: dict[str, Outcome], builds: Sequence[str]) -> None:
    cells = "".join(
        f"{outcomes[b].verdict:>10} {outcomes[b].seconds:>3.0f} s" if b in outcomes else " " * 16 for b in builds
    )
    print(f"{subject.name if subject else '(the kernels as they are)':<52}{cells}", flush=True)


def _print_first_failures(outcomes: dict[str, Outcome]) -> None:
    for build, outcome in outcomes.items():
        failures = [line for line in outcome.output.splitlines() if line.startswith(("FAILED", "E  "))]
        for line in failures[:1] + failures[-1:]:
            print(f"    {build}: {line[:180]}")


if __name__ == "__main__":
    sys.exit(main())
