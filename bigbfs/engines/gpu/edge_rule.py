"""Counting the edges and vertices of a placed graph that break a rule: what the proofs of results on the device share.

An edge rule is two kernels, ``NAME_edges`` for rows in memory and ``NAME_pieces`` for rows that are read from the file
(kernels/verify/edges.cuh); a vertex rule is one more.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.errors import VerificationError


class EdgeRules:
    """Rules over one placed graph.

    Parameters
    ----------
    placed
        The graph; its stored rows are out-edges.
    specs
        The kernels of the rules.
    """

    def __init__(self, placed: PlacedGraph, specs: Iterable[KernelSpec]) -> None:
        self._placed = placed
        self._runtime = placed.runtime
        self._kernels = {spec.name: spec.build(placed.runtime, placed.ids, placed.codec) for spec in specs}
        self._faults: Array = placed.runtime.zeros(1, np.uint64)

    def edges(self, rule: str, what: str, *arguments: object) -> None:
        """Refuse a result of whose edges any breaks ``rule``, a prefix of the names of two kernels.

        Raises
        ------
        VerificationError
            Says how many of ``what`` there are.
        """
        rows, faults = self._placed.out, self._faults
        self._runtime.fill(faults, 0)
        if isinstance(rows, StreamedAdjacency):

            def look(local: np.ndarray, pieces: Array, count: int) -> None:
                self._launch(f"{rule}_pieces", count * WARP, local, *arguments, pieces, np.uint64(count), faults)

            rows.read_all(look)
        else:
            threads = max(self._placed.n, rows.chunks) * WARP
            self._launch(f"{rule}_edges", threads, rows.struct, *arguments, faults)
        self._expect_none(what)

    def vertices(self, kernel: str, what: str, *arguments: object) -> None:
        """Refuse a result of whose vertices any breaks the rule of ``kernel``; its last argument is the count.

        Raises
        ------
        VerificationError
            Says how many of ``what`` there are.
        """
        self._runtime.fill(self._faults, 0)
        self._launch(kernel, self._placed.n, *arguments, self._faults)
        self._expect_none(what)

    def _launch(self, name: str, threads: int, *arguments: object) -> None:
        launch(self._runtime, self._kernels[name], threads, arguments)

    def _expect_none(self, what: str) -> None:
        faults = int(self._runtime.download(self._faults)[0])
        if faults:
            raise VerificationError(f"wrong result: {faults} {what} break a rule (found on the device)")
