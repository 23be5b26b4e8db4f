"""The public names as a type checker sees them; `make lint` reads this file, nothing runs it."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import bigbfs
from bigbfs.record import BfsResult, ComponentsResult


def uses() -> None:
    """Every public name, with the types that it takes and returns."""
    graph = bigbfs.open("graph.csrbin")
    assert_type(graph, bigbfs.Graph)
    assert_type(graph.n, int)
    result = bigbfs.bfs(graph, 0, max_depth=3, backend="cpu", threads=2)
    assert_type(result, BfsResult)
    assert_type(result.levels, np.ndarray)
    assert_type(result.record.gteps, float)
    found = bigbfs.connected_components(graph, algorithm="sv", verify=True)
    assert_type(found, ComponentsResult)
    assert_type(bigbfs.Graph.from_csr([0, 1, 2], [1, 0]), bigbfs.Graph)
    assert_type(bigbfs.__version__, str)
