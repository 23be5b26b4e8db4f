"""The two encodings of an adjacency: plain CSR and delta-varint compressed CSR, as NumPy arrays.

Both are frozen bundles of arrays (in memory or memory-mapped, never copied here). ``indptr`` and every other
offset is uint64; a vertex id is uint32 or uint64, called *id* below. Rows are sorted ascending.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCK_IDS = 1024
"""Ids in one block of a compressed row; every block restarts with an absolute id."""

WIDE_FROM = 2**32
"""From so many vertices on ids are 64 bits wide; below, 2**32 - 1 stays free as "no vertex"."""


def id_dtype(n: int) -> np.dtype:
    """Return the id dtype for ``n`` vertices: uint32, or uint64 from ``WIDE_FROM`` on."""
    return np.dtype(np.uint32 if n < WIDE_FROM else np.uint64)


@dataclass(frozen=True, eq=False)
class PlainAdjacency:
    """CSR: the neighbours of vertex ``v`` are ``indices[indptr[v]:indptr[v + 1]]``.

    Attributes
    ----------
    indptr
        uint64, shape (n + 1,): offsets into ``indices``, monotonic, first 0, last m.
    indices
        id dtype, shape (m,).
    """

    indptr: np.ndarray
    indices: np.ndarray
    codec = "plain"

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    @property
    def m(self) -> int:
        """Number of directed edges."""
        return len(self.indices)

    @property
    def rows_end(self) -> int:
        """Vertices up to the last whose row is not empty."""
        return int(np.searchsorted(self.indptr, self.indptr[-1]))

    @property
    def ids(self) -> np.dtype:
        """Dtype of a vertex id."""
        return self.indices.dtype

    @property
    def edges(self) -> np.ndarray:
        """The array that holds the edges."""
        return self.indices

    def degrees(self) -> np.ndarray:
        """Return the degree of every vertex: int64, shape (n,)."""
        degrees = np.diff(self.indptr)
        return degrees.view(np.int64) if degrees.itemsize == 8 else degrees.astype(np.int64)

    def edge_offsets(self) -> np.ndarray:
        """Return the index of each row's first edge: uint64, shape (n + 1,)."""
        return self.indptr

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by section name."""
        return {"indptr": self.indptr, "indices": self.indices}


@dataclass(frozen=True, eq=False)
class CompressedAdjacency:
    """Delta-varint CSR: row ``v`` is the bytes ``blob[indptr[v]:indptr[v + 1]]``, holding ``degree[v]`` ids.

    A row is cut into blocks of ``BLOCK_IDS`` ids (the last one shorter). Each block holds its first id as it is,
    then differences to the id before, each as LEB128. Rows of one block, by far the most, need no index. The rows
    of more than ``BLOCK_IDS`` ids are the hubs: hub ``i`` is vertex ``hubs[i]``, and its block ``k`` starts at byte
    ``block_ptr[hub_ptr[i] + k]`` of the blob.

    Attributes
    ----------
    indptr
        uint64, shape (n + 1,): byte offsets into ``blob``, monotonic, first 0, last the number of bytes in use.
    degree
        id dtype, shape (n,): ids in each row.
    blob
        uint8, shape (bytes,).
    hubs
        id dtype, shape (h,): vertices with ``degree > BLOCK_IDS``, ascending.
    hub_ptr
        uint64, shape (h + 1,): first entry of each hub in ``block_ptr``; first 0, last its length.
    block_ptr
        uint64: absolute byte offset into ``blob`` of every block of every hub.
    """

    indptr: np.ndarray
    degree: np.ndarray
    blob: np.ndarray
    hubs: np.ndarray
    hub_ptr: np.ndarray
    block_ptr: np.ndarray
    codec = "varint"

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.degree)

    @property
    def m(self) -> int:
        """Number of directed edges (sums ``degree``: O(n))."""
        return int(self.degree.sum(dtype=np.uint64))

    @property
    def rows_end(self) -> int:
        """Vertices up to the last whose row is not empty."""
        return int(np.searchsorted(self.indptr, self.indptr[-1]))

    @property
    def ids(self) -> np.dtype:
        """Dtype of a vertex id."""
        return self.degree.dtype

    @property
    def edges(self) -> np.ndarray:
        """The array that holds the edges."""
        return self.blob

    def degrees(self) -> np.ndarray:
        """Return the degree of every vertex: int64, shape (n,)."""
        return self.degree.astype(np.int64)

    def edge_offsets(self) -> np.ndarray:
        """Return the index that each row's first edge has in plain CSR: uint64, shape (n + 1,)."""
        offsets = np.zeros(self.n + 1, np.uint64)
        np.cumsum(self.degree, dtype=np.uint64, out=offsets[1:])
        return offsets

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by section name."""
        return {
            "indptr": self.indptr,
            "degree": self.degree,
            "blob": self.blob,
            "hubs": self.hubs,
            "hub_ptr": self.hub_ptr,
            "block_ptr": self.block_ptr,
        }


@dataclass(frozen=True, eq=False)
class PiecewiseAdjacency:
    """CSR whose edges lie in pieces, with gaps between: where a word of 64 rows ends is stored as well.

    The neighbours of vertex ``v`` are ``indices[indptr[p]:indptr[p + 1]]`` with ``p = v + v // 64``. For rows that are
    mapped from several files, each at an address that fits its pages, and not all of the graph's. No ``Adjacency``:
    kernels that read rows by ``degree``, ``seek`` and ``step`` know it (:mod:`bigbfs.engines.cpu.rows`), others do not.

    Attributes
    ----------
    indptr
        uint64, shape (gapped(n),): 65 offsets into ``indices`` for each word of rows.
    indices
        id dtype; what lies between pieces has no meaning.
    n, m
        Vertices, and edges of the rows that are here.
    """

    indptr: np.ndarray
    indices: np.ndarray
    n: int
    m: int
    codec = "plain"

    @property
    def ids(self) -> np.dtype:
        """Dtype of a vertex id."""
        return self.indices.dtype

    @property
    def edges(self) -> np.ndarray:
        """The array that holds the edges."""
        return self.indices

    def degrees(self) -> np.ndarray:
        """Return the degree of every vertex: int64, shape (n,); 0 for rows that are not here."""
        first, last = (each.reshape(-1, 65)[:, :64] for each in (self.indptr[:-1], self.indptr[1:]))
        degrees: np.ndarray = (last - first).astype(np.int64).ravel()[: self.n]
        return degrees

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name."""
        return {"indptr": self.indptr, "indices": self.indices}


def gapped(n: int) -> int:
    """Return the offsets of a piecewise adjacency of ``n`` vertices; one more than its words need."""
    return -(-n // 64) * 65 + 1


Adjacency = PlainAdjacency | CompressedAdjacency
