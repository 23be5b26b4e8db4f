"""Parts of the kernel that closes in on a diameter: pairs of vertices that are no farther apart than what is known.

See :mod:`bigbfs.measures.rim`, :mod:`bigbfs.measures.pairs` and :mod:`bigbfs.measures.apart`, whose order and limits
these keep. ``best``, int64 (3,): the longest distance and its two ends, renewed here; ``tally``, int64 (3,), grows: ids
read, ids met that are no vertices, edges without a twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.algorithms.sweeps.cpu.farthest import farthest
from bigbfs.algorithms.sweeps.options import FAR, LISTED, RIM, SHALLOW
from bigbfs.engines.cpu.bits import words_for
from bigbfs.jit.njit import njit
from bigbfs.measures.apart import LEAST, SHARE
from bigbfs.measures.between import GIVEN_UP, LOOK, NO_PATH, Side, search_between
from bigbfs.measures.pairs import MOST_PAIRS, partners, root_of, wanted_among
from bigbfs.measures.rim import FIRST, PAIRS, list_pairs

BALLS, RIMS = 4, 12
"""Sources whose distances are kept: those in the middle of the graph, whose balls leave out the fewest, and the last of
those at its rim, of which two that are near one are not far apart."""
SLOTS = BALLS + RIMS

INT32, INT64, UINT64, BOOL = map(np.dtype, (np.int32, np.int64, np.uint64, np.bool_))
RIM_SHARE = 8
"""Pairs of the vertices farthest from the first source read this share of the edges at most, about: half of what they
may elsewhere, since the search that they save takes half as long here."""

_IDS, _THEIRS, _AWAY, _SCORE, _PAIRED = range(5)
_WANTED, _AMONG = range(2)
_FAR = np.int64(FAR)
_NOBODY = np.int64(-1)


class Scratch(NamedTuple):
    """Arrays that a step fills and forgets: to take them in the kernel would double the time that it compiles.

    Attributes
    ----------
    numbers, flags, levels
        int64 (5, k), bool (2, k) and int64 (k, SLOTS): of listed vertices.
    pairs, ends
        int64 (PAIRS, 2) and (SHALLOW + 2,).
    side, back
        Of searches from both ends, whose bitmaps are 0.
    fours, seen
        Rows of four, int32, which stay, and uint8 (n,): see :mod:`bigbfs.measures.fours`; empty where there are none.
    """

    numbers: np.ndarray
    flags: np.ndarray
    levels: np.ndarray
    pairs: np.ndarray
    ends: np.ndarray
    side: Side
    back: Side
    fours: np.ndarray
    seen: np.ndarray


def shapes(n: int) -> list[tuple[tuple[int, ...], np.dtype]]:
    """Return shapes and dtypes for a graph of ``n`` vertices: the five arrays of :class:`Scratch`, and two bitmaps.

    Two rims have more vertices than are searched from at once, whose depths are kept there, too.
    """
    listed = max(2 * RIM + 1, min(n, LISTED))
    return [
        ((5, listed), INT64), ((2, listed), BOOL), ((listed, SLOTS), INT64), ((PAIRS, 2), INT64),
        ((SHALLOW + 2,), INT64), ((2, words_for(n) + 1), UINT64),
    ]  # fmt: skip


@njit
def close_rim(rows, edges, levels, source, best, tally, scratch):
    """Look at pairs of the vertices farthest from the first ``source``; return whether ``best`` is the diameter."""
    depth, ids, theirs, wanted = best[0], scratch.numbers[_IDS], scratch.numbers[_THEIRS], scratch.flags[_WANTED]
    counts = scratch.numbers[_SCORE][: SHALLOW + 1]
    counts[:] = 0
    count = farthest(levels, np.int64(RIM), counts, ids[: 2 * RIM + 1], theirs[: 2 * RIM + 1])
    if count == 0:
        return False
    low, kept = depth, np.int64(0)
    searched = scratch.numbers[_AWAY][:0]
    wanted_among(rows, np.uint64(levels.size), ids[:count], source, searched, wanted[:count])
    for i in range(count):
        low = min(low, theirs[i])
        if wanted[i] or depth < 2:
            ids[kept], theirs[kept] = ids[i], theirs[i]
            kept += 1
    pairs, ends = scratch.pairs, scratch.ends[: depth - low + 1]
    list_pairs(ids[:kept], theirs[:kept], depth, pairs, ends)
    most, begin = max(LEAST, edges // RIM_SHARE), np.int64(0)
    last = tally[0] + most
    for i in range(ends.size):
        total = 2 * depth - i
        if best[0] >= total:
            break
        if ends[i] < 0:
            return False
        while begin < ends[i] and best[0] < total:
            left = most // FIRST if begin == 0 else last - tally[0]
            if not _is_known(rows, pairs[begin, 0], pairs[begin, 1], left, best, tally, scratch):
                return False
            begin += 1
        begin = ends[i]
    return best[0] >= depth + low - 1


@njit
def _is_known(rows, one, other, most, best, tally, scratch):
    """Search for a pair and renew ``best``; return False where that would read more than ``most`` ids."""
    _, _, distance, read, faults = search_between(rows, rows, True, LOOK, one, other, most, scratch.side, scratch.back)
    tally[0] += read
    tally[1] += faults
    if distance == NO_PATH:
        tally[2] += 1
    elif distance > best[0]:
        best[0], best[1], best[2] = distance, one, other
    return distance != GIVEN_UP and distance != NO_PATH


@njit
def stand_for_none(rows, n, ones, count, searched, scratch):
    """Keep, of the first ``count`` vertices ``ones``, those that no other stands for; return how many."""
    ids, wanted = scratch.numbers[_IDS][:count], scratch.flags[_WANTED][:count]
    bare = scratch.numbers[_THEIRS]
    bare = bare[: min(bare.size, searched.size)]
    for i in range(bare.size):
        bare[i] = root_of(rows, n, np.int64(searched[i]))
    for i in range(count):
        ids[i] = ones[i]
    wanted_among(rows, n, ids, np.int64(searched[0]), bare, wanted)
    kept = 0
    for i in range(count):
        if wanted[i]:
            ones[kept] = ids[i]
            kept += 1
    return kept


@njit
def look_at_pairs(rows, limit, edges, upper, kept, balls, rims, ball, ones, half, best, tally, scratch):
    """Leave out, of the open vertices ``ones``, int32, those that have no partner too far away.

    Their bound in ``upper``, int32 (n,), becomes the longest distance, so that nobody looks at them again when other
    distances are kept. ``kept``, int32: distances, from ``balls`` sources and from others, ``rims`` of them, behind the
    first ``BALLS`` rows; those more than ``half`` away from source ``ball`` count. No more than about ``limit`` pairs
    are looked at. What is left comes first in ``ones``. Returns whether a longer distance has been found instead; how
    many are left; and the one with the most partners, -1 where nobody knows.
    """
    away, count = scratch.numbers[_AWAY], np.int64(0)
    for i in range(ones.size):
        away[count] = i
        count += kept[ball, ones[i]] > half
    if count * ones.size > limit:
        for i in range(count):
            ones[i] = ones[away[i]]
        return False, count, _NOBODY
    levels, among, score = scratch.levels[: ones.size], scratch.flags[_AMONG][: ones.size], scratch.numbers[_SCORE]
    for i in range(ones.size):
        among[i] = kept[ball, ones[i]] > half
        for k in range(levels.shape[1]):
            known = k < balls or BALLS <= k < BALLS + rims
            levels[i, k] = min(np.int64(kept[k, ones[i]]), _FAR) if known else _FAR
    total = partners(levels, away[:count], among, best[0], score[:count], scratch.pairs[:MOST_PAIRS])
    if 0 < total < MOST_PAIRS:
        longest = best[0]
        done = _search_for(rows, edges, ones, total, best, tally, scratch)
        if best[0] > longest:
            return True, count, _NOBODY
        _score(scratch, done, total, ones.size, count)
    left, following, most = np.int64(0), _NOBODY, np.int64(0)
    for i in range(count):
        if score[i] > 0:
            v = ones[away[i]]
            if score[i] > most:
                most, following = score[i], np.int64(v)
            ones[left] = v
            left += 1
        else:
            upper[ones[away[i]]] = best[0]
    return False, left, following


@njit
def _search_for(rows, edges, ones, total, best, tally, scratch):
    """Search for pairs of ``ones`` up to one that is farther apart than all; return how many are known to be near."""
    pairs, longest, last = scratch.pairs, best[0], tally[0] + max(LEAST, edges // SHARE)
    for i in range(total):
        one, other = np.int64(ones[pairs[i, 0]]), np.int64(ones[pairs[i, 1]])
        if not _is_known(rows, one, other, last - tally[0], best, tally, scratch) or best[0] > longest:
            return np.int64(i)
    return total


@njit
def _score(scratch, first, last, size, count):
    """Count the pairs of each from the ``first`` on."""
    pairs, paired, score, away = (
        scratch.pairs,
        scratch.numbers[_PAIRED],
        scratch.numbers[_SCORE],
        scratch.numbers[_AWAY],
    )
    for i in range(size):
        paired[i] = 0
    for i in range(first, last):
        paired[pairs[i, 0]] += 1
        paired[pairs[i, 1]] += 1
    for i in range(count):
        score[i] = paired[away[i]]
