"""Edges that levels read in either direction, against a count vertex by vertex."""

import numpy as np
import pytest

from bigbfs.algorithms.bfs.reference import bfs
from bigbfs.bench.directions import Directions, directions
from bigbfs.graph.graph import Graph


def counted(graph, incoming, levels):
    """The same by the textbook: a row at a time."""
    depth = int(levels.max())
    down, up = [0] * (depth + 1), [0] * (depth + 1)
    for level in range(depth + 1):
        for vertex in range(graph.n):
            if levels[vertex] == level:
                down[level] += len(graph.rows[vertex])
            if levels[vertex] < 0 or levels[vertex] > level:
                for neighbour in incoming[vertex]:
                    up[level] += 1
                    if levels[neighbour] == level:
                        break
    return tuple(down), tuple(up)


class Rows:
    def __init__(self, rows):
        self.rows, self.n = rows, len(rows)


def rows_of(adjacency):
    return [adjacency.indices[a:b].tolist() for a, b in zip(adjacency.indptr[:-1], adjacency.indptr[1:], strict=True)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [False, True])
def test_as_counted_one_by_one(seed, directed):
    rng = np.random.default_rng(seed)
    n, m = 40, 60
    source, target = rng.integers(0, n, m), rng.integers(0, n, m)
    if not directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    import scipy.sparse

    matrix = scipy.sparse.csr_array((np.ones(len(source)), (source, target)), shape=(n, n))
    matrix.sum_duplicates()
    graph = Graph.from_scipy(matrix, directed=directed)
    start = int(source[0])
    levels = bfs(graph, start)[0]
    found = directions(graph, levels)
    own = rows_of(graph.adjacency)
    incoming = None if graph.in_adjacency is None else rows_of(graph.in_adjacency)
    down, up = counted(Rows(own), incoming or own, levels)
    assert found.down == down
    assert found.up == (up if incoming else ())


def test_a_run_reads_what_its_directions_say():
    ways = Directions((1, 20, 300), (40, 5, 6))
    assert ways.read("tbb") == (1, 5, 6)
    assert ways.read("t") == (1,)
    assert ways.read("tttt") is None
    assert Directions((1, 2), ()).read("tb") is None
    assert Directions((1, 2), ()).read("tt") == (1, 2)
