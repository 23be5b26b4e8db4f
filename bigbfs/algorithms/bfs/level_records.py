"""The levels of a run as columns: a graph may have a million of them, and an object for each takes seconds to make.

A table has a row for each level expanded, beginning with the first that is told of: ``TABLE``. ``LevelRecords`` is the
sequence that users see; it makes a ``LevelRecord`` when one is asked for.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from bigbfs.record import LevelRecord

DIRECTIONS = ("top-down", "bottom-up")
"""What ``direction`` of a row counts from 0."""

UNCOUNTED = -1
"""In a row: nobody has counted that."""

COUNTS = ("edges", "checked", "enqueued")

TABLE = np.dtype(
    [
        ("direction", np.uint8),
        ("on_cpu", np.bool_),
        ("frontier", np.int64),
        ("seconds", np.float64),
        *((name, np.int64) for name in COUNTS),
    ],
    align=True,
)
"""A level: see ``LevelRecord``; ``seconds`` is NaN where several ran as one, ``on_cpu`` whether ``backend`` is cpu."""

_PIECE = 1 << 14
"""Rows that are made to objects at a time."""


def table_of(count: int, **columns: Any) -> np.ndarray:
    """Return ``count`` rows of ``TABLE`` with these columns: arrays, or a value for all; others are not known."""
    table = np.zeros(count, TABLE)
    known = {"seconds": math.nan} | dict.fromkeys(COUNTS, UNCOUNTED) | columns
    for name, values in known.items():
        table[name] = values
    return table


class LevelRecords(Sequence[LevelRecord]):
    """The levels of a run.

    Parameters
    ----------
    parts
        Tables of levels, one behind the other.

    Attributes
    ----------
    table
        All of them: ``TABLE``, shape (levels,). Its columns are quicker to work with than the records.
    """

    __slots__ = ("table",)

    def __init__(self, parts: Iterable[np.ndarray]) -> None:
        self.table: np.ndarray = np.concatenate([np.empty(0, TABLE), *parts])

    @classmethod
    def of(cls, records: Iterable[LevelRecord]) -> LevelRecords:
        """Return records that were made one by one, of levels from 0 on, as columns; columns are left as they are."""
        if isinstance(records, cls):
            return records

        def counted(value: int | None) -> int:
            return UNCOUNTED if value is None else value

        rows = []
        for each in records:
            counts = map(counted, (each.edges, each.checked, each.enqueued))
            rows.append((DIRECTIONS.index(each.direction), each.backend == "cpu", each.frontier, each.seconds, *counts))
        return cls([np.array(rows, TABLE)])

    def __len__(self) -> int:
        """Return the number of levels."""
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> LevelRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[LevelRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> LevelRecord | tuple[LevelRecord, ...]:
        """Return a record, or a tuple of them."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        level = range(len(self))[index]
        return _record(level, self.table[level].tolist())

    def __iter__(self) -> Iterator[LevelRecord]:
        """Yield the records."""
        for first in range(0, len(self), _PIECE):
            for level, row in enumerate(self.table[first : first + _PIECE].tolist(), first):
                yield _record(level, row)

    def __eq__(self, other: object) -> bool:
        """Tell whether these are the levels of another sequence; a time that nobody knows is like another."""
        if isinstance(other, list | tuple):
            return len(self) == len(other) and all(map(operator.eq, self, other))
        if not isinstance(other, LevelRecords):
            return NotImplemented
        pairs = ((self.table[name], other.table[name], name == "seconds") for name in TABLE.names or ())
        return all(np.array_equal(mine, theirs, equal_nan=nan) for mine, theirs, nan in pairs)

    # as for whatever can be changed; mypy knows the method of object alone
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return how many there are: a million records are no text for people."""
        return f"<LevelRecords: {len(self)} levels>"


def _record(level: int, row: tuple[Any, ...]) -> LevelRecord:
    direction, on_cpu, frontier, seconds, *counts = row
    edges, checked, enqueued = (None if count == UNCOUNTED else count for count in counts)
    backend = "cpu" if on_cpu else None
    seconds = math.nan if math.isnan(seconds) else seconds  # one NaN for all: a tuple with it equals another
    return LevelRecord(level, DIRECTIONS[direction], frontier, seconds, edges, checked, enqueued, backend)
