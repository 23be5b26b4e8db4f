"""Order by descending degree in bounded memory: rows are spilled once more, under their new numbers.

The order itself is held in memory: about 44 bytes for each vertex while it is found, 4 or 8 afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.plan import BYTES_PER_PAIR, Plan
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.sinks import StageSink
from bigbfs.conversion.on_disk.spill import TABLE_BITS, Partition, Writer, map_by_weight
from bigbfs.conversion.orders.degree import degree_order
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, ranges
from bigbfs.sizes import size_allowed, size_needed

BYTES_PER_VERTEX = 44
BYTES_OF_ORDER = 16


def beside_order(plan: Plan, n: int) -> Plan:
    """Return the plan for what is sorted while the order of ``n`` vertices and their labels are held."""
    pairs = (plan.room - BYTES_OF_ORDER * n) // BYTES_PER_PAIR
    return replace(plan, pairs=max(1, min(plan.pairs, pairs)))


@dataclass(frozen=True)
class Reordered:
    """Partitions of the rows under their new numbers, and ``order``: new vertex i is ``order[i]``."""

    partitions: list[Partition]
    order: np.ndarray


def require_order_fits(n: int, plan: Plan) -> None:
    """Refuse more vertices than can be ordered in memory.

    Raises
    ------
    DoesNotFitError
        Says how much it would take.
    """
    need = BYTES_PER_VERTEX * n
    if need > plan.room:
        raise DoesNotFitError(
            f"ordering {n:,} vertices by degree takes {size_needed(need)} of memory, and {size_allowed(plan.room)} are "
            "left",
            remedies=(("memory", None), ("order", "degree", "leave {} out")),
        )


def reorder(
    stage: StageSink,
    *,
    twins: bool,
    plan: Plan,
    scratch: Scratch,
    workers: Workers,
    threads: int,
    advance: Callable[[int], object] = lambda edges: None,
) -> Reordered:
    """Spill the staged rows under the numbers that they get by degree; with ``twins`` the reverse of every edge too.

    Raises
    ------
    FileAccessError
        A temporary file cannot be written.
    """
    degrees = stage.degrees()
    n = len(degrees)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(degrees, out=indptr[1:])
    order, rank = degree_order(indptr)
    shift = max(0, max(n - 1, 1).bit_length() - TABLE_BITS)
    weights = np.add.reduceat(degrees[order], np.arange(0, n, 1 << shift)) if n else np.ones(1)
    del degrees
    parts = max(4, int(1.3 * stage.edges / plan.pairs) + 1)
    places = map_by_weight(0, n, shift, weights, max(1.0, stage.edges / parts))
    writer = Writer(scratch, "ordered", places, workers, threads)
    ids = id_dtype(n)
    indptr, rank = frozen(indptr), frozen(rank)
    step = max(1, plan.pairs // 4)
    pairs = np.empty(2 * min(step, stage.edges), ids)
    for first, indices in stage.chunks(step):
        chunks = ranges(len(indices), 2 * threads)
        starts = np.searchsorted(indptr, [first + a for a, _ in chunks], "right") - 1
        given, out = frozen(indices), pairs[: 2 * len(indices)]
        for stream in ("out", "in")[: 1 + twins]:
            backward = stream == "in"

            def rename(i: int) -> None:
                kernels.rename_pairs(given, *chunks[i], starts[i], first, indptr, rank, backward, out)

            workers.each(len(chunks), rename)
            writer.add_pairs(out, 0, stream)
        advance(len(indices))
    stage.remove()
    return Reordered(writer.partitions(), order)
