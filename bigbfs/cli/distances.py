"""``bigbfs distances``: levels from many sources to all vertices or to some, as an array in a file or as a table."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click

from bigbfs.algorithms.engine import Engine
from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.sources import named_in, require_form, require_one_way
from bigbfs.cli.wording import printable, shown_name
from bigbfs.graph.graph import Graph
from bigbfs.measures.distances import LEVELS, SWEEP, Distances, checked_output, distances, sweep
from bigbfs.measures.placing import chosen
from bigbfs.measures.room import size_on_disk
from bigbfs.report.jsonout import dumps
from bigbfs.report.table import table
from bigbfs.sizes import counted

SHOWN = 100
"""Pairs of source and target at most that are shown."""


@click.command("distances")
@options.graph_argument
@manyopts.source_option
@manyopts.many_option("sources", "")
@manyopts.many_option("targets", "Distances to these alone.  [default: all]")
@values.output_option("-o", "--output", metavar="F.npy|csv", help="Write the distances, as they come.")
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Look no further than distance D.")
@manyopts.seed_option
@manyopts.seconds_option
@click.option(
    "--memory",
    type=values.MEMORY,
    metavar="SIZE",
    help="Memory of the searches beside the graph, e.g. 2GiB: fewer at a time.  [default: half of what is free]",
)
@options.compressed_option
@options.where_options
@options.verify_option
@manyopts.top_option
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    one: tuple[str, ...],
    sources: str | None,
    targets: str | None,
    output: Path | None,
    max_depth: int | None,
    seed: int,
    seconds: float | None,
    memory: int | None,
    compressed: bool,
    verify: bool,
    top: int,
    force: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Distances from many sources at once: each row of edges is read for up to 512 of them.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. F.npy has a row for each source and a
    column for each target, in the order asked for (all: by ascending id): int16, or int32 where a distance needs it;
    -1 unreached. F.csv has a line for each pair with a path. `--sources all -o D.npy` is all-pairs shortest paths.
    After --seconds or Ctrl-C (exit code 130) there are the rows of the first sources, those searched by then; of F.csv
    Ctrl-C ends after the row in hand.
    """
    require_one_way(one, sources)
    require_form(targets, "--targets")
    if output is not None:
        outputs.check_output(checked_output(output), "output", force)
    with options.opened(graph, compressed) as (opened, open_seconds):
        starts, tos = named_in(opened, one, sources), named_in(opened, (), targets, "--target")
        assert starts is not None
        sources_of, targets_of = chosen(opened, starts, seed), chosen(opened, tos or "all", seed, "target")
        count = manyopts.count_of(opened, starts)
        manyopts.count_of(opened, tos or "all", "--targets")
        kept = output is not None or count * len(targets_of) <= SHOWN
        if output is not None:
            size = size_on_disk(opened, sources_of, targets_of, max_depth, output)
            click.echo(f"note: {printable(str(output))}: {size}", err=True)
        work = [replace(each, memory=memory) for each in (LEVELS if kept else SWEEP)]
        with manyopts.placed(opened, work, where) as engine:
            how: Any = {"max_depth": max_depth, "seed": seed, "seconds": seconds, "memory": memory, "verify": verify}
            part = "row" if output is not None and output.suffix == ".csv" else "batch"
            with manyopts.searching(f"search from {counted(count, 'source')}", count, part) as (stop, tell):
                how |= {"stop": stop, "tell": tell}
                found = distances(engine, starts, tos, output=output, **how) if kept else sweep(engine, starts, **how)
            manyopts.note_unproved(verify, found.record)
            wrote = [] if output is None else [outputs.written_array(output)]
            if as_json:
                click.echo(dumps(_object(opened, engine, open_seconds, found, wrote)))
            else:
                manyopts.head(opened, engine)
                apart = _print(opened, found, top)
                rows = len(found.sources)
                which = "these" if rows < found.record.sources else "their rows"
                what = "no more is known" if output is None else f"{printable(str(output))} has {which} alone"
                manyopts.foot(engine, open_seconds, found.record, wrote, found.asked, what, rows, apart=apart)
            if stop.asked:
                _interrupted()


def _interrupted() -> NoReturn:
    """End as an interrupted run: what there is is not what was asked for."""
    raise click.exceptions.Exit(128 + signal.SIGINT)


def _rows(graph: Graph, found: Distances) -> list[tuple[int | str, int, int, int | str]]:
    columns = (found.sources, found.reached, found.depth, found.far)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(graph.called(source), reached, depth, graph.called(far)) for source, reached, depth, far in rows]


def _print(graph: Graph, found: Distances, top: int) -> bool:
    """Print the distances, where they are few, and the first ``top`` sources; return whether there was anything."""

    def called(vertex: int) -> str:
        return shown_name(graph.called(vertex))

    if found.levels is not None:
        pairs = [
            (called(source), called(target), None if level < 0 else level)
            for source, row in zip(found.sources.tolist(), found.levels.tolist(), strict=True)
            for target, level in zip(found.targets.tolist(), row, strict=True)
        ]
        click.echo(table(("source", "target", "distance"), pairs) + ("\n" if top else ""))
    columns = (found.sources[:top], found.reached[:top], found.depth[:top], found.far[:top])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    shown = [(called(source), reached, depth, called(far)) for source, reached, depth, far in rows]
    if top:
        click.echo(table(("source", "reached", "depth", "farthest"), shown))
    manyopts.tell_rest(len(found.sources), top, "source")
    return top > 0 or found.levels is not None


def _object(
    graph: Graph, engine: Engine, opening: float, found: Distances, wrote: list[outputs.Written]
) -> dict[str, Any]:
    """Return the object that ``bigbfs distances --json`` prints."""
    keys = ("source", "reached", "depth", "farthest")
    stopped = len(found.sources) < found.asked
    return manyopts.json_object("distances", graph, engine, opening, found.record, wrote, stopped=stopped) | {
        "asked": found.asked,
        "rows": len(found.sources),
        "sources": [dict(zip(keys, row, strict=True)) for row in _rows(graph, found)],
        "targets": None if found.levels is None else [graph.called(each) for each in found.targets.tolist()],
        "distances": None if found.levels is None else found.levels.tolist(),
    }
