"""NumPy files as edges: .npy of shape (m, 2) or (2, m), .npz with two arrays of ids, SciPy's sparse .npz.

In an .npz: ``src``/``dst``, ``source``/``target``, ``row``/``col``, ``u``/``v``, ``arr_0``/``arr_1``; or one array
``edges``, ``edge_index`` or ``arr_0``; or ``indptr`` and ``indices`` (CSR). SciPy's coo, csr and csc declare their
size: an entry (i, j) is the edge i -> j, explicit zeros included. Nothing is ever unpickled, and no more is allocated
than the file says that it holds.
"""

from __future__ import annotations

import errno
import math
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bigbfs.edges import EdgeList
from bigbfs.errors import BigBfsError, DoesNotFitError, InputError
from bigbfs.formats.sources import Source, read_error
from bigbfs.sizes import format_size

_PAIRS = (("src", "dst"), ("source", "target"), ("row", "col"), ("u", "v"), ("arr_0", "arr_1"))
_SINGLES = ("edges", "edge_index", "arr_0")
_LARGEST = 2**63 - 1
_PIECE = 1 << 20
_LONGEST_HEADER = 10_000
_HEADER = re.compile(
    r"\s*\{\s*(?:(?:'descr'\s*:\s*(?P<descr>'[^'\\]*'|\[[^\\]*\])|'fortran_order'\s*:\s*(?P<order>True|False)"
    r"|'shape'\s*:\s*\((?P<shape>\s*|\s*[0-9]+\s*,[0-9,\s]*)\))\s*(?:,\s*)?)+\}\s*"
)
_DESCR = re.compile(r"'[<>|=]?[?bBiufcSUVOmM][0-9]*(?:\[[0-9a-zA-Z]+\])?'")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError, ValueError, OSError)


def read_npy(source: Source) -> EdgeList:
    """Read one .npy of shape (m, 2) or (2, m).

    Raises
    ------
    InputError
        It is no such array, is cut short, or holds something that is no vertex id.
    """
    head = source.size if source.compression is None else None
    array = _read_array(source.name, source.read, head)
    if source.read(1):
        raise InputError(f"{source.name}: has more bytes than its .npy header declares; write it again")
    sources, targets = _columns(source.name, array)
    return _edge_list(source, sources, targets)


def read_npz(source: Source) -> EdgeList:
    """Read an .npz with edges or a sparse matrix.

    Raises
    ------
    InputError
        It holds neither, is cut short or damaged, or an array is not what it should be.
    """
    with source.seekable() as (file, _):
        try:
            with zipfile.ZipFile(file) as archive:
                return _from_archive(source, _Archive(source.name, archive))
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
    shape, _, dtype, _ = _read_header(name, read)
    count = math.prod(shape)
    return (count // 2 if len(shape) == 2 else count), count * dtype.itemsize


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
            array = _read_array(f"{self.name}[{key}]", member.read, info.file_size)
            member.read(1)  # at the end of a member zipfile compares its checksum
        return array


def _is_array(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith(".npy")


def _from_archive(source: Source, arrays: _Archive) -> EdgeList:
    names = set(arrays.names)
    if not names:
        raise InputError(f"{source.name}: is a zip archive without arrays; unpack it (unzip) and give the files in it")
    if "format" in names and "shape" in names:
        return _from_scipy(source, arrays)
    for first, second in _PAIRS:
        if {first, second} <= names:
            return _edge_list(source, *_pair(source.name, arrays[first], arrays[second], f"{first} and {second}"))
    if {"indptr", "indices"} <= names:
        indices = arrays["indices"]
        sources = _row_of_each(source.name, arrays["indptr"], len(indices))
        return _edge_list(source, sources, indices, vertices=len(arrays["indptr"]) - 1)
    for single in _SINGLES:
        if single in names:
            return _edge_list(source, *_columns(f"{source.name}[{single}]", arrays[single]))
    raise InputError(
        f"{source.name}: holds {', '.join(sorted(names)[:8])}; expected src and dst, row and col, edges, "
        "or a SciPy sparse matrix"
    )


def _from_scipy(source: Source, arrays: _Archive) -> EdgeList:
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
        sources, targets = _pair(source.name, arrays["row"], arrays["col"], "row and col")
    else:
        indices, indptr = arrays["indices"], arrays["indptr"]
        if len(indptr) != vertices + 1:
            raise InputError(f"{source.name}: indptr has {len(indptr)} entries for {vertices} rows; save it again")
        sources, targets = _row_of_each(source.name, indptr, len(indices)), indices
        if kind == "csc":
            sources, targets = targets, sources
    return _edge_list(source, sources, targets, vertices=vertices)


def _read_array(name: str, read: Callable[[int], bytes], size: int | None) -> np.ndarray:
    """Read header and data of a .npy of ``size`` bytes (None: unknown)."""
    shape, fortran, dtype, header_bytes = _read_header(name, read)
    if dtype.hasobject or dtype.kind not in "iuSUb" or not dtype.itemsize:
        raise InputError(f"{name}: an array of {dtype}; vertex ids are integers")
    wanted = math.prod(shape) * dtype.itemsize
    if size is not None and wanted != size - header_bytes:
        raise InputError(
            f"{name}: declares {wanted} bytes of data ({shape} of {dtype}) and holds {size - header_bytes} "
            "(cut short?); write it again"
        )
    try:
        data = np.empty(wanted, np.uint8)
    except (MemoryError, ValueError) as error:
        raise DoesNotFitError(f"{name}: no memory for the {format_size(wanted)} that it declares") from error
    filled = 0
    while filled < wanted:
        piece = read(min(_PIECE, wanted - filled))
        if not piece:
            raise InputError(f"{name}: is cut short: {filled} of {wanted} bytes of data; write it again")
        data[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
        filled += len(piece)
    return data.view(dtype).reshape(shape, order="F" if fortran else "C")


def _read_header(name: str, read: Callable[[int], bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return (shape, Fortran order, dtype, bytes of the header)."""
    start = read(10)
    if start[:6] != b"\x93NUMPY" or len(start) < 10:
        raise InputError(f"{name}: no .npy: it does not begin as one")
    length_bytes = {1: 2, 2: 4}.get(start[6], 0)
    if not length_bytes:
        raise InputError(f"{name}: a .npy of version {start[6]} is not read; write it as a plain integer array")
    start += read(length_bytes - 2)
    length = int.from_bytes(start[8:], "little")
    if length > _LONGEST_HEADER:
        raise InputError(f"{name}: the .npy header declares {length} bytes; the file is damaged")
    text = read(length)
    shape, fortran, dtype = _header_fields(name, text.decode("latin-1"))
    if len(text) != length:
        raise InputError(f"{name}: is cut short inside the .npy header; write it again")
    return shape, fortran, dtype, len(start) + length


def _header_fields(name: str, text: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return (shape, Fortran order, dtype).

    Not by NumPy's reader, which lets other errors than ValueError through on damaged headers, nor by Python's parser,
    which warns of some.
    """
    match = _HEADER.fullmatch(text)
    found = match.groupdict() if match else {}
    if None in found.values() or not found:
        raise InputError(f"{name}: bad .npy header ({text.strip()[:80]!r}); write it again")
    if not _DESCR.fullmatch(found["descr"]):
        raise InputError(f"{name}: an array of {found['descr'][:80]!r}; vertex ids are integers")
    try:
        shape = tuple(int(side) for side in found["shape"].split(",") if side.strip())
        return shape, found["order"] == "True", np.dtype(found["descr"][1:-1])
    except (ValueError, TypeError) as error:
        raise InputError(f"{name}: bad .npy header ({type(error).__name__}); write it again") from error


def _columns(name: str, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if array.ndim != 2 or 2 not in array.shape:
        raise InputError(f"{name}: an array of shape {array.shape}; expected (edges, 2) or (2, edges)")
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
    if indptr.dtype.kind == "u" and indptr.max() > _LARGEST:
        raise InputError(f"{name}: indptr has an entry above 2^63-1")
    offsets = indptr.astype(np.int64)
    if offsets[0] != 0 or offsets[-1] != entries or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{name}: indptr does not rise from 0 to the {entries} indices; save it again")
    rows = np.arange(len(offsets) - 1, dtype=np.uint32 if len(offsets) <= 2**32 else np.uint64)
    return np.repeat(rows, np.diff(offsets))


def _edge_list(source: Source, sources: np.ndarray, targets: np.ndarray, vertices: int | None = None) -> EdgeList:
    """Check the ids and bring both sides to uint32, or uint64 where one id needs it."""
    if vertices is None and len(sources) == 0:
        raise InputError(f"{source.name}: no edge in it; a graph without vertices is not made")
    largest = 0
    for side in (sources, targets):
        if side.ndim != 1 or side.dtype.kind not in "iu":
            raise InputError(
                f"{source.name}: ids of shape {side.shape} and dtype {side.dtype}; expected integers (edges,)"
            )
        if not len(side):
            continue
        low, high = int(side.min()), int(side.max())
        largest = max(largest, high)
        limit = _LARGEST if vertices is None else vertices - 1
        if low < 0 or high > limit:
            wrong = low if low < 0 else high
            where = int(np.flatnonzero(side == wrong)[0])
            raise InputError(f"{source.name}: edge {where}: vertex id {wrong} is outside 0 to {limit}")
    dtype = np.uint32 if largest < 2**32 else np.uint64
    return EdgeList(
        np.ascontiguousarray(sources, dtype),
        np.ascontiguousarray(targets, dtype),
        declared_n=vertices,
        input_bytes=source.consumed,
    )
