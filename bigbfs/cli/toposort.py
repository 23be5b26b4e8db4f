"""``bigbfs toposort``: topological order of a directed acyclic graph, timed and, if asked, verified."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bigbfs import api
from bigbfs.algorithms.engine import Measured
from bigbfs.algorithms.topological.cycle import require_directed
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.result import TopologicalRecord
from bigbfs.cli import options
from bigbfs.cli.arrays import check_writable, write_npy
from bigbfs.report.jsonout import dumps, toposort_object
from bigbfs.report.table import table
from bigbfs.sizes import format_size


@dataclass(frozen=True)
class Task:
    """What one invocation asks for."""

    how: TopologicalOptions
    trials: int
    verify: bool
    order: Path | None
    levels: Path | None


@click.command("toposort")
@options.graph_argument
@click.option(
    "-o",
    "--output",
    type=options.PATH,
    metavar="F.npy",
    help="Write the order: int64 original ids, by round and in a round ascending.",
)
@click.option(
    "--levels",
    type=options.PATH,
    metavar="F.npy",
    help="Write int32 rounds, the edges on the longest path to each vertex; by ascending original id.",
)
@options.compressed_option
@options.where_options
@click.option(
    "--hand-over/--no-hand-over",
    default=True,
    show_default=True,
    help="Let a GPU run go on on the CPU where rounds are thin for long and the CPU is expected to be quicker.",
)
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="Runs.")
@options.verify_option
@options.json_option
def command(
    graph: Path | None,
    output: Path | None,
    levels: Path | None,
    compressed: bool,
    hand_over: bool,
    trials: int,
    verify: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Topological order of a directed acyclic graph: every vertex before those that it points to.

    GRAPH is a .csrbin or .ccsr made with --directed; without it, the newest one in this folder. Kahn's algorithm, in
    rounds. A graph with a cycle ends with exit code 1, and the message names vertices on it.
    """
    task = Task(TopologicalOptions(hand_over), trials, verify, output, levels)
    check_writable(output, "-o")
    check_writable(levels, "--levels")
    options.check_where(where)
    with options.opened(graph, compressed) as (opened, open_seconds):
        require_directed(opened)
        with api.engine(opened, work=(task.how,), **where) as engine:
            measured = engine.measure(task.how, trials=trials, verify=verify)
            _write(measured, task)
            if as_json:
                click.echo(dumps(toposort_object(opened, engine, open_seconds, measured.records)))
                return
            click.echo(options.describe(opened))
            click.echo(options.describe_engine(engine))
            click.echo("")
            _print_runs(measured)
            verifying = measured.verify_seconds if verify else None
            click.echo("\n" + options.setup_line(engine, open_seconds, verifying))
            click.echo(f"memory      host {format_size(engine.bytes.host)}, device {format_size(engine.bytes.device)}")


def _write(measured: Measured, task: Task) -> None:
    """Write what was asked for."""
    if task.order is None and task.levels is None:
        return
    result = measured.result
    if task.order is not None:
        write_npy(task.order, result.order, "-o")
    if task.levels is not None:
        write_npy(task.levels, result.rounds, "--levels")


def _print_runs(measured: Measured) -> None:
    record: TopologicalRecord = measured.records[0]
    verified = "not asked" if record.verified is None else record.verified
    ran = ", ".join(f"{count:,} by {where}" for where, count in record.ran.items() if count) or "none"
    headers = ("rounds", "widest", "thin", "edges", "ms", "MTEPS", "verified", "rounds ran")
    seconds = measured.seconds
    mteps = record.edges / seconds / 1e6 if seconds > 0 else 0.0
    click.echo(
        table(headers, [(record.rounds, record.widest, record.thin, record.edges, 1e3 * seconds, mteps, verified, ran)])
    )
