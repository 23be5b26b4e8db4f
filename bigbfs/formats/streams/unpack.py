"""Unpacks the units of a compressed stream by several threads, in order, a bounded number of bytes ahead.

It only ever runs ahead of :class:`bigbfs.formats.streams.decompress.Decompressor`: from what is no unit, or turns out
to be damaged, on, the stream is given back to be read serially, so that the errors are those of one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from bigbfs.formats.streams.units import Cutter, Incomplete, Unit

_READ_BYTES = 1 << 18
_LEAST = 1 << 12
"""Bytes that the smallest unit counts for: empty ones must not queue up without end."""
_SMALL = 1 << 12
"""Packed bytes up to which handing a unit to a thread takes as long as unpacking it."""


class _Running(NamedTuple):
    length: Future[int]
    packed: bytes
    buffer: memoryview


Unpack = Callable[[bytes, Unit, memoryview], int]


class UnpackAhead:
    """A queue of units that are being unpacked.

    Parameters
    ----------
    cut
        Finds the units.
    unpack
        Unpacks one into a buffer and returns its length; raises where it is damaged.
    threads
        Threads that unpack.
    most
        Bytes that all units under way may become; one of more than half of that is not taken.
    """

    def __init__(self, cut: Cutter, unpack: Unpack, threads: int, most: int) -> None:
        self._cut, self._unpack, self._threads, self._most = cut, unpack, threads, most
        self._packed = bytearray()
        self._running: deque[_Running] = deque()
        self._ahead = 0  # bytes of their buffers
        # used again and again: fresh memory costs a fault for each page, and threads wait for each other there
        self._spare: list[memoryview] = []
        self._lent: memoryview | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._given_up = False

    @property
    def finished(self) -> bool:
        """Whether the rest of the stream is to be read serially."""
        return self._given_up and not self._running

    def give(self, packed: bytes) -> None:
        """Take packed bytes that come before all that :meth:`next` would read."""
        self._packed[:0] = packed

    def take(self, count: int) -> bytes:
        """Hand packed bytes back (``count`` at most) for serial reading; b"" where none are held."""
        with memoryview(self._packed) as held:
            packed = bytes(held[:count])
        del self._packed[:count]
        return packed

    def next(self, read: Callable[[int], bytes]) -> memoryview | None:
        """Return what the next unit becomes, or None where the stream ends or is to be read serially.

        What was returned is overwritten after the next call. ``read`` returns packed bytes, b"" at their end; all that
        it returned and that no unit was made of is held.
        """
        if self._lent is not None:
            self._spare.append(self._lent)
            self._lent = None
        while self._ahead <= self._most // 2:
            if not self._start(read):
                break
        if not self._running:
            return None
        unit = self._running.popleft()
        self._ahead -= len(unit.buffer)
        try:
            self._lent = unit.buffer
            return unit.buffer[: unit.length.result()]
        except Exception:  # whatever it is, serial reading meets it again
            later = [other.packed for other in self._running]
            self._running.clear()
            self._ahead = 0
            self.give(b"".join([unit.packed, *later]))
            self._given_up = True
            return None

    def _buffer(self, bound: int) -> memoryview:
        """Return room for more than ``bound`` bytes."""
        for place, spare in enumerate(self._spare):
            if bound < len(spare) <= 4 * bound + _LEAST:
                return self._spare.pop(place)
        del self._spare[-1:]
        return memoryview(bytearray(bound + bound // 8 + _LEAST))

    def _start(self, read: Callable[[int], bytes]) -> bool:
        """Hand one more unit to the threads; return whether there was one."""
        while not self._given_up:
            try:
                unit = self._cut(self._packed, self._most // 2)
            except Incomplete:
                more = read(_READ_BYTES)
                if not more:
                    return False
                self._packed += more
                continue
            if unit is None:
                self._given_up = True
                break
            packed = self.take(unit.length)
            buffer = self._buffer(unit.bound)
            try:
                length = self._submit(packed, unit, buffer)
            except RuntimeError:  # no more threads are to be had
                self.give(packed)
                self._given_up = True
                break
            self._running.append(_Running(length, packed, buffer))
            self._ahead += len(buffer)
            return True
        return False

    def _submit(self, packed: bytes, unit: Unit, buffer: memoryview) -> Future[int]:
        """Have a unit unpacked: a small one here and now, others by a thread."""
        if unit.length > _SMALL:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, "bigbfs-unpack")
            return self._pool.submit(self._unpack, packed, unit, buffer)
        length: Future[int] = Future()
        try:
            length.set_result(self._unpack(packed, unit, buffer))
        except Exception as error:
            length.set_exception(error)
        return length

    def close(self) -> None:
        """End the threads, once the units under way are done."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
