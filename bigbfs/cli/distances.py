"""``bigbfs distances``: levels from many sources to all vertices or to some, as an array in a file or as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bigbfs.algorithms.engine import Engine
from bigbfs.cli import manyopts, options, outputs
from bigbfs.cli.manyopts import sources_of
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.distances import Distances, checked_output, distances, sweep
from bigbfs.measures.placing import chosen
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress
from bigbfs.report.table import table

SHOWN = 100
"""Pairs of source and target at most that are shown."""


@click.command("distances")
@options.graph_argument
@click.option("--source", "one", type=int, multiple=True, metavar="V", help="Source (original id); repeatable.")
@click.option("--sources", metavar="all|random:K|@F|V,V", help="Sources: every vertex, K random ones, ids in a file.")
@click.option("--targets", metavar="all|random:K|@F|V,V", help="Distances to these alone.  [default: all]")
@click.option("-o", "--output", type=options.PATH, metavar="F.npy|csv", help="Write the distances, as they come.")
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Look no further than distance D.")
@manyopts.seed_option
@options.compressed_option
@manyopts.threads_option
@options.verify_option
@manyopts.top_option
@outputs.force_option
@options.json_option
def command(
    graph: Path | None,
    one: tuple[int, ...],
    sources: str | None,
    targets: str | None,
    output: Path | None,
    max_depth: int | None,
    seed: int,
    compressed: bool,
    threads: int | None,
    verify: bool,
    top: int,
    force: bool,
    as_json: bool,
) -> None:
    """Distances from many sources at once, on the CPU: each row of edges is read for up to 512 of them.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. F.npy has a row for each source, in the
    order asked for, and a column for each target, by ascending id: int16, or int32 where a distance needs it; -1
    unreached. F.csv has a line for each pair with a path. `--sources all -o D.npy` is all-pairs shortest paths.
    """
    starts, tos = sources_of(sources, one), sources_of(targets)
    if starts is None:
        raise UsageError("give the sources with --source V or --sources all, random:K, @FILE or ids with commas")
    if output is not None:
        outputs.check_output(checked_output(output), "output", force)
    with options.opened(graph, compressed) as (opened, open_seconds):
        manyopts.require_numbers(opened, "distances")
        count = len(chosen(opened, starts, seed))
        width = len(chosen(opened, "all" if tos is None else tos, seed, "target"))
        kept = output is not None or count * width <= SHOWN
        with manyopts.placed(opened, threads) as engine:
            with Progress().step(f"search from {count:,} sources"):
                how: Any = {"max_depth": max_depth, "seed": seed, "verify": verify}
                found = distances(engine, starts, tos, output=output, **how) if kept else sweep(engine, starts, **how)
            wrote = [] if output is None else [outputs.written(output)]
            if as_json:
                click.echo(dumps(_object(opened, engine, open_seconds, found, wrote)))
                return
            manyopts.head(opened, engine)
            _print(found, top)
            manyopts.foot(engine, open_seconds, found.record, wrote)


def _rows(found: Distances) -> list[tuple[int, int, int, int]]:
    columns = (found.sources, found.reached, found.depth, found.far)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _print(found: Distances, top: int) -> None:
    if found.levels is not None:
        pairs = [
            (str(source), str(target), None if level < 0 else level)
            for source, row in zip(found.sources.tolist(), found.levels.tolist(), strict=True)
            for target, level in zip(found.targets.tolist(), row, strict=True)
        ]
        click.echo(table(("source", "target", "distance"), pairs) + "\n")
    rows = [(str(source), reached, depth, str(far)) for source, reached, depth, far in _rows(found)]
    click.echo(table(("source", "reached", "depth", "farthest"), rows[:top]))
    if len(rows) > top:
        click.echo(f"... and {len(rows) - top:,} more sources")


def _object(
    graph: Graph, engine: Engine, opening: float, found: Distances, wrote: list[outputs.Written]
) -> dict[str, Any]:
    """Return the object that ``bigbfs distances --json`` prints."""
    keys = ("source", "reached", "depth", "farthest")
    return manyopts.json_object("distances", graph, engine, opening, found.record, wrote) | {
        "sources": [dict(zip(keys, row, strict=True)) for row in _rows(found)],
        "targets": None if found.levels is None else found.targets.tolist(),
        "distances": None if found.levels is None else found.levels.tolist(),
    }
