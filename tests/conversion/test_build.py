"""Edge lists -> graph, against an oracle of Python dictionaries and against SciPy."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

from bigbfs.conversion.in_memory.build import build, build_graph
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.sorting.lines import BuildCounts
from bigbfs.errors import DoesNotFitError, InputError, UsageError
from bigbfs.graph import transposing
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.graph import Graph


def oracle_rows(lines, options, *, mirrored=False):
    """The multiset of stored edges {(u, v): times} and the counts, by definition."""
    given_lines = Counter(lines)
    loops = sum(times for (u, v), times in given_lines.items() if u == v)
    duplicates = sum(times - 1 for (u, v), times in given_lines.items() if u != v)
    stored = Counter()
    for (u, v), times in given_lines.items():
        if u == v:
            if options.keep_self_loops:
                stored[u, u] = times
        elif options.directed:
            stored[u, v] = times
        elif mirrored:
            stored[u, v] = stored[v, u] = max(times, given_lines[v, u])
        else:
            stored[u, v] += times
            stored[v, u] += times
    if not options.keep_duplicates:
        stored = Counter(dict.fromkeys(stored, 1))
    both_ways = sum(u < v and (v, u) in given_lines for u, v in given_lines)
    return stored, BuildCounts(loops, duplicates, 0 if options.directed else both_ways)


def edges_of(graph: Graph, adjacency=None):
    """The stored edges in original ids, after checking that the rows ascend."""
    adjacency = graph.adjacency if adjacency is None else adjacency
    assert isinstance(adjacency, PlainAdjacency)
    assert adjacency.indptr.dtype == np.uint64 and adjacency.indptr[0] == 0
    found = Counter()
    for row in range(graph.n):
        neighbours = adjacency.indices[int(adjacency.indptr[row]) : int(adjacency.indptr[row + 1])]
        assert (np.diff(neighbours.astype(np.int64)) >= 0).all()
        found.update((int(graph.original(row)), int(graph.original(v))) for v in neighbours)
    return found


def edge_list(lines, dtype=np.uint32, **facts):
    pairs = np.array(lines, dtype=dtype).reshape(-1, 2)
    return EdgeList(pairs[:, 0].copy(), pairs[:, 1].copy(), **facts)


OPTIONS = [
    ConvertOptions(directed=directed, keep_duplicates=duplicates, keep_self_loops=loops, order=order)
    for directed in (False, True)
    for duplicates in (False, True)
    for loops in (False, True)
    for order in ("original", "degree")
]
LINES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(max_examples=25, deadline=None)
@given(lines=LINES, spread=st.sampled_from([1, 3, 10**15]), offset=st.sampled_from([0, 1, 100]))
def test_every_option_agrees_with_the_oracle(options, lines, spread, offset):
    lines = [(u * spread + offset, v * spread + offset) for u, v in lines]
    graph, counts = build([edge_list(lines, np.uint64)], options)
    stored, expected = oracle_rows(lines, options)
    assert counts == expected
    assert graph.original_ids().tolist() == sorted({vertex for line in lines for vertex in line})
    assert edges_of(graph) == stored
    assert graph.m == sum(stored.values())
    twins = Counter({(v, u): times for (u, v), times in stored.items()})
    assert edges_of(graph, graph.in_adjacency) == twins
    assert graph.flags.symmetric == (stored == twins)
    assert graph.flags.directed == options.directed
    if options.order == "degree":
        assert (np.diff(graph.degrees()) <= 0).all()


@settings(max_examples=25, deadline=None)
@given(lines=LINES)
def test_mirrored_input_keeps_each_duplicate_once(lines):
    options = ConvertOptions(keep_duplicates=True, keep_self_loops=True)
    lines = lines + [(v, u) for u, v in lines if u != v]
    graph, counts = build([edge_list(lines, mirrored=True)], options)
    stored, expected = oracle_rows(lines, options, mirrored=True)
    assert (edges_of(graph), counts) == (stored, expected)


def scipy_graph(src, dst, n):
    matrix = coo_array((np.ones(len(src), np.int64), (src.astype(np.int64), dst.astype(np.int64))), shape=(n, n))
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def skewed(rng, n, lines):
    return np.minimum((n * rng.random(lines) ** 4).astype(np.int64), n - 1)


@pytest.mark.covered("n+dtype")
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("n", [1, 2, 1023, 1024, 1025, 70_000])
@pytest.mark.parametrize("threads", [1, 3])
def test_many_buckets_agree_with_scipy(dtype, n, threads):
    # enough lines for many buckets, so skewed that some hold nothing and one holds most
    rng = np.random.default_rng(n)
    src, dst = (skewed(rng, n, 150_000).astype(dtype) for _ in range(2))
    before = src.copy(), dst.copy()
    graph, counts = build_graph(src, dst, n, options=ConvertOptions(threads=threads))
    expected = scipy_graph(src, dst, n)
    assert np.array_equal(graph.adjacency.indptr, expected.indptr)
    assert np.array_equal(graph.adjacency.indices, expected.indices)
    pairs = src.astype(np.int64) * n + dst
    proper = pairs[src != dst]
    both_ways = len(np.intersect1d(proper, (dst.astype(np.int64) * n + src)[src != dst])) // 2
    assert counts == BuildCounts(int((src == dst).sum()), len(proper) - len(np.unique(proper)), both_ways)
    assert np.array_equal(src, before[0]) and np.array_equal(dst, before[1])


def test_directed_many_buckets_agree_with_scipy():
    rng = np.random.default_rng(5)
    n = 50_000
    src, dst = (skewed(rng, n, 200_000).astype(np.uint32) for _ in range(2))
    graph, _ = build_graph(src, dst, n, options=ConvertOptions(directed=True, keep_self_loops=True))
    matrix = coo_array((np.ones(len(src)), (src.astype(np.int64), dst.astype(np.int64))), shape=(n, n)).tocsr()
    for adjacency, expected in ((graph.adjacency, matrix), (graph.in_adjacency, matrix.T.tocsr())):
        expected.sort_indices()
        assert np.array_equal(adjacency.indptr, expected.indptr)
        assert np.array_equal(adjacency.indices, expected.indices)


@pytest.mark.parametrize("center", [0, 99_999, 199_999])
def test_supernode(center):
    # one row, and one bucket, holds nearly everything
    leaves = np.delete(np.arange(200_000, dtype=np.uint32), center)
    graph, counts = build_graph(np.full(len(leaves), center, np.uint32), leaves, 200_000)
    assert (graph.m, counts) == (2 * len(leaves), BuildCounts())
    row = slice(int(graph.adjacency.indptr[center]), int(graph.adjacency.indptr[center + 1]))
    assert np.array_equal(graph.adjacency.indices[row], leaves)
    assert (np.delete(graph.degrees(), center) == 1).all()


def test_one_edge_given_very_often():
    src = np.full(100_000, 3, np.uint32)
    graph, counts = build_graph(src, src + np.uint32(1))
    assert (graph.n, graph.m, counts.duplicates) == (2, 2, 99_999)
    graph, counts = build_graph(src, src + np.uint32(1), options=ConvertOptions(keep_duplicates=True))
    assert (graph.n, graph.m, counts.duplicates) == (2, 200_000, 99_999)


def test_repeated_self_loops_are_self_loops_not_duplicates():
    lines = [(5, 5), (5, 5), (1, 2)]
    graph, counts = build([edge_list(lines)], ConvertOptions())
    assert (graph.n, graph.m, counts) == (3, 2, BuildCounts(2, 0))  # 5 exists although nothing is left of its lines
    graph, counts = build([edge_list(lines)], ConvertOptions(keep_self_loops=True))
    assert (graph.m, counts) == (3, BuildCounts(2, 0))  # stored once, deduplicated
    assert not graph.flags.loops_removed


def test_opposite_lines_merge_silently():
    graph, counts = build([edge_list([(1, 2), (2, 1)])], ConvertOptions())
    assert (graph.m, counts) == (2, BuildCounts(0, 0, 1))


@pytest.mark.parametrize("declared", [0, 1, 5])
@pytest.mark.parametrize("options", [ConvertOptions(), ConvertOptions(directed=True), ConvertOptions(order="degree")])
def test_no_lines(declared, options):
    graph, counts = build([edge_list([], first_id=1, declared_n=declared)], options)
    assert (graph.n, graph.m, counts) == (declared, 0, BuildCounts())
    assert graph.original_ids().tolist() == list(range(1, declared + 1))


def test_single_vertex_with_a_loop():
    for options in OPTIONS:
        graph, counts = build([edge_list([(9, 9)])], options)
        assert (graph.n, graph.m) == (1, int(options.keep_self_loops))
        assert counts == BuildCounts(1, 0)
        assert graph.original_ids().tolist() == [9]


def test_entries_that_mean_both_directions():
    lines = [(1, 0), (2, 1), (2, 2)]
    options = ConvertOptions(directed=True, keep_self_loops=True)
    both = Counter({(1, 0): 1, (0, 1): 1, (2, 1): 1, (1, 2): 1, (2, 2): 1})
    graph, _ = build([edge_list(lines, one_way_means_both=True)], options)
    assert edges_of(graph) == both and graph.flags.symmetric and graph.flags.directed
    # beside an input whose lines mean what they say
    graph, _ = build([edge_list(lines, one_way_means_both=True), edge_list([(7, 0)])], options)
    assert edges_of(graph) == both + Counter({(7, 0): 1}) and not graph.flags.symmetric


def test_mirrored_and_one_way_inputs_do_not_mix_with_kept_duplicates():
    lists = [edge_list([(0, 1), (1, 0)], mirrored=True), edge_list([(0, 1)])]
    with pytest.raises(UsageError, match="convert them apart"):
        build(lists, ConvertOptions(keep_duplicates=True))


def test_directed_without_in_edges():
    graph, _ = build([edge_list([(0, 1), (1, 2)])], ConvertOptions(directed=True, in_edges=False))
    assert graph.in_adjacency is None and not graph.flags.symmetric
    graph, _ = build([edge_list([(0, 1), (1, 2)])], ConvertOptions(directed=True, in_edges=False, order="degree"))
    assert graph.in_adjacency is None
    assert edges_of(graph) == Counter({(0, 1): 1, (1, 2): 1})


def test_build_takes_the_lists_over():
    edges = edge_list([(0, 1)])
    lists = [edges]
    build(lists, ConvertOptions())
    assert lists == [] and len(edges.src) == 0


def test_ids_outside_the_declared_range():
    with pytest.raises(InputError, match=r"names vertex 4, .* 1 to 3"):
        build([edge_list([(1, 4)], first_id=1, declared_n=3)], ConvertOptions())
    with pytest.raises(InputError, match="names vertex 0"):
        build([edge_list([(0, 3)], first_id=1, declared_n=3)], ConvertOptions())
    with pytest.raises(InputError, match="2\\^63-1"):
        build([edge_list([(1, 2**63)], np.uint64)], ConvertOptions())


def test_a_build_that_cannot_fit_is_refused_before_it_starts():
    with pytest.raises(DoesNotFitError, match=r"allow more with memory=\.\.\."):
        build([edge_list([(0, 10**12)], np.uint64)], ConvertOptions(keep_ids=True))
    with pytest.raises(DoesNotFitError, match=r"1,000 B may be used"):
        build([edge_list([(0, 10**6)])], ConvertOptions(memory=1000, keep_ids=True))


def test_wide_ids(monkeypatch):
    # a graph of 2**32 vertices fits no test; the code for it is the code for uint64 ids
    for module in (
        "bigbfs.conversion.sorting.lines",
        "bigbfs.conversion.in_memory.relabel",
        "bigbfs.conversion.orders.degree",
    ):
        monkeypatch.setattr(f"{module}.id_dtype", lambda n: np.dtype(np.uint64))
    rng = np.random.default_rng(1)
    lines = [(int(u), int(v)) for u, v in rng.integers(0, 300, (3000, 2))]
    for options in OPTIONS:
        graph, counts = build([edge_list(lines)], options)
        assert graph.ids == np.uint64
        assert (edges_of(graph), counts) == oracle_rows(lines, options)


def test_more_rows_than_one_bucket_may_have(monkeypatch):
    monkeypatch.setattr(transposing, "MAX_SHIFT", 3)
    lines = [(u, v) for u in range(0, 100, 7) for v in range(3, 100, 11)]
    for options in OPTIONS:
        graph, counts = build([edge_list(lines, declared_n=100)], options)
        assert (edges_of(graph), counts) == oracle_rows(lines, options)
