"""What each part of the Merrill family's filter lets pass that it should not: ends that a level finds are each wanted
once, and every further one that passes is a false negative (report 004, figure 8: as a share of m - n).

On a device only: an emulation runs the lanes one after the other, and races are what makes false negatives. Exact parts
have none anywhere, and no part may lose an end.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from studies.bed import Bed, specs
from studies.tree import Tree

BITMASK, HISTORY, WARP, LABEL, MATCH, EXACT = 1, 2, 4, 8, 16, 32
"""Of the kernel's argument (culling.cu)."""

FILTERS = {
    "label": LABEL,
    "bitmask": BITMASK,
    "bitmask + label": BITMASK | LABEL,
    "bitmask + label + warp": BITMASK | LABEL | WARP,
    "bitmask + label + warp + history": BITMASK | LABEL | WARP | HISTORY,
    "bitmask + label + match_any": BITMASK | LABEL | MATCH,
    "atomicOr": EXACT,
}
"""Name -> parts; the last one must have no false negatives."""


def study(runtime: Runtime, graph: Graph, tree: Tree) -> dict[str, Any]:
    """Return what each filter lets pass on each level, and its seconds.

    ``reached``, ``edges``; ``passed``, ``false`` (passed without need), ``share`` (of m - n), ``seconds``: filter ->
    value; ``levels``: filter -> what passes on each.

    Raises
    ------
    VerificationError
        A filter has lost an end, or the exact one let one pass twice.
    """
    new = np.append(tree.sizes[1:], 0)
    found: dict[str, Any] = {name: {} for name in ("passed", "false", "share", "seconds", "levels")}
    with Bed(runtime, graph, tree) as bed:
        (spec,) = specs("culling.cu", "cull_ends", culling=BITMASK | HISTORY | WARP)
        kernel = bed.kernel(spec)
        for name, parts in FILTERS.items():
            for _ in range(2):  # the first warms
                bed.begin()
                bed.reach(0)
                seconds = bed.seconds(partial(_every_level, kernel, tree, parts))
            passed = bed.records()["vertices"].astype(np.int64)
            if (passed < new).any() or (name == "atomicOr" and (passed != new).any()):
                level = int(np.flatnonzero(passed != new)[0])
                raise VerificationError(f"{name}, level {level}: {passed[level]} ends pass, {new[level]} are new")
            if parts & LABEL and not np.array_equal(runtime.download(bed.arrays["levels"]), tree.levels):
                raise VerificationError(f"{name}: the labels are not the levels of the search")
            false = int((passed - new).sum())
            found["passed"][name], found["false"][name] = int(passed.sum()), false
            found["share"][name] = false / max(1, tree.edges - tree.reached)
            found["seconds"][name] = seconds
            found["levels"][name] = passed.tolist()
    return {"reached": tree.reached, "edges": tree.edges} | found


def _every_level(kernel: Any, tree: Tree, parts: int) -> None:
    for level, size in enumerate(tree.sizes.tolist()):
        kernel(level, size, np.uint64(parts))
