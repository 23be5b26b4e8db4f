"""``bigbfs bench``: one algorithm by all of its ways, side by side."""

from __future__ import annotations

from importlib import import_module

import click

from bigbfs.cli.groups import Group

BENCHES = {
    "bfs": "BFS by every strategy from the same sources: a table, rows, a report.",
    "cc": "Connected components by every algorithm under every switch.",
    "report": "Make the report of rows that `bench bfs --output` wrote.",
}


class Benches(Group):
    """A click group whose commands live beside this file, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of ``BENCHES``."""
        return list(BENCHES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in BENCHES:
            return None
        command: click.Command = import_module(f"bigbfs.cli.bench.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(BENCHES.items()))


@click.group("bench", cls=Benches)
def command() -> None:
    """Time an algorithm by all of its ways, side by side."""
