"""``bigbfs closeness``: closeness, harmonic or Lin centrality of every vertex, exact or sampled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.closeness import KINDS, Centrality, closeness, work_of
from bigbfs.measures.estimating import DOUBT, enough_for, least_of
from bigbfs.measures.placing import sampled
from bigbfs.report.jsonout import dumps
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted


@click.command("closeness")
@options.graph_argument
@click.option("--kind", type=click.Choice(KINDS), default="closeness", show_default=True, help="Which centrality.")
@click.option("--sources", default="all", show_default=True, metavar="all|random:K", help="all: exact.")
@click.option("--no-wf", is_flag=True, help="--kind closeness without the factor (r - 1)/(n - 1).")
@manyopts.seed_option
@manyopts.seconds_option
@manyopts.top_option
@values.output_option("-o", "--output", metavar="F", help="Write all: .npy, .csv, .parquet, .arrow, or -.")
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
    if no_wf and kind != "closeness":
        raise UsageError(f"--no-wf does not go with --kind {kind}, which has no such factor; leave it out")
    manyopts.check_values(output, force, as_json)
    with (
        manyopts.opened(graph, compressed, output, np.float64) as (opened, opening),
        manyopts.placed(opened, work_of(kind), where) as engine,
    ):
        asked = manyopts.count_of(opened, sources)
        with manyopts.searching("search", asked) as (stop, tell):
            found = closeness(
                engine, kind=kind, sources=sources, wf_improved=not no_wf, seed=seed, seconds=seconds, stop=stop,
                tell=tell, verify=verify,
            )  # fmt: skip
        manyopts.note_unproved(verify, found.record)
        with (
            outputs.writing(lambda: manyopts.write_values(output, kind, found.values, found.ids, opened)) as wrote,
            outputs.report_beside([output]),
        ):
            if as_json:
                stopped = found.record.sources < asked
                what = found.record, wrote
                shared = manyopts.json_object("closeness", opened, engine, opening, *what, stopped=stopped)
                click.echo(dumps(shared | _told(opened, found, top)))
                return
            manyopts.head(opened, engine)
            shown = [(shown_name(opened.called(vertex)), value) for vertex, value in found.top(top)]
            if top:
                click.echo(f"{table(('vertex', kind), shown)}\n")
            click.echo(_exactness(found, top, asked))
            manyopts.foot(engine, opening, found.record, wrote, None if found.exact else asked, "they are a sample")


def _told(graph: Graph, found: Centrality, top: int) -> dict[str, Any]:
    """Return what the JSON object has of the centralities."""
    largest = None if found.largest is None else dict(zip(("vertices", "unknown"), found.largest, strict=True))
    return {
        "kind": found.kind,
        "exact": found.exact,
        "error": found.error,
        "unknown": found.unknown,
        "largest_component": largest,
        "top": _rows(graph, found, top),
    }


def _rows(graph: Graph, found: Centrality, top: int) -> list[dict[str, Any]]:
    """Return the most central vertices for JSON, each with what its mean may be off by (null: no bound is known)."""
    errors = [None] * top if found.errors is None else found.errors[found.first(top)].tolist()
    return [
        {"id": graph.called(vertex), "value": value, "error": error}
        for (vertex, value), error in zip(found.top(top), errors, strict=False)
    ]


def _exactness(found: Centrality, top: int, asked: int) -> str:
    """Say how far off the vertices listed may be, how many have no value, and whether the largest component has any."""
    if found.exact:
        return labelled("exact", "every vertex was a source")
    more = "let it search longer" if found.record.sources < asked else "take more sources, or --sources all"
    lines = [labelled("sample", _sample(found, top, more))]
    if found.unknown:
        few = least_of(found.record.sources)
        reached = "no source but themselves reaches" if few == 1 else f"fewer than {counted(few, 'source')} reach"
        what = f"{counted(found.unknown, 'vertex', 'vertices')} that {reached}: no value (NaN with -o), and not listed"
        lines.append(labelled("unknown", f"{what}; {more}"))
    if found.largest is not None and found.largest[0] == found.largest[1]:
        lines.append(labelled("largest", _largest(found, found.largest[0], asked)))
    return "\n".join(lines)


def _sample(found: Centrality, top: int, more: str) -> str:
    """Say how many sources there were, and how far off those listed may be, and of one source what helps (``more``)."""
    sources, mean = found.record.sources, "mean reciprocal distance" if found.kind == "harmonic" else "mean distance"
    were = "was a source" if sources == 1 else "were sources"
    text = f"{sources:,} of {counted(len(found.ids), 'vertex', 'vertices')} {were}"
    if sources == 1:
        return f"{text}: values say how near each vertex is to that one alone; {more}"
    if found.errors is None:
        return f"{text}: how far off it is, is not known, since the graph is directed; --sources all is exact"
    shown = found.errors[found.first(top)]
    if not len(shown):
        return text
    return f"{text}: with probability {1 - DOUBT:.2f} no {mean} of those listed is off by more than {shown.max():.3g}"


def _largest(found: Centrality, size: int, asked: int) -> str:
    """Say that the largest component has no value, and what helps."""
    n, sources = len(found.ids), found.record.sources
    enough = enough_for(size, n)
    way = "take more sources" if enough <= sources else f"take more sources: --sources random:{enough} should do"
    if sources < asked:
        way = f"let it search longer: {enough:,} sources should do" if enough > sources else "let it search longer"
    elif enough == n:
        way = "--sources all is exact"
    what = f"none of its {counted(size, 'vertex', 'vertices')} has a value"
    if found.unknown < n:
        what += ", so that smaller components alone are listed"
    return f"the largest component is not in this list: {what}; {way}"
