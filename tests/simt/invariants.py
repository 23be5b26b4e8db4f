"""What must hold between the launches of a traversal, read from the kernels' own arrays: frontiers, queues, labels.

``FrontierWatch`` and ``LabelWatch`` hang on a SimtRuntime. In: the argument structs that the level loops pass. Each
broken rule is an AssertionError that names the kernel and a vertex.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bigbfs.gpu.arguments import EDGES, QUEUED, REACHED
from bigbfs.graph import Graph


def array_at(address: Any, count: int, dtype: Any) -> np.ndarray:
    """Return a copy of ``count`` elements in the memory that a struct points to."""
    dtype = np.dtype(dtype)
    if count == 0:
        return np.empty(0, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(int(address))
    return np.frombuffer(memory, dtype).copy()


def members(bitmap: np.ndarray, n: int) -> np.ndarray:
    """Return the vertices whose bits are set; bits behind the last vertex are an error."""
    bits = np.unpackbits(bitmap.view(np.uint8), bitorder="little")
    assert not bits[n:].any(), f"a bit behind the last vertex ({n - 1}) is set"
    return np.flatnonzero(bits[:n])


class FrontierWatch:
    """Every vertex enters a frontier exactly once, and counters and queues agree with the frontiers.

    Parameters
    ----------
    graph
        Plain.
    """

    def __init__(self, graph: Graph) -> None:
        self.n = graph.n
        self.ids = graph.ids
        self._degrees = graph.degrees()
        self.start()

    def start(self) -> None:
        """Forget the traversal before."""
        self.entered = np.zeros(self.n, np.int64)
        self.frontiers: list[np.ndarray] = []
        self._queued = 0

    def __call__(self, name: str, grid: int, block: int, args: tuple[Any, ...]) -> None:
        if name in ("bfs_advance", "bfs_gather") and int(args[0]["out"]["n"]) == self.n:
            getattr(self, name)(args[0], *args[1:])

    def bfs_advance(self, state: np.ndarray) -> None:
        """Check the frontier that was just made."""
        words = -(-self.n // 32)
        frontier = members(array_at(state["frontier"], words, np.uint32), self.n)
        visited = array_at(state["visited"], words, np.uint32)
        assert np.array_equal(visited, array_at(state["seen"], words, np.uint32)), "seen is not what was visited"
        self.entered[frontier] += 1
        self.frontiers.append(frontier)
        again = np.flatnonzero(self.entered > 1)
        assert len(again) == 0, f"vertex {again[0]} entered a frontier {self.entered[again[0]]} times"
        everyone = np.flatnonzero(self.entered)
        assert np.array_equal(everyone, members(visited, self.n)), "the frontiers are not what was visited"
        counters = array_at(state["counters"], 4, np.uint64)
        assert int(counters[REACHED]) == len(everyone), "the counter of reached vertices differs from the frontiers"
        assert int(counters[EDGES]) == int(self._degrees[everyone].sum()), "the counter of edges differs"
        levels = array_at(state["levels"], self.n, np.int32)
        found = np.unique(levels[frontier])
        assert found.tolist() == [len(self.frontiers) - 1] * min(1, len(frontier)), f"levels in the frontier: {found}"

    def bfs_gather(self, state: np.ndarray, before: np.generic) -> None:
        """Check the queue that was just filled."""
        words = -(-self.n // 32)
        rows = members(array_at(state["out"]["rows"], words, np.uint32), self.n)
        expected = np.intersect1d(self.frontiers[-1], rows)
        assert int(before) == self._queued, "the queue does not begin where the last one ended"
        length = int(array_at(state["counters"], 4, np.uint64)[QUEUED]) - self._queued
        assert length == len(expected), f"{length} vertices queued, {len(expected)} have rows to expand"
        queue = array_at(state["queue"], length, self.ids)
        assert np.array_equal(np.sort(queue), expected.astype(self.ids)), "the queue is not the frontier, each once"
        self._queued += length

    def finish(self, levels: np.ndarray) -> None:
        """Check that the frontiers of the whole run are the reached vertices, each once."""
        reached = np.flatnonzero(levels >= 0)
        assert np.array_equal(reached, np.flatnonzero(self.entered == 1)), "a reached vertex was in no frontier"


class LabelWatch:
    """The labels are a forest whose roots are the smallest vertices, and after a compression every label is a root."""

    def __init__(self, graph: Graph) -> None:
        self.n = graph.n
        self.component: np.ndarray | None = None

    def __call__(self, name: str, grid: int, block: int, args: tuple[Any, ...]) -> None:
        if not name.startswith("cc_") or name == "cc_sample":
            return
        n = int(args[0]) if isinstance(args[0], np.generic) else int(args[0]["n"])
        if n != self.n or n == 0:
            return
        labels = args[1].astype(np.int64)
        vertices = np.arange(n)
        wrong = np.flatnonzero((labels > vertices) | (labels < 0))
        assert len(wrong) == 0, f"after {name} vertex {wrong[0]} points up, to {labels[wrong[0]]}"
        if name == "cc_compress":
            wrong = np.flatnonzero(labels[labels] != labels)
            assert len(wrong) == 0, f"after {name} the label of vertex {wrong[0]} is no root"
        if self.component is not None:
            wrong = np.flatnonzero(self.component[labels] != self.component)
            assert len(wrong) == 0, f"after {name} vertex {wrong[0]} is linked to another component"
