"""What fuzzing does with bytes: each target takes any ``data`` and raises where a promise is broken.

The promise is always the same: a right result, or one of our errors that names the file. The first byte or two of the
data choose among variants (format, block size, whether checksums are repaired); the rest is the content of the file.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zstandard

from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.internal import internal_engine
from bigbfs.errors import BigBfsError, FormatError, InputError
from bigbfs.formats.container import check as checking
from bigbfs.formats.container import layout
from bigbfs.formats.container.checksum import checksum
from bigbfs.formats.container.compress import save_compressed
from bigbfs.formats.readers import NAMES
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.formats.readers.text import read_text
from bigbfs.formats.streams import bgzf
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Stretch
from fuzzing.oracle import changing_line, has_header, plain

MOST_VERTICES = 100_000
"""A header may truly declare more; the traversal of such a graph would only be slow."""

Target = Callable[[bytes, Path], None]


def tokenizer(data: bytes, folder: Path) -> None:
    """Text cut into blocks and chunks anywhere, against a parser of a few plain lines."""
    block, chunk, skip, text = 1 + data[0], 1 + data[1] % 64, data[2] % 4, data[3:]
    path = folder / "fuzzed"
    path.write_bytes(text)
    edges, comments, bad = plain(text)
    if has_header(text):
        skip = -1  # may pass, or be refused: test_text.py looks at them
    changing = changing_line(text, bad)
    try:
        with Source(path) as source, BlockReader(source, block, threads=1) as reader:
            found = read_text(reader, Rules(max(0, skip)), chunk_bytes=chunk)
    except InputError as error:
        says = str(error)
        assert path.name in says and "\n" not in says
        if skip < 0 or "UTF-16" in says or "looks binary" in says or "compressed with" in says or "stream" in says:
            return  # told by the first bytes, before any line
        wrong = [*bad[skip : skip + 1], *([] if changing is None else [changing])]
        if wrong:
            assert f"line {min(wrong)}: " in says, says
        else:
            assert not edges, says
        return
    if skip < 0:
        return
    assert len(bad) <= skip and changing is None
    assert list(zip(found.src.tolist(), found.dst.tolist(), strict=True)) == edges
    assert (found.comment_lines, found.skipped_lines, found.input_bytes) == (comments, len(bad), len(text))


def frames(data: bytes) -> bytes:
    """Return ``data`` as several zstd frames."""
    pieces = [data[at : at + 50] for at in range(0, len(data), 50)]
    return b"".join(map(zstandard.ZstdCompressor(write_checksum=True).compress, pieces))


def members(data: bytes) -> bytes:
    """Return ``data`` as several BGZF members."""
    pieces = [bgzf.members(data[at : at + 50]) for at in range(0, len(data), 50)]
    return b"".join(pieces) + bgzf.end()


def reader(data: bytes, folder: Path) -> None:
    """A file of any format, told or guessed, plain or compressed: edges that keep their promises."""
    kinds = (*NAMES, None)
    kind = kinds[data[0] % len(kinds)]
    packs = (bytes, bytes, gzip.compress, zstandard.compress, frames, members)
    pack = packs[data[0] // len(kinds) % len(packs)]
    path = folder / "fuzzed"
    path.write_bytes(pack(data[1:]))
    options = {} if kind is None else {"format": kind}
    try:
        estimate(path, **options)
        edges = read_edges(path, threads=1 if pack is bytes else 2, **options)
    except BigBfsError as error:
        assert path.name in str(error), error
        assert "\n" not in str(error)
        return
    assert edges.src.shape == edges.dst.shape
    assert edges.src.dtype == edges.dst.dtype
    assert edges.src.dtype in (np.uint32, np.uint64)
    for side in (edges.src, edges.dst):
        if len(side):
            assert int(side.max()) < 2**63
            if edges.declared_n is not None:
                assert edges.first_id <= int(side.min())
                assert int(side.max()) < edges.first_id + edges.declared_n


def decompressor(data: bytes, folder: Path) -> None:
    """A compressed stream: what the standard library makes of it, or an error; the same by one thread and by two."""
    path = folder / "fuzzed"
    path.write_bytes(data)
    results = []
    for threads in (1, 2):
        try:
            with Source(path) as source:
                source.unpack_ahead(threads, 1 << 20)
                kind = source.compression
                results.append(source.read(1 << 24))
        except InputError as error:
            assert path.name in str(error) and "\n" not in str(error)
            results.append(None)
    found = results[0]
    assert results[1] == found
    if found is None:
        return
    unpack = {None: bytes, "gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress}.get(kind)
    if unpack is None:
        return  # zstandard's own interface is what Source reads with
    try:
        wanted = unpack(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return  # zero bytes as padding are refused by some of them
    if kind != "gzip":
        found = found[: len(wanted)]  # bz2 and lzma ignore what follows a zero byte; here zeros are padding
    assert found == wanted[: 1 << 24]


def repaired(content: bytes) -> bytes:
    """Return a container with the right checksums everywhere, so that what lies behind them is reached."""
    if len(content) < layout.PAGE:
        return content
    data = bytearray(content)
    data[:8] = layout.MAGIC
    struct.pack_into("<II", data, 8, layout.VERSION, layout.HEADER_BYTES)
    count = min(struct.unpack_from("<I", data, 64)[0], layout.MAX_SECTIONS)
    for entry in range(layout.HEADER_BYTES, layout.HEADER_BYTES + count * layout.ENTRY_BYTES, layout.ENTRY_BYTES):
        offset, length = struct.unpack_from("<QQ", data, entry + 32)
        if offset + length <= len(data):
            held = np.frombuffer(bytes(data[offset : offset + length]), np.uint8)
            struct.pack_into("<I", data, entry + 48, checksum(held))
    table = bytes(data[layout.HEADER_BYTES : layout.HEADER_BYTES + count * layout.ENTRY_BYTES])
    struct.pack_into("<QII", data, 56, len(data), count, zlib.crc32(table))
    struct.pack_into("<I", data, layout.HEADER_BYTES - 4, zlib.crc32(bytes(data[: layout.HEADER_BYTES - 4])))
    return bytes(data)


def unfolded(data: bytes) -> bytes:
    """Return the file that ``data`` describes: pages of 4 KiB of which only the first used bytes are given.

    A container is mostly padding, and mutations there find nothing: the input is a list of (length: u16, bytes).
    """
    content, at = bytearray(), 0
    while at + 2 <= len(data) and len(content) < 64 * layout.PAGE:
        length = min(struct.unpack_from("<H", data, at)[0], layout.PAGE)
        piece = data[at + 2 : at + 2 + length]
        content += piece + bytes(layout.PAGE - len(piece))
        at += 2 + length
    return bytes(content)


def folded(content: bytes) -> bytes:
    """Return the inverse of :func:`unfolded`."""
    pages = [content[at : at + layout.PAGE].rstrip(b"\0") for at in range(0, len(content), layout.PAGE)]
    return b"".join(struct.pack("<H", len(page)) + page for page in pages)


def container(data: bytes, folder: Path) -> None:
    """A graph file: refused, or opened; then checked, and traversed with a right result or refused."""
    content = unfolded(data[1:])
    path = folder / "fuzzed.csrbin"
    path.write_bytes(repaired(content) if data[0] & 1 else content[: len(content) - data[0] // 2])
    try:
        graph = Graph.open(path)
    except BigBfsError as error:
        assert path.name in str(error), error
        return
    with graph:
        whole = _checked(path)
        _named(graph, whole=whole)
        if graph.n == 0 or graph.n > MOST_VERTICES:
            return
        _compressed(graph, folder, whole=whole)
        try:
            with internal_engine(graph, backend="cpu", threads=1) as engine:
                result, components = engine.bfs(0), engine.connected_components()
        except BigBfsError as error:
            assert not whole, error
            return
        if whole:
            validate_tree(graph, 0, result.levels, result.parents)
            validate_labels(graph, components.labels)
            assert np.array_equal(graph.compress().decompress().adjacency.indices, graph.decompress().adjacency.indices)


def _compressed(graph: Graph, folder: Path, *, whole: bool) -> None:
    """Write the graph as a .ccsr: the one that its compressed rows give, or nothing."""
    try:
        save_compressed(graph, folder / "fuzzed.ccsr")
    except BigBfsError as error:
        assert not whole, error
        return
    graph.compress().save(folder / "again.ccsr")
    assert (folder / "fuzzed.ccsr").read_bytes() == (folder / "again.ccsr").read_bytes()


def _named(graph: Graph, *, whole: bool) -> None:
    """Read every name, and find it again; what ``check`` passed has all of them, different and in byte order."""
    if graph.names is None:
        return
    try:
        names = [stretch.name(rank) for stretch in graph.names.stretches() for rank in _ranks(stretch)]
        found = [graph.names.find(name) for name in names[:50]]
        graph.names.taken(np.arange(len(names))[::-1][:50])
    except BigBfsError as error:
        assert isinstance(error, FormatError) and not whole, error
        return
    if whole:
        assert len(names) == graph.n and names == sorted(set(names))
        assert found == list(range(len(names)))[:50]


def _ranks(stretch: Stretch) -> range:
    return range(stretch.first, stretch.first + len(stretch))


def _checked(path: Path) -> bool:
    """Return whether everything holds that ``bigbfs check`` looks at."""
    try:
        list(checking.check(path))
    except BigBfsError as error:
        assert isinstance(error, FormatError) and path.name in str(error), error
        return False
    return True


TARGETS: dict[str, Target] = {target.__name__: target for target in (tokenizer, reader, decompressor, container)}
SHORTEST = {"tokenizer": 4, "reader": 2, "decompressor": 1, "container": 2}


def run(name: str, data: bytes, folder: Path | None = None) -> None:
    """Run one target on one input; too short an input is passed over."""
    if len(data) < SHORTEST[name]:
        return
    if folder is not None:
        TARGETS[name](data, folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        TARGETS[name](data, Path(temporary))
