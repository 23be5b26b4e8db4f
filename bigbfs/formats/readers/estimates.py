"""What reading an input takes, guessed from its size and its beginning before it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import zstandard

from bigbfs.formats.streams.sources import Source

HEAD_BYTES = 1 << 16
"""Bytes of a beginning."""


@dataclass(frozen=True)
class InputEstimate:
    """What reading an input takes, guessed from its size and its first lines.

    Attributes
    ----------
    bytes_in
        Bytes of the file as it lies there; 0 where that is unknown (standard input, pipes).
    edges_upper_bound
        Edges in it, rather too many than too few: ids at the start of a file have fewer digits than later ones.
    memory_bytes
        Bytes of the edge list and the buffers; what is built of it comes on top.
    declared_vertices
        Vertices that the header declares; None where it declares none.
    streams
        Whether it can be read block by block; else it is in memory as a whole.
    reading_bytes
        Bytes that another library takes while it is read block by block.
    closer
        Makes a closer estimate, of no more memory, of the same input while it is open; None: this is one.
    """

    bytes_in: int
    edges_upper_bound: int
    memory_bytes: int
    declared_vertices: int | None = None
    streams: bool = True
    reading_bytes: int = 0
    closer: Callable[[], InputEstimate] | None = None


def unpacked_size(source: Source, head: bytes) -> int:
    """Return the bytes of the decompressed stream: exact where it is plain, else by the ratio of its beginning."""
    if source.size is None:
        return 0
    if source.compression is None:
        return source.size
    if len(head) < HEAD_BYTES:
        return len(head)
    declared = 0
    if source.compression == "zstd" and source.path is not None:
        with source.path.open("rb") as file:
            declared = max(declared, zstandard.frame_content_size(file.read(32)))
    sample = len(source.peek(1 << 20))
    return max(declared, sample * source.size // max(source.consumed, 1))


def edges_by_lines(head: bytes, whole: int, per_line: Callable[[bytes], int] = lambda line: 1) -> int:
    """Return the edges that a text of ``whole`` bytes has if all lines are like those of its ``head``."""
    data = [line for line in head.split(b"\n")[:-1] if line.strip() and line.lstrip()[:1] not in (b"#", b"%")]
    if not data:
        return whole // 4
    return whole * sum(map(per_line, data)) // (sum(map(len, data)) + len(data)) + 1


def has_wide_id(head: bytes) -> bool:
    """Return whether one of the first lines has an id of 2**32 or more."""
    largest = b"%d" % (2**32 - 1)
    return any(
        field.isdigit() and (len(digits := field.lstrip(b"0")), digits) > (len(largest), largest)
        for line in head.split(b"\n")[:1000]
        for field in line.replace(b",", b" ").split()[:2]
    )
