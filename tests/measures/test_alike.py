"""Graphs all of whose vertices have one eccentricity, so that bounds tell nothing: hypercubes, circulant graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.cli import eccentricity as cli
from bigbfs.measures import small
from bigbfs.report.progress import Progress

ALIKE = {"hypercube 10": (nx.hypercube_graph(10), 10), "circulant 700": (nx.circulant_graph(700, [1, 9, 50]), 11)}
"""The graphs, and the one eccentricity."""
ENGINES = {"none": None, "for bounds": "WORK", "for all": "EDGES"}
"""What goes on without one thread's searches: who would be small is not."""


@pytest.mark.parametrize("engines", ENGINES)
@pytest.mark.parametrize("name", ALIKE)
def test_every_vertex_is_searched_from_and_progress_says_how_long_it_takes(name, engines, monkeypatch):
    """At the full rate: in batches, few of whose distances are looked at."""
    if ENGINES[engines] is not None:
        monkeypatch.setattr(small, ENGINES[engines], -1)
    theirs, want = ALIKE[name]
    theirs = nx.convert_node_labels_to_integers(theirs)
    graph, names, left = zoo.build(len(theirs), np.array(theirs.edges).T), [], []
    monkeypatch.setattr(Progress, "rename", lambda self, text: names.append(text))
    with cli.telling() as tell:
        found = bigbfs.eccentricity(
            graph, backend="cpu", verify=True, tell=lambda open, bounds: (left.append(open), tell(open, bounds))
        )
    assert found.exact and found.diameter == found.radius == (want, want)
    assert len(found.ids) == graph.n and (found.lower == want).all() and (found.upper == want).all()
    assert graph.n - 64 <= found.record.sources <= graph.n + 64 and found.record.batches <= graph.n // 64 + 16
    begun = max(range(1, len(left)), key=lambda at: left[at] - left[at - 1])  # the diameter is known by then
    rest = left[begun:]
    assert rest == sorted(rest, reverse=True) and rest[-1] == 0
    for text, now, before in zip(names[begun + 1 :], rest[1:], rest, strict=False):
        assert "vertices open" in text and ("left at this rate" in text) is (0 < now < before)


@pytest.mark.parametrize("name", ALIKE)
def test_the_diameter_alone(name):
    theirs, want = ALIKE[name]
    graph = zoo.build(len(theirs), np.array(nx.convert_node_labels_to_integers(theirs).edges).T)
    found = bigbfs.eccentricity(graph, goal="diameter", backend="cpu", each=False, verify=True)
    assert found.exact and found.diameter == (want, want)
