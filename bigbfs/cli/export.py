"""``bigbfs export``: a graph as an edge list, Matrix Market, GAP .sg or raw CSR."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from tqdm import tqdm

from bigbfs.cli.options import PATH
from bigbfs.errors import FileAccessError, UsageError


@click.command("export")
@click.argument("graph", type=PATH)
@click.option("--to", "to", type=click.Choice(["el", "mtx", "sg", "raw"]), required=True, help="Format to write.")
@click.option("-o", "output", type=PATH, help="File to write; - is standard output.")
@click.option("--both-directions", is_flag=True, help="el: write an undirected edge once in each direction.")
def command(graph: Path, to: str, output: Path | None, both_directions: bool) -> None:
    """Write GRAPH in a format that other tools read.

    el: lines "u v" of original ids, an undirected edge once. mtx: Matrix Market, pattern. sg: serialized graph of
    the GAP benchmark suite. raw: u64 n, u64 m, i64 row_ptr, i32 col_idx. Without -o the file is named after GRAPH,
    and none that is there already is replaced.
    """
    if both_directions and to != "el":
        raise UsageError(f"--both-directions is for el; {to} says for itself whether a graph is undirected")
    from bigbfs.formats.writers.export import SUFFIXES, export
    from bigbfs.graph.graph import Graph

    if str(output) == "-" and sys.stdout is None:
        raise FileAccessError("standard output: cannot write: it is closed; name a file with -o")
    if output is None:
        output = graph.with_name(graph.name.removesuffix(".ccsr").removesuffix(".csrbin") + SUFFIXES[to])
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
    for note in done.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{output}: {done.lines:,} edges", err=True)
