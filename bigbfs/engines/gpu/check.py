"""Proofs on the device that a result is right, by the rules of ``bigbfs.algorithms.validate``, in O(n + m).

For graphs of 10^9 edges: there the host's proof takes seconds for each source, and moving the result as long. In: an
engine that has just run; edges that are streamed are read from the file once more. A BFS tree is proved by itself.
Labels are proved to be unions of components whose label is a vertex of theirs; that each is no more than one component
takes a BFS or the host.
"""

from __future__ import annotations

from types import TracebackType

import numpy as np

from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.runtime.arguments import WARP, defines
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.errors import VerificationError

FILE = "kernels/proof/check.cu"
KERNELS = (
    "check_tree_edges", "check_tree_pieces", "check_tree_vertices", "check_label_edges", "check_label_pieces",
    "check_label_vertices",
)  # fmt: skip


class DeviceCheck:
    """Checks the results of one engine where they lie; needs n / 8 bytes of device memory.

    Parameters
    ----------
    engine
        Open; of a graph whose stored rows are out-edges.
    """

    def __init__(self, engine: GpuEngine) -> None:
        self._engine = engine
        self._runtime = engine.runtime()
        self._rows = engine.rows()
        graph = engine.graph
        self._n = np.uint64(graph.n)
        wanted = defines(graph.ids, graph.codec)
        self._kernels = {name: self._runtime.kernel(FILE, name, wanted) for name in KERNELS}
        self._joined: Array = self._runtime.zeros(-(-graph.n // 32), np.uint32)
        self._faults: Array = self._runtime.zeros(1, np.uint64)

    def tree(self, source: int) -> None:
        """Prove the levels and parents of the engine's last BFS.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        levels, parents = self._engine.tree_arrays()
        runtime = self._runtime
        runtime.fill(self._joined, 0)
        runtime.fill(self._faults, 0)
        self._edges("check_tree", levels, parents, self._joined)
        self._expect_none("edges of the BFS tree", source)
        size = np.uint64(source)
        self._launch("check_tree_vertices", int(self._n), self._n, size, levels, parents, self._joined, self._faults)
        self._expect_none("vertices of the BFS tree", source)

    def labels(self) -> None:
        """Prove that the labels of the engine's last run are the same at both ends of every edge, and label themselves.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        labels = self._engine.label_array()
        self._runtime.fill(self._faults, 0)
        self._edges("check_label", labels)
        self._expect_none("edges between labels", None)
        self._launch("check_label_vertices", int(self._n), self._n, labels, self._faults)
        self._expect_none("labels", None)

    def _edges(self, rule: str, *arrays: Array) -> None:
        """Count the edges that break ``rule``, a prefix of the names of two kernels."""
        rows, faults = self._rows, self._faults
        if not isinstance(rows, StreamedAdjacency):
            threads = max(int(self._n), rows.chunks) * WARP
            return self._launch(f"{rule}_edges", threads, rows.struct, *arrays, faults)

        def check(local: np.ndarray, pieces: Array, count: int) -> None:
            self._launch(f"{rule}_pieces", count * WARP, local, *arrays, pieces, np.uint64(count), faults)

        rows.read_all(check)

    def _launch(self, name: str, threads: int, *arguments: Array) -> None:
        launch(self._runtime, self._kernels[name], threads, arguments)

    def _expect_none(self, what: str, source: int | None) -> None:
        faults = int(self._runtime.download(self._faults)[0])
        if faults:
            where = "" if source is None else f" from vertex {source}"
            raise VerificationError(f"wrong result: {faults} {what}{where} break a rule (found on the device)")

    def close(self) -> None:
        """Release the memory."""
        self._joined = self._faults = None

    def __enter__(self) -> DeviceCheck:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
