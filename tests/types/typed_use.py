"""The public names as a type checker sees them; `make lint` reads this file, nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import numpy as np

import bigbfs
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.topological.result import TopologicalResult
from bigbfs.conversion import ConvertReport
from bigbfs.formats.shards.report import ShardsReport
from bigbfs.measures.paths import ShortestPath


def uses() -> None:
    """Every public name, with the types that it takes and returns."""
    report = bigbfs.convert(["a.txt", "b.txt"], compressed=True, order="degree", memory=2**30)
    assert_type(report, ConvertReport)
    assert_type(bigbfs.split("graph.csrbin", shards=16), ShardsReport)
    assert_type(bigbfs.join("graph.shards", "graph.csrbin", force=True), ShardsReport)
    graph = bigbfs.open("graph.csrbin")
    assert_type(graph, bigbfs.Graph)
    assert_type(graph.n, int)
    assert_type(bigbfs.Graph.from_edges([1, 2], [2, 3], directed=True), bigbfs.Graph)
    result = bigbfs.bfs(graph, 0, target=5, max_depth=3, backend="cpu", threads=2)
    assert_type(result, BfsResult)
    assert_type(result.levels, np.ndarray)
    assert_type(result.path_to(5), np.ndarray)
    assert_type(result.record.gteps, float)
    found = bigbfs.connected_components(graph, algorithm="sv", verify=True)
    assert_type(found, ComponentsResult)
    with bigbfs.engine(graph, backend="gpu", residency="mapped", vram_budget=2**30) as engine:
        assert_type(engine, Engine)
        assert_type(engine.bfs(0, want_parents=False), BfsResult)
        assert_type(engine.connected_components(), ComponentsResult)
        assert_type(engine.setup.place, float)
    with bigbfs.ranks() as group:
        assert_type(group.rank, int)
        assert_type(bigbfs.engine(graph, ranks=group), Engine)
        assert_type(bigbfs.bfs(graph, 0, ranks=group), BfsResult)
    bigbfs.bfs(graph, 0, threads="two")  # type: ignore[arg-type]
    bigbfs.bfs(graph, 0, treads=2)  # type: ignore[call-arg]
    bigbfs.convert("a.txt", directed="yes")  # type: ignore[arg-type]
    assert_type(bigbfs.Graph.from_csr([0, 1, 2], [1, 0]), bigbfs.Graph)
    assert_type(bigbfs.__version__, str)
    assert_type(bigbfs.topological_order(graph), np.ndarray)
    assert_type(bigbfs.distances(graph, [0, 1]).reached, np.ndarray)
    assert_type(bigbfs.closeness(graph, sources="random:9").top(3), list[tuple[int, float]])
    assert_type(bigbfs.hops(graph).effective_diameter, float)
    assert_type(bigbfs.diameter(graph), int)
    assert_type(bigbfs.eccentricity(graph, goal="radius").radius, tuple[int, int])
    assert_type(bigbfs.shortest_path(graph, 0, 1), list[int])
    assert_type(bigbfs.shortest_paths(graph, [(0, 1)]), Iterator[ShortestPath])
    assert_type(bigbfs.topological_rounds(graph), TopologicalResult)


def fails() -> int:
    """Every exception, each with the exit code that the command line ends with."""
    try:
        bigbfs.bfs("graph.csrbin", 0, vram_budget="2GiB", backend="gpu")
    except (bigbfs.ArgumentError, bigbfs.UsageError, bigbfs.ConfigError) as error:
        return assert_type(error.exit_code, int)
    except (bigbfs.FileAccessError, bigbfs.FormatError, bigbfs.InputError, bigbfs.DoesNotFitError) as error:
        assert_type(error.message, str)
    except (bigbfs.NoDeviceError, bigbfs.DeviceError, bigbfs.VerificationError, bigbfs.ForkError):
        raise
    except bigbfs.BigBfsError as error:
        return error.exit_code
    return 0
