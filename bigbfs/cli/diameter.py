"""``bigbfs diameter``: the exact diameter by bounds, with two vertices that are so far apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bigbfs.cli import manyopts, options, values
from bigbfs.cli.eccentricity import component_option, ecc_object, print_bounds, telling
from bigbfs.measures.eccentricity import DIAMETER, eccentricity
from bigbfs.report.jsonout import dumps


@click.command("diameter")
@options.graph_argument
@component_option
@manyopts.seconds_option
@options.compressed_option
@options.where_options
@options.verify_bounds_option
@values.json_option
def command(
    graph: Path | None,
    component: str,
    seconds: float | None,
    compressed: bool,
    verify: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Exact diameter: the largest distance between two vertices of a component.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. Few searches are enough for most graphs;
    where they are not, every vertex is searched from, 512 at once. A run that --seconds or Ctrl-C ends gives certified
    bounds. A directed graph must be strongly connected; `bigbfs convert GRAPH --undirected -o F.csrbin` makes one that
    has its weak components. The radius is what is known of it by then: `bigbfs eccentricity` finds it, and centre and
    periphery.
    """
    with options.opened(graph, compressed) as (opened, opening), manyopts.placed(opened, DIAMETER, where) as engine:
        with manyopts.stopping() as stop, telling() as tell:
            found = eccentricity(
                engine,
                goal="diameter",
                component=component,
                seconds=seconds,
                stop=stop,
                tell=stop.hearing(tell),
                verify=verify,
                each=False,
            )
        manyopts.note_unproved(verify, found.record)
        if as_json:
            click.echo(dumps(ecc_object("diameter", opened, engine, opening, found)))
            return
        manyopts.head(opened, engine)
        print_bounds(opened, found)
        manyopts.foot(engine, opening, found.record)
