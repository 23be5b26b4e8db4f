"""Sources that wait for others before the first bottom-up level of a batch, so that most rows are read once, not twice.

A bottom-up level ends a row when no bit is missing, which it does early once every source has reached the hubs. Of
random sources some reach them a level or two after others, and for one missing bit of 512 nearly every row is read to
its end, in two levels. So a source whose frontier is wide waits while the others, whose frontiers are thin, go on
top-down. Those that have waited are some levels behind from then on: level ``l`` of the batch is their ``l - lag``.

Nothing of the frontier of those who wait is kept: a bottom-up level takes whatever bits a neighbour has.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.cpu.collecting import LAGS, Sink
from bigbfs.algorithms.many.cpu.state import State
from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import Rows, degree, fetch_place
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit

FEWEST = 2**23
"""Edges of a graph in which anybody waits. In smaller ones rows and bits lie in caches: to read a row twice costs no
more than to know of each source how far it is behind."""

WIDE = 12
"""The frontier of a source is wide if its rows have an edge of this many times two to one of all edges."""

MOST = 24
"""Others go on alone while the rows of their frontier have an edge of this many at most: top-down each costs more."""

_LATER = np.uint64(24)
_EIGHT = np.uint64(8)


class Waiting:
    """Which sources of a batch wait, and since when.

    Parameters
    ----------
    width
        Sources of a batch.
    word
        Type of the words that hold their bits.
    """

    def __init__(self, width: int, word: np.dtype) -> None:
        self._width, self._word = width, word
        self._since = np.full(width, -1, np.int64)
        self._last, self.over = 0, False

    def begin(self, m: int, *, allowed: bool) -> None:
        """Have nobody wait, and nobody until the next batch where it is not ``allowed`` or ``m`` edges are few."""
        self._since[:] = -1
        self._last, self.over = 2**62, not allowed or m < FEWEST

    @property
    def anybody(self) -> bool:
        """Whether a source waits."""
        return not self.over and bool((self._since >= 0).any())

    def last(self, level: int) -> int:
        """Return the last level that others may go to before these go on, ``level`` at most."""
        return min(level, self._last)

    def words_of(self, chosen: np.ndarray) -> np.ndarray:
        """Return the bits of sources, bool (width,), as words."""
        bits = np.packbits(chosen, bitorder="little")
        return bits.view(self._word.newbyteorder("<")).astype(self._word)

    def look(self, rows: Rows, state: State, count: int, level: int, m: int) -> tuple[int, int] | None:
        """Have the sources wait that are ahead; return vertices and edges of the frontier of the others.

        None: there are no others, or all are alike, or it has been long enough. The frontier may be lost then.
        """
        if self.over or not count or level >= self._last:
            return None
        ahead, least = np.zeros(self._width, np.int64), max(1, m >> WIDE)
        words = np.uint64(len(state.full))
        open_ = self.words_of(self._since < 0)
        edges_ahead(rows, state.queue, state.bits, np.uint64(count), words, np.int64(least), ahead, open_)
        wide = ahead >= least
        if not (wide.any() or self.anybody) or not ((ahead > 0) & ~wide).any():
            return None
        held = wide | (self._since >= 0)
        some = leave_out(rows, state.queue, state.bits, np.uint64(count), words, self.words_of(held))
        vertices, edges = int(some[0]), int(some[1])
        if not vertices or edges > m // MOST:
            return None
        if not self.anybody:
            self._last = level + LAGS
        self._since[wide] = level
        return vertices, edges

    def release(self, level: int, sink: Sink) -> Sink:
        """Let all go on in the level after ``level``, and nobody wait again; return the sink that knows who waited."""
        if self.anybody:
            lag = np.where(self._since >= 0, level - self._since, 0)
            sink.lag[:] = lag
            sink.active[:] |= self.words_of(self._since >= 0)
            late = [self.words_of(lag > j) for j in range(int(lag.max()))]
            sink = sink._replace(late=np.concatenate(late))
        self.over = True
        return sink


@njit(cache=True, nogil=True)
def edges_ahead(rows, queue, bits, count, words, least, ahead, wanted):
    """Add to ``ahead``, int64 for each source, the edges in the rows of its frontier, up to ``least`` or more.

    ``wanted``, words: the sources that are looked at; those that have come up to ``least`` leave it.
    """
    size = np.uint64(bits.itemsize) * _EIGHT
    for i in range(count):
        if i + _LATER < count:
            fetch_place(rows, np.uint64(queue[i + _LATER]))
        edges = np.int64(degree(rows, np.uint64(queue[i])))
        for w in range(words):
            word = np.uint64(bits[i * words + w] & wanted[w])
            while word != ZERO:
                b = trailing_zeros(word)
                word &= word - ONE
                ahead[w * size + b] += edges
                if ahead[w * size + b] >= least:
                    wanted[w] &= ~(wanted.dtype.type(1) << wanted.dtype.type(b))


@njit(cache=True, nogil=True)
def leave_out(rows, queue, bits, count, words, held):
    """Take the bits of ``held``, words, from the frontier; return the vertices left, and edges in their rows."""
    kept, edges = ZERO, ZERO
    for i in range(count):
        some = False
        for w in range(words):
            word = bits[i * words + w] & ~held[w]
            bits[kept * words + w] = word
            some |= word != 0
        if some:
            queue[kept] = queue[i]
            edges += degree(rows, np.uint64(queue[i]))
            kept += ONE
    return kept, edges
