"""``bigbfs members``: the vertices of one connected component, that of a vertex which is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.cli import options, outputs, values
from bigbfs.cli.sources import id_of
from bigbfs.report.jsonout import dumps, many_object
from bigbfs.report.progress import Progress
from bigbfs.sizes import counted


@click.command("members")
@options.graph_argument
@click.option("--vertex", "-v", required=True, metavar="V", help="A vertex of the component (original id or name).")
@values.output_option(
    "-o",
    "--output",
    metavar="F",
    help="File to write: F.csv, .parquet, .arrow or .npy. Default: CSV on standard output.",
)
@options.compressed_option
@options.where_options
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    vertex: str,
    output: Path | None,
    compressed: bool,
    force: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """List the connected component of a vertex, in ascending order of id or name.

    GRAPH is a .csrbin, a .ccsr, or a table of edges; without it, the newest graph file in this folder. Of a directed
    graph it is the weak component.
    """
    outputs.check_array(output, "output", force)
    outputs.check_streams([output], as_json)
    options.check_where(where)
    with options.opened(graph, compressed) as (opened, opening):
        wanted = opened.vertex(id_of(opened, vertex, "--vertex"))
        how = ComponentsOptions()
        with options.placed(opened, (how,), **where) as engine, Progress().step("find the components"):
            labels = engine.measure(how).internal.labels
        found = np.sort(np.asarray(opened.original(np.flatnonzero(labels == labels[wanted]))))

        def write() -> Iterator[outputs.Written | None]:
            if output is not None or not as_json:
                to = Path(outputs.STANDARD_OUTPUT) if output is None else output
                yield outputs.write_order(to, "output", found, opened.vertex_ids())

        with outputs.writing(write) as wrote:
            if as_json:
                told = many_object("members", opened, engine, opening)
                ids = None if output is not None else [opened.called(each) for each in found.tolist()]
                files = outputs.as_json(wrote)
                click.echo(dumps(told | {"vertices": len(found), "members": ids, "wrote": files}))
                return
            click.echo(f"members     {len(found):,} of {counted(opened.n, 'vertex', 'vertices')}", err=True)
            for file in wrote:
                click.echo(file.line(), err=True)
