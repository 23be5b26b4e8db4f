"""A shortest path between two vertices of a graph in host memory, by a search from each end; one thread.

The end with fewer edges ahead takes the next level. Where that means long rows it looks first: an edge between the two
frontiers is searched for by halves, in the shorter of two rows each time. If there is none, any neighbour of one
frontier that is joined to the other closes a shortest path, and the level ends at the first one. So a search in a
small world reads hundreds of ids, not the rows of hubs.

In: plain or compressed rows, internal vertices. Out: the vertices of a path (int64) and how many ids were read. Each
end has a bitmap of n bits, and queues of what it touched, which alone is undone: a search costs what it touches. In a
directed graph the search from the target goes against the edges; where in-neighbours are not stored, the search from
the source goes all the way.

Source: Pohl, Bi-directional search, Machine Intelligence 6 (1971), for the two ends; the look ahead is our own.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.bits import SHIFT, ZERO, bit_of, is_set, words_for
from bigbfs.engines.cpu.lookup import contains
from bigbfs.engines.cpu.rows import Rows, degree, rows_of, sample_rows, seek, step
from bigbfs.errors import FormatError
from bigbfs.graph.graph import Graph
from bigbfs.jit.kinds import kind_of
from bigbfs.jit.njit import njit

LOOK = 8
"""What looking for one vertex in one row costs, in edges that a level visits: a rough figure, an id read by halves is a
cache line of its own, an edge visited two or three."""

SHORT = 64
"""Vertices of a path that the search itself writes: a longer one is worth another call."""
UNENDING = 2**62
"""Ids that no search reads, and edges that no path has."""
NOWHERE = np.int64(-1)
NO_PATH, GIVEN_UP = np.int64(-1), np.int64(-2)
"""The edges of a path that there is not, and of one that would have taken too many ids to find."""

_COMPILED: set[Hashable] = set()
"""Kinds of rows and ids for which the kernels have been compiled in this process."""

_UNBOUND = UNENDING, UNENDING
"""For a search that ends with the path: whatever its length, whatever it reads."""


class Side(NamedTuple):
    """What the search from one end has visited; queues are of the width of ids.

    ``seen``: a bitmap; ``queue``: the vertices, level by level; ``parents``: the place of each one's parent in it.
    """

    seen: np.ndarray
    queue: np.ndarray
    parents: np.ndarray


class PathFinder:
    """Searches for paths in one graph, one after the other; internal vertices. For one thread at a time.

    Parameters
    ----------
    graph
        Plain or compressed, known to be valid.

    Raises
    ------
    DoesNotFitError
        What both searches visit takes more memory than is free, if it is the whole graph.
    """

    def __init__(self, graph: Graph) -> None:
        memory.require(bytes_of(graph.n, graph.ids), graph.n, "free some, or take a machine with more")
        graph.require_whole()
        out: Rows = rows_of(graph.adjacency)
        incoming = graph.in_adjacency
        into = out if incoming is None or graph.flags.symmetric else rows_of(incoming)
        self.look = LOOK
        self._graph = out, into, incoming is not None
        self.sides = _side(graph.n, graph.ids), _side(graph.n, graph.ids)
        self._path, self._pair = np.empty(SHORT, np.int64), np.zeros((1, 2), np.int64)
        self._warm(graph.ids)

    def _warm(self, ids: np.dtype) -> None:
        """Run the kernels on sample rows, once in a process: no search is to be the one for which they are compiled."""
        out, into, _ = self._graph
        if (kind := (kind_of(out), kind_of(into), ids.str)) in _COMPILED:
            return
        given = sample_rows(out, ids), sample_rows(into, ids), True, LOOK, np.array([[0, 1]]), *_UNBOUND
        found = _search_pairs(*given, *(sides := (_side(2, ids), _side(2, ids))), self._path)
        _follow(*sides, found[1], found[2], np.empty(2, np.int64))
        _COMPILED.add(kind)

    def find(self, source: int, target: int) -> tuple[np.ndarray, int]:
        """Return the vertices on a shortest path (int64, empty: there is none), and how many ids were read.

        Raises
        ------
        FormatError
            Ids were met that are no vertices.
        """
        self._pair[0] = source, target
        _, place, back_place, edges, read = self._searched(self._pair, *_UNBOUND, self._path)
        if edges < SHORT:
            return self._path[: edges + 1].copy(), read
        path = np.empty(edges + 1, np.int64)
        _follow(*self.sides, place, back_place, path)
        return path, read

    def no_farther(self, pairs: np.ndarray, enough: int, most: int) -> tuple[int, int, int]:
        """Search from ``pairs``, int64 (k, 2), up to the first more than ``enough`` edges apart, or without a path.

        Returns how many come before that one (``k``: all), its distance, and how many ids were read, of which ``most``
        are about the most: the distance of the pair at which they have been read is ``GIVEN_UP``.

        Raises
        ------
        FormatError
            As :meth:`find`.
        """
        done, _, _, edges, read = self._searched(pairs, enough, most, self._path[:0])
        return int(done), int(edges), int(read)

    def _searched(self, pairs: np.ndarray, enough: int, most: int, path: np.ndarray) -> tuple[int, ...]:
        """Return what :func:`_search_pairs` does, but for the faults."""
        *found, faults = _search_pairs(*self._graph, self.look, pairs, enough, most, *self.sides, path)
        if faults:
            raise FormatError("neighbour ids are no vertices: the file is damaged; `bigbfs check` says where")
        return tuple(found)


def bytes_of(n: int, ids: np.dtype) -> int:
    """Return the bytes of both sides in a graph of ``n`` vertices, if they visit all: untouched pages take none."""
    return 2 * (8 * (words_for(n) + 1) + 2 * ids.itemsize * n)


def _side(n: int, ids: np.dtype) -> Side:
    return Side(np.zeros(words_for(n) + 1, np.uint64), np.empty(n, ids), np.empty(n, ids))


@njit
def _place(queue, last, v):
    """Return where ``v`` is in ``queue[:last]``, in which it is; what was visited last is looked at first."""
    place = last - 1
    while place > 0 and np.uint64(queue[place]) != v:
        place -= 1
    return np.int64(place)


@njit
def _joined(rows, across, two_ways, look, u, other, first, last):
    """Return the place of a neighbour of ``u`` in the frontier ``first:last`` of the ``other`` side, and ids read.

    None of what that side has visited before its frontier may be a neighbour. ``rows`` has the neighbours of ``u``,
    ``across`` those of the other side, so that an edge can be looked for from either of its ends.
    """
    seen, queue, _ = other
    n, length, read = np.uint64(queue.size), degree(rows, u), np.int64(0)
    if length <= np.uint64(look * (last - first)):
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(length):
            v, position = step(rows, position, k, v)
            read += 1
            if v < n and is_set(seen, v):
                return _place(queue, last, v), read
        return NOWHERE, read
    for place in range(first, last):
        v = np.uint64(queue[place])
        if two_ways and degree(across, v) < length:
            found, more = contains(across, v, u)
        else:
            found, more = contains(rows, u, v)
        read += more
        if found:
            return np.int64(place), read
    return NOWHERE, read


@njit
def _look(rows, across, two_ways, look, side, first, last, other, other_first, other_last):
    """Look for an edge between two frontiers; return the places of its ends (``NOWHERE``: there is none), and ids read.

    The vertex with the longest row is put first: its neighbours are the likeliest to be those of others.
    """
    queue, parents = side.queue, side.parents
    longest, most, read = first, ZERO, np.int64(0)
    for i in range(first, last):
        u = np.uint64(queue[i])
        place, more = _joined(rows, across, two_ways, look, u, other, other_first, other_last)
        read += more
        if place >= 0:
            return np.int64(i), place, read
        if degree(rows, u) > most:
            longest, most = i, degree(rows, u)
    queue[first], queue[longest] = queue[longest], queue[first]
    parents[first], parents[longest] = parents[longest], parents[first]
    return NOWHERE, NOWHERE, read


@njit
def _expand(rows, across, two_ways, look, side, first, last, other, other_first, other_last, patience, most):
    """Visit the neighbours of a frontier, up to a meeting with the ``other`` side.

    Returns the queue's end, edges ahead, the places where the sides met (``NOWHERE``: nowhere), ids read, and faults.
    A neighbour that the other side has visited is one: any is as near, because both have finished the levels before.
    While ``patience`` lasts, in ids, a neighbour that is joined to the other frontier is one too: there is to be some
    only if no edge joins the frontiers. Once more than ``most`` ids have been read no other row is.
    """
    seen, queue, parents = side
    other_seen, other_queue, _ = other
    n = np.uint64(queue.size)
    tail, ahead, read, faults = last, np.int64(0), np.int64(0), np.int64(0)
    for i in range(first, last):
        if read > most:
            break
        u = np.uint64(queue[i])
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            read += 1
            if v >= n:
                faults += 1
            elif not is_set(seen, v):
                seen[v >> SHIFT] |= bit_of(v)
                queue[tail], parents[tail] = v, i
                tail += 1
                ahead += np.int64(degree(rows, v))
                if is_set(other_seen, v):
                    return tail, ahead, np.int64(tail - 1), _place(other_queue, other_last, v), read, faults
                if patience > 0:
                    place, more = _joined(rows, across, two_ways, look, v, other, other_first, other_last)
                    read += more
                    patience -= more
                    if place >= 0:
                        return tail, ahead, np.int64(tail - 1), place, read, faults
    return tail, ahead, NOWHERE, NOWHERE, read, faults


@njit
def _level(rows, across, two_ways, look, side, first, last, ahead, other, other_first, other_last, most):
    """Do a level of one side, which has ``ahead`` edges before it, as :func:`_expand` does, or find an edge across."""
    looked, patience = np.int64(0), np.int64(0)
    if look * (last - first) * (other_last - other_first) < ahead:
        i, j, looked = _look(rows, across, two_ways, look, side, first, last, other, other_first, other_last)
        if i >= 0:
            return last, ahead, i, j, looked, np.int64(0)
        patience = ahead
    tail, ahead, i, j, read, faults = _expand(
        rows, across, two_ways, look, side, first, last, other, other_first, other_last, patience, most - looked
    )
    return tail, ahead, i, j, read + looked, faults


@njit
def _undo(side, tail):
    """Forget what was visited."""
    seen, queue, _ = side
    for i in range(tail):
        seen[np.uint64(queue[i]) >> SHIFT] = ZERO


@njit
def _begin(side, v):
    """Visit the vertex at which a side begins."""
    side.seen[v >> SHIFT] = bit_of(v)
    side.queue[0], side.parents[0] = v, 0


@njit
def _depth(side, place):
    """Return the edges between the vertex at ``place`` and the one at which the side began."""
    depth = np.int64(0)
    while place:
        place = np.int64(side.parents[place])
        depth += 1
    return depth


@njit
def _write(side, place, path, k, stride):
    """Write the vertices from ``place`` to the one at which the side began to ``path``, from ``path[k]`` on."""
    for _ in range(_depth(side, place) + 1):
        path[k] = side.queue[place]
        place, k = np.int64(side.parents[place]), k + stride


@njit(cache=True, nogil=True)
def _follow(side, back, place, back_place, path):
    """Write the path through two places where the sides met: one vertex, or the ends of an edge."""
    _write(side, place, path, _depth(side, place), -1)
    _write(back, back_place, path, len(path) - 1 - _depth(back, back_place), 1)


@njit
def search_between(out, into, two_ways, look, source, target, most, side, back):
    """Return where the sides met in the queues of both, the edges of the path, ids read, and faults."""
    start, end = np.uint64(source), np.uint64(target)
    _begin(side, start)
    _begin(back, end)
    first, last, ahead = np.int64(0), np.int64(1), np.int64(degree(out, start))
    back_first, back_last, back_ahead = np.int64(0), np.int64(1), np.int64(degree(into, end))
    place = back_place = np.int64(0) if source == target else NOWHERE
    read, faults = np.int64(0), np.int64(0)
    while place < 0 and first < last and back_first < back_last and read <= most:
        left = most - read
        if not two_ways or ahead <= back_ahead:
            tail, ahead, place, back_place, more, bad = _level(
                out, into, two_ways, look, side, first, last, ahead, back, back_first, back_last, left
            )
            first, last = last, tail
        else:
            tail, back_ahead, back_place, place, more, bad = _level(
                into, out, two_ways, look, back, back_first, back_last, back_ahead, side, first, last, left
            )
            back_first, back_last = back_last, tail
        read += more
        faults += bad
    edges = NO_PATH if read <= most else GIVEN_UP
    if place >= 0:
        joint = np.int64(side.queue[place] != back.queue[back_place])
        edges = _depth(side, place) + joint + _depth(back, back_place)
    _undo(side, last)
    _undo(back, back_last)
    return place, back_place, edges, read, faults


@njit(cache=True, nogil=True)
def _search_pairs(out, into, two_ways, look, pairs, enough, most, side, back, path):
    """Search from pairs up to one that has no path of at most ``enough`` edges, and until ``most`` ids are read.

    Returns how many pairs come before that one, and of the last pair searched where the sides met in the queues of
    both, the edges of its path and all ids read, and faults. The vertices of its path are written to ``path`` where it
    has room for them.
    """
    place, back_place, edges, all_read, faults = NOWHERE, NOWHERE, NO_PATH, np.int64(0), np.int64(0)
    for i in range(len(pairs)):
        place, back_place, edges, read, bad = search_between(
            out, into, two_ways, look, pairs[i, 0], pairs[i, 1], most - all_read, side, back
        )
        all_read += read
        faults += bad
        if 0 <= edges < len(path):
            _follow(side, back, place, back_place, path[: edges + 1])
        if edges < 0 or edges > enough:
            return np.int64(i), place, back_place, edges, all_read, faults
    return np.int64(len(pairs)), place, back_place, edges, all_read, faults
