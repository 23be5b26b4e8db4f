"""The least time that work on a planned graph can take: bytes that must move, over the rates of a device profile.

In: a graph, its plan, a profile. Out: one ``Floor`` for each kind of work, seconds of the traversal alone. Counted is
only what no algorithm of the kind can leave out, each byte once: a floor is there to be compared with, not to be
reached. All vertices with edges are taken to be reached, in no more levels than bandwidth hides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.config import DeviceProfile
from bigbfs.engines.gpu.planning import Plan
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP, LINE
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.record import gteps


@dataclass(frozen=True, slots=True)
class Floor:
    """``seconds`` at least for ``work``, in ``gteps`` if edges are what counts; ``limit`` says what holds it."""

    work: str
    seconds: float
    gteps: float | None
    limit: str


def floors(graph: Graph, plan: Plan, profile: DeviceProfile) -> list[Floor]:
    """Return the floors of BFS (adaptive, and top-down only) and of connected components.

    Reads the offsets of the graph once: O(n).
    """
    with_edges = vertices_with_edges(graph.adjacency)
    ids = graph.ids.itemsize
    results = graph.n * (4 + ids)
    bitmap = graph.n // 8
    edges = graph.adjacency.edges.nbytes
    near = edges if plan.residency == "vram" else min(plan.hot_bytes, edges)
    away = edges - near
    if plan.head_groups:
        searched = (results + bitmap + with_edges * HEAD_GROUP * ids, 0)
    else:
        lines = min(with_edges * LINE, near + away)
        searched = (results + bitmap, lines) if away else (results + bitmap + lines, 0)
    everything = (results + bitmap + near, away)
    if graph.in_adjacency is None:  # then no search can stop early
        searched = everything
    # labels are written, compressed and compared with the giant's
    labels = (3 * graph.n * ids + searched[0] - results, searched[1])
    return [
        _floor("bfs, auto", searched, profile, graph.m),
        _floor("bfs, topdown", everything, profile, graph.m),
        _floor("cc", labels, profile, None),
    ]


def vertices_with_edges(adjacency: Adjacency, block: int = 1 << 22) -> int:
    """Return how many vertices have edges, without a copy of what says so."""
    if isinstance(adjacency, CompressedAdjacency):
        return int(np.count_nonzero(adjacency.degree))
    indptr, found = adjacency.indptr, 0
    for start in range(0, adjacency.n, block):
        piece = indptr[start : start + block + 1]
        found += int(np.count_nonzero(piece[1:] != piece[:-1]))
    return found


def _floor(work: str, moved: tuple[int, int], profile: DeviceProfile, edges: int | None) -> Floor:
    """Return the floor for ``moved`` bytes of device memory and over the link, which work at the same time."""
    times = {
        f"{moved[0]:,} bytes of device memory": moved[0] / profile.memory_bytes_per_second,
        f"{moved[1]:,} bytes over the link": moved[1] / profile.link_bytes_per_second,
        "a barrier of the grid": profile.barrier_seconds,
    }
    limit, seconds = max(times.items(), key=lambda item: item[1])
    return Floor(work, seconds, None if edges is None else gteps(edges, seconds), limit)
