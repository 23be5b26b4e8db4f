"""The proof of a shortest path: each of its edges is in the graph, and a single search finds the same distance.

The search is that of :mod:`bigbfs.algorithms.bfs`, from the source, along the edges; the path was found from both ends,
by code of its own.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import degree, rows_of, seek, step
from bigbfs.errors import VerificationError
from bigbfs.jit.njit import njit
from bigbfs.measures.paths import ShortestPath


class PathProof:
    """Proves paths of a placed graph; paths from one source, one after the other, take one search.

    Parameters
    ----------
    engine
        On the CPU.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._graph = engine, engine.graph
        self._rows = rows_of(engine.graph.adjacency)
        self._source = -1
        self._levels = np.zeros(0, np.int32)

    def check(self, path: ShortestPath) -> None:
        """Prove ``path``.

        Raises
        ------
        VerificationError
            Its ends are not those that were asked for, an edge is not in the graph, or its length is another than the
            distance.
        """
        name = f"{self._graph.path or 'graph'}: the path from {path.source} to {path.target}"
        if path.vertices and (path.vertices[0], path.vertices[-1]) != (path.source, path.target):
            raise VerificationError(f"{name} leads from {path.vertices[0]} to {path.vertices[-1]}")
        source, target, *along = self._graph.places(np.array([path.source, path.target, *path.vertices])).tolist()
        gap = first_gap(self._rows, np.array(along, np.uint64))
        if gap >= 0:
            one, other = path.vertices[gap : gap + 2]
            raise VerificationError(f"{name} has an edge {one} -> {other} that the graph has not")
        if source != self._source:
            self._source, self._levels = -1, self._engine.run_internal(BfsOptions(source, want_parents=False)).levels
            self._source = source
        distance = int(self._levels[target])
        if distance != path.distance:
            raise VerificationError(f"{name} has {path.distance} edges, and the search from there says {distance}")


@njit(cache=True, nogil=True)
def first_gap(rows, path):
    """Return the first place of ``path``, uint64, whose vertex has no edge to the next one; -1: there is none."""
    for i in range(path.size - 1):
        u, wanted, there = path[i], path[i + 1], False
        position, v, k = seek(rows, u, ZERO), ZERO, ZERO
        ids = degree(rows, u)
        while k < ids and not there:
            v, position = step(rows, position, k, v)
            k += ONE
            there = v == wanted
        if not there:
            return i
    return -1
