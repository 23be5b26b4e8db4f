"""What a search over ranks will take, before a rank is started: work shared by the ranks, exchange, and calls.

The shape of a search is that of a graph of few levels whose degrees are skewed (Kronecker, social networks, the web).
Shares of the vertices were counted on Kronecker graphs of scale 20: a first level of a few hubs, two wide ones, and a
tail. How each level is told is chosen as the search chooses it (:mod:`.costs`), from the rates of a profile. A graph of
thousands of levels has another shape: there the calls of a level are what counts, and they are given apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bigbfs.algorithms.bfs.ranks import costs
from bigbfs.algorithms.bfs.ranks.costs import Forced, Link, Size
from bigbfs.config import RankRates

CALLS = 2
"""Calls of a level that tells nothing: its claims or bits, and the sums."""
MEETINGS = 5e-6
"""Seconds of the meetings of a level where all ranks see one state: some five of less than a microsecond each."""

IMBALANCE = 1.03
"""The slowest rank's work over the mean, of dealt words."""

CLAIMED = 0.036
"""Claims of others' vertices that a rank of two sends in the first level, for each vertex of the graph ..."""
CLAIMED_POWER = 0.45
"""... falling with this power of the ranks: what the hubs lead to is claimed by each rank once, and shared by all."""
CLAIM_BYTES = 2.2
"""Bytes of a claim: a gap, and its part of the parent."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of level: ``levels`` of them, their share of the ``work``, the share of vertices to tell (``stale``)."""

    name: str
    levels: int
    work: float
    stale: float
    up: bool


SHAPES = (
    Shape("thin, top-down", 2, 0.06, 0.0, False),
    Shape("wide, bottom-up", 2, 0.86, 0.3, True),
    Shape("tail", 2, 0.08, 0.01, True),
)


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a kind of level takes: seconds of its ``work``, ``bytes`` into a rank and seconds of their ``exchange``."""

    name: str
    levels: int
    told: str
    work: float
    bytes: float
    exchange: float


@dataclass(frozen=True, slots=True)
class Run:
    """Who searches what: vertices, those with edges, stored edges; ranks, machines, threads of each rank.

    ``common``: ranks, where they are of one machine, work on one state, and send nothing.
    """

    n: int
    busy: int
    m: int
    ranks: int
    hosts: int
    threads: int
    common: bool = False

    @property
    def one_state(self) -> bool:
        """Whether all ranks see the state of the search."""
        return self.common and self.hosts == 1


def call_seconds(run: Run, rates: RankRates) -> float:
    """Return the seconds of what a level costs however thin it is: calls, or meetings in memory."""
    return MEETINGS if run.one_state else CALLS * link_of(rates, run).call


def link_of(rates: RankRates, run: Run) -> Link:
    """Return the link of a rank: that between machines is shared by the ranks of one, which all receive all."""
    if run.hosts == 1:
        return Link(rates.call_seconds, rates.bytes_per_second)
    sharing = -(-run.ranks // run.hosts)
    return Link(rates.host_call_seconds + rates.call_seconds, rates.host_bytes_per_second / sharing)


def predict(run: Run, rates: RankRates) -> list[Predicted]:
    """Return what each kind of level will take."""
    link = link_of(rates, run)
    size = Size(run.n, run.m, run.ranks, run.threads, link, run.hosts == 1)
    alone = run.busy * rates.vertex_seconds
    return list(_levels(run, size, alone))


def _levels(run: Run, size: Size, alone: float) -> Iterator[Predicted]:
    others = (run.ranks - 1) / run.ranks
    for shape in SHAPES:
        work = shape.work * alone / (run.ranks * run.threads) * (IMBALANCE if run.ranks > 1 else 1.0)
        if run.ranks == 1:
            yield Predicted(shape.name, shape.levels, "nothing", work, 0.0, 0.0)
            continue
        if run.one_state:
            yield Predicted(shape.name, shape.levels, "common", work, 0.0, shape.levels * MEETINGS)
            continue
        calls = shape.levels * CALLS * size.link.call
        if shape.stale == 0.0:
            claims = CLAIMED * run.n * (2 / run.ranks) ** CLAIMED_POWER
            moved = CLAIM_BYTES * claims
            seconds = moved / size.link.bytes_per_second + costs.CLAIM * costs.UNIT_SECONDS * claims
            yield Predicted(shape.name, shape.levels, "claims", work, moved, calls + seconds)
            continue
        stale = max(1, int(shape.stale * run.n))
        kind, seconds = costs.best_sync(size, stale, Forced(), up=shape.up)
        moved = shape.levels * others * (stale if kind == "list" else run.n / 8)
        yield Predicted(shape.name, shape.levels, str(kind), work, moved, calls + shape.levels * seconds)


def seconds_of(levels: list[Predicted]) -> float:
    """Return the seconds of a search."""
    return sum(level.work + level.exchange for level in levels)


def best_count(run: Run, rates: RankRates, most: int) -> dict[int, float]:
    """Return the seconds of a search by 1, 2, 4, ... ranks up to ``most``, as many on a machine as in ``run``."""
    beside = -(-run.ranks // run.hosts)
    found, ranks = {}, 1
    while ranks <= most:
        counts = {ranks, run.ranks} if ranks < run.ranks < 2 * ranks else {ranks}
        for count in sorted(counts):
            hosts = max(1, -(-count // beside))
            found[count] = seconds_of(predict(replace(run, ranks=count, hosts=hosts), rates))
        ranks *= 2
    return found
