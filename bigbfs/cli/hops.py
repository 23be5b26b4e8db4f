"""``bigbfs hops``: vertices within 0, 1, ... hops, the effective diameter, the average distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bigbfs.cli import manyopts, options, values
from bigbfs.cli.sources import named_in, require_one_way
from bigbfs.cli.wording import shown_name
from bigbfs.measures.hops import WORK, hops
from bigbfs.report.jsonout import dumps
from bigbfs.report.table import folded
from bigbfs.sizes import counted

LEVELS = 30
"""Lines of the table at most: of more hops, the first ones."""

EACH = 20
"""Sources of which a line is shown."""


@click.command("hops")
@options.graph_argument
@manyopts.source_option
@manyopts.many_option("sources", "[default: all]")
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Count no further than D hops.")
@manyopts.seed_option
@manyopts.seconds_option
@options.compressed_option
@options.where_options
@options.verify_option
@values.json_option
def command(
    graph: Path | None,
    one: tuple[str, ...],
    sources: str | None,
    max_depth: int | None,
    seed: int,
    seconds: float | None,
    compressed: bool,
    verify: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """How many vertices lie within so many hops of the sources.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. From all vertices this is the neighbourhood
    function: pairs within h hops, a vertex with itself at 0. 90 % of the pairs with a path lie within the effective
    diameter. A run that --seconds or Ctrl-C ends counts the sources it came to.
    """
    require_one_way(one, sources, needed=False)
    with options.opened(graph, compressed) as (opened, opening), manyopts.placed(opened, WORK, where) as engine:
        named = named_in(opened, one, sources) or "all"
        count = manyopts.count_of(opened, named)
        with manyopts.searching("search", count) as (stop, tell):
            found = hops(
                engine, named, max_depth=max_depth, seed=seed, seconds=seconds, stop=stop, tell=tell, verify=verify
            )
        manyopts.note_unproved(verify, found.record)
        each = found.within if found.within is not None and len(found.sources) <= EACH else None
        if as_json:
            called = [opened.called(source) for source in found.sources.tolist()] if each is not None else []
            rows = zip(called, each.tolist() if each is not None else [], strict=True)
            extra = {
                "within": found.counts.tolist(),
                "effective_diameter": found.effective_diameter,
                "average_distance": found.average_distance,
                "exact": found.exact,
                "sources": [{"source": source, "within": counts} for source, counts in rows],
            }
            click.echo(dumps(manyopts.json_object("hops", opened, engine, opening, found.record) | extra))
            return
        manyopts.head(opened, engine)
        columns = each.T.tolist() if each is not None else [[]] * len(found.counts)
        shown = [(h, count, *columns[h]) for h, count in enumerate(found.counts.tolist())][:LEVELS]
        names = [] if each is None else [shown_name(opened.called(source)) for source in found.sources.tolist()]
        click.echo(folded(("hops", "pairs within", *names), shown) if shown else "no pair")
        if len(found.counts) > LEVELS:
            click.echo(f"... and {len(found.counts) - LEVELS:,} more")
        of = "all vertices" if found.exact else counted(len(found.sources), "source")
        click.echo(
            f"\neffective diameter {found.effective_diameter:.4g}, average distance {found.average_distance:.6g}"
        )
        click.echo(f"of          {of}" + ("" if max_depth is None else f", {counted(max_depth, 'hop')} at most"))
        manyopts.foot(engine, opening, found.record, asked=count, what="the counts are of these")
