import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.topological.reference import topological_order as reference_order
from bigbfs.algorithms.topological.validate import validate_order
from bigbfs.errors import UsageError
from bigbfs.generate import arrays, rng
from bigbfs.generate.powerlaw import degree_counts

SMALL = {
    "kronecker": {"scale": 10, "edge_factor": 8},
    "rmat": {"vertices": 1_000, "edges": 7_000, "a": 0.45, "b": 0.22, "c": 0.22},
    "uniform": {"vertices": 1_000, "edges": 7_000},
    "grid2d": {"rows": 30, "columns": 41},
    "grid3d": {"layers": 7, "rows": 8, "columns": 9, "permute": True},
    "road": {"vertices": 2_000},
    "powerlaw": {"vertices": 2_000, "degree": 9, "exponent": 2.2, "max_degree": 200},
    "star": {"vertices": 2_000},
    "dag": {"vertices": 1_000, "edges": 5_000, "span": 40},
    "smallworld": {"vertices": 1_000, "links": 4, "rewire": 0.1},
    "preferential": {"vertices": 1_000, "links": 5},
    "geometric": {"vertices": 1_000, "degree": 9},
    "web": {"vertices": 1_000, "links": 6, "span": 20},
    "comb": {"vertices": 1_000, "tooth": 3, "permute": True},
    "tree": {"vertices": 1_000, "span": 5},
}

# sha256 of sources and targets: the graphs of a seed may never change, on any machine
GOLDEN = {
    "kronecker": "963754bdfa83b781",
    "rmat": "77d076030a3874f4",
    "uniform": "cb0f1d619852ab49",
    "grid2d": "826b867536faf183",
    "grid3d": "c897248c835692cf",
    "road": "2ca53538a5a39c5c",
    "powerlaw": "758a4c832b6b48fc",
    "star": "1bff98aad427db8c",
    "dag": "f6f5fbe2d14e58fe",
    "smallworld": "95ebe344a2289a8a",
    "preferential": "54b7c850854e5460",
    "geometric": "6f6c56475be35d31",
    "web": "929739c720d013ab",
    "comb": "325adc61a4fdc766",
    "tree": "33d421905fb795d7",
}


def checksum(edges):
    ends = np.stack([edges.src, edges.dst]).astype("<u8")
    return hashlib.sha256(ends.tobytes()).hexdigest()[:16]


def degrees(edges):
    n = edges.declared_n
    return np.bincount(edges.src.astype(np.int64), minlength=n) + np.bincount(edges.dst.astype(np.int64), minlength=n)


# --- the same graph everywhere ----------------------------------------------------------------------------------


def test_every_kind_is_tried_here():
    assert set(SMALL) == set(generate.KINDS)


@pytest.mark.parametrize("kind", SMALL)
def test_same_seed_same_graph_for_any_number_of_threads(kind, monkeypatch):
    edges = generate.generate(kind, seed=42, threads=1, **SMALL[kind])
    assert checksum(edges) == GOLDEN[kind]
    monkeypatch.setattr(arrays, "ITEMS", 97)  # many small ranges, so that threads really share the work
    monkeypatch.setattr("bigbfs.generate.road.ITEMS", 53)
    for threads in (1, 2, 3):
        assert checksum(generate.generate(kind, seed=42, threads=threads, **SMALL[kind])) == GOLDEN[kind]


@pytest.mark.parametrize("kind", [kind for kind in SMALL if kind != "grid2d"])
def test_another_seed_is_another_graph(kind):
    seen = {checksum(generate.generate(kind, seed=seed, **SMALL[kind])) for seed in (0, 1, 42, 2**64 - 1)}
    assert len(seen) == 4


@pytest.mark.parametrize("kind", SMALL)
def test_edges_are_pairs_of_vertices(kind):
    edges = generate.generate(kind, **SMALL[kind])
    assert edges.src.dtype == edges.dst.dtype == np.uint32
    assert len(edges.src) == len(edges.dst) > 0
    assert max(edges.src.max(), edges.dst.max()) < edges.declared_n
    assert not edges.mirrored and not edges.one_way_means_both


@pytest.mark.parametrize("kind", SMALL)
def test_graph_is_what_numpy_makes_of_the_edges(kind):
    edges = generate.generate(kind, **SMALL[kind])
    graph = generate.graph(kind, **SMALL[kind])
    n = edges.declared_n
    u, v = edges.src.astype(np.int64), edges.dst.astype(np.int64)
    u, v = u[u != v], v[u != v]
    keys = u * n + v if kind == "dag" else np.concatenate([u * n + v, v * n + u])
    keys = np.unique(keys)
    assert (graph.n, graph.m) == (n, len(keys))
    assert graph.flags.directed == (kind == "dag")
    assert np.array_equal(graph.adjacency.indices, keys % n)
    assert np.array_equal(graph.degrees(), np.bincount(keys // n, minlength=n))


def test_wide_ids_beyond_32_bits():
    for kind, more in (("uniform", {}), ("rmat", {}), ("kronecker", {}), ("dag", {"span": 2**33})):
        edges = generate.generate(kind, scale=35, edges=2_000, **more)
        assert edges.src.dtype == np.uint64
        assert 2**32 < edges.src.max() < 2**35 and 2**32 < edges.dst.max() < 2**35


# --- random numbers ---------------------------------------------------------------------------------------------


@given(st.integers(1, 3_000), st.integers(0, 2**64 - 1), st.sampled_from([np.uint32, np.uint64]))
def test_shuffling_ids_is_a_permutation(n, seed, dtype):
    src, dst = np.arange(n, dtype=dtype), np.arange(n, dtype=dtype)[::-1].copy()
    arrays.shuffle_ids(seed, 1, n, src, dst)
    assert sorted(src.tolist()) == list(range(n))
    assert np.array_equal(src, dst[::-1])


def test_shuffled_ids_look_random():
    n = 100_000
    src = np.arange(n, dtype=np.uint32)
    arrays.shuffle_ids(5, 1, n, src, src.copy())
    place = src.astype(np.float64)
    assert abs(np.corrcoef(np.arange(n), place)[0, 1]) < 0.02
    assert abs(np.corrcoef(place[1:], place[:-1])[0, 1]) < 0.02
    assert abs((src % 2).mean() - 0.5) < 0.01


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**64 - 1))
def test_below_is_the_high_half_of_the_product(bits, limit):
    assert int(rng.below(np.uint64(bits), np.uint64(limit))) == bits * limit >> 64


def test_streams_are_splitmix64():
    # the first three outputs of SplitMix64 from state 1234567, as published with the reference code
    state = np.uint64(1234567)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(rng.draw(state, np.uint64(i))) for i in range(3)] == expected


def test_random_words_are_even_in_every_bit():
    edges = generate.generate("uniform", scale=16, edges=100_000, seed=3)
    for side in (edges.src, edges.dst, edges.src ^ edges.dst):
        for bit in range(16):
            assert abs(((side >> np.uint32(bit)) & 1).mean() - 0.5) < 0.01


# --- each kind --------------------------------------------------------------------------------------------------


def test_kronecker_has_the_graph500_shape():
    edges = generate.generate("kronecker", scale=14, seed=2, permute=False)
    assert len(edges.src) == 16 << 14 and edges.declared_n == 1 << 14
    top = (edges.src >> np.uint32(13)).astype(int) * 2 + (edges.dst >> np.uint32(13))
    low = (edges.src & 1).astype(int) * 2 + (edges.dst & 1)
    for quadrants in (top, low):
        share = np.bincount(quadrants, minlength=4) / len(quadrants)
        assert np.abs(share - [0.57, 0.19, 0.19, 0.05]).max() < 0.004
    shuffled = generate.generate("kronecker", scale=14, seed=2)
    assert sorted(degrees(edges)) == sorted(degrees(shuffled))
    assert degrees(edges).argmax() == 0 != degrees(shuffled).argmax()


@pytest.mark.parametrize("n", [1, 2, 3, 600, 1_000, 1_023, 1_025])
def test_rmat_of_any_number_of_vertices(n):
    edges = generate.generate("rmat", vertices=n, edges=20_000, permute=False)
    assert max(edges.src.max(), edges.dst.max()) < n
    if n > 2:
        assert degrees(edges).argmax() == 0


def test_rmat_quadrants_follow_a_b_c():
    edges = generate.generate("rmat", scale=9, edges=60_000, a=0.1, b=0.2, c=0.3, permute=False)
    quadrants = (edges.src >> np.uint32(8)).astype(int) * 2 + (edges.dst >> np.uint32(8))
    assert np.abs(np.bincount(quadrants, minlength=4) / 60_000 - [0.1, 0.2, 0.3, 0.4]).max() < 0.01
    whole = generate.generate("rmat", scale=9, edges=100, a=1, b=0, c=0, permute=False)
    assert not whole.src.any() and not whole.dst.any()


def test_uniform_degrees_are_poisson():
    count = degrees(generate.generate("uniform", vertices=50_000, edge_factor=8))
    assert count.mean() == 16 and abs(count.var() / 16 - 1) < 0.05


@pytest.mark.parametrize(
    ("kind", "shape", "diameter"),
    [
        ("grid2d", {"rows": 13, "columns": 7}, 18),
        ("grid2d", {"rows": 1, "columns": 50}, 49),
        ("grid2d", {"rows": 50, "columns": 1}, 49),
        ("grid3d", {"layers": 3, "rows": 4, "columns": 5}, 9),
        ("grid3d", {"layers": 6, "rows": 1, "columns": 1}, 5),
    ],
)
def test_grids_join_neighbours(kind, shape, diameter):
    edges = generate.generate(kind, **shape)
    place = np.array(np.unravel_index(np.stack([edges.src, edges.dst]).astype(int), tuple(shape.values())))
    assert (np.abs(place[:, 0] - place[:, 1]).sum(axis=0) == 1).all()
    sides = tuple(shape.values())
    assert len(edges.src) == sum(edges.declared_n // side * (side - 1) for side in sides)
    graph = generate.graph(kind, **shape)
    assert reference_bfs(graph, 0)[0].max() == diameter


@pytest.mark.parametrize("kind", ["grid2d", "grid3d"])
def test_grids_of_any_number_of_vertices_are_connected(kind):
    for n in range(1, 70):
        graph = generate.graph(kind, vertices=n)
        assert graph.n == n and (reference_components(graph) == 0).all()
        assert graph.degrees().max() <= (4 if kind == "grid2d" else 6)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17, 1_000, 50_000])
def test_roads_are_connected_and_sparse(n):
    graph = generate.graph("road", vertices=n)
    assert graph.n == n and (reference_components(graph) == 0).all()
    assert graph.degrees().max() <= 4
    edges = generate.generate("road", vertices=n)
    assert 2 * len(edges.src) == graph.m  # neither self-loops nor duplicates
    if n == 50_000:
        assert abs(graph.m / n - 2.5) < 0.02
        assert reference_bfs(graph, 0)[0].max() > n**0.5
        assert (graph.degrees() == 2).mean() > 0.3


@pytest.mark.parametrize("degree", [2.0, 2.2, 3.0])
def test_roads_have_the_mean_degree_asked_for(degree):
    graph = generate.graph("road", vertices=30_000, degree=degree, permute=True)
    assert abs(graph.m / graph.n - degree) < 0.03
    assert (reference_components(graph) == 0).all()


@pytest.mark.parametrize(
    ("n", "degree", "exponent", "maximum"), [(50_000, 16, 2.5, 1_000), (20_000, 55, 2.1, 5_214), (999, 4, 3, 998)]
)
def test_powerlaw_degrees(n, degree, exponent, maximum):
    shape = {"vertices": n, "degree": degree, "exponent": exponent, "max_degree": maximum}
    drawn = degrees(generate.generate("powerlaw", **shape))
    assert drawn.max() == maximum
    assert abs(drawn.mean() / degree - 1) < 0.02 + 2 * maximum / n / degree
    stored = generate.graph("powerlaw", **shape).degrees()
    assert stored.max() <= maximum
    assert stored.max() > 0.4 * maximum
    assert np.array_equal(
        np.sort(drawn), np.repeat(np.arange(maximum + 1), degree_counts(n, degree, exponent, maximum))
    )


def test_powerlaw_falls_with_the_exponent():
    counts = degree_counts(10_000_000, 8, 2.5, 5_000).astype(float)
    slope = np.log(counts[3_000:4_000].sum() / counts[1_500:2_000].sum() / 2) / np.log(2)
    assert abs(slope + 2.5) < 0.1


@pytest.mark.parametrize(("n", "degree", "maximum"), [(1, 1, 1), (2, 1, 1), (3, 1.5, 2), (5, 1, 1), (7, 1, 1)])
def test_powerlaw_of_few_vertices_has_an_even_number_of_stubs(n, degree, maximum):
    counts = degree_counts(n, degree, 2.5, maximum)
    assert counts.sum() == n and (counts >= 0).all() and counts @ np.arange(maximum + 1) % 2 == 0
    generate.graph("powerlaw", vertices=n, degree=degree, max_degree=maximum)


def test_powerlaw_says_which_means_are_possible():
    with pytest.raises(UsageError, match=r"mean 60; it can be 1 to 50\.5"):
        generate.generate("powerlaw", vertices=1_000, degree=60, max_degree=100)


def test_star_hub_and_rest():
    graph = generate.graph("star", vertices=20_000, hub_fraction=0.9, edge_factor=1.2, permute=False)
    assert graph.degrees().argmax() == 0 and graph.degrees()[0] == int(0.9 * 19_999)
    assert np.sort(graph.degrees())[-2] < 40
    assert (reference_components(graph) == 0).all()
    assert abs(graph.m / 40_000 - 1.2) < 0.01
    assert reference_bfs(graph, 0)[0].max() > 2
    assert (generate.graph("star", vertices=2).n, generate.graph("star", vertices=2).m) == (2, 2)
    assert generate.graph("star", vertices=10, hub_fraction=1).degrees().max() == 9
    assert generate.graph("star", vertices=10, hub_fraction=0).n == 10


@pytest.mark.parametrize("span", [None, 1, 7])
def test_dag_has_no_cycle(span):
    graph = generate.graph("dag", vertices=3_000, edges=9_000, span=span)
    assert graph.flags.directed
    validate_order(graph, reference_order(graph)[0])
    plain = generate.generate("dag", vertices=3_000, edges=9_000, span=span, permute=False)
    steps = plain.dst.astype(int) - plain.src.astype(int)
    assert steps.min() == 1 and steps.max() <= (span or 3_000)


def test_order_degree():
    graph = generate.graph("kronecker", scale=8, order="degree")
    assert (np.diff(graph.degrees()) <= 0).all() and graph.flags.relabelled


def test_no_edges_at_all():
    for kind in ("uniform", "rmat", "dag"):
        graph = generate.graph(kind, vertices=5, edges=0)
        assert (graph.n, graph.m) == (5, 0)


def test_the_catalogue_does_not_import_numpy():
    code = "import sys; from bigbfs.generate import KINDS; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
