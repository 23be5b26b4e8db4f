"""What is foreseen of many searches: passes over the edges against those that are made, memory against its parts."""

from __future__ import annotations

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs import generate
from bigbfs.algorithms.many.cpu import widths
from bigbfs.algorithms.many.cpu.batch import bytes_of
from bigbfs.algorithms.many.gathered import wants_of
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.measures.foresight import Shape, batch_of, foresee, lengths_of, shapes_of


def shapes(graph):
    with bigbfs.engine(graph, backend="cpu") as engine:
        return shapes_of(engine)


def test_the_levels_of_a_search_are_shares_of_the_edges():
    star = zoo.build(5, (np.zeros(4, np.int64), np.arange(1, 5)))
    for shape in shapes(star):
        assert shape.edges.sum() == pytest.approx(1.0) and len(shape.edges) in (2, 3)
        assert shape.before[0] == 0.0 and (np.diff(shape.before) > 0).all()
    assert shapes(zoo.build(3, (np.zeros(0, np.int64),) * 2)) == []


def test_a_batch_takes_the_cheaper_direction_of_each_level():
    """Of 100 vertices and 1,000 edges: bottom-up costs a fifth of a pass for the vertices, beside the rows it reads."""
    graph = zoo.build(100, zoo.random(100, 500, seed=1))
    vertices = 2 * graph.n / graph.m
    lengths = lengths_of(graph)
    shape = Shape(np.array([0.01, 0.5, 0.49]), np.array([0.0, 0.01, 0.51]))
    read, cost = batch_of(graph, [shape], 1, lengths)
    # top-down from the source; the half left lacks nothing after its level, and reads in part; then nobody lacks
    assert 0.01 + 0.49 / 4 < read < 0.01 + 0.49
    assert cost == pytest.approx(0.06 + (0.99 + vertices) + (0.49 + vertices))
    read, _ = batch_of(graph, [shape], 512, lengths)  # nobody has all 512 bits until the end
    assert 1.5 < read <= 2.0
    assert batch_of(graph, [], 5, lengths) == (0.0, 0.0)


def test_rows_that_are_all_heads_are_not_read():
    star = zoo.build(5, (np.zeros(4, np.int64), np.arange(1, 5)))
    lengths = lengths_of(star)
    assert (lengths.lengths.tolist(), lengths.rows.tolist(), lengths.edges) == ([1, 4], [4, 1], 8)
    assert (lengths.upto(np.inf), lengths.upto(3)) == (4 / 8, 3 / 8)


@pytest.mark.parametrize("kind", [pytest.param("kronecker", marks=pytest.mark.wide), "grid", "uniform"])
def test_passes_that_are_foreseen_are_those_that_are_made(kind):
    """Within a factor of one and a half."""
    graph = zoo.build(3600, zoo.grid(60, 60)) if kind == "grid" else generate.graph(kind, scale=12, seed=1)
    linked = np.flatnonzero(graph.degrees() > 0)
    need = widths.needs(graph.n, graph.ids, 2, ManyOptions(), 128)
    found = {each.width: each for each in foresee(graph, shapes(graph), 128, need, 2)}
    assert (found[32].batches, found[512].batches) == (4, 1)
    assert found[64].passes > found[128].passes
    with bigbfs.engine(graph, backend="cpu", threads=2) as engine:
        made = engine.run_internal(ManyOptions(np.random.default_rng(2).choice(linked, 128), width=128)).record
    assert 2 / 3 < made.edges_read / graph.m / found[128].passes < 3 / 2


def test_memory_by_parts_is_that_of_a_batch():
    options = ManyOptions(sums=True, harmonic=True, visit=print, aside=7)
    for width in WIDTHS:
        items = widths.ledger(1000, np.dtype(np.uint32), width, 2, options, 5)
        whole = bytes_of(1000, np.dtype(np.uint32), width, 2, wants_of(options)) + 32 * 1000 + 7 * width
        assert sum(item.bytes for item in items) == whole
        assert widths.needs(1000, np.dtype(np.uint32), 2, options, 5)[width] == whole
    need = {width: width for width in WIDTHS}
    assert [widths.widest(need, *about) for about in ((64, 600), (65, 600), (65, 300), (65, 1))] == [64, 512, 256, 32]
