"""Large arrays to device memory: threads fill pinned buffers, from which the device copies meanwhile.

To page-lock a mapped file for one copy of it takes longer than the copy: 0.44 to 0.56 s for 8.4 GB, which are copied in
0.15 (one H200, 16 cores). Each thread page-locks buffers of its own, all at once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle
from threading import Condition
from typing import Any, NamedTuple

from bigbfs.engines.gpu.runtime.stage import TO_DEVICE, PinnedMemory
from bigbfs.engines.gpu.runtime.stretches import Fill, Source, Stretches, filling
from bigbfs.errors import DoesNotFitError
from bigbfs.jit.workers import thread_count
from bigbfs.sizes import free_memory

THREADS = 12
"""Threads at most: more read no faster than the link takes it."""

PIECE = 4 << 20
"""Bytes of a buffer. Of 8 MiB, page-locking the buffers takes longer; of 2 MiB, calls do."""

BUFFERS = 2
"""Of a thread: one is filled while the device copies from the other."""

NOBODY = 2**62
"""Pieces that somebody waits for where nobody does."""


class Upload:
    """Copies to memory of a device, under way from the start; to be waited for or closed.

    Parameters
    ----------
    cupy
        The module.
    index
        The device.
    pairs
        CuPy arrays, and what goes to each: of as many bytes, C-contiguous, any memory, a mapped file too, or stretches
        of it. What was launched before on the current stream may still use the memory of the first; the other must not
        be unmapped before the end. The first pair goes first.
    """

    def __init__(self, cupy: Any, index: int, pairs: Sequence[tuple[Any, Source]]) -> None:
        self.targets = [target for target, _ in pairs]
        self._cupy, self._index = cupy, index
        self._copies = [_Copy() for _ in pairs]
        pieces = (_pieces_of(copy, *pair) for copy, pair in zip(self._copies, pairs, strict=True))
        self._pieces = deque(piece for each in pieces for piece in each)
        self._refusal: DoesNotFitError | None = None
        self._before = cupy.cuda.get_current_stream().record()
        room = free_memory() // (BUFFERS * PIECE)  # all threads take theirs at once
        threads = max(1, min(THREADS, thread_count(), len(self._pieces), room))
        self._news, self._running = Condition(), threads
        self._pool = ThreadPoolExecutor(threads, "bigbfs-upload")
        self._threads = [self._pool.submit(self._carry) for _ in range(threads)]

    def wait(self, pair: int | None = None) -> None:
        """Return when the pair of that number is there, whatever others still are on their way; None: when all are.
        Who waits again hears the same.

        Raises
        ------
        DoesNotFitError
            No thread can have pinned buffers; nothing has been copied.
        """
        if pair is not None:
            copy = self._copies[pair]
            with self._news:
                self._news.wait_for(lambda: copy.left == 0 or self._running == 0)
                if copy.left == 0 and self._running:
                    return
        try:
            refusals = [ended.result() for ended in self._threads]
            if self._pieces:  # nobody has got any
                self._refusal = next(refusal for refusal in refusals if refusal)
        finally:
            self.close()
        if self._refusal is not None:
            raise self._refusal

    def wait_for(self, pair: int, nbytes: int) -> bool:
        """Return when the first ``nbytes`` of what is copied of a pair are there. False: they will not be, and
        :meth:`wait` says why."""
        copy = self._copies[pair]
        wanted = min(-(-nbytes // PIECE), len(copy.there))
        with self._news:
            copy.wanted = wanted
            self._news.wait_for(lambda: copy.first >= wanted or self._running == 0)
            copy.wanted = NOBODY
        return copy.first >= wanted

    def ended(self, pair: int) -> float:
        """Return when the last byte of a pair was there, by ``time.perf_counter``."""
        return self._copies[pair].ended

    def close(self) -> None:
        """Stop: after an error or an interrupt all threads do; a second call does nothing."""
        self._pieces.clear()
        self._pool.shutdown()

    def _carry(self) -> DoesNotFitError | None:
        """Copy pieces until there are no more; return why not, where this thread gets no buffers."""
        try:
            return self._carry_all()
        finally:
            with self._news:
                self._running -= 1
                self._news.notify_all()

    def _carry_all(self) -> DoesNotFitError | None:
        cupy = self._cupy
        cupy.cuda.Device(self._index).use()  # each thread has a device of its own
        stream = cupy.cuda.Stream(non_blocking=True)
        try:
            pinned = PinnedMemory(cupy, BUFFERS * PIECE)
        except DoesNotFitError as refusal:
            return refusal  # others may have got theirs
        try:
            stream.wait_event(self._before)
            halves = pinned.host.reshape(BUFFERS, PIECE)
            turns = cycle([(half, cupy.cuda.Event(disable_timing=True)) for half in halves])
            under_way: deque[_Piece] = deque()
            while (piece := _next(self._pieces)) is not None:
                if under_way and under_way[-1].copy is not piece.copy:  # somebody may be waiting for those
                    stream.synchronize()
                    self._are_there(under_way)
                buffer, copied = next(turns)
                copied.synchronize()
                if len(under_way) == BUFFERS:
                    self._are_there(under_way, 1)
                piece.fill(buffer[: piece.size], piece.start)
                place = piece.address, int(buffer.ctypes.data), piece.size
                cupy.cuda.runtime.memcpyAsync(*place, TO_DEVICE, stream.ptr)
                copied.record(stream)
                under_way.append(piece)
            stream.synchronize()
            self._are_there(under_way)
        finally:
            try:
                stream.synchronize()
            finally:
                pinned.close()
        return None

    def _are_there(self, under_way: deque[_Piece], first: int = BUFFERS) -> None:
        """Say that the ``first`` pieces under way have been copied."""
        with self._news:
            for _ in range(min(first, len(under_way))):
                piece = under_way.popleft()
                piece.copy.count(piece.number)
                if piece.copy.left == 0 or piece.copy.first >= piece.copy.wanted:
                    self._news.notify_all()


@dataclass(eq=False)
class _Copy:
    """Of a pair: pieces that are ``left``, which are ``there``, how many of these lie side by side from the first on,
    how many of such somebody waits for, and when the last one came."""

    left: int = 0
    first: int = 0
    wanted: int = NOBODY
    ended: float = 0.0
    there: bytearray = field(default_factory=bytearray)

    def count(self, number: int) -> None:
        """Take note that a piece has come; threads end theirs in any order."""
        self.there[number] = 1
        self.left -= 1
        while self.first < len(self.there) and self.there[self.first]:
            self.first += 1
        self.ended = time.perf_counter()


class _Piece(NamedTuple):
    """``size`` bytes from ``start`` on of what ``fill`` gives, and where they go; the ``number`` of a copy's pieces."""

    copy: _Copy
    number: int
    fill: Fill
    start: int
    size: int
    address: int


def _pieces_of(copy: _Copy, target: Any, source: Source) -> Iterator[_Piece]:
    """Yield the pieces of a copy, in order."""
    fill, nbytes, address = filling(source), int(source.nbytes), int(target.data.ptr)
    begin, end = source.span if isinstance(source, Stretches) else (0, nbytes)
    copy.left = -(-(end - begin) // PIECE)
    copy.there, copy.ended = bytearray(copy.left), time.perf_counter()
    for number, start in enumerate(range(begin, end, PIECE)):
        yield _Piece(copy, number, fill, start, min(PIECE, end - start), address + start)


def _next(pieces: deque[_Piece]) -> _Piece | None:
    """Take the next piece that nobody else has; None: there is none."""
    try:
        return pieces.popleft()
    except IndexError:
        return None
