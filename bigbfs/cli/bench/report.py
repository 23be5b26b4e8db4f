"""``bigbfs bench report``: the HTML report of rows that were measured before."""

from __future__ import annotations

from pathlib import Path

import click

from bigbfs.cli.options import PATH
from bigbfs.formats.atomic import require_writable


@click.command("report")
@click.argument("rows", type=PATH, nargs=-1, required=True, metavar="ROWS.jsonl...")
@click.option("-o", "--output", type=PATH, required=True, metavar="F.html", help="The report, one file.")
def command(rows: tuple[Path, ...], output: Path) -> None:
    """Make the report of rows that `bigbfs bench bfs --output` wrote; rows of several runs become one report."""
    from bigbfs.report.page import require_extra, write_page
    from bigbfs.report.rows import read_rows

    require_writable(output)
    require_extra()
    record = read_rows(rows)
    size = write_page(record, output)
    click.echo(f"report      {output}: {len(record.rows):,} rows of {len(record.graphs)} graphs, {size:,} bytes")
