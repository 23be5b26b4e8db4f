"""Whether the ranks that a launcher has started were given one command line.

``mpiexec -n 1 bigbfs bfs ... : -n 1 bigbfs cc ...`` starts ranks of two. Who makes other calls of the group waits for
others than those that come, and what one rank alone was asked for would be dropped.
"""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click

from bigbfs.cli.converting import columns_given
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import UsageError
from bigbfs.sizes import shortened

OF_A_MACHINE = (
    "graph", "inputs", "threads", "memory", "tmp", "vram_budget", "ram_budget", "host_bytes", "device_bytes", "profile",
    "verbose", "count", "ranks",
)  # fmt: skip
"""Parameters that may differ: what a machine has, and where a file lies there. Whether graphs and inputs are the same
is told by what is in them, once they are open; the number of ranks has been held against the launcher's."""


class Given(NamedTuple):
    """What a rank was given for an option: ``same`` is what all must have, ``words`` how it stands on a line; ``place``
    what those of one machine must have, too."""

    same: Any
    words: str
    place: str = ""


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
        for first, near in ((0, False), (group.machines[rank], True)):
            ours = everyone[first]
            if _compared(theirs, near) == _compared(ours, near):
                continue
            said = [
                f"rank {number} (host {group.hosts[number]}) has `{_words(one, other, near)}`"
                for number, one, other in ((first, ours, theirs), (rank, theirs, ours))
            ]
            raise UsageError(
                f"ranks were started with different command lines; {'; '.join(said)}; give all the same command and "
                "options (threads, memory and where files lie may differ)",
                names_ranks=True,
            )


def require_one_file_of_sources(group: Group | None, many: str | None, sources: list[int]) -> list[int]:
    """Return ``sources``; refuse those of ``--sources @FILE`` where the files of the ranks hold others.

    Raises
    ------
    UsageError
        Names the first rank that has others, its host, and how many each has.
    """
    if group is None or many is None or not many.startswith("@"):
        return sources
    mine = len(sources), hashlib.sha256(str(sources).encode()).digest()
    everyone = group.objects(mine)
    for rank, theirs in enumerate(everyone):
        if theirs != everyone[0]:
            raise UsageError(
                f"--sources: the file of rank {rank} (host {group.hosts[rank]}) holds other vertices than that of rank "
                f"0 ({theirs[0]:,}, and {everyone[0][0]:,}); give all ranks the same",
                names_ranks=True,
            )
    return sources


def given(context: click.Context) -> dict[str, Given]:
    """Return what the command of ``context`` was given for each option that all ranks must have alike."""
    values = {"columns": columns_given()} | context.params
    found = {}
    if "graph" in values:  # who looks for one in this folder makes calls of the group for it
        found["GRAPH"] = Given(values["graph"] is None, "without GRAPH" if values["graph"] is None else "")
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name in values and option.name not in OF_A_MACHINE:
            value = values[option.name]
            place = str(value.resolve()) if isinstance(value, Path) and context.info_name == "convert" else ""
            found[max(option.opts, key=len)] = Given(_same(context, option, value), _option(option, value), place)
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
    if value is None or value is False or value == ():
        return option.secondary_opts[0] if value is False and option.secondary_opts else ""
    if value is True:
        return name
    if isinstance(value, tuple) and option.multiple:
        return " ".join(f"{name} {shlex.quote(str(each))}" for each in value)
    return f"{name} {shlex.quote(','.join(map(str, value)) if isinstance(value, tuple) else str(value))}"


Line = tuple[str, dict[str, Given]]


def _compared(line: Line, near: bool) -> tuple[str, dict[str, Any]]:
    """Return what must be the same on all ranks; ``near``: on those of one machine."""
    return line[0], {name: (each.same, each.place if near else "") for name, each in line[1].items()}


def _words(line: Line, other: Line, near: bool) -> str:
    """Return the command of ``line`` and those of its options that ``other``, of the same command, has not so."""
    mine, theirs = _compared(line, near)[1], _compared(other, near)[1]
    differ = [each.words for name, each in line[1].items() if line[0] == other[0] and mine[name] != theirs[name]]
    return " ".join([line[0], "...", *(shortened(words) for words in differ if words)])
