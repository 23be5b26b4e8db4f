"""What must hold between the launches of a traversal, read from the kernels' own arrays: frontiers, queues, labels.

``TraversalWatch`` and ``LabelWatch`` hang on a SimtRuntime. In: the argument structs that the level loops pass. Each
broken rule is an AssertionError that names the kernel and a vertex.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import PROGRESS, SLOT
from bigbfs.algorithms.bfs.gpu.search import RECORD
from bigbfs.algorithms.bfs.strategies import Strategy
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
        if name != "bfs_traverse":
            return
        state, source = args[0], int(args[1])
        end = int(state["out"]["n"])  # vertices behind the last that has an edge are left out; a warm-up has none
        if end == 0 or source >= end or not state["levels"]:  # or nobody wanted them
            return
        self.launches += 1
        progress = array_at(state["progress"], 1, PROGRESS)[0]
        slots = array_at(state["slots"], int(state["slot_count"]), SLOT)
        levels = array_at(state["levels"], end, np.int32)
        visited = members(array_at(state["visited"], -(-end // 32), np.uint32), end)
        if not progress["done"]:  # until then who is not reached may still hold the traversal before
            unreached = np.ones(end, bool)
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


class LevelWatch:
    """The frontier that a level leaves for the next one is what its labels say, and its parents lie in the one before.

    Looks after the last launch of each level. In: the argument struct of a strategy's kernels.

    Parameters
    ----------
    graph
        Plain.
    strategy
        The entry whose kernels run.
    """

    def __init__(self, graph: Graph, strategy: Strategy) -> None:
        self.graph, self.n, self.ids = graph, graph.n, graph.ids
        self.strategy = strategy
        ways = (("always", "narrow"), ("always", "wide"), ("swept",), ("overflow",))
        launched = [[step.kernel for step in strategy.steps if step.when in way] for way in ways]
        self.last = {kernels[-1] for kernels in launched if kernels}
        self.launches = 0

    def __call__(self, name: str, grid: int, block: int, args: tuple[Any, ...]) -> None:
        if name not in self.last or int(args[0]["out"]["n"]) != self.n:
            return
        self.launches += 1
        state = args[0]
        old = int(state["level"])
        levels = array_at(state["levels"], self.n, np.int32)
        assert levels.max(initial=-1) <= old + 1, f"after {name} a level is larger than {old + 1}"
        found = np.flatnonzero(levels == old + 1)
        record = array_at(state["records"], (int(state["slot"]) + 2) * len(RECORD.names), np.uint64).view(RECORD)[-1]
        if state["parents"]:
            parents = array_at(state["parents"], self.n, self.ids)[found]
            assert (parents < self.n).all(), f"after {name} a vertex of level {old + 1} has no parent"
            assert (levels[parents] == old).all(), f"after {name} a parent is not in the level before"
        if ("queue", "next_queue") in self.strategy.swaps and record["size"] <= state["capacity"]:
            self._look_at_queue(name, state, int(record["size"]), found)
        if "next_frontier" in state.dtype.names:
            bits = members(array_at(state["next_frontier"], -(-self.n // 32), np.uint32), self.n)
            assert np.array_equal(bits, found), f"after {name} the bitmap is not the next frontier"

        if "next_edges" in state.dtype.names and record["size"] <= state["edge_capacity"]:
            self._look_at_edges(name, state, int(record["size"]), found)

    def _look_at_edges(self, name: str, state: np.ndarray, size: int, found: np.ndarray) -> None:
        """The edge queue holds the rows of the frontier, some more than once, and where each edge begins."""
        ends = array_at(state["next_edges"], size, self.ids).astype(np.uint64)
        origins = array_at(state["next_origins"], size, self.ids).astype(np.uint64)
        indptr, indices = self.graph.adjacency.indptr.astype(np.int64), self.graph.adjacency.indices
        rows = [indices[indptr[v] : indptr[v + 1]].astype(np.uint64) for v in found]
        begins = np.repeat(found.astype(np.uint64), [len(row) for row in rows])
        want = np.unique(begins * np.uint64(self.n) + np.concatenate([np.empty(0, np.uint64), *rows]))
        have = np.unique(origins * np.uint64(self.n) + ends)
        assert np.array_equal(have, want), f"after {name} the edge queue is not the rows of the next frontier"

    def _look_at_queue(self, name: str, state: np.ndarray, size: int, found: np.ndarray) -> None:
        queue = array_at(state["next_queue"], int(state["capacity"]), self.ids)
        entries = np.sort(queue[:size])
        if self.strategy.racing:
            entries = np.unique(entries)
        assert np.array_equal(entries, found), f"after {name} the queue is not the next frontier"
