"""Placing own rows, whichever way they live, and what is begun before."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

from bigbfs.engines.gpu.loading import placement_kernels
from bigbfs.engines.gpu.placement.ledger import adjacencies
from bigbfs.engines.gpu.planning import Plan
from bigbfs.engines.gpu.ranks.early import EarlyMemory
from bigbfs.engines.gpu.ranks.own import PLACEMENT, PROOF_KERNELS, OwnAdjacency
from bigbfs.engines.gpu.ranks.passed_on import WINDOW, Others, goes_on
from bigbfs.engines.gpu.ranks.plan import STREAMED
from bigbfs.engines.gpu.ranks.shares import Share, all_rows, share_of
from bigbfs.engines.gpu.ranks.streamed import OWN_ROWS, OwnStreamed, own_range, own_rows_sound
from bigbfs.engines.gpu.ranks.telling import Tell, silent
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph


def hot_bytes(plan: Plan, prefix: str) -> int:
    """Return the device memory for copies of mapped rows of the adjacency whose arrays have ``prefix``."""
    return next((buffer.bytes for buffer in plan.buffers if buffer.name == f"{prefix}hot"), 0)


def placing_kernels(residency: str, *, prove: bool) -> tuple[KernelSpec, ...]:
    """Return every kernel that placing asks for."""
    if residency == STREAMED:
        return (OWN_ROWS, *placement_kernels(STREAMED))
    return (*PLACEMENT, *(PROOF_KERNELS if prove else ()))


def program_kernels(programs: Sequence[Any], plan: Plan) -> tuple[KernelSpec, ...]:
    """Return every kernel that ``programs`` will ask for."""
    rows = {"whole": True} if plan.whole else {}
    return tuple(dict.fromkeys(spec for program in programs for spec in program.every_kernel(**rows)))


def early_memory(
    runtime: Runtime, group: Group, graph: Graph, partition: Partition, programs: Sequence[Any], plan: Plan, tell: Tell
) -> EarlyMemory | None:
    """Return memory that the first of ``programs`` shares with other ranks, made before edges are copied, or None where
    nobody needs any by then; all ranks make this call. Without programs edges may want it alone."""
    if plan.residency != "vram" or group.size == 1:
        return None
    if programs:
        return EarlyMemory(runtime, group, programs[0].shared_bytes(partition, graph.ids), tell)
    if plan.whole and any(goes_on(group, rows.edges) for _, rows in adjacencies(graph)):
        return EarlyMemory(runtime, group, min(WINDOW, 8 * graph.n), tell)  # less than the state that is placed later
    return None


def begin_shares(
    runtime: Runtime, group: Group, graph: Graph, partition: Partition, plan: Plan, window: EarlyMemory | None
) -> list[Share]:
    """Let offsets and own edges come to device memory, and return the shares of this rank; ``window`` is what edges of
    other ranks may come through."""
    rows, shares, edges = adjacencies(graph), [], []
    for prefix, adjacency in rows:
        if not plan.whole:
            share = share_of(adjacency, partition, group.rank)
        elif window is not None and goes_on(group, adjacency.edges):
            share = all_rows(adjacency, Others(runtime, group, adjacency.edges, window))
        else:
            share = all_rows(adjacency)
        shares.append(share)
        edges.append(share.copied if plan.residency == "vram" else share.near(hot_bytes(plan, prefix)))
    # no page-locking of edges yet: it takes longer in all while kernels are built, see GpuEngine
    runtime.begin_upload(*(adjacency.indptr for _, adjacency in rows), *edges)
    return shares


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
    """Return the rows of ``rank`` in place, but for what :meth:`OwnAdjacency.finish` does; with ``buffers`` they are
    streamed, and the host proves them meanwhile.

    ``share`` as of :class:`OwnAdjacency`; ``prefix`` is that of the adjacency's arrays in the ledger; ``twins``: there
    are two adjacencies; ``tell`` is told each step.
    """
    if buffers is None:
        hot = hot_bytes(plan, prefix)
        mapped = plan.residency == "mapped"
        return OwnAdjacency(
            runtime, adjacency, partition, rank, mapped=mapped, head_groups=plan.head_groups, hot_bytes=hot,
            ranked=ranked, prove=prove, share=share, tell=tell, later=True,
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
