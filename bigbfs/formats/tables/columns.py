"""Which two columns of a table hold the sources and the targets: those that are asked for, or that their names say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from bigbfs.errors import InputError, RemedyLike
from bigbfs.sizes import counted, quoted

Columns = tuple[int | str, int | str]
"""Two columns, each by its place (from 1 on) or by its name."""

PAIRS = (
    *(("source", "target"), ("src", "dst"), ("src", "dest"), ("from", "to"), ("u", "v"), ("i", "j"), ("row", "col")),
    *(("sourceid", "targetid"), ("srcid", "dstid"), ("fromid", "toid"), ("fromnodeid", "tonodeid"), ("start", "end")),
    *(("sourcenode", "targetnode"), ("fromnode", "tonode"), ("node1", "node2"), ("id1", "id2"), ("vertex1", "vertex2")),
)
"""Names that say which column is which, in small letters and digits alone."""

_LISTED = 12
"""Columns that a message names."""


def by_their_names(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the places, from 1 on, of two columns whose names are a known pair; None where no pair is there once."""
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    for first, second in PAIRS:
        if plain.count(first) == 1 and plain.count(second) == 1:
            return plain.index(first) + 1, plain.index(second) + 1
    return None


def left_out(names: int, read: Sequence[int] = (1, 2)) -> str:
    """Return words on the columns, of so many, that are not ``read``, to be put behind a note; "" if there are none."""
    others = names - sum(1 for each in set(read) if each <= names)
    return f"; {counted(others, 'other column')} not read (columns=(A, B): take others)" if others > 0 else ""


def listed(names: Sequence[str]) -> str:
    """Return the names of the columns for a message."""
    shown = ", ".join(map(quoted, names[:_LISTED]))
    return shown + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def place(name: str, names: Sequence[str], wanted: int | str) -> int:
    """Return the place, from 1 on, of the column ``wanted`` among ``names``; ``name`` is the file, for messages.

    Raises
    ------
    InputError
        There is no such column, or there are two.
    """
    if isinstance(wanted, int):
        if 1 <= wanted <= len(names):
            return wanted
        raise InputError(f"{name}: no column {wanted}: it has {len(names)} ({listed(names)})", remedies=_example(names))
    count = list(names).count(wanted)
    if count == 1:
        return list(names).index(wanted) + 1
    if count:
        ways: tuple[RemedyLike, ...] = (("columns", (1, 2), "say which by number, {} for example"),)
        raise InputError(f"{name}: {count} columns are called {quoted(wanted)}", remedies=ways)
    near = get_close_matches(wanted, names, 1) or [each for each in names if each.lower() == wanted.lower()]
    hint = f"; is {quoted(near[0])} meant?" if near else ""
    what = f"{name}: no column {quoted(wanted)}{hint} It has {listed(names)}" if near else ""
    raise InputError(what or f"{name}: no column {quoted(wanted)}: it has {listed(names)}", remedies=_example(names))


def _example(names: Sequence[str]) -> tuple[RemedyLike, ...]:
    """Return two columns to be named instead: by number where their names would not be taken for what they are."""
    if len(names) < 2:
        return ()
    plain = all(re.fullmatch(r"[^\W\d][^,]*\S|[^\W\d]", each) and list(names).count(each) == 1 for each in names[:2])
    return (("columns", tuple(names[:2]) if plain else (1, 2), "say {} for example"),)


def choose(name: str, names: Sequence[str], wanted: Columns | None) -> tuple[int, int, str | None]:
    """Return the places, from 1 on, of sources and targets, and a note where they were guessed.

    Raises
    ------
    InputError
        The table has fewer than two columns, or not those that are wanted.
    """
    if len(names) < 2:
        has = f"one column ({listed(names)})" if names else "no column"
        raise InputError(f"{name}: has {has}; an edge takes two")
    if wanted is not None:
        first, second = (place(name, names, each) for each in wanted)
        if first == second:
            raise InputError(f"{name}: {quoted(names[first - 1])} is one column; an edge takes two")
        return first, second, None
    found = by_their_names(names)
    first, second = found or (1, 2)
    why = "as their names say" if found else "the first two"
    note = f"{name}: edges lead from column {quoted(names[first - 1])} to column {quoted(names[second - 1])} ({why})"
    return first, second, note + left_out(len(names))
