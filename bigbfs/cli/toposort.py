"""``bigbfs toposort``: topological order of a directed acyclic graph, timed and, if asked, verified."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from bigbfs.algorithms.engine import Measured
from bigbfs.algorithms.topological.cycle import require_directed
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.result import TopologicalRecord
from bigbfs.cli import options, outputs, values
from bigbfs.report.jsonout import dumps, toposort_object
from bigbfs.report.progress import Progress
from bigbfs.report.table import table
from bigbfs.sizes import format_size


@dataclass(frozen=True)
class Task:
    """What one invocation asks for; ``wrote`` is filled while it runs."""

    how: TopologicalOptions
    trials: int
    verify: bool
    order: Path | None
    levels: Path | None
    wrote: list[outputs.Written] = field(default_factory=list)


@click.command("toposort")
@options.graph_argument
@values.output_option(
    "-o",
    "--output",
    metavar="F",
    help="Write the order: int64 original ids, by round and in a round ascending.",
)
@values.output_option(
    "--levels",
    metavar="F",
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
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    output: Path | None,
    levels: Path | None,
    compressed: bool,
    hand_over: bool,
    trials: int,
    verify: bool,
    force: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Topological order of a directed acyclic graph: every vertex before those that it points to.

    GRAPH is a .csrbin or .ccsr made with --directed; without it, the newest one in this folder. Kahn's algorithm, in
    rounds. A graph with a cycle ends with exit code 1, and the message names vertices on it.
    """
    task = Task(TopologicalOptions(hand_over), trials, verify, output, levels)
    outputs.check_array(output, "output", force)
    outputs.check_array(levels, "levels", force)
    outputs.check_streams((output, levels), as_json)
    options.check_where(where)
    with options.opened(graph, compressed) as (opened, open_seconds):
        require_directed(opened)
        with options.placed(opened, (task.how,), **where) as engine:
            with Progress().step("find the rounds"):
                measured = engine.measure(task.how, trials=trials, verify=verify)
            _write(measured, task)
            if as_json:
                found = toposort_object(opened, engine, open_seconds, measured)
                click.echo(dumps(found | {"wrote": outputs.as_json(task.wrote)}))
                return
            with outputs.report_beside((output, levels)):
                click.echo(options.describe(opened))
                click.echo(options.describe_engine(engine))
                click.echo("")
                _print_runs(measured)
                verifying = measured.verify_seconds if verify else None
                click.echo("\n" + options.setup_line(engine, open_seconds, verifying))
                size = format_size(engine.bytes.host), format_size(engine.bytes.device)
                click.echo(f"memory      host {size[0]}, device {size[1]}")
                if line := options.disturbed_line(sum(measured.disturbed), trials):
                    click.echo(line)
                for file in task.wrote:
                    click.echo(file.line())


def _write(measured: Measured, task: Task) -> None:
    """Write what was asked for."""
    if task.order is None and task.levels is None:
        return
    result = measured.result
    wrote: list[outputs.Written | None] = []
    if task.order is not None:
        wrote.append(outputs.write_order(task.order, "output", result.order, result.vertices))
    if task.levels is not None:
        wrote.append(outputs.write_result(task.levels, "levels", result.rounds, "round", result.vertices))
    task.wrote.extend(file for file in wrote if file is not None)


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
