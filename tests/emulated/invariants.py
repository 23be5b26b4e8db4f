"""What must hold between the launches of a traversal, read from the kernels' own arrays: frontiers, queues, labels.

``TraversalWatch`` and ``LabelWatch`` hang on a SimtRuntime. In: the argument structs that the level loops pass. Each
broken rule is an AssertionError that names the kernel and a vertex.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import PROGRESS, SLOT
from bigbfs.graph.graph import Graph


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


class TraversalWatch:
    """Bitmap, queue, counters and levels of a finished launch agree: every vertex entered exactly one frontier.

    Parameters
    ----------
    graph
        Plain.
    """

    def __init__(self, graph: Graph) -> None:
        self.n = graph.n
        self.ids = graph.ids
        self.launches = 0

    def __call__(self, name: str, grid: int, block: int, args: tuple[Any, ...]) -> None:
        if name != "bfs_traverse" or int(args[0]["out"]["n"]) != self.n or self.n == 0:
            return
        state = args[0]
        if not state["levels"]:  # nobody wanted them
            return
        self.launches += 1
        progress = array_at(state["progress"], 1, PROGRESS)[0]
        slots = array_at(state["slots"], int(state["slot_count"]), SLOT)
        levels = array_at(state["levels"], self.n, np.int32)
        visited = members(array_at(state["visited"], -(-self.n // 32), np.uint32), self.n)
        if not progress["done"]:  # until then who is not reached may still hold the traversal before
            unreached = np.ones(self.n, bool)
            unreached[visited] = False
            levels = np.where(unreached, np.int32(-1), levels)
        reached = np.flatnonzero(levels >= 0)
        assert np.array_equal(visited, reached), "the bitmap of visited vertices is not what has a level"
        assert int(progress["reached"]) == len(reached), "the counter of reached vertices differs from the levels"
        last = int(progress["level"])
        assert int(progress["count"]) == np.count_nonzero(levels == last), "the counter of the frontier differs"
        used = slots[: np.count_nonzero(slots["direction"])]
        sizes = np.bincount(levels[reached], minlength=last + 1)
        first = last - len(used)
        assert used["frontier"].tolist() == sizes[first:last].tolist(), "the frontiers are not the levels"
        thin = (used["queued"] == 0) & (used["found"] == 0)
        entered = np.where(thin, sizes[first + 1 : last + 1], used["queued"] + used["found"])
        assert entered.tolist() == sizes[first + 1 : last + 1].tolist(), "a vertex entered a frontier twice, or never"
        if int(progress["form"]) == 0 and last > first:
            queue = array_at(state["queue"], int(progress["begin"]) + int(progress["count"]), self.ids)
            frontier = np.sort(queue[int(progress["begin"]) :])
            assert np.array_equal(frontier, np.flatnonzero(levels == last)), "the queue is not the frontier, each once"


class LabelWatch:
    """The labels are a forest inside the components; by id no parent is larger, and compressed every label is a root.

    The forest is what the kernel gets as its second argument, by id or by chance; ``cc_label`` makes labels of it.
    """

    def __init__(self, graph: Graph) -> None:
        self.n = graph.n
        self.component: np.ndarray | None = None
        self.by_id = True

    def __call__(self, name: str, grid: int, block: int, args: tuple[Any, ...]) -> None:
        if not name.startswith("cc_") or name == "cc_giant":
            return
        n = int(args[0]) if isinstance(args[0], np.generic) else int(args[0]["n"])
        if n != self.n or n == 0:
            return
        if name == "cc_plant":
            self.by_id = bool(args[4])
        forest = args[2 if name == "cc_label" else 1].astype(np.int64)
        wrong = np.flatnonzero((forest >= n) | (forest < 0))
        assert len(wrong) == 0, f"after {name} the parent of vertex {wrong[0]} is no vertex: {forest[wrong[0]]}"
        if self.by_id or name == "cc_label":
            wrong = np.flatnonzero(forest > np.arange(n))
            assert len(wrong) == 0, f"after {name} vertex {wrong[0]} points up, to {forest[wrong[0]]}"
        if name in ("cc_compress", "cc_lowest", "cc_label"):
            wrong = np.flatnonzero(forest[forest] != forest)
            assert len(wrong) == 0, f"after {name} the label of vertex {wrong[0]} is no root"
        roots = forest
        for _ in range(n.bit_length()):
            roots = roots[roots]
        wrong = np.flatnonzero(forest[roots] != roots)
        assert len(wrong) == 0, f"after {name} the way from vertex {wrong[0]} goes round in a circle"
        if self.component is not None:
            wrong = np.flatnonzero(self.component[forest] != self.component)
            assert len(wrong) == 0, f"after {name} vertex {wrong[0]} is linked to another component"
