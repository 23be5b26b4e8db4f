"""Proof on the devices that the labels of the last run over ranks are right: each proves its own rows and vertices.

As one GPU does (:mod:`bigbfs.algorithms.components.gpu.verify`): both ends of every own edge carry one label, a label
labels itself, and a plain forest over all edges has as many trees as there are labels. Labels of other ranks are read
in their memory.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.peers.arguments import PROOF_KERNELS
from bigbfs.algorithms.components.gpu.peers.loop import JointForest
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.errors import VerificationError


def prove_labels(forest: JointForest) -> None:
    """Prove the labels of the last run of ``forest``; all ranks make this call. All labels are on each rank then.

    Raises
    ------
    VerificationError
        A rule is broken: on which rank, and how often.
    """
    if not forest.n:
        return
    runtime, group, launch = forest.placed.runtime, forest.group, forest.launch
    launch.load(PROOF_KERNELS)
    r, labels = forest.state, forest.labels
    own = 64 * int(r["part"]["words"])
    found = runtime.zeros(4, np.uint64)
    forest.meet()  # all labels are done
    launch("joint_labels", forest.n, r, np.uint64(forest.shared.places[forest.found_in]), labels)
    for rows in forest.rows:
        launch("prove_label_edges", max(own, rows.chunks) * WARP, rows.struct, r, labels, found[:1])
    launch("prove_own_labels", own, r, labels, found[1:2])
    launch("joint_roots", own, r, labels, found[2:3])
    forest.meet()  # all labels are here
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
