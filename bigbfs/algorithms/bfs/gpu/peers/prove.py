"""Proof on the devices that the tree of the last search over ranks is right: each proves its own rows and vertices.

Levels and parents of other ranks are read in their memory, over the link between GPUs. That a vertex is joined to its
parent by an edge is seen by the parent's rank, in whose memory the vertex's own rank looks that up.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bigbfs.algorithms.bfs.gpu.peers.arguments import PROOF_KERNELS
from bigbfs.algorithms.bfs.gpu.verify import NO_LAST
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.memory import OwnMemory, SharedMemory
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import VerificationError


class TreeProver:
    """Proves trees of one search over ranks.

    Parameters
    ----------
    placed, group
        Own rows; the ranks.
    part, bases
        What is own, and where the memory of each rank begins, as kernels get them.
    shared
        What others read: levels, parents, and who is joined to its parent.
    tree
        This rank's ``levels`` and ``parents``, in it.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        part: np.ndarray,
        bases: Array,
        shared: SharedMemory | OwnMemory,
        tree: Mapping[str, Array],
    ) -> None:
        runtime = self._runtime = placed.runtime
        self._placed, self._group, self._part, self._bases = placed, group, part, bases
        self._places = {name: np.uint64(place) for name, place in shared.places.items()}
        self._tree = tree
        self._joined = shared.own("joined", -(-placed.n // 64) * 8).view(np.uint32)
        self._kernels = {spec.name: spec.build(runtime, placed.ids, placed.codec) for spec in PROOF_KERNELS}
        self._faults = runtime.zeros(2, np.uint64)

    def prove(self, source: int, max_depth: int | None) -> None:
        """Prove the tree from ``source``, which was to stop at a level; all ranks make this call.

        Raises
        ------
        VerificationError
            A rule is broken; how often, and on which ranks.
        """
        runtime, n, bases = self._runtime, np.uint64(self._placed.n), self._bases
        last = np.int32(NO_LAST if max_depth is None else min(max_depth, NO_LAST))
        levels, parents, places = self._tree["levels"], self._tree["parents"], self._places
        runtime.fill(self._faults, 0)
        runtime.fill(self._joined, 0)
        self._gather_tree()
        own = 64 * int(self._part["words"])
        rows = self._placed.out
        threads = max(own, rows.chunks) * WARP
        tree = (levels, parents, self._joined, last, self._faults[:1])
        self._launch("prove_own_edges", threads, rows.struct, self._part, *tree)
        self._tell_joined()
        vertices = (np.uint64(source), levels, parents, bases, places["joined"], last, self._faults[1:])
        self._launch("prove_own_vertices", own, n, self._part, *vertices)
        self._refuse(source, [int(count) for count in runtime.download(self._faults)])

    def _gather_tree(self) -> None:
        """Get levels and parents of all other ranks' vertices."""
        self._meet()  # all trees are done
        n, places = np.uint64(self._placed.n), self._places
        self._launch("gather_tree", int(n), n, self._part, self._bases, places["levels"], places["parents"])

    def _tell_joined(self) -> None:
        """Return when own vertices' ranks can see who is joined to a parent here."""
        self._meet()  # all tree edges are marked

    def _meet(self) -> None:
        self._runtime.synchronize()
        self._group.barrier()

    def _refuse(self, source: int, mine: list[int]) -> None:
        """Refuse a tree with faults on any rank, on all of them."""
        found = self._group.gather(np.array(mine, np.int64), [2] * self._group.size)
        for rank, (edges, vertices) in enumerate(found):
            if edges or vertices:
                raise VerificationError(
                    f"rank {rank} (host {self._group.hosts[rank]}): wrong result: {edges} edges and {vertices} "
                    f"vertices of the BFS tree from vertex {source} break a rule (found on the device)"
                )

    def _launch(self, name: str, threads: int, *arguments: object) -> None:
        launch(self._runtime, self._kernels[name], threads, arguments)
