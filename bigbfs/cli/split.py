"""``bigbfs split``: a graph file into shards, one file for each range of rows."""

from __future__ import annotations

from pathlib import Path

import click

from bigbfs.cli import options, values
from bigbfs.cli.wording import printable
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps
from bigbfs.sizes import counted, format_size


@click.command("split")
@options.graph_argument
@values.output_option("-o", "--output", metavar="DIR", help="Folder to write. Default: GRAPH's name with .shards.")
@click.option("--shards", type=click.IntRange(1), default=64, show_default=True, metavar="N", help="How many shards.")
@click.option("--force", is_flag=True, help="Replace the shards of another graph, or another number of them.")
@values.json_option
def command(graph: Path | None, output: Path | None, shards: int, force: bool, as_json: bool) -> None:
    """Write the rows of GRAPH as shards, ranges of about equal work, for machines that hold only theirs.

    Every shard has checksums of its own, and manifest.json, which comes last, says that all are there. A split that
    was stopped goes on where it was. `bigbfs join` makes the same file again.
    """
    from bigbfs.formats.shards.split import split

    graph = options.resolve_graph(graph, compressed=False)
    report = split(graph, output, shards=shards, force=force, progress=True)
    if as_json:
        click.echo(dumps({"schema": SCHEMA, "command": "split", "graph": {"path": str(graph)}, **report.as_json()}))
        return
    kept = f", of which {report.kept:,} were there already" if report.kept else ""
    click.echo(f"shards      {printable(report.output)}: {counted(report.shards, 'shard')}{kept}")
    click.echo(f"bytes       {format_size(report.output_bytes)}")
    click.echo(f"seconds     {report.seconds:.2f}")
