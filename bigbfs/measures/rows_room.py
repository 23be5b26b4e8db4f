"""Room on a disk for results of each vertex: what surely does not fit is refused before the first search.

An array has its size from the start. A table of lines has one for each vertex, whose id and value are of some length:
less than the shortest that there can be is refused, less than the longest is said. Of what pyarrow packs, and of names,
nobody knows the length before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bigbfs.errors import DoesNotFitError, RemedyLike
from bigbfs.formats.atomic import behind_link, free_for
from bigbfs.formats.tables.results import KINDS
from bigbfs.graph.graph import Graph
from bigbfs.sizes import counted, format_size, free_memory, size_allowed, size_needed

_SIGNS = len(",\n")
"""Characters of a line beside its id and its value."""
_REAL = (len("0.0"), len("0.00012345678901234567") + 2)
"""Characters of a number of float64 that is not negative, at least and at most."""
_WORD = 8
"""Bytes of an id or a value where they are not written as text."""


class Rows(NamedTuple):
    """A result of each vertex that is to be written.

    Attributes
    ----------
    path
        Its file, or ``-`` or None: nothing goes to a disk.
    argument
        What names the file.
    dtype
        That of its array.
    speaks
        Whether it holds original ids.
    alone
        Whether a table has this column alone, of vertices that all differ; else one of their ids stands before it.
    """

    path: Path | None
    argument: str
    dtype: type[np.number[Any]]
    speaks: bool = False
    alone: bool = False


def require_room_for_rows(graph: Graph, results: Iterable[Rows]) -> list[str]:
    """Refuse results of each vertex of ``graph`` that would surely fill a disk, each alone or those of one together.

    Returns what there is to say where they may.

    Raises
    ------
    DoesNotFitError
        They would, whatever the values are.
    FileAccessError, OSError
        A folder is not there.
    """
    disks: dict[int, list[Rows]] = {}
    for each in results:
        if each.path is not None and str(each.path) != "-":
            disks.setdefault(behind_link(each.path).parent.stat().st_dev, []).append(each)
    told = [[_require(graph, together[: 1 + last]) for last in range(len(together))] for together in disks.values()]
    return [said[-1] for said in told if said[-1]]


def refuse_unless(size: int, what: str, path: Path | None, remedies: tuple[RemedyLike, ...]) -> None:
    """Refuse ``what`` takes ``size`` bytes unless there is room for them in memory, or on the disk of ``path``.

    Raises
    ------
    DoesNotFitError
        There is not; with the ``remedies``.
    """
    free = free_memory() if path is None else free_for(path)
    if size > free:
        where = "memory" if path is None else f"the disk of {path}"
        said = f"{what}{size_needed(size)}, and {size_allowed(free)} are free in {where}"
        raise DoesNotFitError(said, remedies=remedies)


def _require(graph: Graph, results: list[Rows]) -> str:
    """Refuse what does not fit one disk; return what there is to say of what may not, or nothing."""
    sizes = [_bytes(graph, each) for each in results]
    first, *others = results
    assert first.path is not None
    replaced = sum(map(_bytes_there, results[:-1]))  # is free again before the last is written
    least = sum(low for low, _ in sizes) - replaced
    most = sum(high or 0 for _, high in sizes) - replaced
    known = all(high is not None for _, high in sizes)
    counts = [counted(graph.n, "value" if each.path and each.path.suffix == ".npy" else "row") for each in results]
    what = " and ".join(counts) + " together" * bool(others) + " beside what they replace" * bool(replaced)
    ways: list[RemedyLike] = ["free some", (first.argument, None, "write to another disk with {}")]
    ways += [(each.argument, None, "with {}") for each in others]
    exact = known and least == most
    refuse_unless(least, f"{what} take {'' if exact else 'at least '}", first.path, tuple(ways))
    free = free_for(first.path)
    if not known or most <= free:
        return ""
    names = " and ".join(str(each.path) for each in results)
    return f"{names}: {what} take {format_size(most)} at most; {format_size(free)} are free, which may be too few"


def _bytes_there(rows: Rows) -> int:
    """Return what the file that is there takes on the disk."""
    assert rows.path is not None
    found = behind_link(rows.path)
    return found.stat().st_blocks * 512 if found.is_file() else 0


def _bytes(graph: Graph, rows: Rows) -> tuple[int, int | None]:
    """Return how long the file is at least and at most (None: nobody knows), headers left out."""
    assert rows.path is not None
    n, suffix, size = graph.n, rows.path.suffix, np.dtype(rows.dtype).itemsize
    if suffix == ".npy":
        return n * size, n * size
    if KINDS.get(suffix) == "arrow":
        return n * (size + (0 if rows.alone else _WORD)), None
    if KINDS.get(suffix) != "csv":
        return 0, None
    named = graph.names is not None
    if rows.alone:
        return (n * 2, None) if named else (_digits_of_first(n) + n, n * (_longest_id(graph) + 1))
    short, long = _REAL if np.dtype(rows.dtype).kind == "f" else (1, max(len("-1"), len(str(n))))
    if named:
        return n * (1 + _SIGNS + (0 if rows.speaks else short)), None
    longest = _longest_id(graph)
    if rows.speaks:
        long = max(len("-1"), longest)
    return _digits_of_first(n) + n * (_SIGNS + short), n * (longest + _SIGNS + long)


def _digits_of_first(n: int) -> int:
    """Return the digits of 0 to n - 1, which no ``n`` different ids have fewer of."""
    return n + sum(n - power for power in (10**each for each in range(1, len(str(n)))))


def _longest_id(graph: Graph) -> int:
    if graph.labels is None:
        return len(str(graph.first_id + max(0, graph.n - 1)))
    return len(str(int(np.asarray(graph.labels).max(initial=0))))
