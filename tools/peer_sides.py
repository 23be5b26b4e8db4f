"""bigbfs as ``compare_peers.py`` runs it, on the CPU or a GPU: what it finds, and how long it takes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.internal import internal_engine
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph

RESIDENCY = {"host": "mapped", "device": "vram"}


class CpuSide:
    """bigbfs on the CPU."""

    def __init__(self, graph: Graph, place: str, budget: int | None) -> None:
        self._graph = graph
        self._engine = internal_engine(graph, backend="cpu")
        self.about = {"device": self._engine.device}

    def bfs(self, source: int, verify: bool) -> dict[str, Any]:
        """Traverse and return what was found."""
        result = self._engine.bfs(source)
        record = result.record
        if verify:
            validate_tree(self._graph, source, result.levels, result.parents)
        total = int(result.levels[result.levels > 0].sum(dtype=np.int64))
        return {"seconds": record.seconds, "edges": record.edges} | facts(record.reached, record.depth, total)

    def levels(self, source: int) -> dict[str, Any]:
        """Traverse without parents and return how long it took, and what was found."""
        record = self._engine.bfs(source, want_parents=False).record
        return {"seconds": record.seconds} | facts(record.reached, record.depth, None)

    def cc(self, verify: bool) -> dict[str, Any]:
        """Label the components and return what was found."""
        result = self._engine.connected_components()
        if verify:
            validate_labels(self._graph, result.labels)
        record = result.record
        return {"seconds": record.seconds, "components": record.components, "largest": record.largest}

    def close(self) -> None:
        """Release what the engine holds."""
        self._engine.close()


class GpuSide:
    """bigbfs on the GPU; results stay on the device, and are verified there."""

    def __init__(self, graph: Graph, place: str, budget: int | None) -> None:
        from bigbfs.algorithms.gpu_engine import GpuEngine

        budget = budget if place == "host" else None
        with ExitStack() as opened:
            self._engine = opened.enter_context(GpuEngine(graph, residency=RESIDENCY[place], vram_budget=budget))
            self._closing = opened.pop_all()
        held = self._engine.bytes
        self.about = {"device": self._engine.device, "device_bytes": held.device, "host_bytes": held.host}

    def bfs(self, source: int, verify: bool) -> dict[str, Any]:
        """Traverse and return what was found; the sum of levels only of a verified run."""
        run = self._engine.run_bfs(source)
        total = None
        if verify:
            self._engine.verify_tree(source)
            levels = self._engine.runtime().download(self._engine.tree_arrays()[0])
            total = int(np.maximum(levels, 0, out=levels).sum(dtype=np.int64))
        return {"seconds": run.seconds, "edges": run.edges} | facts(run.reached, run.depth, total)

    def levels(self, source: int) -> dict[str, Any]:
        """Traverse without parents and return how long it took, and what was found."""
        run = self._engine.run_bfs(source, want_parents=False)
        return {"seconds": run.seconds} | facts(run.reached, run.depth, None)

    def cc(self, verify: bool) -> dict[str, Any]:
        """Label the components and return what was found; verifying needs a BFS of the largest."""
        seconds = self._engine.run_components().seconds
        if not verify:
            return {"seconds": seconds}
        self._engine.verify_labels()
        sizes = np.bincount(self._engine.connected_components().labels)  # of all vertices, whatever their numbers
        giant = int(sizes.argmax())
        reached = self._engine.run_bfs(giant).reached
        if reached != int(sizes[giant]):
            raise VerificationError(f"the largest component has {sizes[giant]} labels and {reached} vertices")
        return {"seconds": seconds, "components": int(np.count_nonzero(sizes)), "largest": int(sizes[giant])}

    def close(self) -> None:
        """Release the graph: a peer that runs next needs the memory."""
        self._closing.close()


def facts(reached: int, depth: int, level_sum: int | None) -> dict[str, int]:
    """Return the facts that a BFS is compared by."""
    return {"reached": reached, "depth": depth} | ({} if level_sum is None else {"level_sum": level_sum})
