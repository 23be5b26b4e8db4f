"""One function that reads any input into an EdgeList, and an estimate of what that takes before it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zstandard

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.container import layout
from bigbfs.formats.readers import dimacs, matrix_market, metis
from bigbfs.formats.readers.arrays import array_sizes, is_plain, read_npy_file, read_npy_stream, read_npz
from bigbfs.formats.readers.blocks import BLOCK_BYTES, LONGEST_LINE, BlockReader
from bigbfs.formats.readers.detect import HEAD_BYTES, checked_format, detect_format
from bigbfs.formats.readers.dimacs import read_dimacs
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.graph_input import read_graph
from bigbfs.formats.readers.matrix_market import read_matrix_market
from bigbfs.formats.readers.metis import read_metis
from bigbfs.formats.readers.npy import pair_file
from bigbfs.formats.readers.text import read_text
from bigbfs.formats.streams.sources import STANDARD_INPUT, Source
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import thread_count
from bigbfs.sizes import free_memory

_LINE_FORMATS = {"text": read_text, "mtx": read_matrix_market, "dimacs": read_dimacs, "metis": read_metis}
_WHOLE_FORMATS = ("npz", "csrbin", "sg")
_MOST_LINES = 2**62


def default_ahead(threads: int) -> int:
    """Return the bytes that ``threads`` threads may unpack ahead: frames as pzstd makes them keep all of them busy."""
    return (threads + 2) * BLOCK_BYTES


def read_edges(
    path: str | Path,
    *,
    format: str | None = None,
    skip_bad_lines: int = 0,
    progress: Callable[[int], object] | None = None,
    memory: int | None = None,
    threads: int | None = None,
    edges: EdgeBuffer | None = None,
    block_bytes: int | None = None,
    ahead_bytes: int | None = None,
) -> EdgeList:
    """Read the edges of one input, in original ids.

    Parameters
    ----------
    path
        A file, plain or as .gz, .bz2, .xz or .zst; ``-`` is standard input.
    format
        One of ``detect.FORMATS``; None: told by content and suffix.
    skip_bad_lines
        How many bad lines of a line-based format to pass over (and count) before giving up.
    progress
        Called now and then with the bytes newly read from the file.
    memory
        Bytes that the edges of a format that streams (lines, an uncompressed .npy) may take; None: any.
    threads
        Threads that read; None: one for each CPU that this process may use.
    edges
        Where the edges of a format that streams go, if not to a new buffer; what the buffer then has is in the result.
    block_bytes, ahead_bytes
        Bytes of text (None: 8 MiB) or of a .npy (128 MiB) read at once, and unpacked ahead (:func:`default_ahead`).

    Raises
    ------
    InputError
        The content is not what its format says; names the file and the line or byte.
    FileAccessError
        The file is missing, a folder, or cannot be read.
    FormatError
        A graph file is damaged.
    UsageError
        There is no such format, or ``skip_bad_lines`` is negative.
    DoesNotFitError
        The edges do not fit in memory.
    """
    wanted = None if format is None else checked_format(format)
    if not 0 <= skip_bad_lines <= _MOST_LINES:
        raise UsageError(f"--skip-bad-lines {skip_bad_lines}: give a number from 0 to 2^62")
    with Source(path) as source:
        found = wanted or detect_format(source.name, source.peek(HEAD_BYTES))
        source.unpack_ahead(many := thread_count(threads), ahead_bytes or default_ahead(many))
        if found in _LINE_FORMATS:
            longest = _longest_line(found)
            with BlockReader(
                source, block_bytes, progress, memory=memory, threads=threads, edges=edges, longest_line=longest
            ) as reader:
                return _LINE_FORMATS[found](reader, skip_bad_lines=skip_bad_lines)
        room = EdgeBuffer(source.name, memory) if edges is None else edges
        return _read_binary(source, found, room, threads=threads, block_bytes=block_bytes, progress=progress)


def _longest_line(found: str) -> int:
    """Return the bytes of a line that may be held: in METIS all neighbours of a vertex are one."""
    return max(LONGEST_LINE, free_memory() // 8) if found == "metis" else LONGEST_LINE


def _read_binary(
    source: Source,
    found: str,
    edges: EdgeBuffer,
    *,
    threads: int | None,
    block_bytes: int | None,
    progress: Callable[[int], object] | None,
) -> EdgeList:
    """Read what is no text: arrays and graph files."""
    if not source.peek(1):
        raise InputError(f"{source.nothing()}; write it again")
    if found == "npy" and is_plain(source):
        return read_npy_file(source, edges, threads=threads, block_bytes=block_bytes, progress=progress)
    readers = {"npy": read_npy_stream, "npz": read_npz}
    whole = readers.get(found, read_graph)(source, threads=threads)
    if progress is not None:
        progress(whole.input_bytes)
    return whole


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
    """

    bytes_in: int
    edges_upper_bound: int
    memory_bytes: int
    declared_vertices: int | None = None
    streams: bool = True


def estimate(path: str | Path, *, format: str | None = None) -> InputEstimate:
    """Look at the beginning of an input; standard input and pipes are not touched.

    Raises
    ------
    InputError, FileAccessError, UsageError
        As :func:`read_edges`, where the beginning shows it.
    """
    wanted = None if format is None else checked_format(format)
    if str(path) == STANDARD_INPUT or _is_pipe(path):
        return InputEstimate(0, 0, 0)
    with Source(path) as source:
        head = source.peek(HEAD_BYTES)
        found = wanted or detect_format(source.name, head)
        size = source.size or 0
        if found == "npy" and head and is_plain(source):
            return _npy_estimate(source)
        if found in ("npy", "npz") and head:
            edges, held = array_sizes(source, found)
            return InputEstimate(size, edges, held + 16 * edges, streams=False)
        whole = _decompressed_size(source, head)
    if found in _WHOLE_FORMATS:
        return _graph_estimate(Path(path), head, size, whole)
    vertices, declared_edges = _declared(Path(path), found)
    edges = declared_edges if declared_edges is not None else _edges_by_lines(head, whole)
    edges = min(edges, whole // 2 + 1)
    width = 8 if _has_wide_id(head) else 4
    return InputEstimate(size, edges, 2 * width * edges + 2 * BLOCK_BYTES, vertices)


def _npy_estimate(source: Source) -> InputEstimate:
    """Estimate an uncompressed .npy: by its header and the ids at its beginning."""
    with pair_file(source) as pairs:
        wide = bool((pairs.sample(1, 1000) >= np.uint64(2**32)).any())
    held = 2 * (8 if wide else 4) * pairs.edges
    return InputEstimate(source.size or 0, pairs.edges, held)


def _graph_estimate(path: Path, head: bytes, size: int, whole: int) -> InputEstimate:
    """Estimate a graph file: by its header, or where that is foreign or compressed, by its size."""
    if head.startswith(layout.MAGIC) and whole == size:
        header, _ = layout.unpack(head[: layout.PAGE], size, path)
        return InputEstimate(size, header.m, (2 * header.id_bytes + 4) * header.m + 16 * header.n, header.n, False)
    return InputEstimate(size, whole // 4, 3 * whole, streams=False)


def _is_pipe(path: str | Path) -> bool:
    file = Path(path)
    return file.exists() and not file.is_file() and not file.is_dir()


def _decompressed_size(source: Source, head: bytes) -> int:
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


def _edges_by_lines(head: bytes, whole: int) -> int:
    """Return the lines that a text of ``whole`` bytes has if all are like those of its ``head``."""
    data = [line for line in head.split(b"\n")[:-1] if line.strip() and line.lstrip()[:1] not in (b"#", b"%")]
    if not data:
        return whole // 4
    return whole * len(data) // (sum(map(len, data)) + len(data)) + 1


def _has_wide_id(head: bytes) -> bool:
    largest = b"%d" % (2**32 - 1)
    return any(
        field.isdigit() and (len(digits := field.lstrip(b"0")), digits) > (len(largest), largest)
        for line in head.split(b"\n")[:1000]
        for field in line.replace(b",", b" ").split()[:2]
    )


def _declared(path: Path, found: str) -> tuple[int | None, int | None]:
    """Return (vertices, edge lines) that a header declares, or None twice."""
    if found not in ("mtx", "dimacs", "metis"):
        return None, None
    with Source(path) as source, BlockReader(source, HEAD_BYTES) as reader:
        if found == "mtx":
            matrix = matrix_market.read_header(reader)
            return matrix.vertices, matrix.entries
        if found == "dimacs":
            problem = dimacs.read_header(reader)
            return problem.vertices, problem.entries * (1 if problem.kind == b"sp" else 2)
        mesh = metis.read_header(reader)
        return mesh.vertices, 2 * mesh.edges
