"""The words of ``--source``, ``--sources`` and ``--targets``, which every command reads alike."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from bigbfs.algorithms.many.vertices import vertices_of
from bigbfs.cli.notes import note_fewer
from bigbfs.engines.ranks import launch
from bigbfs.errors import InputError, UsageError
from bigbfs.formats.atomic import access_error
from bigbfs.graph.graph import Graph
from bigbfs.graph.original_ids import LARGEST
from bigbfs.measures.placing import sampled

_DIGITS = len(str(LARGEST))
"""More digits than this are no number of anything here (and int() refuses thousands of them)."""


FORMS = "all|random:K|@FILE|V,V"
"""How vertices are named on a command line."""

_WORDS = "write all, random:K with K from 1 on, @FILE, or numbers with commas between them"

_LONGEST = 80
"""Characters of what was given that a message repeats."""


def _of_names(option: str, text: str) -> str:
    """Return how several names are given, which may hold commas: those of ``text`` if there is room."""
    if option != "--sources":
        return f"names stand in a file, one a line: {option} @FILE"
    names = [] if len(text) > _LONGEST or text.startswith("@") else text.split(",")
    names = names if all(names) and names else ["NAME", "NAME"]
    words = " ".join(f"--source {shlex.quote(name)}" for name in names)
    return f"names are given one by one, `{words}`, or in a @FILE"


def require_form(text: str | None, option: str = "--sources") -> None:
    """Refuse, before any work is done, what is none of ``FORMS``; names with commas are told by :func:`named_in`.

    Raises
    ------
    UsageError
        With the forms.
    """
    if text is None or text == "all" or (text.startswith("@") and len(text) > 1):
        return
    if sampled(text) is not None:
        return
    parts = [part.strip() for part in text.split(",")]
    given = [part for part in parts if part]
    if not all(_is_number(part) for part in given) or not given:
        raise UsageError(f"{option} {text[:_LONGEST]!r}: {_WORDS}; {_of_names(option, text)}")
    if len(given) < len(parts):
        rest = ",".join(given)
        way = f"write {rest}, or" if len(rest) <= _LONGEST else "leave a comma out, or write"
        where = f"entry {parts.index('') + 1:,} of {len(parts):,} is empty"
        raise UsageError(f"{option} {text[:_LONGEST]!r}: {where}; {way} the number that is missing there")
    for part in parts:
        _require_small(part, option)


def require_one_way(one: Sequence[str], many: str | None, needed: bool = True) -> None:
    """Refuse sources given with both options, or, where they are ``needed``, with none; and other forms.

    Raises
    ------
    UsageError
        With both options.
    """
    if (one and many is not None) or (needed and not one and many is None):
        raise UsageError(f"give the sources with --source V, or with --sources {FORMS} (one of them)")
    require_form(many)


def named_in(graph: Graph, one: Sequence[str], many: str | None, option: str = "--source") -> str | list[int] | None:
    """Return what the words name: ``all``, ``random:K``, original ids that are in the graph, or None for no words.

    Parameters
    ----------
    one
        Original ids, or names, each from an option of its own.
    many
        One of ``FORMS``; in a file, ids are separated by blanks or line ends and '#' starts a comment, names stand each
        on a line of its own.

    Raises
    ------
    UsageError
        An id is not in the graph, or names are to be parted by commas, which they may hold.
    InputError
        The file holds something that is no id (names the line).
    FileAccessError
        The file cannot be read.
    """
    if one:
        return _checked(graph, [id_of(graph, word, option) for word in one])
    if many is None or many == "all" or sampled(many) is not None:
        return many
    if many.startswith("@"):
        path = Path(many[1:])
        return _of_file(graph, path, read_ids(path)) if graph.names is None else _read_names(graph, path)
    if graph.names is not None:
        given = f"{option}s {many[:_LONGEST]!r}"
        raise UsageError(f"{given}: vertices have names here, which may hold commas; {_of_names(f'{option}s', many)}")
    return _checked(graph, [int(part.strip().lstrip("0") or "0") for part in many.split(",")])


def choose_sources(graph: Graph, one: tuple[str, ...], many: str | None, seed: int) -> list[int]:
    """Return the vertices to start single searches from, by their original ids, in the order asked for.

    ``random:K`` are K different vertices of degree > 0; all of them, with a note, where there are fewer. The same graph
    and seed give the same ones.

    Raises
    ------
    UsageError, InputError, FileAccessError
        As :func:`require_one_way` and :func:`named_in`, or no vertex has an edge.
    """
    require_one_way(one, many)
    found = named_in(graph, one, many)
    if found == "all":
        return [int(original) for original in graph.original_ids()]
    if not isinstance(found, str):
        return found or []
    candidates = np.flatnonzero(graph.degrees())
    if len(candidates) == 0:
        raise UsageError(f"{graph.path or 'graph'}: --sources {many}: no vertex has an edge; use --source V")
    what = ("vertex has edges", "vertices have edges")
    wanted = note_fewer("--sources", found, len(candidates), what, sampled(found) or 0)
    chosen = np.random.default_rng(seed).choice(candidates, wanted, replace=False)
    return [int(original) for original in graph.original(chosen)]


def _checked(graph: Graph, originals: list[int]) -> list[int]:
    """Return ``originals`` if all of them are in the graph."""
    if len(originals) == 1:
        graph.vertices(originals)  # of one alone there is more to say
    else:
        vertices_of(graph, originals)
    return originals


def _of_file(graph: Graph, path: Path, originals: list[int]) -> list[int]:
    """Return ``originals``, which a file holds, if all of them are in the graph; a message names the first line."""
    try:
        return _checked(graph, originals)
    except UsageError as error:
        rows = ([int(word) for word in line.partition("#")[0].split()] for line in _lines(path))
        missing = (number for number, ids in enumerate(rows, 1) if (graph.places(np.array(ids, np.int64)) < 0).any())
        raise error.saying(f"{path}:{next(missing)}: {error.message}") from None


def _name_of(graph: Graph, path: Path, number: int, name: str) -> int:
    try:
        return graph.id_of(name)
    except UsageError as error:
        raise error.saying(f"{path}:{number}: {error.message}") from None


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def _is_small(digits: str) -> bool:
    digits = digits.lstrip("0") or "0"  # int() refuses thousands of zeros too
    return len(digits) <= _DIGITS and int(digits) <= LARGEST


def _is_id(word: str) -> bool:
    return _is_number(word) and _is_small(word)


def _require_small(word: str, option: str) -> None:
    """Refuse a number, the value of ``option``, that is too large for an id."""
    if not _is_small(word.lstrip("+-")):
        more = "..." if len(word) > _LONGEST else ""
        raise UsageError(f"{option} {word[:_LONGEST]}{more}: no vertex has this id: ids are 0 to 2^63-1")


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
    if not _is_number(digits):
        raise UsageError(
            f"invalid value for '{option}': {word[:80]!r} is not a valid integer, and ids are numbers here"
        )
    _require_small(word, option)
    return sign * int(digits.lstrip("0") or "0")


def _lines_of(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="\n") as stream:
        return [line.removesuffix("\n").removesuffix("\r") for line in stream]


@lru_cache(1)
def _standard_input(_device: int, _number: int) -> list[str]:
    """Return the lines of standard input, which can be read once, however often they are asked for."""
    return _lines_of(Path("/dev/stdin"))


def _lines(path: Path) -> list[str]:
    """Return the lines of a file (``-``: of standard input), which end at a newline alone.

    A name may hold what else Unicode ends lines with.
    """
    try:
        if str(path) in ("-", "/dev/stdin"):
            if launch.started():  # a launcher gives it to one rank, and the others would wait for that one
                raise UsageError("standard input comes to one rank alone; write what it says to a file, and name that")
            state = os.fstat(0)
            return _standard_input(state.st_dev, state.st_ino)
        return _lines_of(path)
    except OSError as error:
        raise access_error(path, error, "read") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start}: not text; write vertex ids, one a line") from error


def pairs_in(graph: Graph, path: Path) -> list[tuple[int, int]]:
    """Return the pairs of original ids in a file, two a line; of names, with a tab between them.

    Raises
    ------
    InputError
        Something is no pair (names the line).
    UsageError
        An id or a name is not in the graph (names the line).
    FileAccessError
        It cannot be read.
    """
    if graph.names is None:
        for number, line in enumerate(_lines(path), 1):
            words = line.partition("#")[0].split()
            if len(words) not in (0, 2):
                raise InputError(f"{path}:{number}: {line[:80]!r} is no pair; write two ids a line")
        ids = _of_file(graph, path, read_ids(path, "two a line"))
        return list(zip(ids[::2], ids[1::2], strict=True))
    found = []
    for number, line in enumerate(_lines(path), 1):
        words = line.split("\t")
        if line and len(words) != 2:
            raise InputError(f"{path}:{number}: {line[:80]!r} is no pair; write two names with a tab between them")
        if line:
            found.append((_name_of(graph, path, number, words[0]), _name_of(graph, path, number, words[1])))
    if not found:
        raise InputError(f"{path}: no pair in it; write two names a line, with a tab between them")
    return found


def _read_names(graph: Graph, path: Path) -> list[int]:
    found = [_name_of(graph, path, number, line) for number, line in enumerate(_lines(path), 1) if line]
    if not found:
        raise InputError(f"{path}: no name in it; write names, one a line")
    return found


def read_ids(path: Path, each: str = "one a line") -> list[int]:
    """Return the ids in a file: separated by blanks or line ends, '#' starts a comment; ``each``: how to write them.

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
            if not _is_id(word):
                raise InputError(f"{path}:{number}: {word[:80]!r} is no vertex id; write ids of 0 to 2^63-1, {each}")
            ids.append(int(word.lstrip("0") or "0"))
    if not ids:
        raise InputError(f"{path}: no vertex id in it; write ids, {each}")
    return ids
