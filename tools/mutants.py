"""Plant bugs into copies of the kernels and report which build of the emulation catches which.

In: the kernels of the package; each mutant replaces a text that occurs exactly once in one file. Out: a line for each
run of a mutant in a build, and with --rows a JSON line (``Row``). A mutant is caught when a test that can see it fails,
hangs or crashes, which passes on the kernels as they are. The build that is likeliest to catch it comes first; the
others follow until one does, and then those that are left, of all mutants (not with --first). Exit code 0: every mutant
is caught; 1: not so, or the kernels as they are do not pass; 2: a text to replace was not found once, a mutant does not
compile, or the tests cannot run; 3: time was up before some had run to their end, who are named.

    python tools/mutants.py --first              # each until a build catches it: about two hours of a core
    python tools/mutants.py -k "varint|hub"      # some, in all builds
    python tools/mutants.py --rows rows.jsonl    # what the file has of those that are caught is not run again
    python tools/mutants.py --unchanged F.jsonl  # which test launches what: read, or made if it is not there (slow)
    python tools/mutants.py --seconds 460        # ends by itself
    python tools/mutant_page.py rows.jsonl       # makes docs/results/mutants.md of them
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock

from mutant import BUILDS, REPOSITORY, TESTS, Mutant
from mutant_list import MUTANTS
from mutant_run import Limits, Order, OutOfTime, Unusable, fixed_addresses, libraries, run
from mutant_tests import SUITES, Unchanged, state

sys.path.insert(0, str(TESTS))

from emulated.builds import missing

LIMIT = 240
"""Seconds that a test may take by default; who takes longer hangs."""


@dataclass(frozen=True)
class Row:
    """What one build made of one mutant: verdict "passed", or in a word how ``test`` failed; ``ran`` tests."""

    mutant: str
    file: str
    build: str
    verdict: str
    seconds: float
    ran: int
    test: str
    message: str
    digest: str
    commit: str

    @property
    def caught(self) -> bool:
        """Whether the build saw the bug."""
        return self.verdict not in ("passed", "not run")


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file; none if it is not there."""
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def commit() -> str:
    """Return the commit of the checkout, "" where nobody knows it."""
    if shutil.which("git") is None:
        return ""
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@dataclass
class Tally:
    """What has come of the mutants: rows by mutant, runs that said nothing, mutants whose runs time cut off."""

    rows: dict[str, list[Row]]
    useless: list[str]
    cut: list[str]

    def report(self, chosen: Sequence[Mutant], builds: Sequence[str], seconds: float) -> int:
        """Print what is to be known at the end; return the exit code."""
        caught = [m for m in chosen if any(row.caught for row in self.rows[m.name])]
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cores = used.ru_utime + used.ru_stime
        print(f"{len(caught)} of {len(chosen)} caught in {seconds:.0f} s, {cores:.0f} s of cores")
        open_ = [m for m in chosen if m not in caught]
        missed = [m for m in open_ if {row.build for row in self.rows[m.name]} >= set(builds)]
        for mutant in missed:
            print(f"MISSED: {mutant.name}")
        for mutant in (m for m in open_ if m not in missed):
            print(f"NOT RUN TO ITS END: {mutant.name} (passed: {', '.join(r.build for r in self.rows[mutant.name])})")
        for text in self.useless:
            print(f"SAYS NOTHING: {text}")
        if self.cut:
            print(f"time was up before {len(self.cut)} turns had come to their end")
        return 2 if self.useless else 1 if missed else 3 if len(caught) < len(chosen) else 0


class Runs:
    """Runs of mutants side by side, whose rows are written as they end."""

    def __init__(self, work: Path, unchanged: Unchanged, limits: Limits, rows: Path | None, tests: str = "") -> None:
        self.work = work
        self.unchanged = unchanged
        self.limits = limits
        self.rows = rows
        self.tests = tests
        self.commit = commit()
        self._lock = Lock()
        self._sound: dict[tuple[str, str], Lock] = {}
        self._proved: dict[tuple[str, str], bool] = {}

    def one(self, mutant: Mutant, build: str) -> Row:
        """Run the tests that can see a mutant in one build."""
        if time.monotonic() > self.limits.end:
            raise OutOfTime
        order = replace(self.unchanged.order(mutant), tests=self.tests)
        outcome = run(mutant, build, order, self.work, self.limits)
        if outcome.verdict != "passed" and not self._passes_unchanged(outcome.test, build):
            raise Unusable(f"{outcome.test} fails on the kernels as they are, too")
        if outcome.verdict == "passed" and not any(row["outcome"] == "passed" for row in outcome.rows):
            raise Unusable("no test can see it")
        message = outcome.message.partition("\n")[0][:200]
        row = Row(
            mutant.name, mutant.file, build, outcome.verdict, outcome.seconds, len(outcome.rows), outcome.test,
            message, mutant.digest(), self.commit,
        )  # fmt: skip
        self._tell(row)
        return row

    def in_turn(self, mutant: Mutant, builds: Sequence[str], tally: Tally) -> int:
        """Run one build after the other until one catches the mutant; return how many have run."""
        for number, build in enumerate(builds):
            try:
                row = self.one(mutant, build)
            except Unusable as error:
                told = f"{mutant.name}, {build}: {error}"
                print(told, flush=True)
                tally.useless.append(told.partition("\n")[0])
                continue
            except OutOfTime:
                tally.cut.append(f"{mutant.name}, {build}")
                break
            tally.rows[mutant.name].append(row)
            if row.caught:
                return number + 1
        return len(builds)

    def _passes_unchanged(self, test: str, build: str) -> bool:
        """Return whether a test passes on the kernels as they are: by the record of this state, or by running it."""
        if self.unchanged.passes(test):
            return True
        with self._lock:
            lock = self._sound.setdefault((test, build), Lock())
        with lock:
            if (test, build) not in self._proved:
                order = Order((Path(test.split("::")[0]).name,), only=test)
                outcome = run(None, build, order, self.work, self.limits)
                self._proved[test, build] = outcome.verdict == "passed" and len(outcome.rows) == 1
            return self._proved[test, build]

    def _tell(self, row: Row) -> None:
        with self._lock:
            print(f"{row.mutant:<72} {row.build:<8} {row.verdict:<10} {row.seconds:>4.0f} s {row.ran:>4}", flush=True)
            if self.rows:
                with self.rows.open("a") as stream:
                    stream.write(json.dumps(asdict(row)) + "\n")


def see_unchanged(suites: Sequence[str], pool: ThreadPoolExecutor, runs: Runs) -> list[str]:
    """Run the suites on the kernels as they are, for ``runs`` to know what each test launches; return what fails."""
    futures = [pool.submit(run, None, "plain", Order((suite,)), runs.work, runs.limits, on=True) for suite in suites]
    failed = []
    for outcome in (future.result() for future in as_completed(futures)):
        runs.unchanged.add([{"state": state(), **row} for row in outcome.rows])
        failed += [f"{row['test']}: {row['message']}" for row in outcome.rows if row["outcome"] == "failed"]
        failed += [f"{outcome.test}: {outcome.message}"] if outcome.test else []
        print(f"(the kernels as they are) {len(outcome.rows)} tests in {outcome.seconds:.0f} s", flush=True)
    return failed


Left = dict[Mutant, tuple[str, ...]]


def todo(chosen: Sequence[Mutant], builds: tuple[str, ...], rows: Sequence[Row]) -> Left:
    """Return the builds of each mutant of which ``rows`` has none about its present text; all where none has caught it,
    for there may be a new test."""
    caught = {(row.digest, row.mutant) for row in rows if row.caught}
    there = {(row.digest, row.mutant, row.build) for row in rows if (row.digest, row.mutant) in caught}
    return {
        mutant: tuple(b for b in mutant.builds_in_turn(builds) if (mutant.digest(), mutant.name, b) not in there)
        for mutant in chosen
    }


def run_all(
    left: dict[Mutant, tuple[str, ...]], runs: Runs, pool: ThreadPoolExecutor, tally: Tally, first: bool
) -> None:
    """Run every mutant until a build catches it; then, unless ``first``, the builds that are left."""
    pending: dict[Future[int], tuple[Mutant, tuple[str, ...]]] = {}

    def submit(mutant: Mutant, builds: tuple[str, ...]) -> None:
        if builds:
            pending[pool.submit(runs.in_turn, mutant, builds, tally)] = (mutant, builds)

    caught = [mutant for mutant in left if any(row.caught for row in tally.rows[mutant.name])]
    for mutant in (mutant for mutant in left if mutant not in caught):
        submit(mutant, left[mutant])
    for mutant, build in ((m, build) for m in caught for build in left[m] if not first):
        submit(mutant, (build,))
    while pending:
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            mutant, builds = pending.pop(future)
            for build in builds[future.result() :] if not first else ():
                submit(mutant, (build,))


def parse() -> argparse.Namespace:
    """Return what is asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-k", dest="text", default="", help="only mutants whose name this regular expression matches")
    parser.add_argument("--build", action="append", choices=BUILDS, help="only this build (repeatable)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", action="store_true", help="run no further build on a mutant that is caught")
    parser.add_argument("--tests", default="", help="only these tests of the suites, as pytest's -k names them")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that a test may take (%(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many, with what there is")
    parser.add_argument("--rows", type=Path, help="JSON lines to add to; what they have is not run again")
    parser.add_argument("--unchanged", type=Path, help="what the tests launch: read, or made where it is not there")
    return parser.parse_args()


def main() -> int:
    """Run the mutants; return the exit code."""
    options = parse()
    start = time.monotonic()
    builds = tuple(options.build or BUILDS)
    chosen = [mutant for mutant in MUTANTS if re.search(options.text, mutant.name)]
    for build in builds:
        if missing(build):
            print(f"build {build} cannot be made here, and says nothing: {missing(build)}")
    here = tuple(build for build in builds if not missing(build))
    if "plain" not in here and not (options.unchanged and options.unchanged.exists()):
        return 2
    rows = read_rows(options.rows) if options.rows else []
    try:
        left = todo(chosen, here, rows)
    except ValueError as error:
        print(error)
        return 2
    tally = Tally({m.name: [r for r in rows if (r.mutant, r.digest) == (m.name, m.digest())] for m in chosen}, [], [])
    fixed_addresses()
    limits = Limits(options.limit, start + options.seconds)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        libraries(Path(folder))
        runs = Runs(Path(folder), Unchanged(options.unchanged), limits, options.rows, options.tests)
        try:
            if not runs.unchanged.there:
                suites = {suite for mutant in chosen for suite in mutant.suites or SUITES}
                failed = see_unchanged([s for s in SUITES if s in suites], pool, runs)
                if failed:
                    print("the kernels as they are do not pass:", *failed, sep="\n")
                    return 1
            run_all(left, runs, pool, tally, options.first)
        except OutOfTime:
            print("time was up while the kernels as they are still ran")
        except Unusable as error:
            print(error)
            return 2
    return tally.report(chosen, builds, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
