"""The order that a name stands for, and a graph in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.conversion.orders.degree import degree_order
from bigbfs.graph.transposing import Csr, transpose
from bigbfs.report.progress import SILENT, Progress


def vertex_order(name: str, out: Csr, into: Csr | None, told: Progress = SILENT) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank): new vertex i was ``order[i]``, and the inverse permutation.

    Parameters
    ----------
    name
        ``"degree"``, ``"bfs"`` or ``"rcm"``.
    out, into
        Rows, and in-rows (``out`` itself where the graph is symmetric).
    told
        Told of what is done.
    """
    done = np.zeros(1, np.int64)
    told.now(f"build: order the vertices ({name})", len(out[0]) - 1, "vertices", look=lambda: int(done[0]))
    if name == "degree":
        return degree_order(out[0])
    from bigbfs.conversion.orders import breadth_first  # its kernels are rarely needed

    return (breadth_first.bfs_order if name == "bfs" else breadth_first.rcm_order)(out, into, done)


def renumber(
    out: Csr,
    into: Csr | None,
    order: np.ndarray,
    rank: np.ndarray,
    threads: int,
    advance: Callable[[int], object] | None = None,
) -> tuple[Csr, Csr | None]:
    """Return the out- and in-rows in the new numbers, sorted; ``into`` is ``out`` itself where the graph is symmetric.

    Transposing sorts as it goes, so the new out-rows are the transpose of the old in-rows and the other way round.
    """
    new_in = transpose(out, threads, order=order, rank=rank, advance=advance)
    if into is out:
        return new_in, new_in
    assert into is not None
    return transpose(into, threads, order=order, rank=rank, advance=advance), new_in
