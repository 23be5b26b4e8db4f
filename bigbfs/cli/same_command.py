"""Whether the ranks that a launcher has started were given one command line.

``mpiexec -n 1 bigbfs bfs ... : -n 1 bigbfs cc ...`` starts ranks of two. Who makes other calls of the group waits for
others than those that come, and what one rank alone was asked for would be dropped.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click

from bigbfs.cli.converting import columns_given
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import UsageError
from bigbfs.sizes import shortened

OF_A_MACHINE = ("graph", "inputs", "threads", "memory", "tmp", "vram_budget", "ram_budget", "profile", "verbose")
"""Parameters that may differ: what a machine has, and where a file lies there. Whether graphs and inputs are the same
is told by what is in them, once they are open."""


class Given(NamedTuple):
    """What a rank was given for an option: ``same`` is what all must have, ``words`` how it stands on a line."""

    same: Any
    words: str


def require_one_command(group: Group) -> None:
    """Refuse ranks with different commands or options; every rank makes this call first.

    Raises
    ------
    UsageError
        Names two ranks, their hosts, and what each was given.
    """
    context = click.get_current_context()
    mine = context.command_path.partition(" ")[2], given(context)
    everyone = group.objects(mine)
    for rank, theirs in enumerate(everyone):
        if _compared(theirs) != _compared(everyone[0]):
            said = [
                f"rank {number} (host {group.hosts[number]}) has `{_words(one, other)}`"
                for number, one, other in ((0, everyone[0], theirs), (rank, theirs, everyone[0]))
            ]
            raise UsageError(
                f"ranks were started with different command lines; {'; '.join(said)}; give all the same command and "
                "options (threads, memory and where files lie may differ)",
                names_ranks=True,
            )


def given(context: click.Context) -> dict[str, Given]:
    """Return what the command of ``context`` was given for each option that all ranks must have alike."""
    values = {"columns": columns_given()} | context.params
    found = {}
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name in values and option.name not in OF_A_MACHINE:
            value = values[option.name]
            found[max(option.opts, key=len)] = Given(_same(context, option, value), _option(option, value))
    return found


def _same(context: click.Context, option: click.Option, value: Any) -> Any:
    """Return what all must have alike: of a file, which has another path on another machine, that one is given, and of
    the graph that all write its name."""
    if isinstance(value, Path):
        return value.name if context.info_name == "convert" else True
    return "@FILE" if isinstance(value, str) and value.startswith("@") else value


def _option(option: click.Option, value: Any) -> str:
    """Return ``value`` as words of a command line."""
    name = max(option.opts, key=len)
    if value in (None, False, ()):
        return option.secondary_opts[0] if value is False and option.secondary_opts else ""
    if value is True:
        return name
    if isinstance(value, tuple) and option.multiple:
        return " ".join(f"{name} {shlex.quote(str(each))}" for each in value)
    return f"{name} {shlex.quote(','.join(map(str, value)) if isinstance(value, tuple) else str(value))}"


Line = tuple[str, dict[str, Given]]


def _compared(line: Line) -> tuple[str, dict[str, Any]]:
    return line[0], {name: each.same for name, each in line[1].items()}


def _words(line: Line, other: Line) -> str:
    """Return the command of ``line`` and those of its options that ``other``, of the same command, has not so."""
    differ = [each.words for name, each in line[1].items() if line[0] == other[0] and each.same != other[1][name].same]
    return " ".join([line[0], "...", *(shortened(words) for words in differ if words)])
