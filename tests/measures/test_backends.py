"""Where measures run: by a keyword of one name."""

from __future__ import annotations

from functools import partial

import pytest

import bigbfs
from bigbfs.errors import UsageError


def test_a_diameter_and_a_path_take_a_backend_as_other_calls_do():
    graph = bigbfs.Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1])
    for backend in ("auto", "cpu"):
        assert bigbfs.diameter(graph, backend=backend, component="all") == 2
        assert bigbfs.shortest_path(graph, 0, 2, backend=backend) == [0, 1, 2]
    for call in (partial(bigbfs.diameter, graph), partial(bigbfs.shortest_path, graph, 0, 2)):
        with pytest.raises(UsageError, match="backend"):
            call(backend="cup")
    with pytest.raises(UsageError, match=r'on the CPU alone; leave it out, or use backend="cpu"$'):
        bigbfs.shortest_path(graph, 0, 2, backend="gpu")
