"""Which way a level goes over GPUs whose hosts run the levels, and how they tell each other: what is predicted to take
least time.

A level's picoseconds are its work on one GPU, counted as the kernel over one machine counts it (peers/agree.cuh), and
what is told, by the calls and the rate of the transport. All ranks decide alike, by sums over all ranks alone.
Constants that no run has measured yet are marked so.
"""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.ranks.costs import NEVER, OTHER_HOST, SAME_HOST, Choice, Forced, Frontier, Link

PICO = 1e-12
LINE_BYTES = 128

NCCL_BESIDE = Link(33e-6, 200e9)
"""Of GPUs of one machine, NVLink (measured, two H200)."""
NCCL_BETWEEN = Link(40e-6, 20e9)
"""Of GPUs of several machines, a card of 200 Gb/s each (assumed)."""
COPY = 10e-6
"""Seconds of a copy between a device and pinned memory, apart from its bytes (measured: a copy of 4 KiB)."""
COPY_RATE = 55e9
"""Bytes per second of one (measured, PCIe 5.0 x16)."""

LAUNCHES = 30e-6
"""Seconds of the launches and copies that another part of a top-down level has (assumed)."""
MOST_PARTS = 4
"""Of a top-down level: more than these would hide little more."""


def link_of(transport: str, one_host: bool) -> Link:
    """Return what a call by ``transport`` costs, and the bytes per second that come into a rank."""
    if transport == "nccl":
        return NCCL_BESIDE if one_host else NCCL_BETWEEN
    host = SAME_HOST if one_host else OTHER_HOST
    return Link(host.call + 2 * COPY, 1 / (1 / host.bytes_per_second + 2 / COPY_RATE))


@dataclass(frozen=True, slots=True)
class Model:
    """What a search is predicted by, the same on all ranks.

    Attributes
    ----------
    n, m, ranks, id_bytes
        The graph, and among how many it is shared.
    link, control
        The transport's; a call of the hosts' group that carries a few numbers.
    unit
        Of the kernels, on one GPU.
    heads
        Heads of a vertex; 0: there are none.
    longest_list
        Vertices that may be told one by one.
    defer_from
        Vertices of a rank that their heads are not expected to decide, from which on rows are put off.
    far_rows
        Share of the edges in rows that heads do not hold whole, or whose heads are not read instead.
    """

    n: int
    m: int
    ranks: int
    id_bytes: int
    link: Link
    control: Link
    unit: Costs
    heads: int
    longest_list: int
    defer_from: int
    far_rows: float = 1.0

    @property
    def others(self) -> float:
        """Share of the vertices that other ranks own."""
        return (self.ranks - 1) / self.ranks

    def told(self, kind: str, frontier: int) -> float:
        """Return the seconds that it takes to tell of ``frontier`` vertices by ``kind``."""
        nbytes = frontier * self.id_bytes if kind == "list" else self.n / 8
        return self.link.call + nbytes * self.others / self.link.bytes_per_second

    def up_kind(self, frontier: int, forced: Forced) -> tuple[str | None, float]:
        """Return how the frontier is told before a bottom-up level, and the seconds of it."""
        if self.ranks == 1:
            return None, 0.0
        kinds = [forced.sync] if forced.sync in ("list", "bitmap") else ["list", "bitmap"]
        if frontier > self.longest_list:
            kinds = ["bitmap"]
        return min(((kind, self.told(kind, frontier)) for kind in kinds), key=lambda pair: pair[1])

    def open_heads(self, frontier: Frontier, missed: int | None) -> int:
        """Return how many unvisited vertices their heads are not expected to decide; ``missed`` of the level before,
        where that went bottom-up."""
        if missed is not None:
            return missed
        share = min(1.0, frontier.unexplored / max(1, self.m))
        return int(frontier.unvisited * share**self.heads)


def choose(model: Model, frontier: Frontier, forced: Forced, *, pulls: bool, missed: int | None) -> Choice:
    """Return what the next level does.

    Parameters
    ----------
    pulls
        Whether there are rows to search bottom-up.
    missed
        Of the level before, where that went bottom-up (its frontier is a bitmap); else None.
    """
    unit, ranks = model.unit, model.ranks
    bitmap = missed is not None
    kind, telling = model.up_kind(frontier.vertices, forced)
    work = frontier.unvisited * unit.vertex + 2 * model.open_heads(frontier, missed) * unit.line
    upward = PICO * (work / ranks + unit.sweep * (1 if bitmap else 2)) + telling + model.control.call
    down = _down(model, frontier, forced, bitmap)
    if forced.up is not None:
        up = pulls and forced.up[frontier.depth % len(forced.up)]
    else:
        up = pulls and upward < down.seconds
    return Choice(True, kind, upward) if up else down


def rows_seconds(model: Model, frontier: Frontier) -> float:
    """Return the seconds in which the rows of the frontier are read."""
    lines = (frontier.edges * model.id_bytes / LINE_BYTES + frontier.vertices) * model.far_rows
    return PICO * (frontier.edges * model.unit.edge + lines * model.unit.line) / model.ranks


def _claims(model: Model, frontier: Frontier, *, told: bool) -> float:
    """Return the seconds in which claims travel; ``told``: nobody claims what is visited."""
    known = max(0.0, 1 - (frontier.unexplored + frontier.stale_edges) / max(1, model.m))
    claimed = min(frontier.edges * (1 - known), model.n)
    if told:
        claimed = min(frontier.edges * frontier.unexplored / max(1, model.m), frontier.unvisited)
    return 2 * model.id_bytes / model.link.bytes_per_second / model.ranks * claimed * model.others


def saved_seconds(model: Model, rows: float, claims: float, parts: int) -> float:
    """Return the seconds that a top-down level takes less in so many parts: but for those of the last part, claims
    travel while rows are read, or the other way round; each part has calls, and launches, of its own."""
    each = 2 * model.control.call + model.link.call + LAUNCHES
    return (parts - 1) * (min(rows, claims) / parts - each)


def _saved(model: Model, frontier: Frontier, parts: int, *, told: bool) -> float:
    return saved_seconds(model, rows_seconds(model, frontier), _claims(model, frontier, told=told), parts)


def parts_of(model: Model, frontier: Frontier, *, told: bool) -> int:
    """Return in how many parts a top-down level goes; ``told``: what is visited has been."""
    if model.ranks == 1:
        return 1
    return max(range(1, MOST_PARTS + 1), key=lambda parts: _saved(model, frontier, parts, told=told))


def _down(model: Model, frontier: Frontier, forced: Forced, bitmap: bool) -> Choice:
    """Return a top-down level: whether what is visited is told first, so that nobody claims that in vain."""
    ranks = model.ranks
    calls = 2 * model.control.call + model.link.call if ranks > 1 else 0.0
    work = rows_seconds(model, frontier) + calls + PICO * (model.unit.sweep if bitmap else 0)
    stale_down, told_down = (
        work
        + _claims(model, frontier, told=told)
        - _saved(model, frontier, parts_of(model, frontier, told=told), told=told)
        for told in (False, True)
    )
    told_down += model.told("bitmap", 0)
    if ranks == 1 or frontier.stale == 0 or forced.sync == NEVER:
        return Choice(False, None, stale_down)
    tells = forced.sync is not None or told_down < stale_down
    return Choice(False, "bitmap" if tells else None, told_down if tells else stale_down)
