"""The device side of a study: rows in its memory, a search's vertices by level, and kernels that run on a frontier.

``struct Search`` (strategies/search.cuh) is the kernels' argument, as it is for a strategy. Level k's record is the
k-th: its size is set, and what kernels count there is read when all levels are through.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.search import FIELDS, RECORD
from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, struct
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from studies.tree import Tree

FOLDER = Path(__file__).resolve().parent
THREADS = 256
"""Of a block."""

ARRAYS = tuple(
    ArraySpec(name, dtype, "n", "")
    for name, dtype in (
        *(("levels", "i32"), ("parents", "id"), ("queue", "id"), ("next_queue", "id")),
        *(("bitmask", "u32"), ("edges", "id"), ("records", "u64")),
    )
)
"""What ``struct Search`` has pointers to here; the bed makes them itself."""

SEARCH = np.dtype(
    [("out", ADJACENCY), ("in", ADJACENCY), *((name, np.uint64) for name in (*(s.name for s in ARRAYS), *FIELDS))]
)
"""``struct Search`` with these arrays."""


def specs(file: str, *names: str, culling: int = 0, threads: int = THREADS) -> tuple[KernelSpec, ...]:
    """Return the kernels ``names`` of ``file``, a .cu of this folder."""
    defines = (
        ("SEARCH_ARRAYS", pointer_fields(ARRAYS)),
        ("SEARCH_BYTES", str(SEARCH.itemsize)),
        ("RECORD_BYTES", str(RECORD.itemsize)),
        ("LEVEL_THREADS", str(threads)),
        ("CULLING", str(culling)),
    )
    return tuple(KernelSpec(str(FOLDER / file), name, defines) for name in names)


class Bed:
    """A graph on a device with a search of it, until ``close``.

    Parameters
    ----------
    runtime
        The device.
    graph
        Plain rows.
    tree
        The search.
    most_edges
        Of a level that kernels may put into the queue of ends.

    Raises
    ------
    UsageError
        The rows are compressed.
    DoesNotFitError
        The device is too small.
    """

    def __init__(self, runtime: Runtime, graph: Graph, tree: Tree, most_edges: int = 0) -> None:
        if graph.codec != "plain":
            raise UsageError(f"{graph.path or 'graph'}: studies are of plain rows; convert it to .csrbin")
        self.runtime, self.tree, self._graph = runtime, tree, graph
        ids = graph.ids
        self._rows = PlacedAdjacency(runtime, graph.adjacency, mapped=False)
        words = len(RECORD.names or ())
        self.arrays = {
            "levels": runtime.empty(graph.n, np.int32),
            "parents": runtime.empty(graph.n, ids),
            "queue": runtime.upload(tree.order.astype(ids)),
            "bitmask": runtime.empty(-(-graph.n // 32), np.uint32),
            "edges": runtime.empty(max(1, most_edges), ids),
            "records": runtime.empty(words * len(tree.sizes), np.uint64),
        }
        pointers = {name: runtime.pointer(array) for name, array in self.arrays.items()}
        self._state = struct(SEARCH, out=self._rows.struct, edge_capacity=most_edges, source=tree.source, **pointers)
        self._state["in"] = self._rows.struct

    def begin(self) -> None:
        """Set the sizes of the levels, and clear what kernels count."""
        records = np.zeros(len(self.tree.sizes), RECORD)
        records["size"] = self.tree.sizes
        self.runtime.write(self.arrays["records"], records.view(np.uint64))

    def reach(self, level: int) -> None:
        """Set labels and bitmask to what they are when ``level`` is expanded."""
        known = np.where(self.tree.levels <= level, self.tree.levels, np.int32(-1))
        self.runtime.write(self.arrays["levels"], known)
        bits = np.packbits(known >= 0, bitorder="little")
        whole = np.zeros(self.arrays["bitmask"].nbytes, np.uint8)
        whole[: len(bits)] = bits
        self.runtime.write(self.arrays["bitmask"], whole.view(np.uint32))

    def kernel(self, spec: KernelSpec) -> Callable[..., None]:
        """Return a function that launches a kernel on a level: ``(level, threads, *more arguments)``."""
        runtime, ids = self.runtime, self._graph.ids
        built = spec.build(runtime, ids, "plain")
        most = runtime.max_blocks(built, THREADS)
        queue, begins = int(self._state["queue"]), self.tree.begins

        def launch(level: int, threads: int, *more: Any) -> None:
            state = self._state.copy()
            state["queue"] = queue + int(begins[level]) * ids.itemsize
            state["slot"] = state["level"] = level
            built(max(1, min(most, -(-threads // THREADS))), THREADS, (state, *more))

        return launch

    def records(self) -> np.ndarray:
        """Return what kernels have counted, a record for each level."""
        return self.runtime.download(self.arrays["records"]).view(RECORD)

    def seconds(self, work: Callable[[], None]) -> float:
        """Return the seconds that the kernels launched by ``work`` take alone."""
        with self.runtime.kernel_clock() as clock:
            work()
        return clock.seconds

    def __enter__(self) -> Bed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the rows back."""
        self.arrays.clear()
        self._rows.close()
