"""What a command has to say beside its answer: on standard error at once, and in the JSON object."""

from __future__ import annotations

from typing import Any

import click

from bigbfs.cli.wording import printable
from bigbfs.engines.ranks import launch
from bigbfs.sizes import counted

_KEPT = "bigbfs.notes"


def tell(line: str) -> None:
    """Print ``line`` on standard error, on the first rank where there are several: all come by the same places."""
    if launch.is_first():
        click.echo(line, err=True)


def note(text: str) -> None:
    """Say ``text``, on the first rank where there are several."""
    tell(f"note: {printable(text)}")
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_KEPT, []).append(text)


def note_fewer(option: str, words: str, there: int, what: tuple[str, str], wanted: int) -> int:
    """Return how many of the ``wanted`` vertices there are to be drawn; say so where these are fewer.

    ``what`` says of one vertex, and of several, which are counted.
    """
    if wanted > there:
        each = f"{'it' if there == 1 else 'each of them'} is a {option.removeprefix('--').removesuffix('s')}"
        note(f"{option} {words}: only {counted(there, *what)}; {each}")
    return min(wanted, there)


def with_notes(found: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a command with what was noted."""
    return found | {"notes": list(click.get_current_context().meta.get(_KEPT, ()))}
