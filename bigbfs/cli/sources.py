"""Turn ``--source`` and ``--sources`` into a list of internal vertices."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.atomic import access_error
from bigbfs.graph.graph import Graph

_DIGITS = len(str(2**63 - 1))
"""More digits than this are no number of anything here (and int() refuses thousands of them)."""


def choose_sources(graph: Graph, one: tuple[str, ...], many: str | None, seed: int) -> list[int]:
    """Return the vertices to start from, by their original ids, in the order asked for.

    Parameters
    ----------
    one
        Original ids, or names, from ``--source``.
    many
        ``random:N`` (N different vertices of degree > 0; all of them, with a note, where there are fewer) or ``@FILE``
        (ids separated by blanks or line ends, '#' starts a comment; names each on a line of its own).
    seed
        Seed of ``random:N``: the same graph and seed give the same sources.

    Raises
    ------
    UsageError
        Neither or both are given, the form is unknown, or an id is not in the graph.
    InputError
        The file holds something that is no id (names the line).
    FileAccessError
        The file cannot be read.
    """
    if bool(one) == bool(many):
        raise UsageError("give the sources with --source V or with --sources random:N or @FILE (one of them)")
    if one:
        return _checked(graph, [id_of(graph, word, "--source") for word in one])
    assert many is not None
    if many.startswith("@") and len(many) > 1:
        path = Path(many[1:])
        return _checked(graph, read_ids(path) if graph.names is None else _read_names(graph, path))
    kind, _, count = many.partition(":")
    if kind != "random" or not count.isdecimal() or len(count) > _DIGITS or int(count) == 0:
        raise UsageError(f"--sources {many[:80]!r}: write random:N with N from 1 to 10^{_DIGITS} - 1, or @FILE")
    candidates = np.flatnonzero(graph.degrees())
    if len(candidates) == 0:
        raise UsageError(f"{graph.path or 'graph'}: --sources {many}: no vertex has an edge; use --source V")
    wanted = int(count)
    if wanted > len(candidates):
        wanted = len(candidates)
        click.echo(f"note: --sources {many}: only {wanted:,} vertices have edges; each of them is a source", err=True)
    chosen = np.random.default_rng(seed).choice(candidates, wanted, replace=False)
    return [int(original) for original in graph.original(chosen)]


def _checked(graph: Graph, originals: list[int]) -> list[int]:
    """Return ``originals`` if all of them are in the graph."""
    graph.vertices(originals)
    return originals


def id_of(graph: Graph, word: str, option: str) -> int:
    """Return the original id that a word, the value of ``option``, means: a name's where vertices have names.

    Raises
    ------
    UsageError
        No vertex is called so, or it is no whole number.
    """
    if graph.names is not None:
        return graph.id_of(word)
    sign, digits = (-1, word[1:]) if word.startswith("-") else (1, word.removeprefix("+"))
    if not (digits.isascii() and digits.isdecimal() and len(digits.lstrip("0")) <= _DIGITS):
        raise UsageError(
            f"invalid value for '{option}': {word[:80]!r} is not a valid integer, and ids are numbers here"
        )
    return sign * int(digits.lstrip("0") or "0")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise access_error(path, error, "read") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start}: not text; write vertex ids, one a line") from error


def _read_names(graph: Graph, path: Path) -> list[int]:
    names = [line for line in _lines(path) if line]
    if not names:
        raise InputError(f"{path}: no name in it; write names, one a line")
    return [graph.id_of(name) for name in names]


def read_ids(path: Path) -> list[int]:
    """Return the ids in a file: separated by blanks or line ends, '#' starts a comment.

    Raises
    ------
    InputError
        The file holds something that is no id (names the line), or none.
    FileAccessError
        It cannot be read.
    """
    ids = []
    for number, line in enumerate(_lines(path), 1):
        for word in line.partition("#")[0].split():
            if not (word.isascii() and word.isdecimal() and len(word.lstrip("0")) <= _DIGITS):
                raise InputError(
                    f"{path}:{number}: {word[:80]!r} is no vertex id; write ids of 0 to 2^63-1, one a line"
                )
            ids.append(int(word.lstrip("0") or "0"))
    if not ids:
        raise InputError(f"{path}: no vertex id in it; write ids, one a line")
    return ids
