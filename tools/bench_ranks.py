"""Run a suite on several ranks: every source proved, each measurement beside what a model said of it before.

    python tools/bench_ranks.py --suite configs/bench-ranks.toml          # GPUs of one host
    python tools/bench_ranks.py --suite configs/bench-ranks.toml --dry    # the same shapes, small, on CPU ranks
    python tools/rank_table.py bench-ranks/rows.jsonl                     # tables of docs/notebook/ranks-predicted.md

Graphs are generated once, into ``--folder``, and removed when no row needs them any more. Each measurement is a run of
``bigbfs bfs`` or ``cc`` and a JSON line of ``--output``. What has no room here is left out, and the line says why. A
suite that was stopped goes on where it was when it is started again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rank_suite import cases, figures, lines, places, predictions, runs
from rank_suite.cases import Measurement
from rank_suite.predictions import Facts

import bigbfs
from bigbfs.bench.machine import commit, cores
from bigbfs.config import RankRates
from bigbfs.errors import BigBfsError, DoesNotFitError, VerificationError


@dataclass
class Session:
    """One run of a suite.

    Attributes
    ----------
    runner
        Of the commands.
    machine
        What there is here.
    folder, output
        Of the graphs; of the lines.
    section
        ``rows`` or ``dry``.
    about
        What every line says.
    rates
        Of CPU ranks, by their number, as far as they were measured.
    facts
        Of the graphs, by file.
    statuses
        Of what was run.
    """

    runner: runs.Runner
    machine: places.Machine
    folder: Path
    output: Path
    section: str
    about: dict[str, Any]
    rates: dict[int, RankRates] = field(default_factory=dict)
    facts: dict[str, Facts] = field(default_factory=dict)
    statuses: list[str] = field(default_factory=list)

    def line(self, measurement: Measurement) -> dict[str, Any]:
        """Return what a line says before anything was run."""
        return self.about | {
            "section": self.section,
            "row": measurement.row.name,
            "work": measurement.work,
            "ranks": measurement.ranks,
            "asked": measurement.asked(),
            "machine": places.facts(self.machine),
        }

    def keep(self, line: dict[str, Any], status: str, reason: str | None = None) -> None:
        """Write ``line``."""
        say(f"{line['row']}, {line['work']}, {line['ranks']}: {status}{'' if reason is None else f': {reason}'}")
        self.statuses.append(status)
        lines.append(self.output, line | {"status": status, "reason": reason})

    def predicted(self, measurement: Measurement, path: Path | None) -> dict[str, Any]:
        """Return what a model says of ``measurement``, on the graph of ``path``, and when it was asked."""
        now = {"at": _now()}
        if measurement.row.on_gpus:
            return predictions.of_gpus(measurement) | now
        assert path is not None
        for ranks in (1, measurement.ranks):
            if ranks not in self.rates:
                self.rates[ranks] = runs.probe(self.runner, ranks)
        # the speed of one rank alone is the same for all: what several take of each other is the model's part
        rates = replace(self.rates[measurement.ranks], vertex_seconds=self.rates[1].vertex_seconds)
        if path.name not in self.facts:
            self.facts[path.name] = facts_of(path)
        return predictions.of_cpus(measurement, self.facts[path.name], rates, cores()) | now

    def measure(self, measurement: Measurement) -> None:
        """Make the graph where it is missing, predict, measure, and write the line."""
        self.machine = places.look_again(self.machine, self.folder)
        line = self.line(measurement)
        if measurement.row.on_gpus:
            line["predicted"] = self.predicted(measurement, None)
        reason = places.no_ranks(measurement, self.machine)
        if reason is None and not (self.folder / measurement.file()).exists():
            reason = places.no_room(measurement, self.machine)
        if reason is not None:
            self.keep(line, "left out", reason)
            return
        try:
            path = runs.generate(self.runner, measurement, self.folder)
            line["predicted"] = self.predicted(measurement, path)
            asked = runs.arguments(measurement, path)
            line |= {"command": runs.command(asked), "started": _now()}
            found = figures.of(measurement, self.runner.object_of(asked))
        except DoesNotFitError as error:
            self.keep(line, "left out", str(error))
        except VerificationError as error:
            self.keep(line, "wrong", str(error))
        except BigBfsError as error:
            self.keep(line, "failed", str(error))
        else:
            self.keep(line | found, "measured")


def facts_of(path: Path) -> Facts:
    """Return what a model needs to know of the graph in ``path``."""
    with bigbfs.open(path) as graph:
        return Facts(graph.n, int(np.count_nonzero(graph.degrees())), graph.m)


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"[{time.strftime('%H:%M:%S', time.gmtime())}] {text}", file=sys.stderr, flush=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def asked_for(suite: cases.Suite, section: str, only: str | None, machine: places.Machine) -> Iterator[Measurement]:
    """Yield the measurements of a section, of rows whose name has ``only`` in it."""
    for row in getattr(suite, section):
        if only is not None and only.lower() not in row.name.lower():
            continue
        # a scale is looked for where there is something to run on; else the row stands as it is written
        fitting = row if row.on_gpus and not machine.gpus else places.largest(row, suite.seed, machine)
        yield from cases.measurements(fitting, suite.seed)


def run(session: Session, wanted: list[Measurement], until: float, keep_graphs: bool) -> None:
    """Measure what is ``wanted`` and not done; start nothing after the time ``until``."""
    before = lines.read([session.output])
    asked = [(each, session.line(each)) for each in wanted]
    pending = [each for each, line in asked if not lines.done(line, before.get(lines.key_of(line)))]
    files = list(dict.fromkeys(each.file() for each in pending))
    pending.sort(key=lambda each: files.index(each.file()))  # a graph is there no longer than it takes
    say(f"{len(pending)} of {len(wanted)} measurements to do")
    for at, each in enumerate(pending):
        if time.monotonic() > until:
            say(f"no time for {len(pending) - at} of them; start it again to go on")
            return
        session.measure(each)
        if not keep_graphs and each.file() not in {other.file() for other in pending[at + 1 :]}:
            (session.folder / each.file()).unlink(missing_ok=True)


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", required=True, type=Path, help="TOML file in configs/")
    parser.add_argument("--dry", action="store_true", help="the small rows, on CPU ranks")
    parser.add_argument("--only", metavar="TEXT", help="rows whose name has this in it")
    parser.add_argument("--folder", type=Path, default=Path("bench-ranks"), help="for graphs; default: bench-ranks")
    parser.add_argument("--output", type=Path, help="JSON lines; default: rows.jsonl in the folder")
    parser.add_argument("--seconds", type=float, default=1e9, help="start nothing new after so many")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that one command may take")
    parser.add_argument("--keep-graphs", action="store_true", help="do not remove graphs that no row needs any more")
    parser.add_argument("--commit", help="what is measured, where that is no checkout")
    return parser.parse_args()


def main() -> None:
    """Run the suite; exit 3 where a result was wrong, 1 where something failed."""
    given = options()
    runs.stopped_cleanly()
    suite = cases.read(given.suite)
    given.folder.mkdir(parents=True, exist_ok=True)
    output = given.output or given.folder / "rows.jsonl"
    lines.mend(output)
    about = {"bigbfs": bigbfs.__version__, "commit": given.commit or commit(), "suite": given.suite.name}
    machine, section = places.look(given.folder), "dry" if given.dry else "rows"
    session = Session(runs.Runner(given.timeout), machine, given.folder, output, section, about)
    wanted = list(asked_for(suite, section, given.only, machine))
    if not wanted:
        raise bigbfs.errors.UsageError(f"--only {given.only}: no row of {given.suite} has that in its name")
    run(session, wanted, time.monotonic() + given.seconds, given.keep_graphs)
    say(f"lines: {output}; tables: python tools/rank_table.py {output}")
    sys.exit(3 if "wrong" in session.statuses else int("failed" in session.statuses))


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"bench_ranks: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
