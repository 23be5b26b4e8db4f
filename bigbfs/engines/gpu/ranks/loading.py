"""Placing own rows, whichever way they live."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from bigbfs.engines.gpu.planning import Plan
from bigbfs.engines.gpu.ranks.own import OwnAdjacency
from bigbfs.engines.gpu.ranks.shares import Share
from bigbfs.engines.gpu.ranks.streamed import OwnStreamed, own_range, own_rows_sound
from bigbfs.engines.gpu.ranks.telling import Tell, silent
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency


def hot_bytes(plan: Plan, prefix: str) -> int:
    """Return the device memory for copies of mapped rows of the adjacency whose arrays have ``prefix``."""
    return next((buffer.bytes for buffer in plan.buffers if buffer.name == f"{prefix}hot"), 0)


def place_own(
    runtime: Runtime,
    adjacency: Adjacency,
    partition: Partition,
    rank: int,
    plan: Plan,
    buffers: Buffers | None,
    share: Share | None = None,
    *,
    prefix: str,
    ranked: bool,
    prove: bool,
    twins: bool,
    tell: Tell = silent,
) -> OwnAdjacency | OwnStreamed:
    """Return the rows of ``rank`` in place; with ``buffers`` they are streamed, and the host proves them meanwhile.

    ``share`` as of :class:`OwnAdjacency`; ``prefix`` is that of the adjacency's arrays in the ledger; ``twins``: there
    are two adjacencies; ``tell`` is told each step.
    """
    if buffers is None:
        hot = hot_bytes(plan, prefix)
        mapped = plan.residency == "mapped"
        return OwnAdjacency(
            runtime, adjacency, partition, rank, mapped=mapped, head_groups=plan.head_groups, hot_bytes=hot,
            ranked=ranked, prove=prove, share=share, tell=tell,
        )  # fmt: skip
    hot = plan.hot_bytes // (2 if twins else 1)
    for name in ("engines.gpu.streamed.feed", "graph.rows", "graph.varint"):
        import_module(f"bigbfs.{name}")  # Numba: of two threads that begin to import it at once, one fails
    with ThreadPoolExecutor(1) as pool:
        sound = pool.submit(own_rows_sound, adjacency, own_range(partition, rank)) if prove else None
        made = OwnStreamed(
            runtime, adjacency, buffers, partition, rank, head_groups=plan.head_groups, hot_bytes=hot, ranked=ranked
        )
        made.sound = sound is None or sound.result()
    return made
