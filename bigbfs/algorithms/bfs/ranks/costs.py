"""Which way a level goes over ranks, and how its ranks tell each other: whatever is predicted to take least time.

A level's seconds are its work, shared by the ranks, and its exchange: calls, bytes over the link, and the work of
writing and reading them. All ranks decide alike, because they decide by sums over all ranks alone.

===========  ==========================================================================================
exchange     what is sent
===========  ==========================================================================================
``claims``   top-down: vertices found that others own, with their parents (:mod:`.messages`)
``list``     the vertices visited since the others were told, as gaps
``bitmap``   the bits of all own vertices
``hubs``     the same in two parts; heads are searched with the first eighth while the rest is on its way
``window``   the same through memory that all ranks see: one machine
===========  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.algorithms.bfs.ranks.messages import varint_bytes

SYNCS = ("list", "bitmap", "hubs", "window")
"""How ranks may tell each other which vertices are visited."""

NEVER = "never"
"""Tell only before levels that are pulled, which need it."""

SLOT_BYTES = 4096
"""Claims that take no more than this, however they fall, go in slots of fixed length: one call instead of two."""

TOP_DOWN_EDGE = 1.0
"""Cost of an edge in a top-down level: the unit, as in :mod:`bigbfs.algorithms.bfs.cpu.search`."""
BOTTOM_UP_PROBE = 0.15
"""Cost of looking at one neighbour in a bottom-up level."""
BOTTOM_UP_VERTEX = 2.0
"""Cost of a vertex in a bottom-up level, apart from its neighbours."""
CLAIM = 4.0
"""Cost of writing a claim and taking it in."""
ENTRY = 2.0
"""Cost of writing an entry of a list and reading it."""
WORD = 0.3
"""Cost of putting a word of another rank's bitmap into its place."""
UNIT_SECONDS = 2.5e-9
"""What a unit takes: an edge looked up top-down by one core."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a collective call costs: seconds of ``call``, and ``bytes_per_second`` into a rank."""

    call: float = 10e-6
    bytes_per_second: float = 4e9


SAME_HOST = Link()
OTHER_HOST = Link(40e-6, 2e9)


@dataclass(frozen=True, slots=True)
class Size:
    """What the ranks are and share: ``n`` vertices, ``m`` edges, ``ranks``, their ``threads`` each, the ``link``."""

    n: int
    m: int
    ranks: int
    threads: int
    link: Link
    window: bool


@dataclass(slots=True)
class Frontier:
    """What all ranks know between two levels: sums over all of them.

    Attributes
    ----------
    depth
        Level of the frontier's vertices.
    vertices, edges
        Vertices in the frontier and edges in their rows (estimated where a directed graph was pulled).
    unvisited, unexplored
        Vertices not visited and edges in their rows.
    stale, stale_edges
        Vertices visited of which only their owners know, and the edges in their rows.
    """

    depth: int
    vertices: int
    edges: int
    unvisited: int
    unexplored: int
    stale: int
    stale_edges: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What a level does: ``sync`` first (None: not), then pull (``up``) or expand; predicted ``seconds``."""

    up: bool
    sync: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Forced:
    """What tests and experts decide themselves; None: predicted.

    ``sync`` is one of ``SYNCS`` or ``NEVER``; ``up`` says of each level whether it is pulled, over and over.
    """

    sync: str | None = None
    up: tuple[bool, ...] | None = None


def slot_bytes(size: Size, most_words: int, edges: int) -> int:
    """Return the bytes of a slot that holds any claims along ``edges``, its length included."""
    one = varint_bytes(size.n) + varint_bytes(64 * most_words) + 1
    return 4 + edges * one


def sync_seconds(size: Size, kind: str, stale: int) -> float:
    """Return what telling of ``stale`` vertices takes by ``kind``."""
    others = (size.ranks - 1) / size.ranks
    words = size.n / 64
    placing = WORD * UNIT_SECONDS * words * others
    if kind == "list":
        gap = varint_bytes(max(1, size.n // max(1, stale)))
        return 2 * size.link.call + stale * others * (gap / size.link.bytes_per_second + ENTRY * UNIT_SECONDS)
    if kind == "window":
        return size.link.call + 2 * placing
    bits = 8 * words * others / size.link.bytes_per_second
    if kind == "bitmap":
        return size.link.call + bits + placing
    hidden = BOTTOM_UP_VERTEX * UNIT_SECONDS * size.n / size.ranks / 2  # most of the rest hides behind the heads
    return 2 * size.link.call + bits / 8 + max(0.0, 7 / 8 * bits - hidden) + placing + 0.2 * hidden


def best_sync(size: Size, stale: int, forced: Forced, *, up: bool) -> tuple[str | None, float]:
    """Return how to tell of ``stale`` vertices, and its seconds; None where there is nobody to tell or nothing."""
    if stale == 0 or size.ranks == 1 or (forced.sync == NEVER and not up):
        return None, 0.0
    if forced.sync in SYNCS:
        kind = "bitmap" if forced.sync == "window" and not size.window else forced.sync
        return kind, sync_seconds(size, kind, stale)
    kinds = [kind for kind in SYNCS if (size.window or kind != "window") and (up or kind != "hubs")]
    return min(((kind, sync_seconds(size, kind, stale)) for kind in kinds), key=lambda pair: pair[1])


def choose(size: Size, frontier: Frontier, forced: Forced, *, pulls: bool, least_edges: int) -> Choice:
    """Return what the next level does.

    Parameters
    ----------
    pulls
        Whether there are rows to pull along.
    least_edges
        Levels of no more edges never pull: they are over sooner than a bitmap is looked through.

    An edge of an unvisited vertex leads to the frontier or to the unvisited, so the chance that it finds a parent is
    about the frontier's share of the edges of both; a search ends at the first that does.
    """
    workers = size.ranks * size.threads
    work = UNIT_SECONDS / workers
    known = max(0.0, 1 - (frontier.unexplored + frontier.stale_edges) / max(1, size.m))
    claims = frontier.edges * (1 - known) * (size.ranks - 1) / size.ranks
    fresh = frontier.edges * frontier.unexplored / max(1, size.m) * (size.ranks - 1) / size.ranks
    one = CLAIM * UNIT_SECONDS + 3 / size.link.bytes_per_second
    calls = 3 * size.link.call if size.ranks > 1 else 0.0
    expanding = TOP_DOWN_EDGE * work * frontier.edges + calls
    sync, telling = best_sync(size, frontier.stale, forced, up=True)
    quiet, asking = best_sync(size, frontier.stale, forced, up=False)
    stale_down = expanding + one * claims / size.ranks
    told_down = expanding + one * fresh / size.ranks + asking
    down = Choice(False, quiet, told_down) if told_down < stale_down else Choice(False, None, stale_down)
    if forced.up is not None:
        up = pulls and forced.up[frontier.depth % len(forced.up)]
        return Choice(True, sync, telling) if up else down
    if not pulls or frontier.edges <= least_edges:
        return down
    chance = frontier.edges / max(1, frontier.edges + frontier.unexplored)
    probes = min(frontier.unexplored, frontier.unvisited / chance) if chance else frontier.unexplored
    upward = work * (BOTTOM_UP_VERTEX * frontier.unvisited + BOTTOM_UP_PROBE * probes) + telling
    return Choice(True, sync, upward) if upward < down.seconds else down
