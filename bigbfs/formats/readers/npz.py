"""NumPy's .npz with edges, and SciPy's sparse .npz.

In it: ``src``/``dst``, ``source``/``target``, ``row``/``col``, ``u``/``v``, ``arr_0``/``arr_1``; or one array
``edges``, ``edge_index`` or ``arr_0``; or ``indptr`` and ``indices`` (CSR). SciPy's coo, csr and csc declare their
size: an entry (i, j) is the edge i -> j, explicit zeros included. Nothing is ever unpickled, and no more is allocated
than the file says that it holds.
"""

from __future__ import annotations

import errno
import io
import zipfile
import zlib
from dataclasses import replace

import numpy as np

from bigbfs.errors import BigBfsError, InputError
from bigbfs.formats.readers.array_header import LARGEST_ID
from bigbfs.formats.readers.arrays import columns, declared_by, edge_list, read_array
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.formats.readers.format import NO_RULES, Format, Reading, Rules
from bigbfs.formats.readers.npy import require_content
from bigbfs.formats.streams.sources import Source, read_error
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import run, thread_count

_PAIRS = (("src", "dst"), ("source", "target"), ("row", "col"), ("u", "v"), ("arr_0", "arr_1"))
_SINGLES = ("edges", "edge_index", "arr_0")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError, ValueError, OSError)


def read_npz(source: Source, rules: Rules = NO_RULES, *, threads: int | None = None) -> EdgeList:
    """Read an .npz with edges or a sparse matrix.

    Raises
    ------
    InputError
        It holds neither, is cut short or damaged, or an array is not what it should be.
    """
    with source.seekable() as (file, _):
        try:
            with zipfile.ZipFile(file) as archive:
                return _from_archive(source, _Archive(source.name, archive), rules, threads)
        except BigBfsError:
            raise
        except _DAMAGED as error:
            raise _damaged(source, error) from error


def array_sizes(source: Source) -> tuple[int, int]:
    """Return (edges, bytes of all arrays) that the headers in an .npz declare; reads no data.

    Raises
    ------
    InputError
        A header is bad, or the archive is damaged.
    """
    with source.seekable() as (file, _):
        try:
            with zipfile.ZipFile(file) as archive:
                found = [(0, sum(info.file_size for info in archive.infolist()))]
                for info in filter(_is_array, archive.infolist()):
                    with archive.open(info) as member:
                        found.append(declared_by(f"{source.name}[{info.filename}]", member.read))
        except BigBfsError:
            raise
        except _DAMAGED as error:
            raise _damaged(source, error) from error
    return max(edges for edges, _ in found), max(found[0][1], sum(size for _, size in found[1:]))


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
        self._sized = not {"shape", "indptr"}.isdisjoint(self.names)

    def __getitem__(self, key: str) -> np.ndarray:
        info = self._members[key]
        with self._archive.open(info) as member:
            array = read_array(f"{self.name}[{key}]", member, info.file_size, self._sized)
            member.read(1)  # at the end of a member zipfile compares its checksum
        return array

    def content(self) -> str:
        """Return what is in an archive without arrays, in a few words."""
        names = [info.filename for info in self._archive.infolist() if not info.is_dir()]
        listed = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
        return f"without arrays (in it: {listed})" if names else "without arrays"

    def pair(self, first: str, second: str, threads: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays, read at the same time."""
        one, other = run(thread_count(threads), self.__getitem__, [(first,), (second,)])
        return one, other


def _is_array(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith(".npy")


def _from_archive(source: Source, arrays: _Archive, rules: Rules, threads: int | None) -> EdgeList:
    names = set(arrays.names)
    if not names:
        raise InputError(
            f"{source.name}: is a zip archive {arrays.content()}; unpack it (unzip) and give the files in it"
        )
    if "format" in names and "shape" in names:
        return _from_scipy(source, arrays, threads)
    for first, second in _PAIRS:
        if {first, second} <= names:
            sides = _pair(source.name, *arrays.pair(first, second, threads), f"{first} and {second}")
            return edge_list(source, *sides, threads)
    if {"indptr", "indices"} <= names:
        indptr, indices = arrays.pair("indptr", "indices", threads)
        sources = _row_of_each(source.name, indptr, len(indices))
        return edge_list(source, sources, indices, threads, vertices=len(indptr) - 1)
    for single in _SINGLES:
        if single in names:
            array = arrays[single]
            if single == "edge_index" and array.shape[:1] == (2,) and not rules.given():
                rules = replace(rules, edge_index=True)  # the name says how it lies
            return edge_list(source, *columns(f"{source.name}[{single}]", array, rules), threads)
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
    return edge_list(source, sources, targets, threads, vertices=vertices)


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


def _read(reading: Reading) -> EdgeList:
    require_content(reading.source)
    whole = read_npz(reading.source, reading.rules, threads=reading.threads)
    if reading.progress is not None:
        reading.progress(whole.input_bytes)
    return whole


def _estimate(source: Source, rules: Rules) -> InputEstimate:
    size = source.size or 0
    if not source.peek(1):
        return InputEstimate(size, 0, 0, streams=False)
    edges, held = array_sizes(source)
    return InputEstimate(size, edges, held + 16 * edges, streams=False)


def _example() -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, src=np.arange(5), dst=np.arange(5)[::-1])
    return stream.getvalue()


FORMAT = Format(
    "npz",
    "NumPy arrays of edges or a SciPy sparse matrix",
    _read,
    _estimate,
    _example(),
    suffixes=(".npz",),
    takes=("columns", "edge_index"),
    recognize=lambda head: head.startswith((b"PK\x03\x04", b"PK\x05\x06")),
)
