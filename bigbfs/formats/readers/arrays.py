"""NumPy files as edges: .npy of shape (m, 2) or (2, m), .npz with two arrays of ids, SciPy's sparse .npz.

In an .npz: ``src``/``dst``, ``source``/``target``, ``row``/``col``, ``u``/``v``, ``arr_0``/``arr_1``; or one array
``edges``, ``edge_index`` or ``arr_0``; or ``indptr`` and ``indices`` (CSR). SciPy's coo, csr and csc declare their
size: an entry (i, j) is the edge i -> j, explicit zeros included. Nothing is ever unpickled, and no more is allocated
than the file says that it holds.
"""

from __future__ import annotations

import errno
import math
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bigbfs.errors import BigBfsError, DoesNotFitError, InputError
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.npy import LARGEST_ID, Header, pair_file, read_header, require_ids, require_pairs
from bigbfs.formats.streams.sources import Source, read_error
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import ranges, run, thread_count
from bigbfs.sizes import format_size

_PAIRS = (("src", "dst"), ("source", "target"), ("row", "col"), ("u", "v"), ("arr_0", "arr_1"))
_SINGLES = ("edges", "edge_index", "arr_0")
_PIECE = 1 << 20
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError, ValueError, OSError)


def is_plain(source: Source) -> bool:
    """Return whether a source is an uncompressed file, any part of which can be read."""
    return source.compression is None and source.size is not None


def read_npy_file(
    source: Source,
    edges: EdgeBuffer,
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
    with pair_file(source) as pairs:
        if progress is not None:
            progress(pairs.start)
        pairs.read_all(edges, threads=threads, block_bytes=block_bytes, progress=progress)
    return EdgeList(*edges.arrays(), input_bytes=source.consumed)


def read_npy_stream(source: Source, *, threads: int | None = None) -> EdgeList:
    """Read one .npy of shape (m, 2) or (2, m) from anywhere, as a whole.

    Raises
    ------
    InputError
        It is no such array, is cut short, or holds something that is no vertex id.
    DoesNotFitError
        There is not so much memory.
    """
    array = _read_array(source.name, source, None)
    if source.read(1):
        raise InputError(f"{source.name}: has more bytes than its .npy header declares; write it again")
    return _edge_list(source, *_columns(source.name, array), threads)


def read_npz(source: Source, *, threads: int | None = None) -> EdgeList:
    """Read an .npz with edges or a sparse matrix.

    Raises
    ------
    InputError
        It holds neither, is cut short or damaged, or an array is not what it should be.
    """
    with source.seekable() as (file, _):
        try:
            with zipfile.ZipFile(file) as archive:
                return _from_archive(source, _Archive(source.name, archive), threads)
        except BigBfsError:
            raise
        except _DAMAGED as error:
            raise _damaged(source, error) from error


def array_sizes(source: Source, kind: str) -> tuple[int, int]:
    """Return (edges, bytes of all arrays) that the headers of an .npy or .npz declare; reads no data.

    Raises
    ------
    InputError
        A header is bad, or the archive is damaged.
    """
    if kind == "npy":
        return _declared_by(source.name, source.read)
    with source.seekable() as (file, _):
        try:
            with zipfile.ZipFile(file) as archive:
                found = [(0, sum(info.file_size for info in archive.infolist()))]
                for info in filter(_is_array, archive.infolist()):
                    with archive.open(info) as member:
                        found.append(_declared_by(f"{source.name}[{info.filename}]", member.read))
        except BigBfsError:
            raise
        except _DAMAGED as error:
            raise _damaged(source, error) from error
    return max(edges for edges, _ in found), max(found[0][1], sum(size for _, size in found[1:]))


def _declared_by(name: str, read: Callable[[int], bytes]) -> tuple[int, int]:
    header = read_header(name, read)
    count = math.prod(header.shape)
    return (count // 2 if len(header.shape) == 2 else count), header.data_bytes


def _damaged(source: Source, error: Exception) -> BigBfsError:
    if isinstance(error, OSError) and error.errno != errno.EINVAL:  # EINVAL: a damaged offset to seek to
        return read_error(source.name, error)
    return InputError(f"{source.name}: is damaged or no .npz ({error}); write it again")


class _Archive:
    """The arrays of an .npz by name, read when asked for."""

    def __init__(self, name: str, archive: zipfile.ZipFile) -> None:
        self.name, self._archive = name, archive
        self._members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        self.names = [info.filename.removesuffix(".npy") for info in archive.infolist() if _is_array(info)]

    def __getitem__(self, key: str) -> np.ndarray:
        info = self._members[key]
        with self._archive.open(info) as member:
            array = _read_array(f"{self.name}[{key}]", member, info.file_size)
            member.read(1)  # at the end of a member zipfile compares its checksum
        return array

    def pair(self, first: str, second: str, threads: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays, read at the same time."""
        one, other = run(thread_count(threads), self.__getitem__, [(first,), (second,)])
        return one, other


def _is_array(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith(".npy")


def _from_archive(source: Source, arrays: _Archive, threads: int | None) -> EdgeList:
    names = set(arrays.names)
    if not names:
        raise InputError(f"{source.name}: is a zip archive without arrays; unpack it (unzip) and give the files in it")
    if "format" in names and "shape" in names:
        return _from_scipy(source, arrays, threads)
    for first, second in _PAIRS:
        if {first, second} <= names:
            sides = _pair(source.name, *arrays.pair(first, second, threads), f"{first} and {second}")
            return _edge_list(source, *sides, threads)
    if {"indptr", "indices"} <= names:
        indptr, indices = arrays.pair("indptr", "indices", threads)
        sources = _row_of_each(source.name, indptr, len(indices))
        return _edge_list(source, sources, indices, threads, vertices=len(indptr) - 1)
    for single in _SINGLES:
        if single in names:
            return _edge_list(source, *_columns(f"{source.name}[{single}]", arrays[single]), threads)
    raise InputError(
        f"{source.name}: holds {', '.join(sorted(names)[:8])}; expected src and dst, row and col, edges, "
        "or a SciPy sparse matrix"
    )


def _from_scipy(source: Source, arrays: _Archive, threads: int | None) -> EdgeList:
    kind = str(np.char.decode(arrays["format"].astype("S"), "ascii", "replace"))
    shape = arrays["shape"].tolist()
    if kind not in ("coo", "csr", "csc"):
        raise InputError(f"{source.name}: a SciPy {kind} matrix is not read; save matrix.tocsr()")
    if not isinstance(shape, list) or len(shape) != 2 or shape[0] != shape[1] or not isinstance(shape[0], int):
        raise InputError(f"{source.name}: a matrix of shape {shape}; an adjacency matrix is square")
    wanted = {"row", "col"} if kind == "coo" else {"indptr", "indices"}
    if not wanted <= set(arrays.names):
        raise InputError(f"{source.name}: a SciPy {kind} matrix without {' and '.join(sorted(wanted))}; save it again")
    vertices = shape[0]
    if vertices < 1:
        raise InputError(f"{source.name}: the matrix is {vertices} x {vertices}; a graph without vertices is not made")
    if kind == "coo":
        sources, targets = _pair(source.name, *arrays.pair("row", "col", threads), "row and col")
    else:
        indices, indptr = arrays.pair("indices", "indptr", threads)
        if len(indptr) != vertices + 1:
            raise InputError(f"{source.name}: indptr has {len(indptr)} entries for {vertices} rows; save it again")
        sources, targets = _row_of_each(source.name, indptr, len(indices)), indices
        if kind == "csc":
            sources, targets = targets, sources
    return _edge_list(source, sources, targets, threads, vertices=vertices)


def _read_array(name: str, stream: Any, size: int | None) -> np.ndarray:
    """Read header and data of a .npy of ``size`` bytes (None: unknown) from what has ``read`` and ``readinto``."""
    header = read_header(name, stream.read, size)
    require_ids(name, header)
    data = _room(name, header)
    filled = 0
    while filled < len(data):
        got = stream.readinto(data.data[filled : filled + _PIECE])
        if not got:
            raise InputError(f"{name}: is cut short: {filled} of {len(data)} bytes of data; write it again")
        filled += got
    return data.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C")


def _room(name: str, header: Header) -> np.ndarray:
    try:
        return np.empty(header.data_bytes, np.uint8)
    except (MemoryError, ValueError) as error:
        raise DoesNotFitError(f"{name}: no memory for the {format_size(header.data_bytes)} that it declares") from error


def _columns(name: str, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    require_pairs(name, array.shape)
    return (array[:, 0], array[:, 1]) if array.shape[1] == 2 else (array[0], array[1])


def _pair(name: str, first: np.ndarray, second: np.ndarray, names: str) -> tuple[np.ndarray, np.ndarray]:
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"{name}: {names} have shapes {first.shape} and {second.shape}; expected (edges,) twice")
    return first, second


def _row_of_each(name: str, indptr: np.ndarray, entries: int) -> np.ndarray:
    """Return the row of each CSR entry."""
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) < 1:
        raise InputError(
            f"{name}: indptr has shape {indptr.shape} and dtype {indptr.dtype}; expected integers (n + 1,)"
        )
    if indptr.dtype.kind == "u" and indptr.max() > LARGEST_ID:
        raise InputError(f"{name}: indptr has an entry above 2^63-1")
    offsets = indptr.astype(np.int64)
    if offsets[0] != 0 or offsets[-1] != entries or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{name}: indptr does not rise from 0 to the {entries} indices; save it again")
    rows = np.arange(len(offsets) - 1, dtype=np.uint32 if len(offsets) <= 2**32 else np.uint64)
    return np.repeat(rows, np.diff(offsets))


def _edge_list(
    source: Source, sources: np.ndarray, targets: np.ndarray, threads: int | None, vertices: int | None = None
) -> EdgeList:
    """Check the ids and bring both sides to uint32, or uint64 where one id needs it."""
    if vertices is None and len(sources) == 0:
        raise InputError(f"{source.name}: no edge in it; a graph without vertices is not made")
    largest, many = 0, thread_count(threads)
    limit = LARGEST_ID if vertices is None else vertices - 1
    for side in (sources, targets):
        if side.ndim != 1 or side.dtype.kind not in "iu":
            raise InputError(
                f"{source.name}: ids of shape {side.shape} and dtype {side.dtype}; expected integers (edges,)"
            )
        if not len(side):
            continue
        extents = run(many, _extent, [(side[first:last],) for first, last in ranges(len(side), 4 * many)])
        low, high = min(low for low, _ in extents), max(high for _, high in extents)
        largest = max(largest, high)
        if low < 0 or high > limit:
            wrong = low if low < 0 else high
            where = int(np.flatnonzero(side == wrong)[0])
            raise InputError(f"{source.name}: edge {where}: vertex id {wrong} is outside 0 to {limit}")
    dtype = np.dtype(np.uint32 if largest < 2**32 else np.uint64)
    return EdgeList(
        _column(sources, dtype, many),
        _column(targets, dtype, many),
        declared_n=vertices,
        input_bytes=source.consumed,
    )


def _extent(ids: np.ndarray) -> tuple[int, int]:
    return int(ids.min()), int(ids.max())


def _column(ids: np.ndarray, dtype: np.dtype[Any], threads: int) -> np.ndarray:
    """Return ``ids``, all in the range of ``dtype``, as a contiguous array of it: itself where it is one."""
    if ids.dtype == dtype and ids.flags.c_contiguous:
        return ids
    column = np.empty(len(ids), dtype)

    def copy(first: int, last: int) -> None:
        column[first:last] = ids[first:last]

    run(threads, copy, ranges(len(ids), 4 * threads) if len(ids) else [])
    return column
