"""Commands of ``bigbfs`` as child processes: generating, probing, measuring. Each prints one JSON object.

A child that is waited for ends with this process, and one that takes too long is ended: by SIGTERM, which mpiexec
passes on to its ranks.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bigbfs.config import RankRates, from_table
from bigbfs.errors import BigBfsError, DoesNotFitError, VerificationError
from bigbfs.generate.catalogue import find
from bigbfs.sizes import free_memory
from rank_suite.cases import Measurement
from rank_suite.places import SHARE

LAST_WORDS = 300
"""Characters of an error message that a line of results keeps."""

END_SECONDS = 10.0
"""How long a child may take to end."""


class RunError(BigBfsError):
    """A command of bigbfs has failed, or took too long."""


@dataclass(frozen=True)
class Runner:
    """How commands are run: ``seconds`` that each may take at most."""

    seconds: float

    def object_of(self, arguments: list[str]) -> dict[str, Any]:
        """Run ``bigbfs`` with ``arguments`` and ``--json``; return the object that it prints.

        Raises
        ------
        DoesNotFitError, VerificationError
            As the command has ended, by its exit code.
        RunError
            It has ended otherwise, or not in time.
        """
        line = [sys.executable, "-m", "bigbfs", *arguments, "--json"]
        child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            printed, said = child.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            _end(child)
            raise RunError(f"ended after {self.seconds:g} s") from None
        except BaseException:
            _end(child)
            raise
        if child.returncode == 0:
            found: dict[str, Any] = json.loads(printed)
            return found
        kind = {DoesNotFitError.exit_code: DoesNotFitError, VerificationError.exit_code: VerificationError}
        raise kind.get(child.returncode, RunError)(said.strip()[-LAST_WORDS:] or f"exit code {child.returncode}")


def _end(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.communicate(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def generate(runner: Runner, measurement: Measurement, folder: Path) -> Path:
    """Return the graph's file in ``folder``, which is made where it is missing.

    One by degree that does not fit into memory is made as drawn, and ordered by way of the disk.

    Raises
    ------
    DoesNotFitError, RunError
        It could not be made.
    """
    row, target = measurement.row, folder / measurement.file()
    if target.exists():
        return target
    line = ["generate", row.kind, "--seed", str(measurement.seed), "--memory", str(int(SHARE * free_memory()))]
    options = {parameter.name: parameter.option for parameter in find(row.kind).parameters}
    for name, value in measurement.parameters.items():
        option = options[name]
        line += [option if value else f"--no-{option[2:]}"] if isinstance(value, bool) else [option, str(value)]
    try:
        runner.object_of([*line, "--order", row.order, "-o", str(target)])
    except DoesNotFitError:
        if row.order == "original":
            raise
        drawn = folder / f"drawn-{target.stem}.csrbin"
        try:
            runner.object_of([*line, "-o", str(drawn)])
            by_disk = ["convert", str(drawn), "-o", str(target), "--order", row.order]
            runner.object_of(by_disk)
        finally:
            drawn.unlink(missing_ok=True)
    return target


def probe(runner: Runner, ranks: int) -> RankRates:
    """Return what so many CPU ranks can do here.

    Raises
    ------
    RunError
        They could not be started.
    """
    found = runner.object_of(["probe", "--ranks", str(ranks)])["ranks"]
    return from_table(RankRates, found, "bigbfs probe --ranks")


def arguments(measurement: Measurement, path: Path) -> list[str]:
    """Return the command line that measures; ranks are an option of it, started by the tool's own mpiexec."""
    row = measurement.row
    line = [measurement.work, str(path), "--trials", str(row.trials), "--verify", *_ranks(measurement)]
    if measurement.work == "bfs":
        line += ["--sources", f"random:{row.sources}", "--seed", str(measurement.seed), "--strategy", row.strategy]
    return line


def _ranks(measurement: Measurement) -> list[str]:
    row, count = measurement.row, measurement.ranks
    if not row.on_gpus:
        return ["--ranks", str(count), "--threads", str(row.threads)]
    several = ["--gpus", str(count)] if count > 1 else []  # one GPU is the engine that knows nothing of ranks
    if several and measurement.work == "cc" and row.order == "degree":
        several += ["--partition", "words"]  # else one GPU alone finds the components of such a graph
    return ["--backend", "gpu", "--residency", row.residency, *several]


def command(line: list[str]) -> str:
    """Return ``line`` for people, without the folders of this machine."""
    return " ".join(["bigbfs", *(Path(word).name if "/" in word else word for word in line), "--json"])


def stopped_cleanly() -> None:
    """Turn SIGTERM into an exception, so that what was started ends too."""

    def stop(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
