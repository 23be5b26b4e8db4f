"""How fast a device reads the rows of each level's true frontier, by who reads a row; and what looking up the status of
each end adds, from a queue of ends or as they are read (report 004, figures 5, 6 and 9).

Every kernel's ids are added up and compared with the rows': a rate of something else is none.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from studies.bed import THREADS, Bed, specs
from studies.tree import Tree, sums

WAYS = {
    "gather_serial": 1,
    "gather_warp": 32,
    "gather_block": THREADS,
    "gather_scan": 1,
    "gather_scan_warp": 1,
    "gather_all": 1,
}
"""Kernel -> threads for a row of the frontier."""

LOOKUPS = ("put_ends", "look_up", "fused")

MOST_LEVELS = 64
"""Levels that are timed each by itself; of a deeper search the widest."""

TRIALS = 3


def study(runtime: Runtime, graph: Graph, tree: Tree) -> dict[str, Any]:
    """Return the seconds of each kernel on each level, by column.

    ``level``, ``vertices``, ``edges``; ``seconds``: kernel -> list, None where the level has more edges than the queue
    of ends holds.

    Raises
    ------
    VerificationError
        A kernel has read something else than the rows of the frontier.
    """
    counted = sums(graph, tree)
    edges = counted["edges"]
    widest = np.sort(np.argsort(-edges, kind="stable")[:MOST_LEVELS])
    # the queue takes what is left: a third of the memory at most
    most = min(int(edges.max()), runtime.free_bytes() // 3 // graph.ids.itemsize)
    found: dict[str, list[float | None]] = {name: [] for name in (*WAYS, *LOOKUPS)}
    with Bed(runtime, graph, tree, most) as bed:
        kernels = {spec.name: bed.kernel(spec) for spec in specs("gather.cu", *WAYS, *LOOKUPS)}
        for level in widest.tolist():
            size, count = int(tree.sizes[level]), int(edges[level])
            wanted, new = int(counted["sum"][level]), int(counted["unreached"][level])
            for name, threads in WAYS.items():
                work = _launches(kernels[name], level, size * threads)
                found[name].append(_timed(bed, work, name, level, ("checked", "edges"), (count, wanted)))
            bed.reach(level)
            fits = count <= most
            works = {
                "put_ends": (_launches(kernels["put_ends"], level, size), ("taken",), (count,)),
                "look_up": (_launches(kernels["look_up"], level, count), ("checked", "edges"), (count, new)),
                "fused": (_launches(kernels["fused"], level, size), ("checked", "edges"), (count, new)),
            }
            for name, (work, fields, values) in works.items():
                before = works["put_ends"][0] if name == "look_up" else None
                done = fits or name == "fused"
                found[name].append(_timed(bed, work, name, level, fields, values, before) if done else None)
    return {
        "level": widest.tolist(),
        "vertices": tree.sizes[widest].tolist(),
        "edges": edges[widest].tolist(),
        "seconds": found,
    }


def _launches(kernel: Callable[..., None], level: int, threads: int) -> Callable[[], None]:
    return lambda: kernel(level, threads)


def _timed(
    bed: Bed,
    work: Callable[[], None],
    name: str,
    level: int,
    fields: tuple[str, ...],
    wanted: tuple[int, ...],
    before: Callable[[], None] | None = None,
) -> float:
    """Return the median seconds of ``work``, whose counters must be as ``wanted``."""
    found = []
    for trial in range(TRIALS + 1):
        bed.begin()
        if before is not None:
            before()
        seconds = bed.seconds(work)
        if trial:  # the first warms
            found.append(seconds)
    record = bed.records()[level]
    counted = tuple(int(record[field]) for field in fields)
    if counted != wanted:
        raise VerificationError(f"{name}, level {level}: counted {fields} as {counted}, the rows have {wanted}")
    return median(found)
