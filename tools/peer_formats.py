"""Write a graph in the file formats of other GPU traversal programs, for ``compare_peers.py``.

In: indptr (u64, n + 1) and indices (u32, m, ascending in each row) of a symmetric graph without duplicates and
self-loops. Out: files in a folder, and the path that the program is given. Everything is little-endian. EMOGI and EFG
read ids of eight bytes; programs compared here are expected to read four, which is what those two hold in memory
(EMOGI's u32 programs) or compress from (EFG).

Sources: the readers in github.com/illinois-impact/EMOGI (bfs_32.cu), github.com/pgera/efg (csr.cpp),
github.com/burtscher/ECL-Suite (ECLgraph.h) and github.com/PAA-NCIC/GSWITCH (fileIO.cuh, store_to_binfile).
github.com/delbek/blest (CSC.cuh, constructFromBinary) has a flag behind m, which its caller works out instead here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bigbfs.errors import UsageError
from bigbfs.formats.atomic import access_error

SLICE = 1 << 24
"""Elements converted at a time."""


@dataclass(frozen=True)
class Format:
    """``write(folder, indptr, indices)`` returns what the program is given; ``edges``: the most that the files hold."""

    write: Callable[[Path, np.ndarray, np.ndarray], Path]
    edges: int = 2**63 - 1


def _put(path: Path, head: bytes, parts: Iterable[tuple[np.ndarray, npt.DTypeLike]]) -> Path:
    """Write ``head`` and then each array as its dtype, slice by slice."""
    try:
        with path.open("wb", buffering=0) as stream:
            stream.write(head)
            for array, dtype in parts:
                for start in range(0, len(array), SLICE):
                    part = np.ascontiguousarray(array[start : start + SLICE], dtype)
                    left = part.data.cast("B")
                    while len(left):  # an unbuffered write may take less than all
                        left = left[stream.write(left) or 0 :]
    except OSError as error:
        raise access_error(path, error, "write") from error
    return path


def write_emogi(folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Path:
    """Write graph.col (n + 1, 8, offsets u64) and graph.dst (m, 4, ids u32); the heads are two u64 each."""
    _put(folder / "graph.col", struct.pack("<2Q", len(indptr), 8), [(indptr, "<u8")])
    _put(folder / "graph.dst", struct.pack("<2Q", len(indices), 4), [(indices, "<u4")])
    return folder / "graph"


def write_efg(folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Path:
    """Write efg/vertex.CSR (offsets u64) and efg/edge.CSR (ids u32), without heads."""
    target = folder / "efg"
    target.mkdir(exist_ok=True)
    _put(target / "vertex.CSR", b"", [(indptr, "<u8")])
    _put(target / "edge.CSR", b"", [(indices, "<u4")])
    return target


def write_ecl(folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Path:
    """Write graph.egr: n and m (i32), offsets (i32, n + 1), ids (i32)."""
    head = struct.pack("<2i", len(indptr) - 1, len(indices))
    return _put(folder / "graph.egr", head, [(indptr, "<i4"), (indices, "<i4")])


def write_gswitch(folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Path:
    """Write graph.csr: n and m (i32), directed and weighted (bool), degrees, row starts and ids (i32)."""
    head = struct.pack("<2i2?", len(indptr) - 1, len(indices), False, False)
    degrees = np.diff(indptr)
    return _put(folder / "graph.csr", head, [(degrees, "<i4"), (indptr[:-1], "<i4"), (indices, "<i4")])


def write_blest(folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Path:
    """Write graph.csc: n and m (u32), offsets (u32, n + 1) and ids (u32)."""
    head = struct.pack("<2I", len(indptr) - 1, len(indices))
    return _put(folder / "graph.csc", head, [(indptr, "<u4"), (indices, "<u4")])


FORMATS = {
    "emogi": Format(write_emogi),
    "efg": Format(write_efg),
    "ecl": Format(write_ecl, edges=2**31 - 1),
    "gswitch": Format(write_gswitch, edges=2**31 - 1),
    "blest": Format(write_blest, edges=2**32 - 1),
}


@dataclass(frozen=True)
class Peer:
    """A program to compare with: what it computes, where its edges may lie, which files it reads."""

    work: str
    places: tuple[str, ...]
    format: str


PEERS = {
    "emogi-bfs": Peer("bfs", ("host", "device"), "emogi"),
    "emogi-cc": Peer("cc", ("host", "device"), "emogi"),
    "efg": Peer("bfs", ("host", "device"), "efg"),
    "gswitch": Peer("bfs", ("device",), "gswitch"),
    "blest": Peer("bfs", ("device",), "blest"),
    "ecl-cc": Peer("cc", ("host", "device"), "ecl"),
}


def write_graph(name: str, folder: Path, indptr: np.ndarray, indices: np.ndarray) -> Path:
    """Write the graph in format ``name`` into ``folder``.

    Returns
    -------
    Path
        What the program is given: a file, a folder or the files' common stem.

    Raises
    ------
    UsageError
        The ids are not 32 bits wide, or the format cannot hold so many edges.
    FileAccessError
        A file cannot be written.
    """
    found = FORMATS[name]
    if indices.dtype.itemsize != 4:
        raise UsageError(f"files for {name} hold 32-bit ids; this graph has ids of {8 * indices.dtype.itemsize} bits")
    if len(indices) > found.edges:
        raise UsageError(
            f"files for {name} hold at most {found.edges:,} directed edges; the graph has {len(indices):,}"
        )
    return found.write(folder, indptr, indices)
