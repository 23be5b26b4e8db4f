"""``bigbfs join``: shards into the graph file that they are parts of."""

from __future__ import annotations

from pathlib import Path

import click

from bigbfs.cli import values
from bigbfs.cli.wording import printable
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps
from bigbfs.sizes import counted, format_size


@click.command("join")
@click.argument("shards", type=values.PATH, metavar="DIR")
@values.output_option("-o", "--output", metavar="GRAPH", help="File to write. Default: DIR's name, .csrbin or .ccsr.")
@click.option("--force", is_flag=True, help="Replace a file that bigbfs did not write.")
@values.json_option
def command(shards: Path, output: Path | None, force: bool, as_json: bool) -> None:
    """Make one graph file of the shards in DIR: the same bytes as before they were split.

    Every checksum is compared. A shard that is missing, damaged, of another graph or there twice is named. A join that
    was killed goes on where it was.
    """
    from bigbfs.formats.shards.join import join

    report = join(shards, output, force=force, progress=True)
    if as_json:
        click.echo(dumps({"schema": SCHEMA, "command": "join", "from": str(shards), **report.as_json()}))
        return
    kept = f", {report.kept:,} of them by an earlier run" if report.kept else ""
    click.echo(f"output      {printable(report.output)}: {format_size(report.output_bytes)}")
    click.echo(
        f"graph       {counted(report.vertices, 'vertex', 'vertices')}, {counted(report.edges, 'directed edge')}"
    )
    click.echo(f"shards      {report.shards:,}{kept}")
    click.echo(f"seconds     {report.seconds:.2f}")
