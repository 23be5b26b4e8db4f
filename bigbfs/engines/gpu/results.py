"""From the arrays of a device to results for the caller: signed host arrays, -1 where there is nothing.

In: what ``BfsLoop`` and ``ComponentsLoop`` have left, and what their runs measured. Out: ``BfsResult`` (levels int32,
parents int64, shape (n,)) and ``ComponentsResult`` (labels int64, shape (n,)).
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.loop import ComponentsLoop, Labelling
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.loops import Traversal
from bigbfs.engines.gpu.runtime.arguments import no_vertex
from bigbfs.record import BfsResult, ComponentsRecord, ComponentsResult, RunRecord


def tree_of(loop: Traversal, record: RunRecord, *, want_levels: bool, want_parents: bool) -> BfsResult:
    """Copy the tree of the last search from the device; what is not wanted is all -1 and takes no memory."""
    levels = loop.levels() if want_levels else np.broadcast_to(np.int32(-1), loop.n)
    signed = np.broadcast_to(np.int64(-1), loop.n)
    if want_parents:
        parents = loop.parents()
        signed = parents.astype(np.int64)
        signed[parents == no_vertex(loop.ids)] = -1
    return BfsResult(levels, signed, record)


def components_of(loop: ComponentsLoop, found: Labelling, options: ComponentsOptions) -> ComponentsResult:
    """Copy the labels of the last run from the device and count what they say."""
    labels = loop.labels().astype(np.int64)
    sizes = np.bincount(labels) if len(labels) else np.zeros(1, np.int64)
    record = ComponentsRecord(
        int(np.count_nonzero(sizes)),
        int(sizes.max()),
        found.seconds,
        algorithm=options.algorithm,
        edges_read=found.edges_read,
        passes=found.passes,
        left=found.left,
    )
    return ComponentsResult(labels, record)
