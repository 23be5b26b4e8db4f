"""``bigbfs man``: the manual page, in the language of man and groff, from the help of every command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from bigbfs import __version__
from bigbfs.cli.manual import EXIT_CODES, Entry, Paragraph, entries

SUMMARY = "traverse graphs larger than GPU memory, and verify the answer"


def escaped(line: str) -> str:
    """Return a line that groff prints as it stands; what is between backticks in bold."""
    plain = line.replace("\\", "\\e").replace("-", "\\-").replace("|", "|\\:")  # a choice may be broken after a bar
    ascii_only = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in plain)
    pieces = ascii_only.split("`")
    if len(pieces) % 2 == 0:  # one of them stands alone
        pieces[-2:] = ["`".join(pieces[-2:])]
    marked = "".join(f"\\fB{piece}\\fR" if place % 2 else piece for place, piece in enumerate(pieces))
    return f"\\&{marked}" if marked[:1] in (".", "'") else marked  # a line that begins so is a request to groff


def _filled(text: Iterable[Paragraph]) -> Iterator[str]:
    for paragraph in text:
        yield ".PP"
        if paragraph.verbatim:
            yield from (".nf", ".RS 4", *map(escaped, paragraph.text.split("\n")), ".RE", ".fi")
        else:
            yield escaped(paragraph.text)


def _entry(entry: Entry) -> Iterator[str]:
    yield f".SS {escaped(entry.path)}"
    yield f"\\fB{escaped(entry.path)}\\fR {escaped(entry.usage)}"
    yield from _filled(entry.about)
    yield from _options(entry)
    yield from _filled(entry.examples)


def _options(entry: Entry) -> Iterator[str]:
    for names, help_text in entry.options:
        yield from (".TP 8", f"\\fB{escaped(names)}\\fR", escaped(help_text))


def page(program: click.Command) -> str:
    """Return the manual page of ``program``."""
    top, *below = entries(program, "bigbfs")
    lines = [f'.TH BIGBFS 1 "" "bigbfs {__version__}" "User Commands"']
    lines += [".ad l", ".nh"]  # ragged, and no word is cut: a hyphen would be taken for part of an option
    lines += [".SH NAME", f"bigbfs \\- {escaped(SUMMARY)}"]
    lines += [".SH SYNOPSIS", f"\\fBbigbfs\\fR {escaped(top.usage)}"]
    lines += [".SH DESCRIPTION", *_filled(top.about), ".SH OPTIONS", *_options(top)]
    lines += [".SH COMMANDS"]
    for entry in below:
        lines += _entry(entry)
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES.items():
        lines += [".TP 8", f"\\fB{code}\\fR", escaped(meaning)]
    lines += [".SH EXAMPLES", *_filled(top.examples)]
    return "\n".join(lines) + "\n"


@click.command("man")
def command() -> None:
    """Print the manual page: every command and option, in the language of man.

    \b
    read it:     bigbfs man | man -l -
    install it:  bigbfs man > ~/.local/share/man/man1/bigbfs.1
    """
    from bigbfs.cli.main import cli

    click.echo(page(cli), nl=False)
