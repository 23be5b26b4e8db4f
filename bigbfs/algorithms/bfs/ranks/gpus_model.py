"""What a search on one GPU or over several will take, before it is run: levels expected, priced as the search does.

Which way a level goes, and how ranks tell of it, is decided as the kernels decide (plan.cuh; peers/costs.cuh) or the
hosts (hosts/costs.py), by the same constants. These are for choosing; what a level then takes is told by what was
measured beside them (docs/results/distributed.md has predictions and measurements side by side). Where edges stay in
the file the disk decides, and nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bigbfs.algorithms.bfs.gpu.costs import MEMORY_RATE, Costs, costs
from bigbfs.algorithms.bfs.gpu.hosts.costs import LAUNCHES, PICO, Model, choose
from bigbfs.algorithms.bfs.gpu.peers.state import CLAIM_COST
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT
from bigbfs.algorithms.bfs.ranks.costs import OTHER_HOST, SAME_HOST, Forced, Frontier, Link
from bigbfs.algorithms.bfs.ranks.expected import Degrees, Level, Rows, expected, thin
from bigbfs.config import DeviceProfile, GpuLinks
from bigbfs.engines.gpu.runtime.arguments import LINE

VERTEX_TIMES, BY_DEGREE_TIMES = 3.3, 1.6
"""What the heads of a vertex take over what the choice reckons with: the frontier's bits lie anywhere in its bitmap; by
degree those of hubs lie side by side. One H200, R-MAT and uniform graphs of scale 26: 40 and 19 ps."""
EDGE_TIMES = 0.16
"""The same of an edge top-down: most of those of a wide level lead to who is visited (the same graphs: 5 to 7 ps)."""
MARK_TIMES = 0.5
"""The same where the level sets bits."""
SOFT = 0.4
"""Power of the device memory's rate with which all of these go: caches and instructions count, too (two H100 take 1.13
times as long as two H200 for R-MAT 26 in device memory, which is read at some 0.7 times the rate)."""
DECODED_TIMES = 1.5
"""Of rows that are compressed, over that."""

LEVEL = 5e-6
"""Seconds of a top-down level of one GPU beside its rows: barriers of the grid."""
DEEP_LEVEL = 2.5e-6
"""Of a graph of thousands of levels, whose frontiers stay in shared memory (grid and road: 22 ms)."""
TOGETHER = 10e-6
"""Seconds of a level of several GPUs beside meetings and rows (thin levels: 25 us, two meetings in them)."""
MEETINGS = 2
"""Meetings of a level at which something is told."""
IMBALANCE = 1.1
"""Work of the GPU that the others wait for, over the mean: the rows of a hub are on one of them."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a graph.

    Attributes
    ----------
    n, m, id_bytes, degrees
        Vertices, stored edges, bytes of an id, and how many vertices have which degree.
    edge_bytes
        Bytes of a stored edge: fewer than those of an id where rows are compressed.
    by_degree, even, pulls
        Whether vertices are stored by degree; rows are of like length; levels may go bottom-up.
    deep
        Levels of a search, where they are too many for the degrees to tell; else None.
    least
        Levels that a search has at least, whatever the degrees say: the last ones are thin.
    """

    n: int
    m: int
    id_bytes: int
    degrees: Degrees
    edge_bytes: float
    by_degree: bool
    even: bool
    pulls: bool
    deep: int | None = None
    least: int = 0

    @property
    def plain(self) -> bool:
        """Whether rows are not compressed."""
        return self.edge_bytes >= self.id_bytes


@dataclass(frozen=True, slots=True)
class Gpus:
    """Who searches: ``ranks`` on ``hosts``, by ``transport``; where edges lie, heads of a vertex, share that is hot."""

    ranks: int
    hosts: int
    transport: str
    residency: str
    heads: int
    hot: float


@dataclass(frozen=True, slots=True)
class Predicted:
    """``levels`` alike, each from a frontier of so many ``vertices`` and ``edges``: seconds of the ``work`` of the GPU
    that takes longest and of the ``exchange``, and ``bytes`` into a GPU, of all of them together."""

    levels: int
    direction: str
    told: str
    vertices: float
    edges: float
    work: float
    exchange: float
    bytes: float


def seconds_of(levels: list[Predicted]) -> float:
    """Return the seconds of a search."""
    return sum(level.work + level.exchange for level in levels)


def search(facts: Facts, gpus: Gpus, profile: DeviceProfile, *, top_down: bool = False) -> list[Predicted]:
    """Return what the levels of a search will take."""
    mapped = gpus.residency == "mapped"
    rows = Rows(facts.edge_bytes, gpus.heads, mapped, gpus.hot, facts.even)
    link = link_between(profile, gpus)
    price = Peers(facts, gpus, profile, top_down) if link is None else Hosts(facts, gpus, profile, top_down, link)
    if facts.deep:
        each = price.level(0, thin(facts.degrees, rows, facts.deep)[facts.deep // 2])
        shared = DEEP_LEVEL - LEVEL if gpus.ranks == 1 else 0.0
        work, moved = facts.deep * (each.work + shared), facts.deep * each.bytes
        return [replace(each, levels=facts.deep, work=work, exchange=facts.deep * each.exchange, bytes=moved)]
    found = [price.level(depth, level) for depth, level in enumerate(expected(facts.degrees, rows))]
    more = facts.least - len(found)
    if more > 0 and found:
        each = price.level(len(found), Level(1.0, facts.degrees.middle, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0))
        sums = {name: more * getattr(each, name) for name in ("work", "exchange", "bytes")}
        found.append(replace(each, levels=more, **sums))
    return found


def measured(facts: Facts, residency: str, profile: DeviceProfile) -> Costs:
    """Return what vertices and edges take, where :func:`costs` returns that by which directions are chosen."""
    told, slower = costs(facts.n, residency, profile), (MEMORY_RATE / profile.memory_bytes_per_second) ** SOFT
    unit = costs(facts.n, residency)
    times = {
        "vertex": BY_DEGREE_TIMES if facts.by_degree else VERTEX_TIMES,
        "edge": EDGE_TIMES * (1 if facts.plain else DECODED_TIMES),
        "mark": MARK_TIMES,
        "claim": 1.0,
        "parent": 1.0,
    }
    return replace(told, **{name: max(1, round(getattr(unit, name) * each * slower)) for name, each in times.items()})


class Peers:
    """Prices of levels that stay on the devices: one GPU, or several of one machine, which reach each other's memory.

    Levels are asked for in order.
    """

    def __init__(self, facts: Facts, gpus: Gpus, profile: DeviceProfile, top_down: bool) -> None:
        self._facts, self._gpus = facts, gpus
        self._pulls = facts.pulls and not top_down
        self._chosen = costs(facts.n, gpus.residency, profile)
        self._real = measured(facts, gpus.residency, profile)
        links = profile.gpus or GpuLinks()
        ranks, others = gpus.ranks, (gpus.ranks - 1) / gpus.ranks
        self._byte, self._meeting = 1 / links.peer_bytes_per_second, links.meeting_seconds if ranks > 1 else 0.0
        self._claim_bytes, self._bits = 2 * facts.id_bytes * others, facts.n / 8 * others
        self._told = (CLAIM_COST + 2 * facts.id_bytes * self._byte / PICO) * others
        mapped = gpus.residency == "mapped"
        may_mark = facts.plain and not (mapped and facts.by_degree)
        self._wide_from = facts.n // DEFAULT.wide if may_mark else float("inf")
        self._bitmap = False
        far = mapped and facts.m * facts.edge_bytes * (1 - gpus.hot) > profile.link_window_bytes
        self._row = 1 / (PICO * profile.link_random_lines_per_second) - self._real.line if far else 0.0

    def level(self, depth: int, level: Level) -> Predicted:
        """Return what a level takes."""
        ways = {"claims": self._claims, "marks": self._marks, "bitmap": self._up}
        weighed = {told: sum(way(level, self._chosen)[:2]) for told, way in ways.items()}
        if level.edges < self._wide_from:
            weighed.pop("marks")
        if not self._pulls:
            weighed.pop("bitmap")
        told = min(weighed, key=lambda name: weighed[name])
        work, exchange, moved = ways[told](level, self._real, real=True)
        self._bitmap = told != "claims"
        alone = self._gpus.ranks == 1
        return Predicted(
            1,
            "bottom-up" if told == "bitmap" else "top-down",
            "nothing" if alone else told,
            level.vertices,
            level.edges,
            work * (1 if alone else IMBALANCE) + (LEVEL if alone else TOGETHER),
            exchange + MEETINGS * self._meeting,
            moved,
        )

    def _claims(self, level: Level, unit: Costs, real: bool = False) -> tuple[float, float, float]:
        """Return seconds of work, of what is told, and the bytes of it."""
        found = level.found if real else min(level.edges, level.unvisited)
        work = level.edges * unit.edge + self._lines(level, real)[0] * unit.line
        if real and level.vertices / self._gpus.ranks < DEFAULT.sort_from:
            work += level.rows * self._row  # so few are read in the order in which they were found: anywhere
        if real or level.edges >= self._wide_from:
            work += found * unit.claim
        ranks = self._gpus.ranks
        work = work / ranks + (unit.sweep if self._bitmap else 0)
        return PICO * work, PICO * found * self._told / ranks, found * self._claim_bytes / ranks

    def _marks(self, level: Level, unit: Costs, real: bool = False) -> tuple[float, float, float]:
        """The same of a wide level."""
        found = level.found if real else min(level.edges, level.unvisited)
        work = level.edges * unit.mark + sum(self._lines(level, real)) * unit.line + found * unit.parent
        return PICO * (work / self._gpus.ranks + 2 * unit.sweep), 2 * self._bits * self._byte, 2 * self._bits

    def _lines(self, level: Level, real: bool) -> tuple[float, float]:
        """Return lines of rows, and of those that heads hold; ranks do not count which are hot when they choose."""
        if real or self._gpus.ranks == 1:
            return level.lines, level.held
        lines = level.edges * self._facts.id_bytes / LINE + level.vertices
        held = lines * level.held / max(level.lines + level.held, 1e-9)
        return lines - held, held

    def _up(self, level: Level, unit: Costs, real: bool = False) -> tuple[float, float, float]:
        """The same of a level that goes bottom-up."""
        missed = level.missed
        if not real and self._gpus.ranks > 1 and not self._bitmap:  # nobody has probed: peers/costs.cuh
            missed = level.unvisited * min(1.0, level.unexplored / max(1, self._facts.m)) ** self._gpus.heads
        # the choice reckons with two lines of each; most have found by the first, and some rows are hot
        lines = level.missed * (1 - self._gpus.hot) if real else 2 * missed
        work = level.unvisited * unit.vertex + lines * unit.line
        sweeps = unit.sweep * (1 if self._bitmap else 2)
        return PICO * (work / self._gpus.ranks + sweeps), self._bits * self._byte, self._bits


class Hosts:
    """Prices of levels that hosts run, by NCCL or MPI; levels are asked for in order."""

    def __init__(self, facts: Facts, gpus: Gpus, profile: DeviceProfile, top_down: bool, link: Link) -> None:
        self._facts, self._gpus = facts, gpus
        self._pulls, one = facts.pulls and not top_down, gpus.hosts == 1
        unit = costs(facts.n, gpus.residency, profile)
        control = SAME_HOST if one else OTHER_HOST
        self._chosen = Model(
            facts.n, facts.m, gpus.ranks, facts.id_bytes, link, control, unit, gpus.heads, facts.n // 32, 1 << 62
        )
        self._real = replace(self._chosen, unit=measured(facts, gpus.residency, profile))
        self._missed: int | None = None
        self._stale, self._stale_edges = 0.0, 0.0

    def level(self, depth: int, level: Level) -> Predicted:
        """Return what a level takes."""
        self._stale += level.vertices
        self._stale_edges += level.edges
        counts = (level.vertices, level.edges, level.unvisited, level.unexplored, self._stale, self._stale_edges)
        frontier = Frontier(depth, *(int(each) for each in counts))
        far = level.lines / max(1.0, level.edges * self._facts.id_bytes / LINE + level.vertices)
        missed = None if self._missed is None else int(level.missed)
        choice = choose(replace(self._chosen, far_rows=far), frontier, Forced(), pulls=self._pulls, missed=missed)
        real = replace(self._real, far_rows=far)
        forced = Forced(up=(choice.up,))
        same = choose(real, frontier, forced, pulls=self._pulls, missed=int(level.missed) if choice.up else missed)
        nowhere = Link(0.0, float("inf"))
        free = replace(real, link=nowhere, control=nowhere)
        work = choose(free, frontier, forced, pulls=self._pulls, missed=int(level.missed) if choice.up else missed)
        if choice.up or choice.sync is not None:
            self._stale = self._stale_edges = 0.0
        self._missed = int(level.missed) if choice.up else None
        # a claim is sorted by its owner, who then takes it
        taken = 0.0 if choice.up else PICO * level.found * CLAIM_COST / self._gpus.ranks
        return Predicted(
            1,
            "bottom-up" if choice.up else "top-down",
            choice.sync if choice.up and choice.sync else "claims" if choice.sync is None else "bitmap claims",
            level.vertices,
            level.edges,
            IMBALANCE * work.seconds + taken + LAUNCHES,
            max(0.0, same.seconds - work.seconds),
            self._bytes(level, choice.up, choice.sync),
        )

    def _bytes(self, level: Level, up: bool, sync: str | None) -> float:
        others = self._real.others
        moved = 0.0 if up else 2 * self._facts.id_bytes * level.found * others / self._gpus.ranks
        told = level.vertices * self._facts.id_bytes if sync == "list" else self._facts.n / 8 if sync else 0.0
        return moved + told * others


def link_between(profile: DeviceProfile, gpus: Gpus) -> Link | None:
    """Return what a call costs, as :func:`bigbfs.algorithms.bfs.gpu.hosts.costs.link_of`, but by the profile; None:
    GPUs reach each other's memory."""
    links, where = profile.gpus or GpuLinks(), "host_" if gpus.hosts > 1 else ""
    if gpus.ranks == 1 or gpus.transport not in ("nccl", "mpi"):
        return None
    name = f"{where}{gpus.transport}"
    return Link(getattr(links, f"{name}_call_seconds"), getattr(links, f"{name}_bytes_per_second"))
