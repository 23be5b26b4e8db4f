"""Room on a disk for a result of each vertex: what surely does not fit is refused before the first search.

An array has its size from the start. A table of lines has one for each vertex, whose id and value are of some length:
less than the shortest that there can be is refused, less than the longest is said. Of what pyarrow packs, and of names,
nobody knows the length before.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs.formats.atomic import free_for
from bigbfs.formats.tables.results import KINDS
from bigbfs.graph.graph import Graph
from bigbfs.measures.room import refuse_unless
from bigbfs.sizes import counted, format_size

_SIGNS = len(",\n")
"""Characters of a line beside its id and its value."""
_REAL = (len("0.0"), len("0.00012345678901234567") + 2)
"""Characters of a number of float64 that is not negative, at least and at most."""
_WORD = 8
"""Bytes of an id or a value where they are not written as text."""


def require_room_for_rows(graph: Graph, dtype: np.dtype, path: Path) -> str:
    """Refuse a result of ``dtype`` for each vertex of ``graph`` that would surely fill the disk of ``path``.

    Returns what there is to say where it may, else nothing.

    Raises
    ------
    DoesNotFitError
        It would, whatever the values are.
    """
    least, most = _bytes(graph, dtype, path.suffix)
    what = counted(graph.n, "value" if path.suffix == ".npy" else "row")
    ways = ("free some", ("output", None, "write to another disk with {}"))
    refuse_unless(least, f"{what} take {'' if most == least else 'at least '}", path, ways)
    free = free_for(path)
    if most is None or most <= free:
        return ""
    return f"{what} take {format_size(most)} at most; {format_size(free)} are free, which may be too few"


def _bytes(graph: Graph, dtype: np.dtype, suffix: str) -> tuple[int, int | None]:
    """Return how long the file is at least and at most (None: nobody knows), headers left out."""
    n = graph.n
    if suffix == ".npy":
        return n * dtype.itemsize, n * dtype.itemsize
    if KINDS.get(suffix) == "csv":
        short, long = _REAL if dtype.kind == "f" else (1, max(len("-1"), len(str(n))))
        if graph.names is not None:
            return n * (1 + _SIGNS + short), None
        return _digits_of_first(n) + n * (_SIGNS + short), n * (_longest_id(graph) + _SIGNS + long)
    return (n * 2 * _WORD, None) if KINDS.get(suffix) == "arrow" else (0, None)


def _digits_of_first(n: int) -> int:
    """Return the digits of 0 to n - 1, which no ``n`` different ids have fewer of."""
    return n + sum(n - power for power in (10**each for each in range(1, len(str(n)))))


def _longest_id(graph: Graph) -> int:
    if graph.labels is None:
        return len(str(graph.first_id + max(0, graph.n - 1)))
    return len(str(int(np.asarray(graph.labels).max(initial=0))))
