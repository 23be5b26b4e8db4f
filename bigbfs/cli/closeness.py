"""``bigbfs closeness``: closeness, harmonic or Lin centrality of every vertex, exact or sampled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError
from bigbfs.measures.closeness import DOUBT, KINDS, Centrality, closeness, work_of
from bigbfs.measures.placing import sampled
from bigbfs.report.jsonout import dumps
from bigbfs.report.table import table


@click.command("closeness")
@options.graph_argument
@click.option("--kind", type=click.Choice(KINDS), default="closeness", show_default=True, help="Which centrality.")
@click.option("--sources", default="all", show_default=True, metavar="all|random:K", help="all: exact.")
@click.option("--no-wf", is_flag=True, help="Closeness without the factor (r - 1)/(n - 1) of unconnected graphs.")
@manyopts.seed_option
@manyopts.seconds_option
@manyopts.top_option
@click.option("-o", "--output", type=values.PATH, metavar="F", help="Write all: .npy, .csv, .parquet, .arrow, or -.")
@options.compressed_option
@options.where_options
@options.verify_option
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    kind: str,
    sources: str,
    no_wf: bool,
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
    """How near every vertex is to all others; the most central ones first.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. Definitions and defaults are NetworkX's; in
    a directed graph distances count towards the vertex. random:K estimates from K sources and says how far off it may
    be; so does a run that --seconds or Ctrl-C ends. F.npy has float64 by ascending id.
    """
    if sources != "all" and sampled(sources) is None:
        raise UsageError(
            f"--sources {sources[:80]!r}: centrality takes all or a random sample: write all or random:K, K from 1 on"
        )
    manyopts.check_values(output, force, as_json)
    with (
        options.opened(graph, compressed) as (opened, opening),
        manyopts.placed(opened, work_of(kind), where) as engine,
    ):
        asked = manyopts.count_of(opened, sources)
        with manyopts.searching("search", asked) as (stop, tell):
            found = closeness(
                engine, kind=kind, sources=sources, wf_improved=not no_wf, seed=seed, seconds=seconds, stop=stop,
                tell=tell, verify=verify,
            )  # fmt: skip
        manyopts.note_unproved(verify, found.record)
        wrote = manyopts.write_values(output, kind, found.values, found.ids, opened)
        if as_json:
            rows = [{"id": opened.called(vertex), "value": value} for vertex, value in found.top(top)]
            extra = {"kind": kind, "exact": found.exact, "error": found.error, "top": rows}
            click.echo(dumps(manyopts.json_object("closeness", opened, engine, opening, found.record, wrote) | extra))
            return
        with outputs.report_beside([output]):
            manyopts.head(opened, engine)
            click.echo(
                table(
                    ("vertex", kind),
                    [(shown_name(opened.called(vertex)), value) for vertex, value in found.top(top)],
                )
            )
            click.echo(f"\n{_exactness(found)}")
            manyopts.foot(engine, opening, found.record, wrote, None if found.exact else asked, "they are a sample")


def _exactness(found: Centrality) -> str:
    if found.exact:
        return "exact       every vertex was a source"
    if found.error is None:
        return (
            f"sample      {found.record.sources:,} of {len(found.ids):,} vertices were sources: how far off it is, is\n"
            "            not known (the graph is directed, or has vertices that none of them\n"
            "            reaches: of a small component it can then say far too much;\n"
            "            --sources all is exact)"
        )
    return (
        f"sample      {found.record.sources:,} of {len(found.ids):,} vertices were sources: with probability "
        f"{1 - DOUBT:.2f}\n            no mean distance is off by more than {found.error:.3g}"
    )
