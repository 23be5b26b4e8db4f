"""What one rank of several GPUs takes: its byte ledger, and the ways that are tried until all ranks have room.

As planning.py counts for one GPU: upper bounds, in the same places. A rank has offsets, degrees and heads of all
vertices, edges of its own rows, and beside the state of its search what others write and read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.hot import GRAIN, offset_bytes
from bigbfs.engines.gpu.placement.ledger import Buffer, adjacencies, grain, hot_buffers, hubs_of, rows_of, state_buffers
from bigbfs.engines.gpu.planning import Limits, Plan, head_ladder, room_beside_heads
from bigbfs.engines.gpu.ranks.shares import all_rows, share_of
from bigbfs.engines.gpu.runtime.memory import reads_in_place
from bigbfs.engines.gpu.streamed.ledger import stage_sizes, streamed_buffers
from bigbfs.engines.ranks.partition import Partition
from bigbfs.errors import UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph

RESIDENCIES = ("vram", "mapped")
"""Where own rows may lie whoever runs the levels, best first."""

EDGES = ("indices", "blob")
"""Ends of the names of the arrays of edges."""

STREAMED = "streamed"
"""Where they may lie, too, if hosts do: in the file."""


def own_bytes(adjacency: Adjacency, partition: Partition, rank: int) -> int:
    """Return the bytes of the edges in own rows."""
    return share_of(adjacency, partition, rank).nbytes


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
    whole: bool = False,
) -> Plan:
    """Return what ``rank`` takes in one way, whether it fits or not.

    Parameters
    ----------
    programs
        Classes of programs over GPUs: with ``own_arrays()``, ``shared_bytes(partition, ids)`` and
        ``fetched_bytes(partition, ids, rank)``.
    staged
        Whether what ranks tell one another goes by way of pinned memory: ``staged_bytes(partition, ids)`` of programs.
    stages
        Bytes of the buffers through which rows come that are streamed.
    whole
        Whether the rank takes the rows of all vertices to device memory.
    """
    if residency == STREAMED:
        buffers = _rows_in_file(graph, partition, rank, groups, stages)
    else:
        buffers = _rows_in_memory(graph, partition, rank, residency, groups, registers_read_only, whole)
    buffers += state_buffers(graph, [program.own_arrays() for program in programs])
    for program in programs:
        shared = program.shared_bytes(partition, graph.ids)
        buffers.append(Buffer("shared", grain(shared), "vram", "what other GPUs write and read"))
        if staged:
            nbytes = program.staged_bytes(partition, graph.ids)
            buffers.append(Buffer("staging", nbytes, "pinned", "what is sent to other ranks, and comes from them"))
        fetched = program.fetched_bytes(partition, graph.ids, rank)
        buffers.append(Buffer("result", fetched, "host", "what is fetched for the caller, on its way to rank 0"))
    why = ("all rows on each GPU: all but large bottom-up levels are searched by all alike",) if whole else ()
    return Plan(residency, tuple(buffers), limits, groups, stage_bytes=stages, why=why, whole=whole)


def _rows_in_memory(
    graph: Graph,
    partition: Partition,
    rank: int,
    residency: str,
    groups: int,
    registers_read_only: bool,
    whole: bool,
) -> list[Buffer]:
    """Return the buffers of rows in device memory, or mapped."""
    buffers: list[Buffer] = []
    for prefix, adjacency in adjacencies(graph):
        share = all_rows(adjacency) if whole else share_of(adjacency, partition, rank)
        in_place = "mapped" if reads_in_place(adjacency.edges, registers_read_only) else "pinned"
        for buffer in rows_of(prefix, adjacency, residency if residency == "vram" else in_place, groups):
            if buffer.name in (f"{prefix}indices", f"{prefix}blob"):
                taken = share.copied.nbytes if residency == "vram" else share.stretch.nbytes
                purpose = f"{buffer.purpose}, all that are read" if share.dealt else f"{buffer.purpose} of own rows"
                purpose = buffer.purpose if residency == "vram" else purpose
                buffers.append(replace(buffer, bytes=grain(taken), purpose=purpose))
            elif buffer.name == f"{prefix}placement" and share.dealt:
                more = grain(8 * (adjacency.n + 1)) + grain(8 * (partition.words + 1))
                buffers.append(replace(buffer, bytes=buffer.bytes + more))
            else:
                buffers.append(buffer)
        if whole:
            bits = grain(4 * -(-adjacency.n // 32))
            buffers.append(Buffer(f"{prefix}all_rows", bits, "vram", "which vertices of all ranks have edges"))
    return buffers


def _rows_in_file(graph: Graph, partition: Partition, rank: int, groups: int, stages: int) -> list[Buffer]:
    """Return the buffers of rows that are streamed; of the edges only own ones are read."""
    own = {f"{prefix}{name}": adjacency for prefix, adjacency in adjacencies(graph) for name in EDGES}
    return [
        replace(buffer, bytes=own_bytes(own[buffer.name], partition, rank), purpose="edges of own rows")
        if buffer.name in own
        else buffer
        for buffer in streamed_buffers(graph, groups, stages)
    ]


def own_reads(plan: Plan) -> int:
    """Return the bytes of the edges that a rank has in the file: 0, where it does not stream them."""
    return sum(buffer.bytes for buffer in plan.buffers if buffer.where == "file" and buffer.name.endswith(EDGES))


def placing_reads(plan: Plan) -> int:
    """Return the bytes of edges that a rank reads from the file while heads and hot rows are made, at most."""
    return own_reads(plan) if plan.head_groups or plan.hot_bytes else 0


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


def ways(
    graph: Graph, residency: str, work: Sequence[Work] = (), *, whole: bool = False
) -> Iterator[tuple[str, int, int, bool]]:
    """Yield what is tried for ``work``, best first: residency, groups of heads as on one GPU, bytes of the stages, and
    ``whole``, whether each rank takes all rows to its own memory.

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
    for choice in ("vram",) if whole else RESIDENCIES if residency == "auto" else (residency,):
        stages = stage_sizes(graph) if choice == STREAMED else (0,)
        yield from ((choice, *each, whole) for each in product(head_ladder(graph, choice, work), stages))
