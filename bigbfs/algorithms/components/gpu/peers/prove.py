"""Proof on the devices that the labels of the last run over ranks are right: each proves its own rows and vertices.

As one GPU does (:mod:`bigbfs.algorithms.components.gpu.verify`): both ends of every own edge carry one label, a label
labels itself, and a plain forest over all edges has as many trees as there are labels. Every rank gets all labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from bigbfs.algorithms.components.gpu.peers.arguments import PROOF_KERNELS
from bigbfs.algorithms.components.gpu.peers.loop import Joined
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import VerificationError


class Forest(Protocol):
    """The forest of one rank, of which each call is one that all ranks make.

    Attributes
    ----------
    n, placed, group, launch, rows
        The graph, own rows in place, the ranks, and the kernels.
    state
        ``struct Ranks`` (joint.cuh).
    forest
        Parents of all vertices, of own ones roots.
    """

    n: int
    placed: PlacedGraph
    group: Group
    launch: Launcher
    rows: list[PlacedAdjacency]
    state: np.ndarray
    forest: Array

    def warm(self) -> None:
        """Run every kernel on nothing."""

    def run(self, options: ComponentsOptions | None = None) -> Joined:
        """Label the components; the labels stay on the devices."""

    def own_labels(self) -> np.ndarray:
        """Return the labels of own vertices by local number: id, 64 for each own word."""

    def all_labels(self) -> Array:
        """Return the labels of all vertices, on every rank."""

    def plain_forest(self) -> None:
        """Link every edge of every row from the beginning; ``forest`` says what comes out."""

    @property
    def shared_bytes(self) -> int:
        """Bytes of what is told, and of what others read."""

    def close(self) -> None:
        """Release what ranks have between them; a second call does nothing."""


def prove_labels(forest: Forest, look_at_edges: Callable[[Array, Array], None] | None = None) -> None:
    """Prove the labels of the last run of ``forest``; all ranks make this call. All labels are on each rank then.

    ``look_at_edges(labels, faults)`` counts own edges between two labels; None: their rows are in place.

    Raises
    ------
    VerificationError
        A rule is broken: on which rank, and how often.
    """
    if not forest.n:
        return
    runtime, group, launch = forest.placed.runtime, forest.group, forest.launch
    launch.load(PROOF_KERNELS)
    r, labels = forest.state, forest.all_labels()
    own = 64 * int(r["part"]["words"])
    found = runtime.zeros(4, np.uint64)
    if look_at_edges is not None:
        look_at_edges(labels, found[:1])
    for rows in forest.rows if look_at_edges is None else ():
        launch("prove_label_edges", max(own, rows.chunks) * WARP, rows.struct, r, labels, found[:1])
    launch("prove_own_labels", own, r, labels, found[1:2])
    launch("joint_roots", own, r, labels, found[2:3])
    forest.plain_forest()
    launch("joint_roots", own, r, forest.forest, found[3:])
    everyone = group.gather(runtime.download(found).astype(np.int64), [4] * group.size)
    for rank, (edges, vertices, _, _) in enumerate(everyone):
        if edges or vertices:
            raise VerificationError(
                f"rank {rank} (host {group.hosts[rank]}): wrong result: {edges} edges between labels and {vertices} "
                "labels break a rule (found on the device)"
            )
    have, want = (sum(int(each[i]) for each in everyone) for i in (2, 3))
    if have != want:
        raise VerificationError(f"wrong result: {have} labels, and {want} components (found on the devices)")
