"""The help of every command as data, for the manual page and for the reference of the documentation site.

What goes in is the click command of the program; out comes an entry for it and for each command below it. A paragraph
of a help text is verbatim where click prints it as it stands (it begins with a line ``\\b``). The option ``--help``,
which every command has, stands in the first entry alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import click

EXIT_CODES = {
    "0": "done",
    "1": "failure: a bad or inaccessible file",
    "2": "usage: an unknown option, a source that is not in the graph",
    "3": "verification found a difference",
    "4": "no usable GPU",
    "5": "does not fit the memory it may use, or the disk: what is known beforehand, and a disk that fills up",
    "9": "with `--ranks`, or under mpiexec: another rank has gone",
    "129, 130, 143": "terminal closed (SIGHUP), interrupted (SIGINT), terminated (SIGTERM); "
    "temporary files are removed (a conversion over ranks keeps what it has finished on disk, which the next run takes "
    "up). `closeness`, `hops`, `diameter` and `eccentricity` say what they have found by then, "
    "without the proof of `--verify`, and end with 0; a second Ctrl-C ends them at once, and so does "
    "the first while kernels are compiled and nothing is found",
    "141": "the reader of the output went away",
}
"""Exit code -> what it means; the README has the same table (tests/cli/test_man.py)."""


@dataclass(frozen=True)
class Paragraph:
    """Text that is filled, or lines that stay as they are."""

    text: str
    verbatim: bool = False


@dataclass(frozen=True)
class Entry:
    """What there is to say of one command."""

    path: str
    usage: str
    about: tuple[Paragraph, ...]
    options: tuple[tuple[str, str], ...]
    examples: tuple[Paragraph, ...]
    depth: int


def paragraphs(text: str | None) -> tuple[Paragraph, ...]:
    """Return the paragraphs of a help text as click takes them apart."""
    found = []
    for block in inspect.cleandoc(text or "").split("\f")[0].split("\n\n"):
        first, _, rest = block.strip("\n").partition("\n")
        if first == "\b":
            found.append(Paragraph(rest, verbatim=True))
        elif block.strip():
            found.append(Paragraph(" ".join(block.split())))
    return tuple(found)


def entries(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[Entry]:
    """Yield the entry of ``command`` and of all commands below it, in the order in which its help lists them."""
    context = command.context_class(command, info_name=name, parent=parent, **command.context_settings)
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    shown = [option for option in options if parent is None or "--help" not in option.opts]
    yield Entry(
        context.command_path,
        " ".join(command.collect_usage_pieces(context)),
        paragraphs(command.help),
        tuple(record for record in (each.get_help_record(context) for each in shown) if record is not None),
        paragraphs(command.epilog),
        0 if parent is None else context.command_path.count(" "),
    )
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None and not below.hidden:
                yield from entries(below, each, context)
