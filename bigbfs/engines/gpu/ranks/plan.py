"""What one rank of several GPUs takes: its byte ledger, and the placement that all ranks have room for.

As planning.py counts for one GPU: upper bounds, in the same places. A rank has offsets, degrees and heads of all
vertices, edges of its own rows, and beside the state of its search what others write and read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.hot import GRAIN, offset_bytes
from bigbfs.engines.gpu.placement.ledger import Buffer, adjacencies, grain, hot_buffers, hubs_of, rows_of, state_buffers
from bigbfs.engines.gpu.planning import HOT_SHARE, Limits, Plan, head_ladder, room_beside_heads
from bigbfs.engines.gpu.runtime.memory import reads_in_place
from bigbfs.engines.gpu.streamed.ledger import stage_sizes, streamed_buffers
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition, cut
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph
from bigbfs.sizes import format_size

RESIDENCIES = ("vram", "mapped")
"""Where own rows may lie whoever runs the levels, best first."""

STREAMED = "streamed"
"""Where they may lie, too, if hosts do: in the file."""


def own_bytes(adjacency: Adjacency, partition: Partition, rank: int) -> int:
    """Return the bytes of the edges in own rows."""
    indptr, n = adjacency.indptr, adjacency.n
    words = np.arange(partition.words, dtype=np.int64)[partition.own(rank)]
    lengths = indptr[np.minimum(64 * words + 64, n)] - indptr[64 * words]
    return int(lengths.sum(dtype=np.uint64)) * adjacency.edges.itemsize


def plan_of(
    graph: Graph,
    partition: Partition,
    rank: int,
    residency: str,
    groups: int,
    limits: Limits,
    registers_read_only: bool,
    programs: Sequence[Any],
    staged: bool = False,
    stages: int = 0,
) -> Plan:
    """Return what ``rank`` takes in one way, whether it fits or not.

    Parameters
    ----------
    programs
        Classes of programs over GPUs: with ``own_arrays()`` and ``shared_bytes(partition, ids)``.
    staged
        Whether what ranks tell one another goes by way of pinned memory: ``staged_bytes(partition, ids)`` of programs.
    stages
        Bytes of the buffers through which rows come that are streamed.
    """
    buffers = (
        [] if residency == STREAMED else _rows_in_memory(graph, partition, rank, residency, groups, registers_read_only)
    )
    if residency == STREAMED:
        buffers += streamed_buffers(graph, groups, stages)
    buffers += state_buffers(graph, [program.own_arrays() for program in programs])
    for program in programs:
        shared = program.shared_bytes(partition, graph.ids)
        buffers.append(Buffer("shared", grain(shared), "vram", "what other GPUs write and read"))
        if staged:
            nbytes = program.staged_bytes(partition, graph.ids)
            buffers.append(Buffer("staging", nbytes, "pinned", "what is sent to other ranks, and comes from them"))
    return Plan(residency, tuple(buffers), limits, groups, stage_bytes=stages)


def _rows_in_memory(
    graph: Graph, partition: Partition, rank: int, residency: str, groups: int, registers_read_only: bool
) -> list[Buffer]:
    """Return the buffers of rows in device memory, or mapped."""
    buffers: list[Buffer] = []
    for prefix, adjacency in adjacencies(graph):
        in_place = "mapped" if reads_in_place(adjacency.edges, registers_read_only) else "pinned"
        for buffer in rows_of(prefix, adjacency, residency if residency == "vram" else in_place, groups):
            edges = buffer.name in (f"{prefix}indices", f"{prefix}blob")
            if edges and residency == "vram":
                buffers.append(replace(buffer, bytes=grain(own_bytes(adjacency, partition, rank))))
                what = "the file, while own rows are copied from it"
                buffers.append(Buffer(f"{prefix}file", adjacency.edges.nbytes, in_place, what))
            elif buffer.name == f"{prefix}placement":
                more = grain(8 * (adjacency.n + 1)) + grain(8 * (partition.words + 1))
                buffers.append(replace(buffer, bytes=buffer.bytes + more))
            else:
                buffers.append(buffer)
    return buffers


def with_hot_rows(plan: Plan, graph: Graph, partition: Partition, rank: int, share: float) -> Plan:
    """Give copies of own rows that are mapped, or in the file, what is left of the budget, up to a ``share`` of their
    bytes."""
    if plan.residency == "vram":
        return plan
    rows = adjacencies(graph)
    if plan.residency == STREAMED:
        most = int(sum(own_bytes(adjacency, partition, rank) for _, adjacency in rows) * share)
        room = min(plan.limits.vram - plan.device_bytes, most) // GRAIN * GRAIN
        if room <= offset_bytes(sum(hubs_of(adjacency) for _, adjacency in rows)):
            return plan
        return replace(plan, buffers=(*plan.buffers, *hot_buffers(graph, room)), hot_bytes=room)
    left = max(0, plan.limits.vram - plan.device_bytes)
    left = room_beside_heads(graph, plan.head_groups, left) // len(rows)
    found = []
    for prefix, adjacency in rows:
        own = own_bytes(adjacency, partition, rank)
        found.append(Buffer(f"{prefix}hot", min(left, int(own * share)) // GRAIN * GRAIN, "vram", "own rows, too"))
    return replace(plan, buffers=(*plan.buffers, *found), hot_bytes=sum(buffer.bytes for buffer in found))


def as_ranges(graph: Graph, partition: Partition) -> Partition:
    """Return ``partition``, or where it deals words one into ranges: each rank then reads one stretch of the file."""
    return partition if len(partition.bounds) else cut(np.asarray(graph.adjacency.indptr), partition.size)


def ways(graph: Graph, residency: str, work: Sequence[Work] = ()) -> Iterator[tuple[str, int, int]]:
    """Yield what is tried for ``work``, best first: residency, groups of heads as on one GPU, bytes of the stages.

    Raises
    ------
    UsageError
        The residency is unknown.
    """
    if residency not in ("auto", *RESIDENCIES, STREAMED):
        raise UsageError(
            "several GPUs have their edges in their own memory, in host memory or in the file",
            about=(("residency", residency),),
            remedies=tuple(("residency", each, "use {}") for each in (*RESIDENCIES, STREAMED)),
        )
    for choice in RESIDENCIES if residency == "auto" else (residency,):
        stages = stage_sizes(graph) if choice == STREAMED else (0,)
        yield from ((choice, *each) for each in product(head_ladder(graph, choice, work), stages))


def choose(
    graph: Graph,
    partition: Partition,
    group: Group,
    residency: str,
    limits: Limits,
    registers_read_only: bool,
    programs: Sequence[Any],
    staged: bool = False,
    streams: bool = False,
    work: Sequence[Work] = (),
) -> Plan:
    """Return this rank's plan of the first way for which all ranks have room; all ranks make this call.

    ``"auto"`` is ``RESIDENCIES``. ``streams``: whether what is going to be run could stream its rows instead. ``work``:
    that, whose ``programs`` are given.

    Raises
    ------
    UsageError
        The residency is unknown.
    DoesNotFitError
        A rank has no room: names the first such one, and its ledger.
    """
    how = (limits, registers_read_only, programs, staged)
    plans = [
        plan_of(graph, partition, group.rank, choice, groups, *how, stages)
        for choice, groups, stages in ways(graph, residency, work)
    ]
    everyone = group.objects(([plan.fits for plan in plans], plans[-1].ledger()))
    for number, plan in enumerate(plans):
        if all(fits[number] for fits, _ in everyone):
            return with_hot_rows(plan, graph, partition, group.rank, 1.0 if residency == "auto" else HOT_SHARE)
    worst = next(rank for rank, (fits, _) in enumerate(everyone) if not fits[-1] or rank == group.size - 1)
    last = plans[-1]
    raise DoesNotFitError(
        f"{graph.path or 'the graph'} does not fit {group.size} GPUs, not even with the smallest head table: rank "
        f"{worst} (host {group.hosts[worst]})\n{everyone[worst][1]}",
        remedies=(
            *((("residency", "mapped", "use {}"),) if residency == "vram" else ()),
            *((("residency", STREAMED, "use {}"),) if residency in ("vram", "mapped") and streams else ()),
            f"more GPUs: of {format_size(last.device_bytes)} a part is divided among them",
            ("backend", "cpu"),
        ),
        lead="\nwhat helps: ",
    )
