"""``bigbfs hops``: vertices within 0, 1, ... hops, the effective diameter, the average distance."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.sources import named_in, require_one_way
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.hops import EACH as KEPT
from bigbfs.measures.hops import WORK, Hops, hops
from bigbfs.measures.hops_room import require_room_for_each, too_many
from bigbfs.measures.placing import chosen
from bigbfs.report.jsonout import dumps
from bigbfs.report.table import folded
from bigbfs.sizes import counted

EACH = 20
"""Sources of which a line is shown."""


@click.command("hops")
@options.graph_argument
@manyopts.source_option
@manyopts.many_option("sources", "[default: all]")
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Count no further than D hops.")
@manyopts.seed_option
@manyopts.seconds_option
@click.option(
    "--top",
    type=click.IntRange(0),
    default=30,
    show_default=True,
    metavar="K",
    help="Lines of the table, from 0 hops on.",
)
@values.output_option(
    "-o",
    "--output",
    metavar="F",
    help="Write all counts; of given sources, those of each: .npy, .csv, .parquet, .arrow, or -.",
)
@options.compressed_option
@options.where_options
@options.verify_option
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    one: tuple[str, ...],
    sources: str | None,
    max_depth: int | None,
    seed: int,
    seconds: float | None,
    top: int,
    output: Path | None,
    compressed: bool,
    verify: bool,
    force: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """How many vertices lie within so many hops of the sources.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. From all vertices this is the neighbourhood
    function: pairs within h hops, a vertex with itself at 0. 90 % of the pairs with a path lie within the effective
    diameter (interpolated), a vertex with itself counted, as in ANF; the average distance leaves those out. A run that
    --seconds or Ctrl-C ends counts the sources it came to. F.npy has int64 for 0, 1, ... hops, of given sources a row
    for each.
    """
    require_one_way(one, sources, needed=False)
    manyopts.check_values(output, force, as_json)
    with options.opened(graph, compressed) as (opened, opening), manyopts.placed(opened, WORK, where) as engine:
        named = named_in(opened, one, sources) or "all"
        count = manyopts.count_of(opened, named)
        if output is not None and named != "all":
            _require_each(count)
        with manyopts.searching("search", count) as (stop, tell):
            if output is not None and named != "all" and seconds is None:  # else nobody knows how many it will come to
                require_room_for_each(engine, chosen(opened, named, seed), max_depth, output)
            found = hops(
                engine, named, max_depth=max_depth, seed=seed, seconds=seconds, stop=stop, tell=tell, verify=verify
            )
        manyopts.note_unproved(verify, found.record)
        each = found.within if found.within is not None and len(found.sources) <= EACH else None
        with (
            outputs.writing(lambda: _write(output, found, opened, of_each=named != "all")) as wrote,
            outputs.report_beside([output]),
        ):
            if as_json:
                stopped = found.record.sources < count
                shared = manyopts.json_object("hops", opened, engine, opening, found.record, wrote, stopped=stopped)
                click.echo(dumps(shared | _told(opened, found, each)))
                return
            manyopts.head(opened, engine)
            _print(opened, found, each, top)
            of = "all vertices" if found.exact else counted(len(found.sources), "source")
            click.echo(f"of          {of}" + ("" if max_depth is None else f", {counted(max_depth, 'hop')} at most"))
            manyopts.foot(engine, opening, found.record, wrote, asked=count, what="the counts are of these")


def _told(graph: Graph, found: Hops, each: np.ndarray | None) -> dict[str, Any]:
    """Return what the JSON object has of the counts, of few sources with those of ``each``."""
    called = [] if each is None else [graph.called(source) for source in found.sources.tolist()]
    rows = zip(called, [] if each is None else each.tolist(), strict=True)
    return {
        "within": found.counts.tolist(),
        "effective_diameter": found.effective_diameter,
        "average_distance": None if math.isnan(found.average_distance) else found.average_distance,
        "exact": found.exact,
        "sources": [{"source": source, "within": counts} for source, counts in rows],
    }


def _print(graph: Graph, found: Hops, each: np.ndarray | None, top: int) -> None:
    """Print the ``top`` first lines of the table, of few sources with the counts of ``each``, and what it comes to."""
    columns = each.T.tolist() if each is not None else [[]] * len(found.counts)
    shown = [(h, count, *columns[h]) for h, count in enumerate(found.counts.tolist())][:top]
    names = [] if each is None else [shown_name(graph.called(source)) for source in found.sources.tolist()]
    if shown or not len(found.counts):
        click.echo(folded(("hops", "pairs within", *names), shown) if shown else "no pair")
    manyopts.tell_rest(len(found.counts), top)
    if top or not len(found.counts):
        click.echo("")
    mean = f"average distance {found.average_distance:.6g}"
    if math.isnan(found.average_distance):
        mean = "no average distance: no pairs of two different vertices"
    click.echo(f"effective diameter {found.effective_diameter:.4g}, {mean}")


def _require_each(count: int) -> None:
    """Refuse, before the search, to write the counts of each source where there are too many to keep.

    Raises
    ------
    UsageError
        With what can be done.
    """
    if count > KEPT:
        raise UsageError(
            f"the counts of each source are kept for {KEPT:,} sources at most, and {count:,} are given: give fewer, or "
            "none, for the pairs of all vertices"
        )


def _write(output: Path | None, found: Hops, graph: Graph, *, of_each: bool) -> list[outputs.Written]:
    """Write the pairs within 0, 1, ... hops, or the vertices ``of_each`` source.

    Raises
    ------
    UsageError
        There were too many hops to keep the counts of each source.
    FileAccessError
        The file cannot be written.
    """
    if output is None:
        return []
    if of_each and found.within is None:
        raise too_many(len(found.sources), len(found.counts))
    counts = np.asarray(found.within if of_each else found.counts, np.int64)
    if output.suffix == ".npy":
        return [outputs.write_array(output, counts, "output")]
    hops_of = np.arange(counts.shape[-1])
    if not of_each:
        wrote = outputs.write_columns(output, "output", {"hops": hops_of, "pairs": counts})
    else:
        sources = np.repeat(found.sources, counts.shape[1])
        columns = {"source": sources, "hops": np.tile(hops_of, len(counts)), "vertices": counts.reshape(-1)}
        wrote = outputs.write_columns(output, "output", columns, ("source",), graph.names)
    return [] if wrote is None else [wrote]
