import time

import numpy as np
import pytest
from zoo import BIG, names, shared, sources, zoo

from bigbfs.graph.adjacency import PlainAdjacency

ZOO = shared()
WANTED = {
    "empty": lambda g: g.n == 0,
    "one vertex": lambda g: (g.n, g.m) == (1, 0),
    "isolated": lambda g: g.n > 64 and g.m == 0,
    "star with more than 10^5 leaves": lambda g: g.degrees().max(initial=0) > 10**5,
    "clique": lambda g: g.n > 2 and g.m == g.n * (g.n - 1),
    "self-loops": lambda g: not g.flags.loops_removed,
    "duplicates": lambda g: not g.flags.deduplicated,
    "64-bit ids": lambda g: g.ids == np.uint64,
    "last row at the end of the file": lambda g: g.n > 0 and g.degrees()[-1] > 1024,
    "empty last row": lambda g: g.m > 0 and g.degrees()[-1] == 0,
    "empty first row": lambda g: g.m > 0 and g.degrees()[0] == 0,
    "n no multiple of 32": lambda g: g.n % 32 == 1,
    "sparse labels": lambda g: g.labels is not None and not g.flags.relabelled,
    "relabelled": lambda g: g.flags.relabelled,
    "directed with in-edges": lambda g: g.flags.directed and g.in_adjacency is not None and not g.flags.symmetric,
    "directed without in-edges": lambda g: g.flags.directed and g.in_adjacency is None,
    "directed and symmetric": lambda g: g.flags.directed and g.flags.symmetric,
}
WANTED |= {
    f"degree {d}": lambda g, d=d: d in g.degrees() for d in (31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049)
}


@pytest.mark.parametrize("animal", WANTED)
def test_every_hard_case_is_there(animal):
    assert any(WANTED[animal](graph) for graph in ZOO.values())


def test_the_zoo_is_large_and_quick_to_build():
    start = time.process_time()
    built = zoo(big=False)
    assert time.process_time() - start < 5
    assert len(built) >= 40
    assert set(ZOO) - set(built) == BIG
    assert all(graph.n <= 10_000 for graph in built.values())


@pytest.mark.parametrize("name", names())
def test_the_flags_say_what_the_edges_show(name):
    graph = ZOO[name]
    graph.require_valid()
    indptr, indices = graph.adjacency.indptr.astype(np.int64), graph.adjacency.indices
    assert indptr[0] == 0 and indptr[-1] == len(indices) and (np.diff(indptr) >= 0).all()
    assert graph.adjacency.indptr.dtype == np.uint64 and indices.dtype in (np.uint32, np.uint64)
    rows = np.repeat(np.arange(graph.n), np.diff(indptr))
    edges = np.stack([rows, indices.astype(np.int64)])
    assert (edges[1] < graph.n).all()
    order = np.lexsort(edges[::-1])
    assert (order == np.arange(graph.m)).all()  # rows ascend
    turned = edges[::-1][:, np.lexsort(edges)]
    repeats = bool((np.diff(edges, axis=1) == 0).all(axis=0).any())
    assert graph.flags.symmetric == np.array_equal(edges, turned)
    assert graph.flags.deduplicated == (not repeats)
    assert graph.flags.loops_removed == (not (edges[0] == edges[1]).any())
    if not graph.flags.symmetric and graph.in_adjacency is not None:
        assert isinstance(graph.in_adjacency, PlainAdjacency)
        in_rows = np.repeat(np.arange(graph.n), np.diff(graph.in_adjacency.indptr.astype(np.int64)))
        assert np.array_equal(np.stack([in_rows, graph.in_adjacency.indices.astype(np.int64)]), turned)


@pytest.mark.parametrize("name", names())
def test_sources_are_different_vertices_with_the_extremes_among_them(name):
    graph = ZOO[name]
    chosen = sources(graph)
    assert len(set(chosen)) == len(chosen) == min(len(chosen), 6)
    assert all(0 <= source < graph.n for source in chosen)
    if graph.n:
        assert {0, graph.n - 1, int(graph.degrees().argmax())} <= set(chosen)
        assert (graph.degrees()[chosen] == 0).any() == (graph.degrees() == 0).any()
    assert chosen == sources(graph)
