"""``bigbfs strategies``: the catalogue of traversal strategies."""

from __future__ import annotations

import json
import textwrap

import click

from bigbfs.algorithms.bfs.strategies import STRATEGIES, Strategy
from bigbfs.cli.values import json_option
from bigbfs.record import SCHEMA


@click.command("strategies")
@click.argument("names", nargs=-1, type=click.Choice(list(STRATEGIES)), metavar="[NAME]...")
@json_option
def command(names: tuple[str, ...], as_json: bool) -> None:
    """List the traversal strategies and where each comes from; all that is known of those that are named."""
    if as_json:
        found = [{"name": name, "summary": STRATEGIES[name].summary, **_fields(name)} for name in names or STRATEGIES]
        click.echo(json.dumps({"schema": SCHEMA, "command": "strategies", "strategies": found}))
        return
    if names:
        click.echo("\n\n".join(_describe(name) for name in names))
        return
    wide = 2 + max(map(len, STRATEGIES))
    for name, strategy in STRATEGIES.items():
        for first, text in ((name, strategy.summary), ("", f"({strategy.source})")):
            click.echo(textwrap.fill(text, 80, initial_indent=first.ljust(wide), subsequent_indent=" " * wide))
    click.echo(
        "\n`bigbfs strategies NAME` says how one stores frontiers and shares out work,\nand where it wins and loses."
    )


def _fields(name: str) -> dict[str, str]:
    """Return what is known of a strategy, in words."""
    strategy: Strategy = STRATEGIES[name]
    levels = "the kernel goes from level to level" if strategy.loop == "persistent" else "the host launches each level"
    steps = ", ".join(step.kernel + ("" if step.when == "always" else f" ({step.when})") for step in strategy.steps)
    where = [name for name in strategy.backends if name != "gpu"]
    where += [f"gpu, edges in {' or '.join(strategy.residencies)}"] if "gpu" in strategy.backends else []
    return {
        "source": strategy.source,
        "frontier": strategy.frontier,
        "mapping": strategy.mapping,
        "filter": strategy.filter,
        "wins": strategy.wins,
        "loses": strategy.loses,
        "levels": levels,
        "launches": steps,
        "needs": "; ".join(strategy.needs),
        "runs on": "; ".join(where),
    }


def _describe(name: str) -> str:
    """Return the fields of an entry as lines of text."""
    lines = [
        textwrap.fill(text, 80, initial_indent=f"  {field:<9} ", subsequent_indent=" " * 12)
        for field, text in _fields(name).items()
    ]
    return "\n".join([textwrap.fill(f"{name}: {STRATEGIES[name].summary}", 80, subsequent_indent="  "), *lines])
