"""Orders of the vertices, and a graph in another one.

By descending degree the rows that a traversal touches most lie together at the front; the orders by search
(order_bfs.py) put neighbours close together.
"""

from __future__ import annotations

import numpy as np

from bigbfs.conversion.sorting.csr import Csr, transpose
from bigbfs.graph.adjacency import id_dtype


def vertex_order(name: str, out: Csr, into: Csr | None) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank): new vertex i was ``order[i]``, and the inverse permutation.

    Parameters
    ----------
    name
        ``"degree"``, ``"bfs"`` or ``"rcm"``.
    out, into
        Rows, and in-rows (``out`` itself where the graph is symmetric).
    """
    if name == "degree":
        return degree_order(out[0])
    from bigbfs.conversion.orders import breadth_first as order_bfs  # its kernels are rarely needed

    return (order_bfs.bfs_order if name == "bfs" else order_bfs.rcm_order)(out, into)


def degree_order(indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank): vertices by descending degree, ties by number, and the inverse permutation."""
    n = len(indptr) - 1
    ids = id_dtype(n)
    degree = np.diff(indptr)
    most = int(degree.max(initial=0))
    if n < 2**32 and most < 2**32:
        # one sort of plain integers, which NumPy vectorises, instead of an indirect stable sort
        keys = (np.uint64(most) - degree.astype(np.uint64)) << np.uint64(32)
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort()
        order = (keys & np.uint64(0xFFFFFFFF)).astype(ids)
    else:
        order = np.argsort(-degree, kind="stable").astype(ids)
    rank = np.empty(n, ids)
    rank[order] = np.arange(n, dtype=ids)
    return order, rank


def renumber(out: Csr, into: Csr | None, order: np.ndarray, rank: np.ndarray, threads: int) -> tuple[Csr, Csr | None]:
    """Return the out- and in-rows in the new numbers, sorted; ``into`` is ``out`` itself where the graph is symmetric.

    Transposing sorts as it goes, so the new out-rows are the transpose of the old in-rows and the other way round.
    """
    new_in = transpose(out, threads, order=order, rank=rank)
    if into is out:
        return new_in, new_in
    assert into is not None
    return transpose(into, threads, order=order, rank=rank), new_in
