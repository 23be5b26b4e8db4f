"""Components of small graphs by one kernel, for measures, and one width of searches: first runs compile no more."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from measures.against import graphs
from measures.test_small import broken

import bigbfs
from bigbfs.algorithms.components.reference import components
from bigbfs.errors import FormatError
from bigbfs.measures import bounding, labels
from bigbfs.measures.labels import labels_of


@pytest.mark.parametrize("compressed", [False, True])
def test_labels_are_those_of_the_reference(compressed):
    for name, graph in graphs().items():
        here = graph.compress() if compressed and graph.codec == "plain" else graph
        with bigbfs.engine(here, backend="cpu") as engine:
            found = labels_of(engine)
        assert found.dtype == np.int64
        assert (found == components(graph.decompress())).all(), name


def test_a_larger_graph_is_labelled_by_an_engine(monkeypatch):
    graph = zoo.build(150, zoo.random(150, 130, seed=3))
    monkeypatch.setattr(labels, "joined", None)
    monkeypatch.setattr(labels, "EDGES", graph.m - 1)
    with bigbfs.engine(graph, backend="cpu") as engine:
        assert len(np.unique(labels_of(engine))) == len(np.unique(components(graph)))


def test_ids_of_no_vertices_are_refused():
    with (
        pytest.raises(FormatError, match="no vertices"),
        bigbfs.engine(broken([0, 2, 3, 4], [1, 9, 0, 0]), backend="cpu") as engine,
    ):
        labels_of(engine)


def test_small_directed_graphs_are_searched_with_one_width(monkeypatch):
    """Before, kernels of two widths were compiled for a tenth of a second of searching."""
    circle = np.arange(400), np.roll(np.arange(400), 1)
    graph = zoo.build(400, np.hstack([zoo.random(400, 3000, seed=4), circle]), directed=True)
    widths, searched = set(), bounding.Bounding._searched

    def noted(self, options):
        widths.add((options.width, len(options.sources) > bounding.BATCH))
        return searched(self, options)

    monkeypatch.setattr(bounding.Bounding, "_searched", noted)
    first = bigbfs.eccentricity(graph, backend="cpu")
    assert {width for width, _ in widths} == {bounding.BATCH}
    assert (bounding.BATCH, True) in widths, "bounds do not help there"
    monkeypatch.setattr(bounding, "WORK", 0)
    again = bigbfs.eccentricity(graph, backend="cpu")
    assert (None, True) in widths and (first.lower == again.lower).all()
