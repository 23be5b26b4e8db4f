"""Numbers of nodes by their hashes, and a walk over dicts of neighbours that looks at nothing but hashes.

Equal objects have equal hashes. So where all nodes of a graph have different hashes, the hash of a neighbour says which
node it is, whichever of several equal objects lies in the dict, and no dict is asked for its number. What takes time is
waiting for the memory of the keys, so those of ``AHEAD`` entries are fetched together. The walk keeps the interpreter's
lock: nobody changes a dict meanwhile.

``slots``, int64 (2 ** k, 2), is an open-addressed table of hashes and numbers (-1: empty); without entries where the
hash of each node is its number.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit
from bigbfs.jit.objects import fetch_object, forget_error, hash_of, next_key

AHEAD = 64
"""Keys that are fetched together."""
_ROWS_AHEAD = 4
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@njit
def _find(key, slots, shift):
    """Return the slot of a hash, or the empty one where it would be."""
    last = len(slots) - 1
    at = np.int64((np.uint64(key) * _SPREAD) >> shift)
    while slots[at, 1] >= 0 and slots[at, 0] != key:
        at = (at + 1) & last
    return at


@njit(cache=True, nogil=True)
def fill(hashes, slots, shift):
    """Enter the hashes of all nodes; False: two are equal."""
    for number in range(len(hashes)):
        at = _find(hashes[number], slots, shift)
        if slots[at, 1] >= 0:
            return False
        slots[at, 0] = hashes[number]
        slots[at, 1] = number
    return True


@njit(cache=True, nogil=True)
def number_of(key, slots, shift):
    """Return the number of the node with a hash, -1: none has it."""
    return slots[_find(key, slots, shift), 1]


@njit
def _settle(keys, count, n, slots, shift, out, first):
    """Write the numbers of ``count`` keys to ``out[first:]``; False: one of them is no node."""
    if first + count > len(out):
        return False
    for i in range(count):
        key = hash_of(keys[i])
        if key == -1:
            forget_error()
            return False
        keys[i] = key
    for i in range(count):
        number = keys[i]
        if len(slots):
            number = slots[_find(number, slots, shift), 1]
        if number < 0 or number >= n:
            return False
        out[first + i] = number
    return True


@njit(cache=True)
def walk(rows, slots, shift, keys, place, out):
    """Write the numbers of all keys of the dicts at the addresses ``rows`` (int64), one after the other, to ``out``.

    Parameters
    ----------
    keys, place
        int64, (AHEAD,) and (3,): room.
    out
        Ids, (entries,).

    Returns
    -------
    False: a key is no node or has no hash, or there are not as many entries as ``out`` has room for.
    """
    n, count, done = len(rows), 0, 0
    for row in range(n):
        place[0] = 0
        fetch_object(rows[min(row + _ROWS_AHEAD, n - 1)])
        while next_key(rows[row], place):
            fetch_object(place[1])
            keys[count] = place[1]
            count += 1
            if count == len(keys):
                if not _settle(keys, count, n, slots, shift, out, done):
                    return False
                done += count
                count = 0
    return _settle(keys, count, n, slots, shift, out, done) and done + count == len(out)
