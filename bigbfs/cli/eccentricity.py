"""``bigbfs eccentricity``: the distance of the farthest vertex, for every vertex; exact, or bounds when stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.cli import manyopts, options, outputs
from bigbfs.graph.graph import Graph
from bigbfs.measures.eccentricity import COMPONENTS, Eccentricity, Tell, eccentricity
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress
from bigbfs.report.table import table
from bigbfs.sizes import counted

component_option = click.option(
    "--component",
    type=click.Choice(COMPONENTS),
    default="largest",
    show_default=True,
    help="Vertices of the largest component, or of all (distances inside each).",
)

LISTED = 10
"""Vertices of centre and periphery that are shown."""


@click.command("eccentricity")
@options.graph_argument
@component_option
@manyopts.seconds_option
@manyopts.top_option
@click.option(
    "-o", "--output", type=options.PATH, metavar="F", help="Write all, -1 unknown: .npy, .csv, .parquet, .arrow, or -."
)
@options.compressed_option
@manyopts.threads_option
@options.verify_option
@outputs.force_option
@options.json_option
def command(
    graph: Path | None,
    component: str,
    seconds: float | None,
    top: int,
    output: Path | None,
    compressed: bool,
    threads: int | None,
    verify: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Eccentricity of every vertex, with diameter, radius, centre and periphery, on the CPU.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. A run that --seconds or Ctrl-C ends gives
    certified bounds. F.npy has int64 by ascending id, of the vertices of --component. A directed graph must be strongly
    connected.
    """
    manyopts.check_values(output, force, as_json)
    with (
        options.opened(graph, compressed) as (opened, opening),
        manyopts.placed(opened, threads) as engine,
    ):
        with manyopts.stopping() as stop, telling() as tell:
            found = eccentricity(
                engine, component=component, seconds=seconds, stop=stop, tell=tell, verify=verify
            )  # fmt: skip
        known = found.lower == found.upper
        wrote = manyopts.write_values(output, "eccentricity", np.where(known, found.lower, -1), found.ids, opened)
        sizes = sorted(Counter(found.lower[known].tolist()).items())
        if as_json:
            extra = {
                "known": int(known.sum()),
                "eccentricities": [{"eccentricity": each, "vertices": count} for each, count in sizes],
                "centre": [opened.called(each) for each in found.centre.tolist()[:top]],
                "periphery": [opened.called(each) for each in found.periphery.tolist()[:top]],
            }
            click.echo(dumps(ecc_object("eccentricity", opened, engine, opening, found, wrote) | extra))
            return
        with outputs.report_beside([output]):
            manyopts.head(opened, engine)
            click.echo(table(("eccentricity", "vertices"), sizes[:top]) if sizes else "no eccentricity is known yet")
            if len(sizes) > top:
                click.echo(f"... and {len(sizes) - top:,} more")
            click.echo("")
            print_bounds(opened, found)
            click.echo(f"known       {int(known.sum()):,} of {counted(len(found.ids), 'vertex', 'vertices')}")
            for name, ids in (("centre", found.centre), ("periphery", found.periphery)):
                click.echo(f"{name:<11} {counted(len(ids), 'vertex', 'vertices')}: {_some(opened, ids)}")
            manyopts.foot(engine, opening, found.record, wrote)


def _some(graph: Graph, ids: np.ndarray) -> str:
    shown = ", ".join(str(graph.called(each)) for each in ids[:LISTED].tolist())
    return shown + (", ..." if len(ids) > LISTED else "")


@contextmanager
def telling() -> Iterator[Tell]:
    """Yield what says on a terminal how many vertices are open."""
    progress = Progress()
    with progress.step("first sweep"):

        def tell(left: int, bounds: tuple[int, int]) -> None:
            progress.now(f"diameter {bounds[0]:,} to {bounds[1]:,}, {left:,} vertices open")

        yield tell


def print_bounds(graph: Graph, found: Eccentricity) -> None:
    """Print diameter and radius, with the vertices that witness the diameter."""
    of = "the largest component" if found.components == 1 else f"{found.components:,} components"
    ends = f"{graph.called(found.witness[0])} and {graph.called(found.witness[1])} are so far apart"
    click.echo(f"diameter    {_range(found.diameter)}: {ends}; {of}, {len(found.ids):,} vertices")
    click.echo(f"radius      {_range(found.radius)}")
    if not found.exact:
        click.echo("stopped     bounds are certified; more time narrows them")


def _range(bounds: tuple[int, int]) -> str:
    low, high = bounds
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def ecc_object(
    command: str,
    graph: Graph,
    engine: Engine,
    opening: float,
    found: Eccentricity,
    wrote: Sequence[outputs.Written] = (),
) -> dict[str, Any]:
    """Return what the JSON objects of ``eccentricity`` and ``diameter`` share."""
    return manyopts.json_object(command, graph, engine, opening, found.record, wrote) | {
        "vertices": len(found.ids),
        "components": found.components,
        "diameter": list(found.diameter),
        "radius": list(found.radius),
        "witness": [graph.called(end) for end in found.witness],
        "exact": found.exact,
    }
