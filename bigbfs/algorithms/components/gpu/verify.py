"""Proof on the device that labels are those of the connected components, in O(n + m).

Equal labels at both ends of every edge make each label a union of components; a label that labels itself stands for
one. An exact forest over all edges says how many components there are: every merge of two of its trees is one fewer.
Unions that are as many as the components are the components. The count may only be wrong upwards, by a merge that was
missed, and then the numbers differ.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.loop import ComponentsLoop
from bigbfs.engines.gpu.edge_rule import EdgeRules
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.errors import VerificationError

KERNELS = kernels_of(
    "algorithms/components/gpu/verify_labels.cu", ("verify_label_edges", "verify_label_pieces", "verify_label_vertices")
)


def verify_labels_on_device(placed: PlacedGraph, loop: ComponentsLoop) -> None:
    """Prove the labels of the last run of ``loop``.

    Raises
    ------
    VerificationError
        A rule is broken.
    """
    labels = loop.label_array()
    rules = EdgeRules(placed, KERNELS)
    roots = placed.runtime.zeros(1, np.uint64)
    rules.edges("verify_label", "edges between labels", labels)
    rules.vertices("verify_label_vertices", "labels", np.uint64(placed.n), labels, roots)
    have, want = int(placed.runtime.download(roots)[0]), loop.count_components()
    if have != want:
        raise VerificationError(f"wrong result: {have} labels, and {want} components (found on the device)")
