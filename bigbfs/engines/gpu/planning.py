"""Where a run's buffers will live: the residency that fits, and the byte ledger that goes with it.

``choose_residency`` is the only place that decides; the engine and ``bigbfs plan`` both ask ``make_plan``. The state of
the work that is to be run comes from its own declarations (arrays.py).
Counts are upper bounds (``ledger.py``), so that a plan that fits is a run that fits.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.hot import EVEN_FROM, GRAIN, even, offset_bytes
from bigbfs.engines.gpu.placement.ledger import (
    PLACES,
    Buffer,
    adjacencies,
    grain,
    hot_buffers,
    hubs_of,
    row_buffers,
    state_buffers,
)
from bigbfs.engines.gpu.refusal import needs, remedies_of
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP, WARP
from bigbfs.engines.gpu.runtime.memory import is_file_mapping, reads_in_place
from bigbfs.engines.gpu.streamed.ledger import stage_sizes, streamed_buffers
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.sizes import format_size, size_allowed, size_needed, total_memory

RESERVE = 256 << 20
"""Bytes of free device memory left alone by default: kernels, and whoever else uses the device."""

LADDER = ("vram", "mapped", "streamed")
"""Residencies in the order in which ``"auto"`` tries them: the fastest first."""
RESIDENCIES = ("auto", *LADDER)

HEAD_GROUPS = (2, 1, 0)
"""Groups of heads that are tried, most first."""

EVEN_HEADS, MOST_GROUPS = 1.5, WARP // HEAD_GROUP
"""Where edges are outside and rows are even, heads hold so many times the ids of a row, in so many groups at most: then
nearly all rows are read from them. A warp chooses the heads of a vertex, one a lane (best.cuh)."""

DEVICE_SHARE = 1.75
"""More heads than usual and hot rows take so many times what the edges take, at most."""
HOT_SHARE = 0.5
"""Share of the edges that may be hot where ``"mapped"`` or ``"streamed"`` was asked for: the others are to stay
outside."""
LOCKED_SHARE = 0.9
"""Share of the machine's memory that may be page-locked when nobody says: the rest is for everything else."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take at most: ``vram`` bytes of device memory, ``ram`` bytes of page-locked host memory."""

    vram: int
    ram: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will take.

    Attributes
    ----------
    residency
        ``"vram"``, ``"mapped"`` or ``"streamed"``: where the edges live.
    buffers
        Everything, edges included.
    limits
        What it may take.
    head_groups
        Groups of ``HEAD_GROUP`` heads of every vertex in device memory.
    hot_bytes
        Device memory for hot rows: what is left of the budget where edges are mapped, and no more than they take.
    stage_bytes
        Bytes of the buffers of streamed edges, in pinned and in device memory each.
    why
        One line for each residency that was considered.
    work
        What it is for, with as much state as fits.
    whole
        Of one of several GPUs: whether it takes the rows of all vertices.
    """

    residency: str
    buffers: tuple[Buffer, ...]
    limits: Limits
    head_groups: int
    hot_bytes: int = 0
    stage_bytes: int = 0
    why: tuple[str, ...] = ()
    work: tuple[Work, ...] = ()
    whole: bool = False

    def bytes_in(self, where: str) -> int:
        """Return the bytes in ``where``, one of ``PLACES``."""
        return sum(buffer.bytes for buffer in self.buffers if buffer.where == where)

    @property
    def device_bytes(self) -> int:
        """Bytes in device memory."""
        return self.bytes_in("vram")

    @property
    def host_bytes(self) -> int:
        """Bytes of page-locked host memory: mapped, or pinned copies."""
        return self.bytes_in("mapped") + self.bytes_in("pinned")

    @property
    def numbered(self) -> bool:
        """Whether it counts only the vertices that have numbers of their own."""
        return any(buffer.name == "numbers" for buffer in self.buffers)

    @property
    def fits(self) -> bool:
        """Whether it keeps to its limits."""
        return self.device_bytes <= self.limits.vram and self.host_bytes <= self.limits.ram

    def ledger(self) -> str:
        """Return the buffers as lines of text."""
        lines = [
            textwrap.fill(
                f"  {buffer.name:<14} {format_size(buffer.bytes):>9}  {buffer.where:<7} {buffer.purpose}",
                80,
                subsequent_indent=" " * 36,
            )
            for buffer in self.buffers
        ]
        needed, most = (format_size, format_size) if self.fits else (size_needed, size_allowed)
        for where in PLACES:
            if self.bytes_in(where):
                lines.append(f"  {'in all':<14} {needed(self.bytes_in(where)):>9}  {where}")
        lines.append(f"  {'may be used':<14} {most(self.limits.vram):>9}  vram")
        lines.append(f"  {'may be locked':<14} {most(self.limits.ram):>9}  mapped and pinned")
        return "\n".join(lines)


def default_budget(free_bytes: int) -> int:
    """Return how much of ``free_bytes`` of device memory a run may take when nobody says."""
    return max(free_bytes - RESERVE, free_bytes // 2)


def default_ram_budget(graph: Graph) -> int:
    """Return how much host memory a run may lock when nobody says: arrays that are in memory already always may."""
    edges = [rows.edges for _, rows in adjacencies(graph)]
    there = sum(grain(array.nbytes) for array in edges if not is_file_mapping(array))
    return max(int(total_memory() * LOCKED_SHARE), there)


def make_plan(
    graph: Graph,
    residency: str,
    budget: int,
    head_groups: int | None = None,
    hot_bytes: int | None = None,
    ram_budget: int | None = None,
    registers_read_only: bool = True,
    work: Sequence[Work] = (),
) -> Plan:
    """Decide where the edges of ``graph`` live, within ``budget`` bytes of device memory.

    Parameters
    ----------
    graph
        Plain or compressed.
    residency
        One of ``RESIDENCIES``; ``"auto"``: the first of ``LADDER`` that fits. The head table is as large as fits;
        many searches alone have as many sources at a time as fit first, as long as there are heads, unless rows are so
        even that more than two groups are tried.
    budget
        Bytes of device memory for everything that the run allocates.
    head_groups
        So many groups of heads and no other number; None: the most of ``head_ladder`` that fit, and more if
        ``residency`` is ``"mapped"`` and there is room for them beside all hot rows.
    hot_bytes
        So much device memory for hot rows of mapped or streamed edges at most; None: what is left of the budget, and
        where ``residency`` is not ``"auto"`` at most ``HOT_SHARE`` of the edges.
    ram_budget
        Bytes of host memory that may be page-locked; None: ``default_ram_budget``.
    registers_read_only
        Whether the device can read the pages of a file mapping in place; else it needs a copy.
    work
        What is going to be run: its state is counted, each array once for all of it.

    Raises
    ------
    DoesNotFitError
        It does not fit; the message holds the ledger and the options that help.
    UsageError
        The residency is unknown.
    """
    limits = Limits(budget, default_ram_budget(graph) if ram_budget is None else ram_budget)
    plan = choose_residency(graph, residency, limits, head_groups, registers_read_only, work)
    if work and not any(each.uses_heads for each in work):
        hot_bytes = 0
    if hot_bytes is None:
        edges = sum(grain(rows.edges.nbytes) for _, rows in adjacencies(graph))
        hot_bytes = int(edges * (1 if residency == "auto" else HOT_SHARE))
        if head_groups is None:
            if residency == "mapped":
                plan = _with_more_heads(plan, graph, hot_bytes, registers_read_only)
            hot_bytes = room_beside_heads(graph, plan.head_groups, hot_bytes)
    return _with_hot_rows(plan, graph, hot_bytes)


def choose_residency(
    graph: Graph,
    residency: str,
    limits: Limits,
    head_groups: int | None = None,
    registers_read_only: bool = True,
    work: Sequence[Work] = (),
) -> Plan:
    """Return the plan of the first residency that keeps to ``limits``, hot rows aside; the arguments of ``make_plan``.

    Raises
    ------
    DoesNotFitError, UsageError
        As ``make_plan``.
    """
    if residency not in RESIDENCIES:
        raise UsageError(f"residency {residency!r} is unknown: choose one of {', '.join(RESIDENCIES)}")
    why: list[str] = []
    heads = None if head_groups is None else (head_groups,)
    if work and not any(each.uses_heads for each in work):
        heads = (0,)
    ladder = [choice for choice in LADDER if all(choice in each.residencies() for each in work)]
    tried: list[Plan] = []

    def plans(choice: str) -> Iterator[Plan]:
        sizes = stage_sizes(graph) if choice == "streamed" else [0]
        tries = list(product(heads or head_ladder(graph, choice, work), sizes, enumerate(_narrowing(work))))
        if choice != "streamed" and work and all(each.fills_memory for each in work):
            # wider batches before a second group of heads, and heads before them; where rows are even more of these
            tries.sort(key=lambda each: (not each[0], each[2][0] if each[0] <= HEAD_GROUPS[0] else 0))
        for groups, stages, (_, narrow) in tries:
            if groups > HEAD_GROUPS[0] and stages != sizes[0]:
                continue  # what is left for more heads is better used for larger stages
            yield _plan(graph, choice, limits, groups, stages, registers_read_only, narrow)

    for choice in ladder if residency == "auto" else (residency,):
        for plan in plans(choice):
            tried.append(plan)
            if plan.fits:
                chosen = f"{choice}: {needs(plan)}: " + ("the first that fits" if residency == "auto" else "asked for")
                return replace(plan, why=(*why, chosen))
        why.append(f"{choice}: {needs(plan)} even with the smallest head table: does not fit")
    others = {} if residency == "auto" else {each: any(plan.fits for plan in plans(each)) for each in ladder}
    raise DoesNotFitError(
        f"{graph.path or 'the graph'} does not fit: {'; '.join(why)}\n{plan.ledger()}",
        remedies=remedies_of(graph, limits, tried, others),
        lead="\nwhat helps: ",
    )


def head_ladder(graph: Graph, residency: str, work: Sequence[Work] = ()) -> tuple[int, ...]:
    """Return the groups of heads to try, most first; components look at two heads of a vertex and no more."""
    searches = not work or any(each.uses_heads and each.reads_heads for each in work)
    if residency == "vram" or not searches or not all(even(rows) for _, rows in adjacencies(graph)):
        return HEAD_GROUPS
    edges = sum(grain(rows.edges.nbytes) for _, rows in adjacencies(graph))
    most = min(MOST_GROUPS, math.ceil(EVEN_HEADS * graph.m / max(1, graph.n) / HEAD_GROUP))
    more = range(most, HEAD_GROUPS[0], -1)
    return (*(each for each in more if _head_bytes(graph, each) <= DEVICE_SHARE * edges), *HEAD_GROUPS)


def room_beside_heads(graph: Graph, groups: int, room: int) -> int:
    """Return how much of ``room`` bytes hot rows may take beside so many groups of heads."""
    if groups <= HEAD_GROUPS[0]:
        return room
    edges = sum(grain(rows.edges.nbytes) for _, rows in adjacencies(graph))
    return max(0, min(room, int(DEVICE_SHARE * edges) - _head_bytes(graph, groups)))


def _with_more_heads(plan: Plan, graph: Graph, hot_bytes: int, registers_read_only: bool) -> Plan:
    """Give the head tables of uneven rows what is left of the budget beside ``hot_bytes`` of hot rows, if that is a
    group: a vertex whose parent is among its heads reads nothing over the link."""
    wanted = not plan.work or any(each.wants_heads for each in plan.work)
    short = graph.m <= EVEN_FROM * graph.n  # most rows are in the tables already
    if plan.head_groups != HEAD_GROUPS[0] or short or not wanted:
        return plan
    edges = sum(grain(rows.edges.nbytes) for _, rows in adjacencies(graph))
    for groups in range(MOST_GROUPS, plan.head_groups, -1):
        more = _plan(graph, plan.residency, plan.limits, groups, 0, registers_read_only, plan.work)
        if more.device_bytes + hot_bytes // GRAIN * GRAIN > plan.limits.vram:
            continue
        if _head_bytes(graph, groups) + hot_bytes <= DEVICE_SHARE * edges:
            return replace(more, why=plan.why)
    return plan


def _head_bytes(graph: Graph, groups: int) -> int:
    """Return the bytes of the head tables."""
    ids = graph.ids.itemsize
    return sum(grain(groups * HEAD_GROUP * rows.rows_end * ids) for _, rows in adjacencies(graph))


def _narrowing(work: Sequence[Work]) -> Iterator[Sequence[Work]]:
    """Yield ``work``, and the same with less and less state."""
    yield work
    less = [each.narrower() for each in work]
    if any(less):
        yield from _narrowing([narrow or each for narrow, each in zip(less, work, strict=True)])


def _plan(
    graph: Graph,
    residency: str,
    limits: Limits,
    groups: int,
    stages: int,
    registers_read_only: bool,
    work: Sequence[Work],
) -> Plan:
    """Return the plan of one choice, whether it fits or not; its work is as narrow as given."""
    state = state_buffers(graph, [each.arrays(residency) for each in work], residency != "vram")
    if residency == "streamed":
        buffers = (*streamed_buffers(graph, groups, stages), *state)
        return Plan(residency, buffers, limits, groups, stage_bytes=stages, work=tuple(work))
    edges_in = _edges_in(graph, residency, registers_read_only)
    return Plan(residency, (*row_buffers(graph, edges_in, groups), *state), limits, groups, work=tuple(work))


def _edges_in(graph: Graph, residency: str, registers_read_only: bool) -> str:
    """Return where the edges of a run with ``residency`` live, one of ``PLACES``."""
    if residency == "vram":
        return "vram"
    in_place = all(reads_in_place(rows.edges, registers_read_only) for _, rows in adjacencies(graph))
    return "mapped" if in_place else "pinned"


def _with_hot_rows(plan: Plan, graph: Graph, most: int) -> Plan:
    """Give hot rows what is left of the budget, up to ``most`` bytes."""
    hubs = sum(hubs_of(adjacency) for _, adjacency in adjacencies(graph))
    room = min(plan.limits.vram - plan.device_bytes, most) // GRAIN * GRAIN
    if plan.residency == "vram" or room <= offset_bytes(hubs):
        return plan
    return replace(plan, buffers=(*plan.buffers, *hot_buffers(graph, room)), hot_bytes=room)
