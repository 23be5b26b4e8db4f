"""``bigbfs members``: the vertices of one connected component, that of a vertex which is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.cli import options, outputs
from bigbfs.cli.sources import id_of
from bigbfs.report.progress import Progress


@click.command("members")
@options.graph_argument
@click.option("--vertex", "-v", required=True, metavar="V", help="A vertex of the component (original id or name).")
@click.option(
    "-o",
    "--output",
    type=options.PATH,
    default=Path(outputs.STANDARD_OUTPUT),
    metavar="F",
    help="File to write: F.csv, .parquet, .arrow or .npy. Default: CSV on standard output.",
)
@options.compressed_option
@options.where_options
@outputs.force_option
def command(graph: Path | None, vertex: str, output: Path, compressed: bool, force: bool, **where: Any) -> None:
    """List the connected component of a vertex, in ascending order of id or name.

    GRAPH is a .csrbin, a .ccsr, or a table of edges; without it, the newest graph file in this folder. Of a directed
    graph it is the weak component.
    """
    outputs.check_array(output, "output", force)
    options.check_where(where)
    with options.opened(graph, compressed) as (opened, _):
        wanted = opened.vertex(id_of(opened, vertex, "--vertex"))
        how = ComponentsOptions()
        with options.placed(opened, (how,), **where) as engine, Progress().step("find the components"):
            labels = engine.measure(how).internal.labels
        found = np.sort(np.asarray(opened.original(np.flatnonzero(labels == labels[wanted]))))
        wrote = outputs.write_order(output, "output", found, opened.vertex_ids())
        click.echo(f"members     {len(found):,} of {opened.n:,} vertices", err=True)
        if wrote is not None:
            click.echo(wrote.line(), err=True)
