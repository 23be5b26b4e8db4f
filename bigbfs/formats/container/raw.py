"""The raw layout ``u64 n, u64 m, i64 row_ptr[n + 1], i32 col_idx[m]`` (little-endian, nothing else in the file).

It has no magic, no checksum and no flags: it is recognised by a size that fits its first two numbers, and opening it
reads every edge once, because only the edges tell whether it is symmetric. Rows that are sorted stay mapped.
"""

from __future__ import annotations

import struct

from bigbfs.errors import FormatError, InputError
from bigbfs.formats.container.mapped import MappedFile
from bigbfs.graph.adjacency import PlainAdjacency

HEADER_BYTES = 16


def fits(start: bytes, size: int) -> bool:
    """Return whether a file of ``size`` bytes that begins with ``start`` can be a raw CSR."""
    if len(start) < HEADER_BYTES:
        return False
    n, m = struct.unpack_from("<QQ", start)
    return bool(size == HEADER_BYTES + 8 * (n + 1) + 4 * m)


def adjacency(mapped: MappedFile) -> PlainAdjacency:
    """Return the checked rows of a raw CSR, in place where they are sorted.

    Raises
    ------
    FormatError
        Offsets or indices that are none.
    """
    from bigbfs.graph import rows

    n, m = struct.unpack_from("<QQ", mapped.start(HEADER_BYTES))
    indptr = mapped.array("<i8", n + 1, HEADER_BYTES)
    indices = mapped.array("<i4", m, HEADER_BYTES + 8 * (n + 1))
    try:
        return rows.plain_adjacency(indptr, indices)
    except InputError as error:
        raise FormatError(f"{mapped.path}: raw {error}") from None
