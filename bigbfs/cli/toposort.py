"""``bigbfs toposort``: topological order of a directed acyclic graph, timed and, if asked, verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.engine import Engine, Measured
from bigbfs.algorithms.topological.cycle import require_directed
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.result import TopologicalRecord
from bigbfs.cli import options, outputs, values
from bigbfs.cli.notes import with_notes
from bigbfs.graph.graph import Graph
from bigbfs.measures.rows_room import Rows
from bigbfs.report.jsonout import dumps, toposort_object
from bigbfs.report.progress import Progress
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
        outputs.look_at_disk(opened, Rows(output, "output", np.int64, alone=True), Rows(levels, "levels", np.int32))
        with options.placed(opened, (task.how,), **where) as engine:
            with Progress().step("find the rounds"):
                measured = engine.measure(task.how, trials=trials, verify=verify)
            with outputs.writing(lambda: _write(measured, task)) as wrote, outputs.report_beside((output, levels)):
                if as_json:
                    found = toposort_object(opened, engine, open_seconds, measured)
                    click.echo(dumps(with_notes(found) | {"wrote": outputs.as_json(wrote)}))
                    return
                _print(opened, engine, open_seconds, measured, task, wrote)


def _print(
    graph: Graph, engine: Engine, opening: float, measured: Measured, task: Task, wrote: list[outputs.Written]
) -> None:
    """Print what was found, and ``wrote``."""
    click.echo(options.describe(graph))
    click.echo(options.describe_engine(engine))
    click.echo("")
    _print_runs(measured)
    click.echo("\n" + options.setup_line(engine, opening, measured.verify_seconds if task.verify else None))
    click.echo(f"memory      host {format_size(engine.bytes.host)}, device {format_size(engine.bytes.device)}")
    if line := options.disturbed_line(sum(measured.disturbed), task.trials):
        click.echo(line)
    for file in wrote:
        click.echo(file.line())


def _write(measured: Measured, task: Task) -> Iterator[outputs.Written | None]:
    """Write what was asked for."""
    if task.order is None and task.levels is None:
        return
    result = measured.result
    if task.order is not None:
        yield outputs.write_order(task.order, "output", result.order, result.vertices)
    if task.levels is not None:
        yield outputs.write_result(task.levels, "levels", result.rounds, "round", result.vertices)


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
