"""Which rows make a batch, which bytes of the file they need, and where in the batch each of them lies.

In: a bitmap of the rows that are wanted, the offsets of the rows, and the room of a batch. Out, batch after batch in
file order: *stretches* of the file to be read one behind the other, and *pieces* (kernels/rows/piece.cuh) that lead
a warp to its rows. Rows that lie close together are read in one stretch, with what is between them, so that a batch of
dense rows is a few long reads and a batch of sparse ones little more than the rows themselves. A hub's row is cut where
its chunks begin: it may go over any number of batches, and no piece is longer than a chunk or a few dozen short rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.runtime.arguments import PIECE
from bigbfs.engines.gpu.streamed.ledger import ALIGN, pieces_in
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit

GAP = 4096
"""Bytes between two rows from which on they are skipped rather than read: a page, the unit of the page cache and of
most disks."""

STRETCH = 1 << 20
"""Bytes after which a stretch ends, so that threads can share a long one."""

PIECE_UNITS = 4 * BLOCK_IDS
"""Ids or bytes after which a piece of several rows ends."""

WORD = 32
PIECE_BYTES = PIECE.itemsize
PIECE_FIELDS = PIECE_BYTES // 8


@njit(cache=True, nogil=True)
def _part(v, part, indptr, degree, hub, hub_ptr, block_ptr):
    """Return (begin, end) of part ``part`` of row ``v`` in units, and whether it is the row's last."""
    begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
    ids = np.int64(degree[v]) if len(degree) else end - begin
    if ids <= BLOCK_IDS:
        return begin, end, True
    if len(degree) == 0:
        first = begin + part * BLOCK_IDS
        return first, min(first + BLOCK_IDS, end), first + BLOCK_IDS >= end
    entry = np.int64(hub_ptr[hub]) + part
    last = entry + 1 >= np.int64(hub_ptr[hub + 1])
    return np.int64(block_ptr[entry]), (end if last else np.int64(block_ptr[entry + 1])), last


@njit(cache=True, nogil=True)
def _fill(wanted, place, indptr, degree, hubs, hub_ptr, block_ptr, unit, room, skipped, pieces, stretches):
    """Put as many parts of wanted rows into one batch as have room, from ``place`` on.

    ``place``, int64 (4): in and out, vertex, part, hub index to go on with; bytes of the batch. ``room``: bytes for
    rows and pieces together; ``skipped``: bytes between rows from which on they are skipped. Returns the numbers of
    pieces and of stretches, and whether a part can never fit.
    """
    v, part, hub = place[0], place[1], place[2]
    count, runs, used = 0, 0, np.int64(0)
    open_end = np.int64(-1)  # byte of the file where the last stretch ends
    joined = False  # whether the last piece may take more rows
    words = len(wanted)
    w = v // WORD
    while w < words:
        word = np.uint64(wanted[w])
        if w == v // WORD:
            word &= ~((np.uint64(1) << np.uint64(v % WORD)) - np.uint64(1))
        while word != 0:
            v = w * WORD + np.int64(trailing_zeros(word))
            while hub < len(hubs) and np.int64(hubs[hub]) < v:
                hub += 1
            last = False
            while not last:
                begin, end, last = _part(v, part, indptr, degree, hub, hub_ptr, block_ptr)
                first_byte, last_byte = begin * unit, end * unit
                gap = first_byte - open_end
                follows = runs > 0 and 0 <= gap < skipped and last_byte - np.int64(stretches[runs - 1, 0]) <= STRETCH
                at = used + gap if follows else (used + ALIGN - 1) // ALIGN * ALIGN
                needs = at + last_byte - first_byte
                full = (
                    needs + PIECE_BYTES * (count + 1) + ALIGN > room or count == len(pieces) or runs == len(stretches)
                )
                if full or end < begin:
                    place[0], place[1], place[2], place[3] = v, part, hub, used
                    return count, runs, count == 0 or end < begin
                if follows:
                    stretches[runs - 1, 1] = np.uint64(last_byte - np.int64(stretches[runs - 1, 0]))
                else:
                    stretches[runs, 0], stretches[runs, 1] = np.uint64(first_byte), np.uint64(last_byte - first_byte)
                    stretches[runs, 2] = np.uint64(at)
                    runs += 1
                    joined = False
                open_end, used = last_byte, needs
                whole = part == 0 and last
                if joined and whole and end - np.int64(pieces[count - 1, 2]) <= PIECE_UNITS:
                    pieces[count - 1, 1] = np.uint64(v + 1) - pieces[count - 1, 0]
                    pieces[count - 1, 3] = np.uint64(end)
                else:
                    pieces[count, 0], pieces[count, 1] = np.uint64(v), np.uint64(1)
                    pieces[count, 2], pieces[count, 3] = np.uint64(begin), np.uint64(end)
                    pieces[count, 4] = np.uint64(begin - at // unit)
                    count += 1
                joined = whole
                part = 0 if last else part + 1
            word &= word - np.uint64(1)
        joined = False  # a piece stays inside a word
        w += 1
        v = w * WORD
    place[0], place[1], place[2], place[3] = v, 0, hub, used
    return count, runs, False


@dataclass(frozen=True, slots=True)
class Batch:
    """Views into memory that the next batch from the same ``Planner`` may use again, the stretches aside.

    Attributes
    ----------
    pieces
        uint64, shape (pieces, 5).
    stretches
        uint64, shape (stretches, 3): first byte in the edges, bytes, first byte in the batch.
    bytes
        Bytes of the rows in the batch.
    """

    pieces: np.ndarray
    stretches: np.ndarray
    bytes: int

    @property
    def read_bytes(self) -> int:
        """Bytes that are read from the file."""
        return int(self.stretches[:, 1].sum())


class Planner:
    """Cuts the wanted rows of one adjacency into batches.

    Parameters
    ----------
    adjacency
        Rows; of the edges themselves nothing is read.
    capacity
        Bytes of the largest batch, pieces included.
    gap
        Bytes between two rows from which on they are skipped.

    Attributes
    ----------
    unit
        Bytes of what ``indptr`` counts.
    host_bytes
        Bytes of memory for pieces.
    """

    def __init__(self, adjacency: Adjacency, capacity: int, gap: int = GAP) -> None:
        none = np.empty(0, adjacency.ids)
        offsets = np.empty(0, np.uint64)
        self._indptr = adjacency.indptr
        self._tables: tuple[np.ndarray, ...] = (none, none, offsets, offsets)
        self._gap = gap
        self.unit = adjacency.ids.itemsize
        if isinstance(adjacency, CompressedAdjacency):
            self._tables = (adjacency.degree, adjacency.hubs, adjacency.hub_ptr, adjacency.block_ptr)
            self.unit = 1
        self._pieces = np.empty((pieces_in(capacity), PIECE_FIELDS), np.uint64)
        self.host_bytes = self._pieces.nbytes

    def batches(self, wanted: np.ndarray, room: int, first: int = 0) -> Iterator[Batch]:
        """Yield the batches of the rows whose bits are set in ``wanted`` (uint32, shape (ceil(n / 32),) or less).

        Parameters
        ----------
        room
            Bytes of a batch, pieces included: at least ``ledger.SMALLEST``.
        first
            Word of ``wanted`` from which on there are any.

        Raises
        ------
        FormatError
            Offsets of the graph do not ascend, or a chunk is larger than any batch.
        """
        place = np.array([WORD * first, 0, 0, 0], np.int64)
        while place[0] < WORD * len(wanted):
            stretches = np.empty((len(self._pieces), 3), np.uint64)
            count, runs, stuck = _fill(
                wanted, place, self._indptr, *self._tables, self.unit, room, self._gap, self._pieces, stretches
            )
            if stuck:
                raise FormatError(
                    f"the offsets of vertex {int(place[0])} are damaged: they descend, or a chunk of its row has more "
                    f"than {room} bytes; `bigbfs check` says where"
                )
            if count:
                yield Batch(self._pieces[:count], stretches[:runs], int(place[3]))
