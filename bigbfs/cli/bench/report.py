"""``bigbfs bench report``: the HTML report of rows that were measured before."""

from __future__ import annotations

from pathlib import Path

import click

from bigbfs.cli import outputs
from bigbfs.cli.values import PATH, json_option, output_option
from bigbfs.cli.wording import printable
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps
from bigbfs.sizes import counted


@click.command("report")
@click.argument("rows", type=PATH, nargs=-1, required=True, metavar="ROWS.jsonl...")
@output_option("-o", "--output", required=True, metavar="F.html", help="The report, one file.")
@outputs.force_option
@json_option
def command(rows: tuple[Path, ...], output: Path, force: bool, as_json: bool) -> None:
    """Make the report of rows that `bigbfs bench bfs --output` wrote; rows of several runs become one report."""
    from bigbfs.report.page import require_extra, write_page
    from bigbfs.report.rows import read_rows

    outputs.check_output(output, "output", force)
    require_extra()
    record = read_rows(rows)
    size = write_page(record, output)
    if as_json:
        found = {"rows": len(record.rows), "graphs": sorted(record.graphs)}
        wrote = outputs.as_json([outputs.written(output)])
        click.echo(dumps({"schema": SCHEMA, "command": "bench report", **found, "wrote": wrote}))
        return
    about = counted(len(record.graphs), "graph")
    click.echo(f"report      {printable(str(output))}: {counted(len(record.rows), 'row')} of {about}, {size:,} bytes")
