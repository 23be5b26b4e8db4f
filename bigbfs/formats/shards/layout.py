"""The header of a shard: that of the graph, and which rows of it these are. docs/formats.md has it to the byte.

In and out: bytes and a frozen dataclass; no NumPy, no file. A shard begins with another magic than a graph file, so
that nobody takes a part of a graph for a graph.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from bigbfs.errors import FormatError
from bigbfs.formats.container import layout
from bigbfs.formats.container.layout import CODECS, ENTRY_BYTES, FLAGS, HEADER_BYTES, Header, Section

VERSION = 2
OLDEST = 1
"""In version 1 all sections begin where a page does."""

EDGES = ("indices", "blob", "in_indices", "in_blob")
"""Sections that begin at the same place in a page as in the graph file: pages of several shards side by side are those
of the graph then, but for where one shard ends and the next begins."""

IDENTITY_BYTES = 16

_HEADER = struct.Struct("<8sIIQQIHHQqQIIQIIQQ16s4xI")
assert _HEADER.size == HEADER_BYTES


@dataclass(frozen=True, slots=True)
class ShardHeader:
    """The fixed header of a shard.

    Attributes
    ----------
    graph
        As in the header of the whole graph, but ``file_bytes`` is the length of the shard.
    part, parts
        Which this is, from 0 on, of how many with rows; ``part == parts`` is the rest, which has none.
    first_row, rows
        The vertices ``first_row`` to ``first_row + rows - 1``.
    identity
        What tells graphs apart: see :func:`identity`.
    version
        Of the layout.
    """

    graph: Header
    part: int
    parts: int
    first_row: int
    rows: int
    identity: bytes
    version: int = VERSION

    @property
    def said(self) -> str:
        """What the part is called in messages."""
        return "the rest" if self.part == self.parts else f"shard {self.part} of {self.parts}"


def identity(page: bytes) -> bytes:
    """Return what tells a graph file from others: a hash of its first page, where the checksums of all sections are."""
    return hashlib.sha256(page).digest()[:IDENTITY_BYTES]


def pack(header: ShardHeader, sections: Iterable[Section]) -> bytes:
    """Return header and section table as they stand at the start of a shard."""
    table, graph = layout.pack_table(sections), header.graph
    fixed = _HEADER.pack(
        layout.SHARD_MAGIC,
        header.version,
        HEADER_BYTES,
        graph.n,
        graph.m,
        sum(1 << FLAGS.index(flag) for flag in graph.flags),
        graph.id_bytes,
        CODECS.index(graph.codec),
        graph.block_ids,
        graph.first_id,
        graph.file_bytes,
        len(table) // ENTRY_BYTES,
        zlib.crc32(table),
        HEADER_BYTES,
        header.part,
        header.parts,
        header.first_row,
        header.rows,
        header.identity,
        0,
    )[:-4]
    return fixed + struct.pack("<I", zlib.crc32(fixed)) + table


def unpack(start: bytes, size: int, path: object) -> tuple[ShardHeader, dict[str, Section]]:
    """Read header and section table from the first page of a shard of ``size`` bytes; ``path`` is for the messages.

    Raises
    ------
    FormatError
        No shard, cut short, damaged, of a newer version, or values that cannot be true of this file.
    """

    def refuse(reason: str) -> FormatError:
        return FormatError(f"{path}: {reason}; fetch this shard again, or split the graph again")

    if not start.startswith(layout.SHARD_MAGIC):
        raise refuse(f"no shard: it does not begin with {layout.SHARD_MAGIC!r}")
    if len(start) < HEADER_BYTES:
        raise refuse(f"cut short: {len(start)} bytes, and the header alone has {HEADER_BYTES}")
    fixed = start[:HEADER_BYTES]
    (_, version, header_bytes, n, m, bits, id_bytes, codec, block_ids, first_id, total, count, table_crc, at, *mine) = (
        _HEADER.unpack(fixed)
    )
    part, parts, first_row, rows, whose, crc = mine
    if zlib.crc32(fixed[:-4]) != crc:
        raise refuse(f"the header (bytes 0 to {HEADER_BYTES - 1}) is damaged: its checksum does not match")
    if not OLDEST <= version <= VERSION:
        raise FormatError(
            f"{path}: shard version {version}, but this bigbfs reads version {OLDEST} to {VERSION}; "
            "use a bigbfs that is as new as the one that wrote the file"
        )
    if size != total:
        what = f"cut short: {size} of {total} bytes" if size < total else f"{size} bytes long instead of {total}"
        raise refuse(what)
    if header_bytes != HEADER_BYTES or at != HEADER_BYTES or bits >> len(FLAGS) or count > layout.MAX_SECTIONS:
        raise refuse(f"the header says {header_bytes} bytes, flags {bits:#x}, {count} sections at byte {at}")
    if codec >= len(CODECS) or id_bytes not in (4, 8) or (id_bytes == 4 and n >= 2**32):
        raise refuse(f"the header says codec {codec} with {id_bytes}-byte ids for {n} vertices")
    if part > parts or first_row + rows > n or (part == parts and rows):
        raise refuse(f"the header says part {part} of {parts}, {rows} rows from {first_row} on, of {n} vertices")
    table = start[HEADER_BYTES : HEADER_BYTES + count * ENTRY_BYTES]
    if len(table) < count * ENTRY_BYTES or zlib.crc32(table) != table_crc:
        raise refuse(f"the section table (from byte {HEADER_BYTES}) is damaged: its checksum does not match")
    flags = frozenset(name for bit, name in enumerate(FLAGS) if bits >> bit & 1)
    graph = Header(n, m, flags, id_bytes, CODECS[codec], block_ids, first_id, total)
    sections = layout.read_table(table, total, refuse, EDGES if version > OLDEST else ())
    return ShardHeader(graph, part, parts, first_row, rows, whose, version), sections
