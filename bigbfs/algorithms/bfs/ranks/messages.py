"""What ranks tell each other of vertices, as bytes: claims with their parents, and lists of vertices visited.

Numbers are varints (7 bits a byte, the top bit says that more follow). A stream of *claims* for a rank is runs: a
parent, then the local numbers of the vertices claimed for it, each as the gap to the one before (the first to -1, so no
gap is 0), then a 0. Rows are ascending, so the gaps of a hub are small: about two bytes a claim.
A *list* is the gaps alone. Whoever reads holds every number against its range: bytes from another machine are input.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of, is_set
from bigbfs.engines.cpu.rows import degree
from bigbfs.engines.ranks.numbering import global_vertex, owner_of
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit

_SEVEN, _MORE, _PAYLOAD, _WIDTH = np.uint64(7), np.uint64(0x80), np.uint64(0x7F), np.uint64(64)


def varint_bytes(value: int) -> int:
    """Return the bytes that ``value`` takes."""
    return max(1, -(-int(value).bit_length() // 7))


@njit
def _put(out, at, value, writes):
    """Write ``value`` at ``at`` if ``writes``; return the place behind it."""
    while value > _PAYLOAD:
        if writes:
            out[at] = np.uint8((value & _PAYLOAD) | _MORE)
        at += ONE
        value >>= _SEVEN
    if writes:
        out[at] = np.uint8(value)
    return at + ONE


@njit
def _get(stream, at, end):
    """Return the varint at ``at`` and the place behind it; one that is cut short ends with the stream."""
    value, shift = ZERO, ZERO
    while at < end:
        byte = np.uint64(stream[at])
        at += ONE
        if shift < _WIDTH:
            value |= (byte & _PAYLOAD) << shift
        shift += _SEVEN
        if byte <= _PAYLOAD:
            break
    return value, at


@njit(nogil=True, cache=True)
def deal(part, claims, owners, count, cursors, out, writes):
    """Append ``count`` claims of others' vertices to the streams of their owners, which end at ``cursors``.

    Without ``writes`` it only moves the cursors: that tells how long the streams will be. Own claims are left out.
    """
    last_owner = np.zeros(len(cursors), np.uint64)
    last_local = np.zeros(len(cursors), np.uint64)
    for i in range(count):
        v, above = np.uint64(claims[i]), np.uint64(owners[i]) + ONE
        rank, word = owner_of(part, v >> SHIFT)
        if rank == part.rank:
            continue
        local = (word << SHIFT) + (v & np.uint64(63)) + ONE
        at = cursors[rank]
        if last_owner[rank] != above or local <= last_local[rank]:
            if last_owner[rank] != ZERO:
                at = _put(out, at, ZERO, writes)
            at = _put(out, at, above - ONE, writes)
            last_owner[rank], last_local[rank] = above, ZERO
        at = _put(out, at, local - last_local[rank], writes)
        last_local[rank] = local
        cursors[rank] = at
    for rank in range(len(cursors)):  # another thread's claims may follow
        if last_owner[rank] != ZERO:
            cursors[rank] = _put(out, cursors[rank], ZERO, writes)


@njit
def _settle(rows, own, v, local, parent, level, tail):
    """Write what belongs to the own vertex ``v`` and append it to the queue; return the edges in its row."""
    own.fresh[local >> SHIFT] |= bit_of(v)
    own.levels[local] = level
    own.parents[local] = parent
    own.queue[tail] = v
    return degree(rows, v)


@njit(nogil=True, cache=True)
def settle(rows, part, own, claims, owners, count, level, tail):
    """Give ``level`` and their parents to own vertices among ``count`` claims; return the queue's end and the edges."""
    edges = ZERO
    for i in range(count):
        v = np.uint64(claims[i])
        rank, word = owner_of(part, v >> SHIFT)
        if rank == part.rank:
            edges += _settle(rows, own, v, (word << SHIFT) + (v & np.uint64(63)), owners[i], level, tail)
            tail += ONE
    return tail, edges


@njit(nogil=True, cache=True)
def accept(rows, part, own, stream, begin, end, level, tail):
    """Visit the own vertices that another rank claims; return the queue's end, the edges, and the faults of the bytes.

    What was visited already, or claimed by a rank before, stays as it is.
    """
    edges, faults, at = ZERO, ZERO, begin
    while at < end:
        parent, at = _get(stream, at, end)
        local = ZERO
        while at < end:
            gap, at = _get(stream, at, end)
            if gap == ZERO:
                break
            local += gap
            v = global_vertex(part, local - ONE)
            if (local - ONE) >> SHIFT >= part.words or v >= part.n or parent >= part.n:
                faults += ONE
            elif not is_set(own.visited, v):
                own.visited[v >> SHIFT] |= bit_of(v)
                edges += _settle(rows, own, v, local - ONE, parent, level, tail)
                tail += ONE
    return tail, edges, faults


@njit(nogil=True, cache=True)
def write_list(bitmap, out, writes):
    """Write the bits of ``bitmap`` (own words) as a list; return its bytes. Without ``writes`` only count them."""
    at, last = ZERO, ZERO
    for i in range(np.uint64(len(bitmap))):
        todo = bitmap[i]
        while todo != ZERO:
            local = (i << SHIFT) + trailing_zeros(todo) + ONE
            todo &= todo - ONE
            at = _put(out, at, local - last, writes)
            last = local
    return at


@njit(nogil=True, cache=True)
def read_list(part, stream, visited):
    """Set in ``visited`` the bits of a list from the rank of ``part``; return the faults of the bytes."""
    at, end, local, faults = ZERO, np.uint64(len(stream)), ZERO, ZERO
    while at < end:
        gap, at = _get(stream, at, end)
        local += gap
        v = global_vertex(part, local - ONE)
        if gap == ZERO or (local - ONE) >> SHIFT >= part.words or v >= part.n:
            faults += ONE
        else:
            visited[v >> SHIFT] |= bit_of(v)
    return faults
