"""The container's header and section table: pack them, read them, refuse what cannot be right.

In and out: bytes and two frozen dataclasses; no NumPy, no file. All arithmetic on values read is in Python integers,
which do not overflow. docs/formats.md has the layout to the byte.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from bigbfs.errors import FormatError

MAGIC = b"\x89BFS\r\n\x1a\n"
"""Not text, and changed by any transfer that translates line ends (the idea is PNG's)."""

SHARD_MAGIC = b"\x89BFP\r\n\x1a\n"
"""What a shard begins with (:mod:`bigbfs.formats.shards`): a part of a graph must never be taken for a graph."""

VERSION = 1
HEADER_BYTES = 128
ENTRY_BYTES = 64
PAGE = 4096
HUGE_PAGE = 1 << 21
HUGE_FROM = 1 << 25
"""Sections of at least this many bytes start on a huge page: the gap is then at most 1/16 of the section."""
PADDING = 128
"""Zero bytes after every section, so that a full aligned warp read at its end stays inside the file."""
MAX_SECTIONS = (PAGE - HEADER_BYTES) // ENTRY_BYTES

FLAGS = ("directed", "symmetric", "sorted", "deduplicated", "loops_removed", "relabelled")
"""Flag names; bit i of the header's flags is ``FLAGS[i]``."""

CODECS = ("plain", "varint")
"""Codec names; the header's codec is an index into them."""

NAMES = ("names", "names_ptr", "names_first")
"""The sections of a graph whose vertices have names: all of them, or none."""

DTYPES = {"<u4": 4, "<u8": 8, "<i8": 8, "|u1": 1}
"""Dtypes that a section may have, with their bytes."""

_HEADER = struct.Struct("<8sIIQQIHHQqQIIQ44xI")
_ENTRY = struct.Struct("<16s8sQQQI12x")
assert _HEADER.size == HEADER_BYTES and _ENTRY.size == ENTRY_BYTES


@dataclass(frozen=True, slots=True)
class Header:
    """The fixed header.

    Attributes
    ----------
    n, m
        Vertices and stored (directed) edges.
    flags
        Names out of ``FLAGS``.
    id_bytes
        4 or 8.
    codec
        ``"plain"`` or ``"varint"``.
    block_ids
        The codec's parameter: ids in one block (0 for plain).
    first_id
        Original id of vertex 0 where there are no labels.
    file_bytes
        Length of the whole file.
    """

    n: int
    m: int
    flags: frozenset[str]
    id_bytes: int
    codec: str
    block_ids: int
    first_id: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the section table: ``count`` items of ``dtype`` at ``offset``, ``length`` bytes in all."""

    name: str
    dtype: str
    count: int
    offset: int
    length: int
    checksum: int


def aligned(offset: int, length: int, within: int = 0) -> int:
    """Return the first place at or after ``offset`` where a section of ``length`` bytes may start.

    ``within``: of a part of a section, the byte of the section with which it begins: it has the same place in a page.
    """
    unit = HUGE_PAGE if length >= HUGE_FROM else PAGE
    return offset + (within - offset) % unit


def file_bytes(sections: Iterable[Section]) -> int:
    """Return the length of a file that holds ``sections``: padding after the last, then up to a full page."""
    end = max((section.offset + section.length for section in sections), default=PAGE)
    return -(-(end + PADDING) // PAGE) * PAGE


def pack(header: Header, sections: Iterable[Section]) -> bytes:
    """Return header and section table as they stand at the start of the file."""
    table = pack_table(sections)
    fixed = _HEADER.pack(
        MAGIC,
        VERSION,
        HEADER_BYTES,
        header.n,
        header.m,
        sum(1 << FLAGS.index(flag) for flag in header.flags),
        header.id_bytes,
        CODECS.index(header.codec),
        header.block_ids,
        header.first_id,
        header.file_bytes,
        len(table) // ENTRY_BYTES,
        zlib.crc32(table),
        HEADER_BYTES,
        0,
    )
    fixed = fixed[:-4]
    return fixed + struct.pack("<I", zlib.crc32(fixed)) + table


def says(start: bytes, flag: str) -> bool:
    """Tell whether ``start``, the first bytes of some file, are those of a container that has ``flag``."""
    if not start.startswith(MAGIC) or len(start) < HEADER_BYTES:
        return False
    bits: int = _HEADER.unpack(start[:HEADER_BYTES])[5]
    return bool(bits >> FLAGS.index(flag) & 1)


def unpack(start: bytes, size: int, path: object) -> tuple[Header, dict[str, Section]]:
    """Read header and section table from the first page of a file.

    Parameters
    ----------
    start
        The first ``PAGE`` bytes, or all of a shorter file; begins with ``MAGIC``.
    size
        Length of the file.
    path
        For the messages.

    Raises
    ------
    FormatError
        Cut short, damaged, of a newer version, or values that cannot be true of this file.
    """

    def refuse(reason: str) -> FormatError:
        return FormatError(f"{path}: {reason}; convert the graph again or fetch the file again")

    if len(start) < HEADER_BYTES:
        raise refuse(f"cut short: {len(start)} bytes, and the header alone has {HEADER_BYTES}")
    fixed = start[:HEADER_BYTES]
    (_, version, header_bytes, n, m, bits, id_bytes, codec, block_ids, first_id, total, count, table_crc, at, crc) = (
        _HEADER.unpack(fixed)
    )
    if zlib.crc32(fixed[:-4]) != crc:
        raise refuse(f"the header (bytes 0 to {HEADER_BYTES - 1}) is damaged: its checksum does not match")
    if version != VERSION:
        raise FormatError(
            f"{path}: format version {version}, but this bigbfs reads version {VERSION}; "
            "use a bigbfs that is as new as the one that wrote the file"
        )
    if size != total:
        what = f"cut short: {size} of {total} bytes" if size < total else f"{size} bytes long instead of {total}"
        raise refuse(what)
    if header_bytes != HEADER_BYTES or at != HEADER_BYTES or any(fixed[80:124]):
        raise refuse("the header's reserved fields are in use")
    if bits >> len(FLAGS):
        raise refuse(f"unknown flags {bits:#x} in the header")
    if codec >= len(CODECS) or id_bytes not in (4, 8) or (id_bytes == 4 and n >= 2**32):
        raise refuse(f"the header says codec {codec} with {id_bytes}-byte ids for {n} vertices")
    if not 0 <= first_id <= 2**63 - 1 - n:
        raise refuse(f"the header says {n} vertices from id {first_id} on; ids go up to 2^63-1")
    if count > MAX_SECTIONS:
        raise refuse(f"the header says {count} sections; {MAX_SECTIONS} are the most")
    table = start[HEADER_BYTES : HEADER_BYTES + count * ENTRY_BYTES]
    if len(table) < count * ENTRY_BYTES or zlib.crc32(table) != table_crc:
        raise refuse(f"the section table (from byte {HEADER_BYTES}) is damaged: its checksum does not match")
    flags = frozenset(name for bit, name in enumerate(FLAGS) if bits >> bit & 1)
    header = Header(n, m, flags, id_bytes, CODECS[codec], block_ids, first_id, total)
    sections = read_table(table, total, refuse)
    require_consistent(header, sections, refuse)
    return header, sections


def pack_table(sections: Iterable[Section]) -> bytes:
    """Return the section table as it stands behind a header."""
    return b"".join(
        _ENTRY.pack(s.name.encode(), s.dtype.encode(), s.count, s.offset, s.length, s.checksum) for s in sections
    )


def read_table(
    table: bytes, total: int, refuse: Callable[[str], FormatError], within_pages: Collection[str] = ()
) -> dict[str, Section]:
    """Return the entries of a section table by name, in the order of their places in a file of ``total`` bytes.

    The sections ``within_pages`` may start at any item, the others where a page does.

    Raises
    ------
    FormatError
        What ``refuse`` returns of the reason: an entry cannot be true of that file.
    """
    sections: dict[str, Section] = {}
    end = HEADER_BYTES + len(table)
    for entry in sorted(_ENTRY.iter_unpack(table), key=lambda fields: (fields[3], fields[4])):
        raw_name, raw_dtype, count, offset, length, checksum = entry
        try:
            name, dtype = raw_name.rstrip(b"\0").decode("ascii"), raw_dtype.rstrip(b"\0").decode("ascii")
        except UnicodeDecodeError:
            raise refuse(f"section name {raw_name!r} or dtype {raw_dtype!r} is not ASCII") from None
        if name in sections:
            raise refuse(f"section {name} occurs twice")
        if dtype not in DTYPES or count * DTYPES[dtype] != length:
            raise refuse(f"section {name}: {count} items of {dtype} cannot take {length} bytes")
        if offset % (unit := DTYPES[dtype] if name in within_pages else PAGE):
            raise refuse(f"section {name} starts at byte {offset}, which is not a multiple of {unit}")
        if offset < end:
            raise refuse(f"section {name} starts at byte {offset}, inside what comes before it (up to byte {end})")
        end = offset + length + PADDING
        if end > total:
            raise refuse(f"section {name} ends at byte {end} with its padding, past the end of the file ({total})")
        sections[name] = Section(name, dtype, count, offset, length, checksum)
    return sections


def require_consistent(header: Header, sections: dict[str, Section], refuse: Callable[[str], FormatError]) -> None:
    """Refuse a set of sections that is not a graph of the header's n, m, codec and flags.

    Raises
    ------
    FormatError
        What ``refuse`` returns of the reason.
    """
    ids = f"<u{header.id_bytes}"
    directed = "directed" in header.flags
    if "sorted" not in header.flags or not (directed or "symmetric" in header.flags):
        raise refuse(f"the header's flags contradict each other: {', '.join(sorted(header.flags)) or 'none'}")
    if header.block_ids != (1024 if header.codec == "varint" else 0):
        raise refuse(f"codec {header.codec} with blocks of {header.block_ids} ids is not known")
    twins = any(name.startswith("in_") for name in sections)
    if twins and "symmetric" in header.flags:
        raise refuse("in_ sections in a symmetric graph")
    wanted = {prefix + name: kind for prefix in ["", "in_"][: 1 + twins] for name, kind in _kinds(header, ids).items()}
    if "labels" in sections:
        wanted["labels"] = ("<i8", header.n)
        if header.first_id:
            raise refuse(f"both labels and a first id ({header.first_id})")
    elif "relabelled" in header.flags:
        raise refuse("flagged relabelled, but section labels is missing")
    if "provenance" in sections:
        wanted["provenance"] = ("|u1", None)
    if any(name in sections for name in NAMES):
        wanted |= dict(zip(NAMES, (("|u1", None), ("<u8", None), ("<u8", None)), strict=True))
        if header.first_id:
            raise refuse(f"both names and a first id ({header.first_id})")
    if "heads" in sections:
        wanted["heads"] = (ids, None)
    for name, (dtype, count) in wanted.items():
        section = sections.get(name)
        if section is None:
            raise refuse(f"section {name} is missing")
        if section.dtype != dtype or (count is not None and section.count != count):
            raise refuse(
                f"section {name} holds {section.count} items of {section.dtype}, but the header's {header.n} vertices "
                f"and {header.m} edges need {'any number' if count is None else count} of {dtype}"
            )
    if NAMES[0] in sections and not 1 <= sections[NAMES[1]].count == sections[NAMES[2]].count:
        raise refuse(f"sections {' and '.join(NAMES[1:])} do not fit each other")
    for prefix in ["", "in_"][: 1 + twins] if header.codec == "varint" else []:
        hubs, pointers = sections[prefix + "hubs"].count, sections[prefix + "hub_ptr"].count
        if pointers != hubs + 1 or hubs > header.n or header.m > sections[prefix + "blob"].count:
            raise refuse(f"sections {prefix}hubs, {prefix}hub_ptr and {prefix}blob do not fit each other")


def _kinds(header: Header, ids: str) -> dict[str, tuple[str, int | None]]:
    """Return dtype and count (None: any) of each section that an adjacency needs."""
    indptr = ("<u8", header.n + 1)
    if header.codec == "plain":
        return {"indptr": indptr, "indices": (ids, header.m)}
    return {
        "indptr": indptr,
        "degree": (ids, header.n),
        "blob": ("|u1", None),
        "hubs": (ids, None),
        "hub_ptr": ("<u8", None),
        "block_ptr": ("<u8", None),
    }
