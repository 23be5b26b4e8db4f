"""Components on a device under every switch, and a thousand times each on graphs built for races, compared there."""

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine

N = 200_000
VARIANTS = (
    ComponentsOptions(),
    *(ComponentsOptions(rounds=rounds, skip_giant=False) for rounds in (0, 1, 6)),
    ComponentsOptions(single_pass=True),
    ComponentsOptions("sv"),
    ComponentsOptions("sv", skip_giant=False, single_pass=True),
    ComponentsOptions("labelprop", single_pass=True),
)


def shuffled(n, pairs, seed):
    """Return ``pairs`` between n vertices renumbered at random."""
    order = np.random.default_rng(seed).permutation(n)
    return order[np.asarray(pairs[0])], order[np.asarray(pairs[1])]


def comb(half):
    """Return a path of ``half`` vertices, each with one leaf."""
    return zoo.join(zoo.path(half), (np.arange(half), half + np.arange(half)))


def bipartite(n, hubs):
    """Return the complete bipartite graph of the first ``hubs`` of n vertices and the others."""
    return np.repeat(np.arange(hubs), n - hubs), np.tile(np.arange(hubs, n), hubs)


RACES = {
    "path in random order": lambda: zoo.build(N, shuffled(N, zoo.path(N), 1)),
    "path descending": lambda: zoo.build(N, tuple(N - 1 - side for side in zoo.path(N))),
    "interleaved combs": lambda: zoo.build(
        2 * N, zoo.join(*((2 * a + k, 2 * b + k) for k in (0, 1) for a, b in [comb(N // 2)]))
    ),
    "comb in random order": lambda: zoo.build(N, shuffled(N, comb(N // 2), 2)),
    "bipartite hubs": lambda: zoo.build(N // 4, shuffled(N // 4, bipartite(N // 4, 12), 3)),
    "two giants": lambda: zoo.build(
        N, zoo.join(zoo.random(N // 2, N, seed=4), zoo.random(N // 2, N, seed=4, first=N // 2))
    ),
    "pairs": lambda: zoo.build(N, shuffled(N, (np.arange(0, N, 2), np.arange(1, N, 2)), 5)),
    "edges one way": lambda: zoo.build(N, shuffled(N, comb(N // 2), 6), directed=True, in_rows=False),
}


@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_a_thousand_times_and_not_one_label_off(name, codec):
    import cupy

    plain = RACES[name]()
    expected = cupy.asarray(reference_components(plain).astype(plain.ids))
    wrong = cupy.zeros(1, np.int64)
    with GpuEngine(plain.compress() if codec == "varint" else plain) as engine:
        for _ in range(1000):
            engine.run_components()
            wrong += cupy.count_nonzero(cupy.asarray(engine.label_array()) != expected)
        assert int(wrong[0]) == 0


@pytest.mark.parametrize("name", RACES)
def test_every_switch_on_races(name):
    graph = RACES[name]()
    expected = reference_components(graph)
    with GpuEngine(graph) as engine:
        for how in VARIANTS:
            for _ in range(10):
                np.testing.assert_array_equal(engine.connected_components(how).labels, expected, err_msg=str(how))


@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", zoo.names(big=False))
def test_every_switch_on_the_zoo(name, codec, residency):
    graph = zoo.shared()[name]
    expected = reference_components(graph)
    with GpuEngine(graph.compress() if codec == "varint" else graph, residency=residency) as engine:
        for how in (*VARIANTS, ComponentsOptions("labelprop")):
            result = engine.connected_components(how)
            np.testing.assert_array_equal(result.labels, expected, err_msg=str(how))
            assert result.record.left == 0 or how.single_pass
