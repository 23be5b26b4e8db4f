"""Errors in the words of the command line: arguments as the options of the command that failed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click

from bigbfs.errors import Argument, BigBfsError, Call
from bigbfs.sizes import shortened

COUNT = "N"
"""The word that holds the place of a number in help and messages: without it an option would not work as written."""


_COMMANDS = {"original_ids": "`bigbfs cc {} --labels ids.csv`"}
"""What a command line has instead of a function of the Python interface; the argument's value is the graph's path."""


def named_command(group: click.Command, arguments: Sequence[str]) -> click.Command:
    """Return the command that a command line names: a group's, or one of a group within a group."""
    found = group
    for word in arguments:
        if not isinstance(found, click.Group):
            break
        if not word.startswith("-"):
            with suppress(BigBfsError):  # it may be the command's own import that failed
                found = found.get_command(click.Context(found), word) or found
    return found


def in_options(error: BigBfsError, command: click.Command, given: Sequence[str] = ()) -> str:
    """Return the message of ``error`` with arguments as options of ``command``, without remedies that it has not.

    ``given`` are the words of the command line: of an option with several names it says the one that stands there.
    """

    def spell(what: Argument | Call) -> str | None:
        if isinstance(what, Call):
            words = [of_call(what.name, each) for each in what.arguments]
            return f"`{' '.join(['bigbfs', what.name, shlex.quote(what.path), *words])}`"
        if what.name in _COMMANDS:
            return _COMMANDS[what.name].format(shlex.quote(str(what.value or "GRAPH")))
        long = _long(what.name)
        for option in command.params:
            if isinstance(option, click.Option) and long in option.opts:
                if what.value is False and option.secondary_opts:
                    return option.secondary_opts[0]
                value = option.metavar if what.value is None and option.metavar == COUNT else what.value
                # -o is short for --output; an option that is also an output keeps the name that says of what
                if "--output" in option.opts and long != "--output":
                    return _option(_as_given(option.opts, given) or long, value)
                return _option(min(option.opts, key=len), value)
        return None

    return error.worded(spell)


def _as_given(names: Sequence[str], given: Sequence[str]) -> str | None:
    """Return by which of its ``names`` a command line gives an option; None: by none."""
    for word in given:
        for name in names:
            if word == name or word.startswith(f"{name}=") or (name[1] != "-" and word.startswith(name)):
                return name
    return None


def of_call(command: str, argument: Argument) -> str:
    """Return an argument as an option of another command; where no value is known, a word holds its place."""
    long, value = _long(argument.name), argument.value
    for option in import_module(f"bigbfs.cli.{command}").command.params:
        if value is None and isinstance(option, click.Option) and long in option.opts and not option.is_flag:
            value = option.metavar
        if value is False and isinstance(option, click.Option) and long in option.opts and option.secondary_opts:
            return option.secondary_opts[0]
    return _option(long.replace("--output", "-o"), value)


def _long(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(name: str, value: object) -> str:
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    return name if value is None or isinstance(value, bool) else f"{name} {shlex.quote(str(value))}"


_SAID = {
    "header=False": "--no-header",
    "header=True": "--header",
    "columns=(A, B)": "--columns A,B",
    "keep_ids=True": "--keep-ids",
}
"""Keywords that notes name, which are plain text, and their options."""


def noted(note: str) -> str:
    """Return a note of a conversion with keywords as options, to be printed."""
    for keyword, option in _SAID.items():
        note = note.replace(keyword, option)
    return printable(note)


def printable(text: str) -> str:
    """Return ``text`` with everything escaped that a terminal would act on instead of showing it, line ends too."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def shown_name(name: object) -> str:
    """Return the name or id of a vertex for people: printable, and shortened where it is very long."""
    return printable(shortened(str(name)))
