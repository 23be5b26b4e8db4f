"""``bigbfs eccentricity``: the distance of the farthest vertex, for every vertex; exact, or bounds when stopped."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.interrupts import Interrupted
from bigbfs.cli.wording import shown_name
from bigbfs.graph.graph import Graph
from bigbfs.measures.eccentricity import COMPONENTS, DIAMETER, Eccentricity, Tell, eccentricity
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress, duration
from bigbfs.report.table import labelled, table
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
@values.output_option(
    "-o",
    "--output",
    metavar="F",
    help="Write that of every vertex, -1 unknown or not asked for: .npy, .csv, .parquet, .arrow, or -.",
)
@options.compressed_option
@options.where_options
@options.verify_bounds_option
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    component: str,
    seconds: float | None,
    top: int,
    output: Path | None,
    compressed: bool,
    verify: bool,
    force: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Eccentricity of every vertex, with diameter, radius, centre and periphery.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. A run that --seconds or Ctrl-C ends gives
    certified bounds. F.npy has int64 for every vertex, by ascending id: its eccentricity inside its component, -1 where
    that is not known, or not the one of --component. A directed graph must be strongly connected; `bigbfs convert GRAPH
    --undirected -o F.csrbin` makes one that has its weak components.
    """
    manyopts.check_values(output, force, as_json)
    with (
        manyopts.opened(graph, compressed, output, np.int64) as (opened, opening),
        manyopts.placed(opened, DIAMETER, where) as engine,
    ):
        with manyopts.stopping() as stop, telling() as tell:
            found = eccentricity(
                engine, component=component, seconds=seconds, stop=stop, tell=stop.hearing(tell), verify=verify
            )  # fmt: skip
        manyopts.note_unproved(verify, found.record)
        known = found.lower == found.upper
        with outputs.writing(lambda: _write(output, opened, found)) as wrote, outputs.report_beside([output]):
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
            manyopts.head(opened, engine)
            _print(opened, found, sizes, top, written=bool(wrote))
            manyopts.foot(engine, opening, found.record, wrote)


def _print(graph: Graph, found: Eccentricity, sizes: list[tuple[int, int]], top: int, *, written: bool) -> None:
    """Print how many vertices have each eccentricity, what bounds say, and who is central; ``written``: to a file."""
    if not sizes:
        click.echo("no eccentricity is known yet\n")
    elif top:
        click.echo(table(("eccentricity", "vertices"), sizes[:top]))
        manyopts.tell_rest(len(sizes), top)
        click.echo("")
    print_bounds(graph, found)
    count = sum(vertices for _, vertices in sizes)
    click.echo(f"known       {count:,} of {counted(len(found.ids), 'vertex', 'vertices')}")
    if written and len(found.ids) < graph.n:
        others = counted(graph.n - len(found.ids), "vertex", "vertices")
        click.echo(labelled("others", f"{others} of other components are -1; --component all finds theirs"))
    every = count == len(found.ids)
    for name, some in (("centre", found.centre), ("periphery", found.periphery)):
        text = f"{'' if every else 'at least '}{counted(len(some), 'vertex', 'vertices')}: {_some(graph, some)}"
        click.echo(labelled(name, text if len(some) or every else "not known yet"))


def _write(output: Path | None, graph: Graph, found: Eccentricity) -> list[outputs.Written]:
    """Write what is known of every vertex, if anything is to be written.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    if output is None:
        return []
    ids, values = _of_every_vertex(graph, found)
    return manyopts.write_values(output, "eccentricity", values, ids, graph)


def _of_every_vertex(graph: Graph, found: Eccentricity) -> tuple[np.ndarray, np.ndarray]:
    """Return all original ids ascending, and the eccentricity of each, -1 where it is not known or not asked for."""
    ids = np.asarray(graph.original_ids())
    values = np.full(len(ids), -1, np.int64)
    values[np.searchsorted(ids, found.ids)] = np.where(found.lower == found.upper, found.lower, -1)
    return ids, values


def _some(graph: Graph, ids: np.ndarray) -> str:
    shown = ", ".join(shown_name(graph.called(each)) for each in ids[:LISTED].tolist())
    return shown + (", ..." if len(ids) > LISTED else "")


@contextmanager
def telling() -> Iterator[Tell]:
    """Yield what says on a terminal how many vertices are open, and how long these take at the last batch's rate.

    A second Ctrl-C, which ends the run at once, leaves the last bounds on standard error: they are certified.
    """
    progress = Progress()
    before = (0.0, 0)
    last: tuple[int, int] | None = None
    with _said_at_once(lambda: last), progress.step("first sweep"):

        def tell(left: int, bounds: tuple[int, int]) -> None:
            nonlocal before, last
            last = bounds
            (then, more), now = before, time.monotonic()
            text = f"diameter {bounds[0]:,} to {bounds[1]:,}, {counted(left, 'vertex', 'vertices')} open"
            if 0 < left < more:
                text += f", {duration(left * (now - then) / (more - left))} left at this rate"
            before = (now, left)
            progress.rename(text)

        yield tell


@contextmanager
def _said_at_once(last: Callable[[], tuple[int, int] | None]) -> Iterator[None]:
    """Say the ``last`` bounds where Ctrl-C ends the run."""
    try:
        yield
    except (KeyboardInterrupt, Interrupted) as error:
        bounds = last()
        if bounds is not None and getattr(error, "number", signal.SIGINT) == signal.SIGINT:
            click.echo(f"bigbfs: the diameter is {_range(bounds)} as far as is certified", err=True)
        raise


def print_bounds(graph: Graph, found: Eccentricity) -> None:
    """Print diameter and radius, with the vertices that witness the diameter."""
    of = "the largest component" if found.components == 1 else f"{found.components:,} components"
    one, other = (shown_name(graph.called(end)) for end in found.witness)
    vertices = counted(found.vertices, "vertex", "vertices")
    text = f"{_range(found.diameter)}: {one} and {other} are so far apart; {of}, {vertices}"
    click.echo(labelled("diameter", text))
    if found.components > 1:  # a radius is of one component
        text = f"that of several components is none; the smallest eccentricity is {_range(found.radius)}"
        click.echo(labelled("radius", text))
    else:
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
    stopped = not found.exact
    return manyopts.json_object(command, graph, engine, opening, found.record, wrote, stopped=stopped) | {
        "vertices": found.vertices,
        "components": found.components,
        "diameter": list(found.diameter),
        "radius": list(found.radius),
        "witness": [graph.called(end) for end in found.witness],
        "exact": found.exact,
    }
