"""``bigbfs hops``: vertices within 0, 1, ... hops, the effective diameter, the average distance."""

from __future__ import annotations

from pathlib import Path

import click

from bigbfs.cli import manyopts, options
from bigbfs.cli.manyopts import sources_of
from bigbfs.measures.hops import hops
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress
from bigbfs.report.table import table

LEVELS = 30
"""Lines of the table at most: of more hops, the first ones."""

EACH = 20
"""Sources of which a line is shown."""


@click.command("hops")
@options.graph_argument
@click.option("--source", "one", type=int, multiple=True, metavar="V", help="Source (original id); repeatable.")
@click.option("--sources", metavar="all|random:K|@F|V,V", help="Sources.  [default: all]")
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Count no further than D hops.")
@manyopts.seed_option
@manyopts.seconds_option
@options.compressed_option
@manyopts.threads_option
@options.verify_option
@options.json_option
def command(
    graph: Path | None,
    one: tuple[int, ...],
    sources: str | None,
    max_depth: int | None,
    seed: int,
    seconds: float | None,
    compressed: bool,
    threads: int | None,
    verify: bool,
    as_json: bool,
) -> None:
    """How many vertices lie within so many hops of the sources, on the CPU.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. From all vertices this is the neighbourhood
    function: pairs within h hops, a vertex with itself at 0. 90 % of the pairs with a path lie within the effective
    diameter. A run that --seconds or Ctrl-C ends counts the sources it came to.
    """
    named = sources_of(sources, one)
    with options.opened(graph, compressed) as (opened, opening), manyopts.placed(opened, threads) as engine:
        if named is not None and not (isinstance(named, str)):
            manyopts.require_numbers(opened, "hops --source")
        with manyopts.stopping() as stop, Progress().step("search"):
            found = hops(
                engine, "all" if named is None else named, max_depth=max_depth, seed=seed, seconds=seconds, stop=stop,
                verify=verify,
            )  # fmt: skip
        each = found.within if found.within is not None and len(found.sources) <= EACH else None
        if as_json:
            rows = zip(found.sources.tolist(), each.tolist() if each is not None else [], strict=False)
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
        click.echo(
            table(("hops", "pairs within", *(map(str, found.sources.tolist()) if each is not None else ())), shown)
        )
        if len(found.counts) > LEVELS:
            click.echo(f"... and {len(found.counts) - LEVELS:,} more")
        of = "all vertices" if found.exact else f"{len(found.sources):,} sources"
        click.echo(
            f"\neffective diameter {found.effective_diameter:.4g}, average distance {found.average_distance:.6g}"
        )
        click.echo(f"of          {of}" + ("" if max_depth is None else f", {max_depth} hops at most"))
        manyopts.foot(engine, opening, found.record)
