"""One row of more than 2**31 ids, and of more than 2**31 bytes of blob: offsets inside a row need 64 bits."""

import numpy as np
import pytest

from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.graph.adjacency import BLOCK_IDS, CompressedAdjacency, PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

BLOCKS = 2**21 + 3
LENGTH = BLOCKS * BLOCK_IDS
N = 77
FLAGS = GraphFlags(directed=True, symmetric=False, deduplicated=False)


def targets(last):
    """Return the ids of the last block: vertices that no other edge leads to."""
    return np.sort(np.arange(last) % (N - 2) + 2)


def graph_of(codec):
    """Return the graph whose vertex 0 leads to vertex 1 two milliards of times, then to all the others."""
    ids = np.ones(LENGTH, np.uint32 if codec == "plain" else np.uint8)
    if codec == "plain":
        ids[-BLOCK_IDS:] = targets(BLOCK_IDS)
        indptr = np.full(N + 1, LENGTH, np.uint64)
        indptr[0] = 0
        return Graph(PlainAdjacency(indptr, ids), FLAGS, m=LENGTH)
    blob = ids
    blob.reshape(BLOCKS, BLOCK_IDS)[:, 1:] = 0  # a block begins with its id; then differences, all of one byte
    last = targets(BLOCK_IDS)
    blob[-BLOCK_IDS:] = np.concatenate([last[:1], np.diff(last)])
    indptr = np.full(N + 1, LENGTH, np.uint64)
    indptr[0] = 0
    degree = np.zeros(N, np.uint32)
    degree[0] = LENGTH
    starts = np.arange(BLOCKS, dtype=np.uint64) * np.uint64(BLOCK_IDS)
    hubs, hub_ptr = np.zeros(1, np.uint32), np.array([0, BLOCKS], np.uint64)
    return Graph(CompressedAdjacency(indptr, degree, blob, hubs, hub_ptr, starts), FLAGS, m=LENGTH)


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_a_row_beyond_31_bits(codec):
    assert LENGTH > 2**31
    graph = graph_of(codec)
    for residency in ("vram", "mapped"):
        with GpuEngine(graph, residency=residency) as engine:
            result = engine.bfs(0)
            assert result.levels.tolist() == [0] + [1] * (N - 1)
            assert result.record.edges == LENGTH
            assert (result.parents[1:] == 0).all()
            assert engine.bfs(1).record.reached == 1
            assert (engine.connected_components().labels == 0).all()
