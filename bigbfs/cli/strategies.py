"""``bigbfs strategies``: the catalogue of traversal strategies."""

from __future__ import annotations

import click

from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.report.table import table


@click.command("strategies")
def command() -> None:
    """List the traversal strategies and where each comes from."""
    rows = [(strategy.name, strategy.summary, strategy.source) for strategy in STRATEGIES.values()]
    click.echo(table(("name", "what it does", "source"), rows))
