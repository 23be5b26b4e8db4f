"""Where a row ends, asked for in the loop that reads it (:mod:`bigbfs.engines.cpu.rows`).

    position, stop = seek(rows, u, ZERO), row_stop(rows, u)
    value, k = ZERO, ZERO
    while is_before(rows, position, k, stop):
        value, position = step(rows, position, k, value)
        k += ONE

Of plain rows the position says where one ends, so nothing is counted: for rows of two neighbours that is quicker than a
loop over ``degree``.
"""

from __future__ import annotations

from typing import Any

from bigbfs.engines.cpu.bits import ZERO
from bigbfs.engines.cpu.rows import VarintRows, degree, seek
from bigbfs.jit.later import overload


def row_stop(rows, u):
    """Return where the row of ``u`` ends, for :func:`is_before`."""
    return _row_stop(rows, u)(rows, u)


def is_before(rows, position, k, stop):
    """Return whether neighbour ``k``, which is at ``position``, is one of the row that ends at ``stop``."""
    return _is_before(rows, position, k, stop)(rows, position, k, stop)


def _counts(rows: Any) -> bool:
    """Return whether a row's end is a number of neighbours, given the type of rows, or rows in Python."""
    return getattr(rows, "instance_class", type(rows)) is VarintRows


@overload(row_stop)
def _row_stop(rows, u):
    def counted(rows, u):
        return degree(rows, u)

    def at(rows, u):
        return seek(rows, u, ZERO) + degree(rows, u)

    return counted if _counts(rows) else at


@overload(is_before)
def _is_before(rows, position, k, stop):
    if _counts(rows):
        return lambda rows, position, k, stop: k < stop
    return lambda rows, position, k, stop: position < stop
