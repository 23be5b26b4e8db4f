"""Numbers of nodes by their hashes, and a walk over dicts of neighbours that looks at nothing but hashes.

Equal objects have equal hashes. So where all nodes of a graph have different hashes, the hash of a neighbour says which
node it is, whichever of several equal objects lies in the dict, and no dict is asked for its number. What takes time is
waiting for memory: so the entries of a dict are fetched some dicts before the walk comes there, each key some entries
before its hash is wanted, and its slot of the table some entries before that is. The walk keeps the interpreter's lock:
nobody changes a dict meanwhile.

``slots``, int64 (2 ** k, 2), is an open-addressed table of hashes and numbers (-1: empty); without entries where the
hash of each node is its number.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit
from bigbfs.jit.objects import fetch_beyond, fetch_object, forget_error, hash_of, next_key

AHEAD = 16
"""Entries between the fetching of a key and its hash, and between the fetching of its slot and a look there."""
_ROWS_AHEAD = 4
_ENTRIES, _LINES = 32, 8
"""Where in a dict CPython has the pointer to its entries, and lines fetched there: a wrong guess costs time alone."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@njit
def _home(key, shift):
    """Return the slot where the search for a hash begins."""
    return np.int64((np.uint64(key) * _SPREAD) >> shift)


@njit
def _find(key, slots, shift):
    """Return the slot of a hash, or the empty one where it would be."""
    last = len(slots) - 1
    at = _home(key, shift)
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
def _hash(keys, at, slots, shift):
    """Put the hash of the key at an address in its place, and have its slot fetched; False: it has none."""
    key = hash_of(keys[at])
    if key == -1:
        forget_error()
        return False
    keys[at] = key
    if len(slots):
        fetch_soon(slots, 2 * _home(key, shift))
    return True


@njit
def _settle(key, n, slots, shift, out, done):
    """Write the number of the node with a hash to ``out[done]``; False: no node has it, or there is no room."""
    number = slots[_find(key, slots, shift), 1] if len(slots) else key
    if number < 0 or number >= n or done >= len(out):
        return False
    out[done] = number
    return True


@njit(cache=True)
def walk(rows, slots, shift, keys, place, out):
    """Write the numbers of all keys of the dicts at the addresses ``rows`` (int64), one after the other, to ``out``.

    Parameters
    ----------
    keys, place
        int64, (2 * AHEAD,) and (3,): room.
    out
        Ids, (entries,).

    Returns
    -------
    False: a key is no node or has no hash, or there are not as many entries as ``out`` has room for.
    """
    n, met = len(rows), 0
    for row in range(n):
        place[0] = 0
        fetch_object(rows[min(row + 2 * _ROWS_AHEAD, n - 1)])
        fetch_beyond(rows[min(row + _ROWS_AHEAD, n - 1)], _ENTRIES, _LINES)
        while next_key(rows[row], place):
            fetch_object(place[1])
            at = met % (2 * AHEAD)
            if met >= 2 * AHEAD and not _settle(keys[at], n, slots, shift, out, met - 2 * AHEAD):
                return False
            keys[at] = place[1]
            met += 1
            if met > AHEAD and not _hash(keys, (met - AHEAD - 1) % (2 * AHEAD), slots, shift):
                return False
    for at in range(max(0, met - AHEAD), met):
        if not _hash(keys, at % (2 * AHEAD), slots, shift):
            return False
    for at in range(max(0, met - 2 * AHEAD), met):
        if not _settle(keys[at % (2 * AHEAD)], n, slots, shift, out, at):
            return False
    return met == len(out)
