"""``bigbfs bench cc``: connected components by every algorithm under every switch, as a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.components.options import ALGORITHMS, ComponentsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.cli import options, values
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.report.jsonout import bench_cc_object, dumps
from bigbfs.report.progress import Progress
from bigbfs.report.table import table

VARIANTS = (
    ComponentsOptions(),
    *(ComponentsOptions(rounds=rounds) for rounds in (0, 1, 2, 4)),
    ComponentsOptions(skip_giant=False),
    ComponentsOptions(single_pass=True),
    ComponentsOptions(skip_giant=False, single_pass=True),
    *(ComponentsOptions("sv", skip_giant=skip, single_pass=once) for once in (False, True) for skip in (None, False)),
    *(ComponentsOptions("labelprop", single_pass=once) for once in (False, True)),
)
"""What ``bench cc`` runs: report 003's rows (pruning on and off, one pass or as many as it takes), and more rounds."""


@click.command("cc")
@options.graph_argument
@click.option(
    "--algorithm", "algorithms", type=click.Choice(ALGORITHMS), multiple=True, help="Repeatable. Default: all."
)
@options.compressed_option
@options.where_options
@click.option("--trials", type=click.IntRange(1), default=3, show_default=True, help="Runs of each; the median counts.")
@values.json_option
def command(
    graph: Path | None,
    algorithms: tuple[str, ...],
    compressed: bool,
    trials: int,
    as_json: bool,
    **where: Any,
) -> None:
    """Connected components by every algorithm under every switch.

    The labels of the first row are verified, those of the others must be the same (exit 3 if not). edges read: ids read
    from rows; the table of strongest neighbours is apart. left: merges that a single pass left to the finishing one.
    Label propagation takes as many passes as the graph is wide: leave it out for grids and roads (--algorithm).
    """
    chosen = [each for each in VARIANTS if each.algorithm in (algorithms or ALGORITHMS)]
    options.check_where(where)
    with (
        options.opened(graph, compressed) as (opened, open_seconds),
        options.placed(opened, tuple(chosen[:1]), **where) as engine,
    ):
        told = Progress()
        with told.step("run"):
            rows = _run(opened, engine, chosen, trials, told)
        if as_json:
            click.echo(dumps(bench_cc_object(opened, engine, open_seconds, rows)))
            return
        click.echo(options.describe(opened))
        click.echo(options.describe_engine(engine))
        click.echo("")
        headers = ("algorithm", "rounds", "skip giant", "one pass", "ms", "edges read", "passes", "left")
        click.echo(table(headers, [_cells(row) for row in rows]))
        if line := options.disturbed_line(sum(row["disturbed"] for row in rows), trials * len(rows)):
            click.echo("\n" + line)


def _run(
    graph: Graph, engine: Engine, chosen: list[ComponentsOptions], trials: int, told: Progress
) -> list[dict[str, Any]]:
    """Return one row for each variant."""
    rows: list[dict[str, Any]] = []
    labels: np.ndarray | None = None
    for number, how in enumerate(chosen):
        name = f"run {how.algorithm}, {number + 1} of {len(chosen)}"
        told.now(name)
        told.phase(name)
        engine.run_internal(how)  # warm: caches and pages as every timed run finds them
        measured = engine.measure(how, trials=trials, verify=labels is None)
        found = measured.internal.labels
        if labels is None:
            labels = found
        if not np.array_equal(found, labels):
            raise VerificationError(f"{graph.path}: the labels of {how} differ from those of {chosen[0]}")
        record = measured.records[-1]
        rows.append(
            asdict(how)
            | {"skip_giant": how.skips_giant, "seconds": measured.seconds}
            | {"edges_read": record.edges_read, "passes": record.passes, "left": record.left}
            | {"disturbed": sum(measured.disturbed)}
        )
    return rows


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of a row of the table."""
    rounds = "-" if row["algorithm"] != "afforest" else "auto" if row["rounds"] is None else str(row["rounds"])
    once = "yes" if row["single_pass"] else "no"
    skips = "on" if row["skip_giant"] else "off"
    figures = (1e3 * row["seconds"], row["edges_read"], row["passes"], row["left"] if row["single_pass"] else None)
    return (row["algorithm"], rounds, skips, once, *figures)
