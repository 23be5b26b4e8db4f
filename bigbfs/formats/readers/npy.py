"""One .npy of shape (m, 2) or (2, m): from an uncompressed file block by block, else as a whole.

With ``columns`` two of any number of columns; an array that may be meant either way asks for a rule.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers.array_header import HEADER_BYTES, MAGIC, Header, read_header
from bigbfs.formats.readers.arrays import columns, declared_by, edge_list, read_array
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.formats.readers.format import NO_RULES, SAMPLE_BYTES, SAMPLES, Format, Reading, Rules
from bigbfs.formats.readers.pair_file import pair_file
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.edges import EdgeList


def is_plain(source: Source) -> bool:
    """Return whether a source is an uncompressed file, any part of which can be read."""
    return source.compression is None and source.size is not None


def read_npy_file(
    source: Source,
    edges: EdgeBuffer,
    rules: Rules = NO_RULES,
    *,
    threads: int | None = None,
    block_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> EdgeList:
    """Read one .npy of shape (m, 2) or (2, m), an uncompressed file, to ``edges``, block by block.

    Parameters
    ----------
    threads, block_bytes, progress
        As for :func:`bigbfs.formats.readers.read.read_edges`.

    Raises
    ------
    InputError
        It is no such array, is cut short, or holds something that is no vertex id.
    FileAccessError
        It cannot be read.
    DoesNotFitError
        There is not so much memory.
    """
    with pair_file(source, rules) as pairs:
        if progress is not None:
            progress(pairs.start)
        pairs.read_all(edges, threads=threads, block_bytes=block_bytes, progress=progress)
    return EdgeList(*edges.arrays(), input_bytes=source.consumed)


def read_npy_stream(source: Source, rules: Rules = NO_RULES, *, threads: int | None = None) -> EdgeList:
    """Read one .npy of shape (m, 2) or (2, m) from anywhere, as a whole.

    Raises
    ------
    InputError
        It is no such array, is cut short, or holds something that is no vertex id.
    DoesNotFitError
        There is not so much memory.
    """
    array = read_array(source.name, source, None)
    if source.read(1):
        raise InputError(f"{source.name}: has more bytes than its .npy header declares; write it again")
    return edge_list(source, *columns(source.name, array, rules), threads)


def require_content(source: Source) -> None:
    """Refuse a stream of no bytes where no text is expected.

    Raises
    ------
    InputError
        There is nothing in it.
    """
    if not source.peek(1):
        raise InputError(f"{source.nothing()}; write it again")


def _header(source: Source) -> Header:
    return read_header(source.name, io.BytesIO(source.peek(HEADER_BYTES)).read)


def by_blocks(source: Source, rules: Rules) -> bool:
    """Return whether a file can be cut into sources and targets on the way: it is plain, and all of it is wanted."""
    if not is_plain(source) or rules.columns is None:
        return is_plain(source)
    return rules.columns == (1, 2) and _header(source).shape[1:] == (2,)


def _rules_of(source: Source) -> Rules:
    """Return rules by which ids can be sampled, whatever shape it is: nobody asks whose they are."""
    shape = _header(source).shape
    return Rules(edge_index=True) if shape[:1] == (2,) else Rules(columns=(1, 2)) if shape[1:] == (2,) else NO_RULES


def _read(reading: Reading) -> EdgeList:
    source, progress = reading.source, reading.progress
    require_content(source)
    if by_blocks(source, reading.rules):
        options = {"threads": reading.threads, "block_bytes": reading.block_bytes, "progress": progress}
        return read_npy_file(source, reading.room(), reading.rules, **options)  # type: ignore[arg-type]
    whole = read_npy_stream(source, reading.rules, threads=reading.threads)
    if progress is not None:
        progress(whole.input_bytes)
    return whole


def _estimate(source: Source, rules: Rules) -> InputEstimate:
    """Estimate by the header, and by the ids at the beginning of an uncompressed file."""
    size = source.size or 0
    if not source.peek(1):
        return InputEstimate(size, 0, 0, streams=False)
    if not by_blocks(source, rules):
        edges, held = declared_by(source.name, source.read)
        return InputEstimate(size, edges, held + 16 * edges, streams=False)
    with pair_file(source, rules) as pairs:
        wide = bool((pairs.sample(1, 1000) >= np.uint64(2**32)).any())
    return InputEstimate(size, pairs.edges, 2 * (8 if wide else 4) * pairs.edges)


def _sample(source: Source) -> np.ndarray:
    if not is_plain(source) or 2 not in _header(source).shape:
        return np.empty(0, np.uint64)
    with pair_file(source, _rules_of(source)) as pairs:
        return pairs.sample(SAMPLES, SAMPLE_BYTES // 16)


def _example() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([[1, 2], [3, 4], [5, 6]]))
    return stream.getvalue()


FORMAT = Format(
    "npy",
    "NumPy array of shape (edges, 2) or (2, edges)",
    _read,
    _estimate,
    _example(),
    suffixes=(".npy",),
    recognize=lambda head: head.startswith(MAGIC),
    streams=True,
    sample=_sample,
    takes=("columns", "edge_index"),
)
