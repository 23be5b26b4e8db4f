"""The Markdown extension of the documentation site that writes the reference from the commands and the public names.

A line ``::: bigbfs commands`` becomes a section for each command, with its usage, help, options and examples. A line
``::: bigbfs exit codes`` becomes a table, and ``::: bigbfs other names`` what mkdocstrings is to say of the public
names that no other line of the page has. In tables a bar between backticks needs a backslash on GitHub, which
Python's Markdown would show: it is taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

import bigbfs
from bigbfs.cli.main import cli
from bigbfs.cli.manual import EXIT_CODES, Entry, Paragraph, entries

COMMANDS = "::: bigbfs commands"
CODES = "::: bigbfs exit codes"
NAMES = "::: bigbfs other names"


def _fenced(text: str) -> Iterator[str]:
    yield from ("```text", *text.split("\n"), "```", "")


def _plain(text: str) -> str:
    return text.replace("*", r"\*").replace("<", "&lt;").replace("|", "&#124;")


def _filled(text: tuple[Paragraph, ...]) -> Iterator[str]:
    for paragraph in text:
        if paragraph.verbatim:
            yield from _fenced(paragraph.text)
        else:
            yield from (_plain(paragraph.text), "")


def _option(names: str, text: str) -> str:
    return f"| `{names}` | {_plain(text)} |"  # a bar between backticks ends no cell; elsewhere it would


def section(entry: Entry) -> Iterator[str]:
    """Yield the lines of a command's section; a command of a group lies one heading below it."""
    if entry.depth:
        yield from (f"{'#' * (entry.depth + 1)} {entry.path}", "")
    yield from _filled(entry.about)
    yield from _fenced(f"{entry.path} {entry.usage}")
    if entry.options:
        yield from ("| option | |", "|---|---|")
        yield from (_option(*option) for option in entry.options)
        yield ""
    yield from _filled(entry.examples)


def codes() -> Iterator[str]:
    """Yield the table of exit codes."""
    yield from ("| code | meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())


def other_names(lines: list[str]) -> Iterator[str]:
    """Yield the lines by which mkdocstrings documents public names that ``lines`` leave out; errors have a module."""
    there = {line.strip().rpartition(".")[2] for line in lines if line.startswith("::: ")}
    for name in bigbfs.__all__:
        if name not in there and not name.startswith("__") and not name.endswith("Error"):
            yield from (f"::: bigbfs.{name}", "")


def _row(line: str) -> str:
    return re.sub(r"`[^`]*`", lambda code: code[0].replace(r"\|", "|"), line) if line.startswith("|") else line


class _Reference(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        """Replace the three lines, wherever they stand, and bars of tables."""
        found: list[str] = []
        for line in lines:
            if line.strip() == COMMANDS:
                for entry in entries(cli, "bigbfs"):
                    found += section(entry)
            elif line.strip() == CODES:
                found += codes()
            elif line.strip() == NAMES:
                found += other_names(lines)
            else:
                found.append(_row(line))
        return found


class Reference(Extension):
    """Registers the preprocessor, before fenced code is taken out (priority 25) and mkdocstrings sees its lines."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register."""
        md.preprocessors.register(_Reference(md), "bigbfs_reference", 100)


def makeExtension(**options: Any) -> Reference:
    """Return the extension, as Markdown asks for it."""
    return Reference(**options)
