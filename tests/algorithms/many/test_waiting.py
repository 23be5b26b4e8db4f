"""Sources that wait for others before the first bottom-up level: all that is collected is as if nobody had."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from algorithms.many.test_cpu_many import NAMES, made
from wide import split

from bigbfs.algorithms.many.cpu import batch as module
from bigbfs.algorithms.many.cpu import waiting
from bigbfs.algorithms.many.cpu.collecting import LAGS
from bigbfs.algorithms.many.reference import many


def check(batch, graph, sources):
    """Run; hold everything against single searches; return how many levels the last sources are behind the first."""
    expected = many(graph, sources)
    batch.forget()
    done = batch.run(sources)
    count, reached, above = len(sources), expected >= 0, expected > 0
    levels = batch.sink.levels.reshape(graph.n, batch.width)[:, :count]
    np.testing.assert_array_equal(levels.T, expected)
    depth = expected.max(axis=1)
    np.testing.assert_array_equal(batch.sink.depth[:count], depth)
    assert (expected[np.arange(count), batch.sink.far[:count]] == depth).all()
    assert (done.pairs, done.levels) == (reached.sum(), depth.max())
    found = np.bincount(expected[above], minlength=done.levels + 1)
    np.testing.assert_array_equal(batch.sink.found[: done.levels + 1], found)
    assert not batch.sink.found[done.levels + 1 :].any()
    columns = batch.sink.columns.reshape(-1, batch.width)[:, :count]
    for level in range(1, len(columns)):
        np.testing.assert_array_equal(columns[level], (expected == level).sum(axis=1))
    np.testing.assert_array_equal(batch.sink.reach, above.sum(axis=0))
    np.testing.assert_array_equal(batch.sink.farness, expected.sum(axis=0, where=above))
    np.testing.assert_allclose(batch.sink.harmonic, (1 / np.where(above, expected, np.inf)).sum(axis=0), rtol=1e-12)
    assert batch.faults == 0
    return int(batch.sink.lag.max())


EAGER = ((0, 3), (0, 9), (4096, 2))
SHAPES = (("plain", 512), ("varint", 64), ("plain", 32))


@pytest.fixture(params=EAGER, ids=str)
def eager(request, monkeypatch):
    """Have levels go bottom-up soon, and sources wait however much the others read."""
    walk, wide = request.param
    monkeypatch.setattr(module, "WALK_EDGES", walk)
    monkeypatch.setattr(module, "PUSH_EDGE", 1e9)
    monkeypatch.setattr(waiting, "WIDE", wide)
    monkeypatch.setattr(waiting, "MOST", 1)
    monkeypatch.setattr(waiting, "FEWEST", 0)


def in_core(name, codec, width, eager):
    """Return whether ``make test`` runs it: any two of graph, shape and eagerness meet there, not each with each."""
    return (NAMES.index(name) + SHAPES.index((codec, width)) + EAGER.index(eager)) % 3 == 0


@pytest.mark.covered("width+codec", "width+eager")
@pytest.mark.parametrize(
    ("name", "codec", "width", "eager"),
    split([(name, *shape, eager) for name in NAMES for shape in SHAPES for eager in EAGER], in_core),
    indirect=["eager"],
)
def test_everything_collected(name, codec, width, eager):
    graph = zoo.shared()[name]
    batch = made(graph.compress() if codec == "varint" else graph, width)
    for seed in range(2):  # what is left of the batch before does not matter
        check(batch, graph, np.random.default_rng(seed).integers(0, graph.n, min(width - 3, 2 * graph.n)))


def tailed(tail, core=300):
    """Return a dense core with a path of ``tail`` edges hanging on it, a component of two, and one vertex alone."""
    n = core + tail + 3
    return zoo.build(
        n,
        zoo.join(
            zoo.random(core, 40 * core, seed=2),
            ([0], [core]),
            zoo.path(core + tail, first=core),
            ([n - 3], [n - 2]),
        ),
        labels=np.arange(n),
    )


@pytest.fixture
def at_once(eager, monkeypatch):
    """The same, where a source with a few dozen neighbours is ahead from the start."""
    monkeypatch.setattr(module, "WALK_EDGES", 0)
    monkeypatch.setattr(waiting, "WIDE", 9)


@pytest.mark.parametrize("tail", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("width", [64, 512])
def test_who_is_ahead_waits_for_those_at_the_end_of_a_path(tail, width, at_once):
    graph = tailed(tail)
    end = 300 + tail - 1
    sources = np.array([7, end, 9, 11, end, graph.n - 2, graph.n - 1, 300])
    batch = made(graph, width)
    assert [check(batch, graph, sources) for _ in range(2)] == [min(max(tail, 2), LAGS)] * 2  # 2: that of two vertices
    assert check(batch, graph, sources[:1]) == 0  # nobody to wait for


def test_nobody_waits_where_levels_are_limited(at_once):
    graph = tailed(5)
    sources = np.array([7, 303, 9])
    batch = made(graph, 64)
    assert check(batch, graph, sources) > 0
    expected = many(graph, sources, max_depth=3)
    batch.run(sources, 3)
    np.testing.assert_array_equal(batch.sink.levels.reshape(graph.n, 64)[:, :3].T, expected)
    assert not batch.sink.lag.any()


def test_nobody_waits_for_those_who_read_much(at_once, monkeypatch):
    graph = tailed(12)
    sources = np.array([7, 311, 9])
    batch = made(graph, 64)
    assert check(batch, graph, sources) == LAGS
    monkeypatch.setattr(waiting, "MOST", 10**9)
    assert check(batch, graph, sources) == 0


def test_nobody_waits_in_small_graphs(at_once, monkeypatch):
    graph = tailed(12)
    batch, sources = made(graph, 64), np.array([7, 311, 9])
    for fewest, waits in ((graph.m, True), (graph.m + 1, False)):
        monkeypatch.setattr(waiting, "FEWEST", fewest)
        assert (check(batch, graph, sources) > 0) == waits


def test_rows_are_read_once():
    """Edges of R-MAT, vertices by degree: half as many ids are read where sources wait."""
    drawn, scale = np.random.default_rng(4), 15
    ends = np.zeros((2, 16 << scale), np.int64)
    for _ in range(scale):
        part = np.searchsorted([0.57, 0.76, 0.95], drawn.random(ends.shape[1]))
        ends = 2 * ends + [part >> 1, part & 1]
    rank = np.argsort(np.argsort(-np.bincount(ends.reshape(-1), minlength=1 << scale), kind="stable"))
    graph = zoo.build(1 << scale, (rank[ends[0]], rank[ends[1]]), labels=np.arange(1 << scale))
    batch, sources = made(graph, 512), drawn.choice(np.flatnonzero(graph.degrees() > 0), 512)
    read, found = {}, {}
    for wide in (62, waiting.WIDE):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(waiting, "WIDE", wide)
            patch.setattr(waiting, "FEWEST", 0)
            read[wide], found[wide] = batch.run(sources).read, batch.sink.found.tolist()
    assert batch.sink.lag.any() and found[waiting.WIDE] == found[62]
    assert read[waiting.WIDE] < 0.8 * read[62], read


def test_bits_of_a_source_that_no_edge_leads_to_go_with_its_batch():
    """Those of all others are cleared up to the last vertex that an edge leads to."""
    n = 200
    graph = zoo.build(n, (np.array([n - 1, 0, 1]), np.array([0, 1, 2])), directed=True)
    batch = made(graph, 64)
    for sources in ([n - 1, 0], [0, n - 1], [1, 1, n - 1, n - 2], [n - 2, n - 1]):
        check(batch, graph, np.array(sources))
    assert batch._end == 64
    empty = zoo.build(70, (np.empty(0, np.int64), np.empty(0, np.int64)))
    batch = made(empty, 64)
    for sources in ([69, 0], [0, 69]):
        check(batch, empty, np.array(sources))
    assert batch._end == 0
