"""The byte ledger of a GPU run: what is needed where, and which residency follows from it.

Counts are upper bounds, each rounded up to the allocator's grain, so that a plan that fits is a run that fits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bigbfs.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency, PlainAdjacency
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.gpu.arguments import HEAD_GROUP, PROGRESS, SLOT
from bigbfs.gpu.hot import GRAIN, offset_bytes
from bigbfs.graph import Graph
from bigbfs.sizes import format_size

RESERVE = 256 << 20
"""Bytes of free device memory left alone by default: kernels, and whoever else uses the device."""

RESIDENCIES = ("auto", "vram", "mapped")

HEAD_GROUPS = (2, 1, 0)
"""Groups of heads that are tried, most first."""

HOT_SHARE = 0.5
"""Share of the edges that may be hot where ``"mapped"`` was asked for: the others are to stay in host memory."""

SLOTS = 4096
"""Levels that one launch of a BFS can record."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """``bytes`` for ``name``, in ``"device"`` or ``"host"`` memory."""

    name: str
    bytes: int
    where: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will take.

    Attributes
    ----------
    residency
        ``"vram"`` or ``"mapped"``: where the edges live.
    buffers
        Everything, edges included.
    budget
        Bytes of device memory that it may take.
    head_groups
        Groups of ``HEAD_GROUP`` heads of every vertex in device memory.
    hot_bytes
        Device memory for hot rows: what is left of the budget where edges are mapped, and no more than they take.
    """

    residency: str
    buffers: tuple[Buffer, ...]
    budget: int
    head_groups: int
    hot_bytes: int = 0

    @property
    def device_bytes(self) -> int:
        """Bytes in device memory."""
        return sum(buffer.bytes for buffer in self.buffers if buffer.where == "device")

    @property
    def host_bytes(self) -> int:
        """Bytes in host memory that kernels read in place."""
        return sum(buffer.bytes for buffer in self.buffers if buffer.where == "host")

    def ledger(self) -> str:
        """Return the buffers as lines of text."""
        lines = [f"  {buffer.name:<34} {format_size(buffer.bytes):>9}  {buffer.where}" for buffer in self.buffers]
        lines.append(f"  {'device memory in all':<34} {format_size(self.device_bytes):>9}")
        lines.append(f"  {'device memory that may be used':<34} {format_size(self.budget):>9}")
        return "\n".join(lines)


def default_budget(free_bytes: int) -> int:
    """Return how much of ``free_bytes`` of device memory a run may take when nobody says."""
    return max(free_bytes - RESERVE, free_bytes // 2)


def make_plan(
    graph: Graph, residency: str, budget: int, head_groups: int | None = None, hot_bytes: int | None = None
) -> Plan:
    """Decide where the edges of ``graph`` live, within ``budget`` bytes of device memory.

    Parameters
    ----------
    graph
        Plain or compressed.
    residency
        ``"vram"``, ``"mapped"``, or ``"auto"``: vram if everything fits there. The head table is as large as fits.
    budget
        Bytes of device memory for everything that the run allocates.
    head_groups
        So many groups of heads and no other number; None: as many of ``HEAD_GROUPS`` as fit.
    hot_bytes
        So much device memory for hot rows of mapped edges at most; None: what is left of the budget, and where
        ``residency`` is ``"mapped"`` at most ``HOT_SHARE`` of the edges.

    Raises
    ------
    DoesNotFitError
        It does not fit; the message holds the ledger and the options that help.
    UsageError
        The residency is unknown.
    """
    if residency not in RESIDENCIES:
        raise UsageError(f"residency {residency!r} is unknown: choose one of {', '.join(RESIDENCIES)}")
    for choice in ("vram", "mapped") if residency == "auto" else (residency,):
        for groups in HEAD_GROUPS if head_groups is None else (head_groups,):
            plan = Plan(choice, _buffers(graph, choice, groups), budget, groups)
            if plan.device_bytes <= budget:
                if hot_bytes is None:
                    hot_bytes = int(plan.host_bytes * (HOT_SHARE if residency == "mapped" else 1))
                return _with_hot_rows(plan, graph, hot_bytes)
    raise DoesNotFitError(
        f"{graph.path or 'the graph'} does not fit GPU memory:\n{plan.ledger()}\n{_help(plan, graph)}"
    )


def _with_hot_rows(plan: Plan, graph: Graph, most: int) -> Plan:
    """Give hot rows what is left of the budget, up to ``most`` bytes."""
    adjacencies = [graph.adjacency]
    if graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency:
        adjacencies.append(graph.in_adjacency)
    hubs = sum(_hubs(adjacency) for adjacency in adjacencies)
    room = min(plan.budget - plan.device_bytes, most) // GRAIN * GRAIN
    if plan.residency == "vram" or room <= offset_bytes(hubs):
        return plan
    return replace(plan, buffers=(*plan.buffers, Buffer("hot rows", room, "device")), hot_bytes=room)


def _help(plan: Plan, graph: Graph) -> str:
    options = [f"--vram-budget {-(-plan.device_bytes // 2**20)}MiB or more (if the GPU has it)", "--backend cpu"]
    if plan.residency == "vram":
        options.insert(0, "--residency mapped (edges stay in host memory)")
        if graph.codec == "plain":
            options.insert(1, "--compressed (fewer bytes for the same edges)")
    return "what helps: " + "; ".join(options)


def _buffers(graph: Graph, residency: str, groups: int) -> tuple[Buffer, ...]:
    n, ids = graph.n, graph.ids.itemsize
    words = 4 * -(-n // 32)
    edges = "device" if residency == "vram" else "host"
    buffers = _rows("", graph.adjacency, edges, groups)
    chunks = _chunks(graph.adjacency)
    if graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency:
        buffers += _rows("in-", graph.in_adjacency, edges, groups)
        chunks = max(chunks, _chunks(graph.in_adjacency))
    buffers += [
        Buffer("queue (components: labels)", _grain(n * ids), "device"),
        Buffer("levels", _grain(4 * n), "device"),
        Buffer("parents", _grain(n * ids), "device"),
        Buffer("bitmaps visited, frontier, next, open", 4 * _grain(words), "device"),
        Buffer("list of chunks", _grain(4 * chunks), "device"),
        Buffer("records of levels", _grain(SLOTS * SLOT.itemsize), "device"),
        Buffer("progress and counters", _grain(PROGRESS.itemsize) + 6 * _grain(8), "device"),
    ]
    return tuple(buffers)


def _hubs(adjacency: Adjacency) -> int:
    """Return how many hubs there are at most: each has more than BLOCK_IDS edges."""
    return len(adjacency.hubs) if isinstance(adjacency, CompressedAdjacency) else adjacency.m // (BLOCK_IDS + 1)


def _chunks(adjacency: Adjacency) -> int:
    """Return how many chunks of hub rows there are at most: one of each hub is not full."""
    if isinstance(adjacency, CompressedAdjacency):
        return len(adjacency.block_ptr)
    return adjacency.m // BLOCK_IDS + _hubs(adjacency)


def _rows(prefix: str, adjacency: Adjacency, edges: str, groups: int) -> list[Buffer]:
    """Return the buffers of one adjacency."""
    n, ids, hubs, chunks = adjacency.n, adjacency.ids.itemsize, _hubs(adjacency), _chunks(adjacency)
    buffers = [Buffer(f"{prefix}indptr", _grain(8 * (n + 1)), "device")]
    if isinstance(adjacency, CompressedAdjacency):
        buffers.append(Buffer(f"{prefix}degree", _grain(n * ids), "device"))
        buffers.append(Buffer(f"{prefix}block index", _grain(8 * len(adjacency.block_ptr)), "device"))
        buffers.append(Buffer(f"{prefix}edges (blob)", _grain(len(adjacency.blob)), edges))
    else:
        assert isinstance(adjacency, PlainAdjacency)
        buffers.append(Buffer(f"{prefix}edges (indices)", _grain(adjacency.m * ids), edges))
    hub_bytes = _grain(hubs * ids) + _grain(8 * (hubs + 1)) + _grain(4 * chunks)
    buffers.append(Buffer(f"{prefix}hubs and their chunks", hub_bytes, "device"))
    buffers.append(Buffer(f"{prefix}bitmap of rows", _grain(4 * -(-n // 32)), "device"))
    if groups:
        buffers.append(
            Buffer(f"{prefix}heads, {groups * HEAD_GROUP} each", _grain(groups * HEAD_GROUP * n * ids), "device")
        )
    # the placement's own counters, and the hubs once more while they are sorted
    buffers.append(Buffer(f"{prefix}placement", 2 * _grain(16) + 2 * _grain(hubs * ids), "device"))
    return buffers


def _grain(count: int) -> int:
    """Round up to the allocator's grain (an empty array still gets a buffer)."""
    return max(GRAIN, -(-count // GRAIN) * GRAIN)
