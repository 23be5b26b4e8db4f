"""The proof of paths: right ones pass, and each kind of wrong one is named."""

from __future__ import annotations

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.errors import VerificationError
from bigbfs.measures.path_proof import PathProof
from bigbfs.measures.paths import PathSearches, ShortestPath


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("compressed", [False, True])
def test_right_paths_pass(directed, compressed):
    labels = np.random.default_rng(3).permutation(200)[:90]
    graph = zoo.build(90, zoo.random(90, 140, seed=5), directed=directed, labels=labels)
    graph = graph.compress() if compressed else graph
    pairs = np.random.default_rng(4).choice(labels, (60, 2)).tolist()
    with bigbfs.engine(graph, backend="cpu") as engine:
        proof, found = PathProof(engine), list(PathSearches(engine, pairs))
        lengths = {path.distance for path in found}
        assert -1 in lengths and max(lengths) > 3
        for path in found:
            proof.check(path)


@pytest.mark.parametrize(
    ("source", "target", "vertices", "message"),
    [
        (0, 3, [0, 1, 2], "leads from 0 to 2"),
        (0, 3, [0, 2, 3], "has an edge 0 -> 2 that the graph has not"),
        (0, 4, [0, 1, 2, 3, 4], "has 4 edges, and the search from there says 2"),
        (0, 4, [], "has -1 edges, and the search from there says 2"),
        (0, 6, [0, 5, 6], "has an edge 0 -> 5"),
    ],
)
def test_wrong_paths_are_named(source, target, vertices, message):
    """A path 0-1-2-3-4, with a short way 1-4, beside an edge 5-6."""
    edges = (np.array([0, 1, 2, 3, 1, 5]), np.array([1, 2, 3, 4, 4, 6]))
    with bigbfs.engine(zoo.build(7, edges), backend="cpu") as engine, pytest.raises(VerificationError, match=message):
        PathProof(engine).check(ShortestPath(source, target, vertices, 0, 0.0))
