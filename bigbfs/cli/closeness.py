"""``bigbfs closeness``: closeness, harmonic or Lin centrality of every vertex, exact or sampled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.closeness import KINDS, Centrality, closeness, work_of
from bigbfs.measures.estimating import DOUBT, least_of
from bigbfs.measures.placing import sampled
from bigbfs.report.jsonout import dumps
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted


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
    be; so does a run that --seconds or Ctrl-C ends. Vertices that too few of them reach are not listed. F.npy has
    float64 by ascending id.
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
            extra = {"kind": kind, "exact": found.exact, "error": found.error, "unknown": found.unknown}
            extra["top"] = _rows(opened, found, top)
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
            click.echo(f"\n{_exactness(found, top)}")
            manyopts.foot(engine, opening, found.record, wrote, None if found.exact else asked, "they are a sample")


def _rows(graph: Graph, found: Centrality, top: int) -> list[dict[str, Any]]:
    """Return the most central vertices for JSON, each with what its mean may be off by (null: no bound is known)."""
    errors = [None] * top if found.errors is None else found.errors[found.first(top)].tolist()
    return [
        {"id": graph.called(vertex), "value": value, "error": error}
        for (vertex, value), error in zip(found.top(top), errors, strict=False)
    ]


def _exactness(found: Centrality, top: int) -> str:
    """Say how far off the vertices listed may be, and how many have no value."""
    if found.exact:
        return labelled("exact", "every vertex was a source")
    text = f"{found.record.sources:,} of {len(found.ids):,} vertices were sources"
    mean = "mean reciprocal distance" if found.kind == "harmonic" else "mean distance"
    if found.errors is None:
        text += ": how far off it is, is not known, since the graph is directed; --sources all is exact"
    elif len(shown := found.errors[found.first(top)]):
        text += f": with probability {1 - DOUBT:.2f} no {mean} of those listed is off by more than {shown.max():.3g}"
    text = labelled("sample", text)
    if found.unknown:
        few = counted(least_of(found.record.sources), "source")
        what = (
            f"{counted(found.unknown, 'vertex', 'vertices')} that fewer than {few} reach: no value (NaN with -o), and "
            "not listed; take more sources, or --sources all"
        )
        text += "\n" + labelled("unknown", what)
    return text
