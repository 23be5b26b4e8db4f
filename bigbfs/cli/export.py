"""``bigbfs export``: a graph in a format of another tool."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from tqdm import tqdm

from bigbfs.cli.options import PATH
from bigbfs.errors import UsageError
from bigbfs.formats.writers import NAMES, writers

_HELP = f"""Write GRAPH in a format that other tools read.

{". ".join(f"{writer.name}: {writer.summary}" for writer in writers().values())}. Without -o the file is named after
GRAPH, and none that is there already is replaced.
"""
_ONCE = " and ".join(writer.name for writer in writers().values() if writer.one_direction)


@click.command("export", help=_HELP)
@click.argument("graph", type=PATH)
@click.option("--to", "to", type=click.Choice(NAMES), required=True, help="Format to write.")
@click.option("-o", "--output", type=PATH, help="File to write; - is standard output.")
@click.option("--both-directions", is_flag=True, help=f"{_ONCE}: write an undirected edge once in each direction.")
def command(graph: Path, to: str, output: Path | None, both_directions: bool) -> None:
    """Open GRAPH and write it."""
    if both_directions and not writers()[to].one_direction:
        raise UsageError(f"--both-directions is for {_ONCE}; {to} says for itself whether a graph is undirected")
    from bigbfs.formats.writers.export import export
    from bigbfs.graph.graph import Graph

    if output is None:
        output = graph.with_name(graph.name.removesuffix(".ccsr").removesuffix(".csrbin") + writers()[to].suffix)
        if output.exists():  # perhaps what the graph was made from
            raise UsageError(f"{output} is there already; name it with -o to replace it, or another file")
    if output.exists() and graph.exists() and output.samefile(graph):
        raise UsageError(f"-o {output} is the graph itself; name another file")
    with (
        Graph.open(graph) as opened,
        tqdm(total=opened.m, unit="edge", unit_scale=True, disable=None, file=sys.stderr) as bar,
    ):
        stream = sys.stdout.buffer if str(output) == "-" else output
        done = export(opened, to, stream, both_directions=both_directions, progress=bar.update)
        sys.stdout.flush()  # what cannot be written is no success
    for note in done.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{output}: {done.lines:,} edges", err=True)
