"""Vertex orders that put neighbours close together: breadth-first, and reverse Cuthill-McKee.

In: the rows of a graph, and of a directed one its in-rows too (an edge counts both ways here). Out: ``order``, ids of
shape (n,): new vertex i was ``order[i]``; and ``rank``, its inverse. Serial, O(n + m), for Cuthill-McKee with the
sorting of every vertex's children; besides the graph it takes 4 ids and a flag for each vertex.

- *Breadth-first*: components begin at their vertex of highest degree, children follow as they stand in the rows
  (Apostolico, Drovandi: Graph compression by BFS, Algorithms 2(3), 2009).
- *Reverse Cuthill-McKee*: components begin at a vertex of small degree that is nearly as far from others as can be,
  children follow in ascending order of degree, and all is reversed, which makes the bandwidth small (Cuthill, McKee:
  ACM National Conference 1969; the start: George, Liu: ACM TOMS 5(3), 1979).
"""

from __future__ import annotations

import numpy as np

from bigbfs.conversion.orders.degree import degree_order
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.transposing import Csr
from bigbfs.graph.views import frozen
from bigbfs.jit.njit import njit

FEW = 24  # children up to which insertion beats NumPy's sort
SEARCHES = 4  # for a far vertex, at most: the first two gain nearly everything


def bfs_order(out: Csr, into: Csr | None, done: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank) of a breadth-first search from the vertex of highest degree of every component.

    Parameters
    ----------
    out, into
        The rows, and the in-rows: None or ``out`` itself where the graph is symmetric.
    done
        int64, shape (1,): where the vertices that have their place are counted, for others to look at.
    """
    done = np.zeros(1, np.int64) if done is None else done
    rows, backward = _both(out, into)
    starts, _ = degree_order(_degree_offsets(out, into))
    same = np.arange(len(starts), dtype=starts.dtype)
    order = np.empty_like(starts)
    _bfs_all(frozen(starts), rows, backward, frozen(same), frozen(same), np.zeros(len(starts), np.bool_), order, done)
    return order, _inverse(order)


def rcm_order(out: Csr, into: Csr | None, done: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank) of the reverse Cuthill-McKee order; parameters as :func:`bfs_order`."""
    done = np.zeros(1, np.int64) if done is None else done
    rows, backward = _both(out, into)
    descending, _ = degree_order(_degree_offsets(out, into))
    by_degree = np.ascontiguousarray(descending[::-1])
    queue = np.empty_like(by_degree)
    seen = np.zeros(len(queue), np.bool_)
    _rcm_all(rows, backward, frozen(by_degree), frozen(_inverse(by_degree)), seen, queue, done)
    order = by_degree[queue[::-1]]
    return order, _inverse(order)


def _both(out: Csr, into: Csr | None) -> tuple[Csr, Csr]:
    """Return rows and in-rows as the kernels take them: read-only, and empty in-rows of a symmetric graph."""
    indptr, indices = frozen(out[0]), frozen(out[1])
    if into is None or into is out:
        return (indptr, indices), (indptr[:0], indices[:0])
    return (indptr, indices), (frozen(into[0]), frozen(into[1]))


def _degree_offsets(out: Csr, into: Csr | None) -> np.ndarray:
    return out[0] if into is None or into is out else out[0] + into[0]


def _inverse(order: np.ndarray) -> np.ndarray:
    rank = np.empty(len(order), id_dtype(len(order)))
    rank[order] = np.arange(len(order), dtype=rank.dtype)
    return rank


@njit(cache=True, nogil=True)
def _sort(queue, first, last):
    """Sort ``queue[first:last]``."""
    if last - first > FEW:
        queue[first:last].sort()
        return
    for i in range(first + 1, last):
        value = queue[i]
        j = i - 1
        while j >= first and queue[j] > value:
            queue[j + 1] = queue[j]
            j -= 1
        queue[j + 1] = value


@njit(cache=True, nogil=True)
def _append_row(vertex, rows, rank, seen, queue, tail):
    """Append the ranks of the unseen neighbours of ``vertex`` to the queue; return its new end."""
    indptr, indices = rows
    for i in range(indptr[vertex], indptr[vertex + 1]):
        neighbour = np.int64(indices[i])
        if not seen[neighbour]:
            seen[neighbour] = True
            queue[tail] = rank[neighbour]
            tail += 1
    return tail


@njit(cache=True, nogil=True)
def _search(start, rows, backward, vertex_of, rank, by_rank, seen, queue, tail, done):
    """Append the component of ``start`` to the queue of ranks; return its end, where the last level begins, and levels.

    With ``by_rank`` the children of a vertex follow in ascending order of rank, else as they stand in the rows. How far
    it is stands in ``done[0]``.
    """
    head = level = tail
    levels = 1
    seen[start] = True
    queue[tail] = rank[start]
    tail += 1
    level_end = tail
    while head < tail:
        if head == level_end:
            level, level_end = head, tail
            levels += 1
        vertex = np.int64(vertex_of[queue[head]])
        head += 1
        done[0] = head
        children = tail
        tail = _append_row(vertex, rows, rank, seen, queue, tail)
        if len(backward[0]):
            tail = _append_row(vertex, backward, rank, seen, queue, tail)
        if by_rank:
            _sort(queue, children, tail)
    return tail, level, levels


@njit(cache=True, nogil=True)
def _far_vertex(start, rows, backward, vertex_of, rank, seen, queue, tail):
    """Return a vertex far from ``start``: of least rank in the last level of searches that get deeper and deeper."""
    most = 0
    aside = np.zeros(1, np.int64)  # nothing of this counts as done
    for _ in range(SEARCHES):
        end, level, levels = _search(start, rows, backward, vertex_of, rank, False, seen, queue, tail, aside)
        for i in range(tail, end):
            seen[vertex_of[queue[i]]] = False
        if levels <= most:
            break
        most = levels
        least = queue[level]
        for i in range(level, end):
            least = min(least, queue[i])
        start = np.int64(vertex_of[least])
    return start


@njit(cache=True, nogil=True)
def _bfs_all(starts, rows, backward, vertex_of, rank, seen, order, done):
    """Fill ``order`` with one search after the other."""
    tail = 0
    for start in starts:
        if not seen[start]:
            tail, _, _ = _search(np.int64(start), rows, backward, vertex_of, rank, False, seen, order, tail, done)


@njit(cache=True, nogil=True)
def _rcm_all(rows, backward, by_degree, rank, seen, queue, done):
    """Fill ``queue`` with the Cuthill-McKee order, as ranks in ``by_degree``."""
    tail = 0
    for first in by_degree:
        if not seen[first]:
            start = _far_vertex(np.int64(first), rows, backward, by_degree, rank, seen, queue, tail)
            tail, _, _ = _search(start, rows, backward, by_degree, rank, True, seen, queue, tail, done)
