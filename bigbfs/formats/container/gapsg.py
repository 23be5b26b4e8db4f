"""GAP's serialized graph, .sg: ``u8 directed, i64 m, i64 n, i64 offsets[n + 1], i32 neighbours[m]``, then for a
directed graph offsets and neighbours once more, of the in-neighbours. Little-endian, no padding.

``m`` counts stored edges, so an undirected one counts twice. Nothing in the file is aligned, so it is copied, not
mapped. (Facts: ``src/writer.h`` and ``src/reader.h`` of the GAP benchmark suite.) Weighted .wsg files are not read.
"""

from __future__ import annotations

import struct

from bigbfs.errors import FormatError, InputError
from bigbfs.formats.container.mapped import MappedFile
from bigbfs.graph.adjacency import PlainAdjacency

HEADER_BYTES = 17
_HEADER = struct.Struct("<Bqq")


def fits(start: bytes, size: int) -> bool:
    """Return whether a file of ``size`` bytes that begins with ``start`` can be a .sg."""
    if len(start) < HEADER_BYTES:
        return False
    directed, m, n = _HEADER.unpack_from(start)
    if directed > 1 or m < 0 or n < 0:
        return False
    return bool(size == HEADER_BYTES + (1 + directed) * (8 * (n + 1) + 4 * m))


def read(mapped: MappedFile) -> tuple[bool, PlainAdjacency]:
    """Return whether the .sg is directed, and its out-neighbours, checked, in memory.

    The in-neighbours of a directed graph are left where they are: nothing in the file says that they are the
    transpose, and transposing takes hardly longer than reading them.

    Raises
    ------
    FormatError
        Offsets or neighbours that are none.
    """
    from bigbfs.graph import rows

    directed, m, n = _HEADER.unpack_from(mapped.start(HEADER_BYTES))
    indptr = mapped.array("<i8", n + 1, HEADER_BYTES).copy()
    indices = mapped.array("<i4", m, HEADER_BYTES + 8 * (n + 1)).copy()
    try:
        return bool(directed), rows.plain_adjacency(indptr, indices)
    except InputError as error:
        raise FormatError(f"{mapped.path}: .sg {error}") from None


def pack_header(directed: bool, m: int, n: int) -> bytes:
    """Return the first bytes of a .sg."""
    return _HEADER.pack(directed, m, n)
