"""The diameter of a small undirected graph in few kernels: what :mod:`bigbfs.measures.sweeping` does, by one thread.

A search of such a graph takes a tenth of a millisecond, and the Python between two of them as long again. Sources are
chosen as there; the first search is closed by pairs of the vertices farthest from it
(:mod:`bigbfs.measures.rim`), the others by pairs of the open vertices. In small worlds the last of these are left to
:mod:`bigbfs.measures.small`, which searches from 64 at once.

Three kernels, so that processes compile them side by side in a first run: :func:`choose_first` says where the first
search begins, :func:`close_in` searches, and between its first two steps :func:`close_first_rim` looks at pairs.

``work``, int32 (ROWS, n), ``searched``, int32, which receives the sources, and ``told``, int64, with an entry for each
of ``FIELDS``, are all that a call leaves for the next.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.sweeps.cpu.renewing import bound, hub_among
from bigbfs.algorithms.sweeps.options import LISTED, SHALLOW
from bigbfs.engines.cpu.bits import ZERO
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.jit.njit import njit
from bigbfs.measures.fours import WIDEST as FEW
from bigbfs.measures.fours import fill
from bigbfs.measures.fours import search as search_fours
from bigbfs.measures.near import BALLS, RIMS, SLOTS, close_rim, look_at_pairs, stand_for_none
from bigbfs.measures.serial_search import edges_of, search

PAIRS = 2**16
"""Pairs that are looked at in any case; else at most as many as there are edges."""
COVERED = 4
"""So few vertices left are searched from one by one, without a look at a central one."""
STRETCH = 64
"""Vertices that are looked at before any of them is listed."""

FIELDS = (
    "stage", "searches", "batches", "reaches", "longest", "one", "other", "read", "faults", "torn", "left", "top",
    "next", "far", "central", "halfway", "ball", "worst", "balls", "rims", "floor", "ceiling", "reached", "linked",
    "widest", "inside",
)  # fmt: skip
"""Steps, searches and batches of them; pairs of a source and what it reached; the longest distance and its two ends;
ids read, ids of no vertex met, and edges without a twin; vertices that may be the end of a longer way, the largest of
their upper bounds, and whom to search from next; of the last search a farthest vertex, a central one and the middle;
the slots whose balls leave out the fewest and the most, how many there are, and sources at the rim; the smallest
bounds; vertices reached by the last search, vertices with neighbours, the most neighbours of one, and the edges of the
component where rows of four are used, else 0."""
(
    STAGE, SEARCHES, BATCHES, REACHES, LONGEST, ONE, OTHER, READ, FAULTS, TORN, LEFT, TOP,
    NEXT, FAR, CENTRAL, HALFWAY, BALL, WORST, MIDDLE, OUTER, FLOOR, CEILING, REACHED, LINKED,
    WIDEST, INSIDE,
) = range(len(FIELDS))  # fmt: skip
LOWER, UPPER, OPEN, OTHERS, FIRST_SLOT = range(5)
"""Rows of ``work``; a slot has its own from ``FIRST_SLOT`` on."""
ROWS = FIRST_SLOT + SLOTS

_MOST = np.int32(2**31 - 1)


@njit(cache=True, nogil=True)
def close_in(rows, edges, work, queue, searched, told, scratch, most, rounds, few):
    """Search until nobody is left, more than ``most`` ids have been read, or ``rounds`` searches made, in this call.

    The first call makes the search that :func:`choose_first` has prepared, and no more; the second one, after
    :func:`close_first_rim`, says who is left. ``queue``, int32 (n + 1,), and ``scratch``: for what a step does. It ends
    too where ids are met that are no vertices, and where so ``few`` are left that they are searched from at once, which
    is left to others: they make ``told[STAGE]`` negative.
    """
    last, end = told[READ] + most, told[SEARCHES] + rounds
    while True:
        _step(rows, edges, work, queue, searched, told, scratch)
        if told[LEFT] == 0 or told[FAULTS] or told[TORN] or told[READ] > last or told[SEARCHES] >= end:
            break
        if COVERED < told[LEFT] <= few and told[STAGE] > 3 and told[LONGEST] <= SHALLOW:
            break


@njit
def _step(rows, edges, work, queue, searched, told, scratch):
    """Make the next search, and see who is left."""
    stage, left = told[STAGE], told[LEFT]
    told[STAGE] = stage + 1
    if stage < 0:  # somebody else has searched
        told[STAGE] = -stage
    elif stage != 1:
        middle, source = True, told[NEXT]
        if stage == 2:
            source, middle = told[FAR], False
        elif stage == 3 and left > COVERED:
            source = told[HALFWAY]
        elif stage > 3 and told[CENTRAL] >= 0 and left > COVERED:
            source = told[CENTRAL]
        elif stage > 2:
            middle = False
        _sweep(rows, edges, work, queue, searched, told, scratch, source, middle)
        if stage == 2:
            told[HALFWAY] = _middle(rows, work[FIRST_SLOT + BALLS], told[FAR])
    else:
        _renew(rows, work, told, work[FIRST_SLOT], told[CEILING], stage > 1)  # the depth, whatever pairs have told
    if stage != 0 and told[LEFT] != 0 and told[FAULTS] == 0:
        _look(rows, edges, work, searched, told, scratch)


@njit(cache=True, nogil=True)
def choose_first(rows, edges, work, queue, told, scratch):
    """Choose where to begin: at the hub, and where that is not in the largest component, in that one.

    Says so as who is next; -1: where the first search has been. The first call is before the first search.
    """
    if told[LINKED] == 0:
        hub, linked = hub_among(rows, np.uint64(work.shape[1]))
        told[NEXT], told[LINKED], told[WIDEST] = np.int64(hub), max(1, linked), degree(rows, np.uint64(hub))
        if by_fours(told, scratch):
            told[READ] += edges
            told[FAULTS] += fill(rows, scratch.fours)
    else:
        source = _hub_of_largest(rows, work, queue)
        if work[FIRST_SLOT, source] >= 0:
            told[NEXT] = -1
            return
        told[NEXT] = source
    told[STAGE] = told[SEARCHES] = told[MIDDLE] = 0
    told[LONGEST] = -1


@njit(cache=True, nogil=True)
def close_first_rim(rows, edges, work, searched, told, scratch):
    """Look at the vertices farthest from the first source; nobody is left where these tell the diameter."""
    depth = told[LONGEST]
    told[FLOOR], told[CEILING], told[CENTRAL], told[LEFT] = (depth + 1) // 2, depth, -1, 1
    if 0 < depth <= SHALLOW:
        best, tally = told[LONGEST : OTHER + 1], told[READ : TORN + 1]
        if close_rim(rows, edges, work[FIRST_SLOT], np.int64(searched[0]), best, tally, scratch):
            told[LEFT] = 0


@njit
def _hub_of_largest(rows, work, queue):
    """Return the vertex of most neighbours in the largest component, of several the one of the smallest vertex."""
    n, labels = work.shape[1], work[OPEN]
    labels[:] = -1
    best, largest = 0, 0
    for start in range(n):
        if labels[start] < 0:
            labels[start], queue[0] = start, start
            first, last = 0, 1
            while first < last:
                u = np.uint64(queue[first])
                first += 1
                position, v = seek(rows, u, ZERO), ZERO
                for k in range(degree(rows, u)):
                    v, position = step(rows, position, k, v)
                    if v < np.uint64(n) and labels[v] < 0:
                        labels[v], queue[last] = start, v
                        last += 1
            if last > largest:
                best, largest = start, last
    hub = best
    for v in range(n):
        if labels[v] == best and degree(rows, np.uint64(v)) > degree(rows, np.uint64(hub)):
            hub = v
    return np.int64(hub)


@njit
def by_fours(told, scratch):
    """Return whether searches read rows of four."""
    return scratch.fours.size > 0 and told[WIDEST] <= FEW


@njit
def _sweep(rows, edges, work, queue, searched, told, scratch, source, middle):
    """Search from ``source``, in the ``middle`` of the graph or at its rim, and renew all bounds."""
    anew = told[SEARCHES] == 0
    slot = BALLS + told[OUTER] % RIMS
    if middle:
        slot = told[MIDDLE] if told[MIDDLE] < BALLS else told[WORST]
        told[MIDDLE] = min(BALLS, told[MIDDLE] + 1)
    else:
        told[OUTER] += 1
    levels = work[FIRST_SLOT + slot]
    size = told[LINKED] if anew else told[REACHED]
    if by_fours(told, scratch):
        last, depth, unread = search_fours(rows, scratch.fours, source, size, levels, queue, scratch.seen)
        if anew:
            told[INSIDE] = edges if last == told[LINKED] else edges_of(rows, queue, 0, last)
        explored = told[INSIDE] - edges_of(rows, queue, unread, last)
    else:
        last, depth, explored, faults = search(rows, source, edges, told[WIDEST], size, levels, queue, work[OPEN])
        told[FAULTS] += faults
    searched[told[SEARCHES]] = source
    told[SEARCHES] += 1
    told[BATCHES] += 1
    told[REACHES] += last
    told[READ] += explored
    told[REACHED] = last
    told[FAR] = _lowest(rows, queue, levels, last, depth)
    if depth > told[LONGEST]:
        told[LONGEST], told[ONE], told[OTHER] = depth, source, told[FAR]
    if not anew:
        _renew(rows, work, told, levels, np.int64(depth), not middle)


@njit
def _renew(rows, work, told, levels, depth, central):
    """Renew all bounds by the ``levels`` of a search, and see who is open, and central where that is wanted."""
    lower, upper, n, anew = work[LOWER], work[UPPER], np.uint64(work.shape[1]), told[SEARCHES] == 1
    _, _, floor, ceiling, middle, opened = bound(
        lower, upper, levels, ZERO, n, np.int32(depth), np.int32(told[LONGEST]), anew
    )
    told[FLOOR], told[CEILING], told[LEFT] = floor, ceiling, opened
    told[CENTRAL] = _central(rows, lower, upper, middle) if central and middle < _MOST else -1


@njit
def _lowest(rows, queue, levels, last, depth):
    """Return one of the vertices farthest away, of the fewest neighbours."""
    found = np.int64(queue[last - 1])
    for i in range(last - 1, -1, -1):
        v = np.int64(queue[i])
        if levels[v] != depth:
            break
        more = np.int64(degree(rows, np.uint64(found))) - np.int64(degree(rows, np.uint64(v)))
        if more > 0 or (more == 0 and v > found):
            found = v
    return found


@njit
def _central(rows, lower, upper, middle):
    """Return the vertex of most neighbours among those of the smallest lower bound whose bounds differ."""
    found = np.int64(-1)
    for v in range(lower.size):
        unsure = lower[v] == middle and upper[v] > middle
        if unsure and (found < 0 or degree(rows, np.uint64(v)) >= degree(rows, np.uint64(found))):
            found = v
    return found


@njit
def _middle(rows, levels, vertex):
    """Return the vertex in the middle of the way from ``vertex`` to the source of the search that found ``levels``."""
    u = np.uint64(vertex)
    for level in range(levels[u] - 1, levels[u] // 2 - 1, -1):
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v < np.uint64(levels.size) and levels[v] == level:
                u = v
                break
    return np.int64(u)


@njit
def _look(rows, edges, work, searched, told, scratch):
    """Say who is left, in ``work[OPEN]``, and who is next; look at pairs of vertices where few are open."""
    n, upper, ones = work.shape[1], work[UPPER], work[OPEN]
    known, kept = searched[: told[SEARCHES]], work[FIRST_SLOT:]
    best, tally = told[LONGEST : OTHER + 1], told[READ : TORN + 1]
    while True:
        longest = np.int32(told[LONGEST])
        fewest, most = n + 1, -1
        for k in range(told[MIDDLE]):
            count = _outside(upper, kept[k], longest, longest // np.int32(2))
            if count < fewest:
                fewest, told[BALL] = count, k
            if count > most:
                most, told[WORST] = count, k
        away = kept[told[BALL]]
        told[LEFT], told[NEXT] = fewest, -1
        if fewest == 0:
            break
        half = longest // np.int32(2)
        opened = _outside(upper, upper, longest, longest)
        listed = opened <= LISTED
        count = _list(upper, away, longest, np.int32(-1) if listed else half, ones)
        if count <= LISTED and longest >= 2:
            count = stand_for_none(rows, np.uint64(n), ones, count, known, scratch)
        told[LEFT] = count
        if not listed:
            break
        balls, rims, few = told[MIDDLE], min(RIMS, told[OUTER]), max(PAIRS, edges)
        farther, told[LEFT], told[NEXT] = look_at_pairs(
            rows, few, edges, upper, kept, balls, rims, told[BALL], ones[:count], half, best, tally, scratch
        )
        if not farther or told[FAULTS] or told[TORN]:
            break
    told[TOP] = _choose(rows, upper, ones, told)


@njit
def _outside(upper, away, longest, half):
    """Count the open vertices that are more than ``half`` away."""
    count = 0
    for v in range(upper.size):
        count += (upper[v] > longest) & (away[v] > half)
    return count


@njit
def _list(upper, away, longest, half, ones):
    """List them; return how many. Stretches without any are passed over at the rate of vectors."""
    count = 0
    for first in range(0, upper.size, STRETCH):
        last = min(upper.size, first + STRETCH)
        if _outside(upper[first:last], away[first:last], longest, half) == 0:
            continue
        for v in range(first, last):
            ones[count] = v
            count += (upper[v] > longest) & (away[v] > half)
    return count


@njit
def _choose(rows, upper, ones, told):
    """Return the largest upper bound of those left; where nobody is next, choose whose that is."""
    top, following, fewest = 0, np.int64(-1), ZERO
    for i in range(told[LEFT]):
        v = np.int64(ones[i])
        links = degree(rows, np.uint64(v))
        if upper[v] > top or (upper[v] == top and links <= fewest):
            top, following, fewest = np.int64(upper[v]), v, links
    if told[NEXT] < 0:
        told[NEXT] = following
    return top
