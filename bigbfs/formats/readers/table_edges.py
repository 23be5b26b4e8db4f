"""What the formats of tables share: edges of two columns into an edge buffer, estimates and samples of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.formats.readers.format import SAMPLES, Reading, Rules
from bigbfs.formats.readers.npy import require_content
from bigbfs.formats.readers.table_parts import any_wide, both_sides, place_parts
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.files import Batch, TableFile
from bigbfs.formats.tables.integers import INTEGERS, ids_of, kind_of, of_two_kinds
from bigbfs.formats.tables.library import release_unused
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import thread_count

Opened = Callable[[Source, Rules], AbstractContextManager[TableFile]]
"""Opens a table: a Parquet or an Arrow file."""

_SAMPLED_ROWS = 2048
_PLACES = 8
"""Row groups that tell how wide ids are: a millisecond or two each, where memory is short."""
_BATCH_BYTES = 128 << 20
"""About what the batches under way take while a table is read."""


def require_integers(table: TableFile) -> None:
    """Refuse columns that are no integers.

    Raises
    ------
    InputError
        One holds text, or what is no id at all.
    """
    for header, dtype in zip(table.headers, table.types, strict=True):
        if kind_of(table.name, header, dtype) != INTEGERS:
            ways = (("names", True), ("columns", None, "name other columns with {}"))
            raise InputError(
                f"{table.name}: column {header!r} is text ({dtype}), where integers are read", remedies=ways
            )


def has_names(source: Source, rules: Rules, opened: Opened) -> bool:
    """Return whether the ids of a table are text.

    Raises
    ------
    InputError
        One column is text, the other integers; it is damaged, or has not the columns that are wanted.
    """
    if not source.peek(1):
        return False
    with opened(source, rules) as table:
        columns = list(zip(table.headers, table.types, strict=True))
    kinds = {kind_of(table.name, header, dtype) for header, dtype in columns}
    if len(kinds) > 1:
        raise of_two_kinds(table.name, columns)
    return INTEGERS not in kinds


def append(edges: EdgeBuffer, batch: Batch, table: TableFile) -> None:
    """Append the edges of a batch.

    Raises
    ------
    InputError
        A value is no vertex id; with its place.
    DoesNotFitError
        The edges take more memory than they may.
    """
    add_ids(edges, *both_sides(batch, table))


def add_ids(edges: EdgeBuffer, first: np.ndarray, second: np.ndarray) -> None:
    """Append edges ``first[i] -> second[i]`` (unsigned, of any width, none above 2**63 - 1)."""
    if edges.dtype == np.uint32 and any_wide(first, second):
        edges.widen()
    sources, targets = edges.space(len(first))
    sources[:], targets[:] = first, second
    edges.keep(len(first))


def read_table(reading: Reading, opened: Opened) -> EdgeList:
    """Read a table to its end.

    Raises
    ------
    InputError
        It is damaged, or holds what is no vertex id.
    DoesNotFitError
        The edges take more memory than they may.
    UsageError
        pyarrow is not installed.
    """
    require_content(reading.source)
    edges, size, came = reading.room(), reading.source.size or 0, 0
    threads = thread_count(reading.threads)
    with opened(reading.source, reading.rules) as table:
        require_integers(table)

        def tell(count: int) -> None:
            nonlocal came
            if reading.progress is not None and table.rows:
                before, came = came, min(table.rows, came + count)
                reading.progress(size * came // table.rows - size * before // table.rows)

        if table.part_rows is not None and type(edges) is EdgeBuffer:
            place_parts(table, edges, threads, tell)
        else:
            if table.rows:
                edges.reserve(table.rows)
            for batch in table.batches(threads):
                if len(batch.first):
                    append(edges, batch, table)
                    tell(len(batch.first))
    release_unused()
    if edges.size == 0:
        raise InputError(f"{table.name}: no edge in it; a graph without vertices is not made")
    notes = () if table.note is None else (table.note,)
    return EdgeList(*edges.arrays(), input_bytes=reading.source.consumed or size, notes=notes)


def estimate_table(source: Source, rules: Rules, opened: Opened) -> InputEstimate:
    """Estimate by the number of rows that a table declares, and a sample of its ids."""
    size = source.size or 0
    require_content(source)
    with opened(source, rules) as table:
        require_integers(table)
        rows = size if table.rows is None else table.rows
        wide = any(getattr(each, "bit_width", 64) > 32 for each in table.types)

    def closer() -> InputEstimate:
        with opened(source, rules) as again:
            sample = _ids(again, _PLACES)
        return _estimate(size, rows, not len(sample) or int(sample.max()) >= 2**32)

    found = _estimate(size, rows, wide)
    return replace(found, closer=closer) if wide else found


def _estimate(size: int, rows: int, wide: bool) -> InputEstimate:
    return InputEstimate(size, rows, 2 * (8 if wide else 4) * rows + _BATCH_BYTES, reading_bytes=_BATCH_BYTES)


def sample_table(source: Source, opened: Opened) -> np.ndarray:
    """Return ids from all over a table; what is bad in it whoever reads it tells."""
    try:
        with opened(source, Rules()) as table:
            require_integers(table)
            return _ids(table, SAMPLES)
    except InputError:
        return np.empty(0, np.uint64)


def _ids(table: TableFile, places: int) -> np.ndarray:
    return np.concatenate([np.empty(0, np.uint64), *_sampled(table, table.sample(_SAMPLED_ROWS, places))])


def _sampled(table: TableFile, batches: Iterable[Batch]) -> Iterable[np.ndarray]:
    for batch in batches:
        for side in (batch.first, batch.second):
            yield ids_of(side, lambda i: table.place(batch, i)).astype(np.uint64)
