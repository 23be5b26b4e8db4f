"""The checksum of a section: CRC-32 over the CRC-32s (uint32, little-endian) of its stretches of 16 MiB.

CRC-32 is in the standard library and as fast as memory is copied; it finds every burst of up to 32 bits and, in a
stretch of this length, every one, two or three flipped bits, which one CRC over gigabytes no longer does. Stretches are
independent, so threads share the work (zlib lets go of the interpreter lock). It guards against damage, not malice.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

STRETCH = 1 << 24
"""Bytes in one stretch."""


def stretches(array: np.ndarray) -> Iterable[memoryview]:
    """Cut an array of one dimension into stretches of bytes."""
    view = np.ascontiguousarray(array).view(np.uint8).data
    for start in range(0, len(view), STRETCH):
        yield view[start : start + STRETCH]


class Checksum:
    """Takes the stretches of a section in order, computes in threads what :meth:`value` returns.

    Attributes
    ----------
    length
        Bytes taken so far.
    """

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.length = 0
        self._pool = pool
        self._pending: deque[Future[int]] = deque()
        self._outer = 0

    def add(self, stretch: memoryview | bytes) -> None:
        """Take the next stretch: ``STRETCH`` bytes, fewer only in the last one. It must not change afterwards."""
        self.length += len(stretch)
        self._pending.append(self._pool.submit(zlib.crc32, stretch))
        if len(self._pending) > 64:
            self._take()

    def value(self) -> int:
        """Return the checksum of all stretches taken."""
        while self._pending:
            self._take()
        return self._outer

    def _take(self) -> None:
        self._outer = zlib.crc32(struct.pack("<I", self._pending.popleft().result()), self._outer)


class RunningChecksum:
    """Takes a section in runs of any length, in order, and computes its checksum as they come.

    Attributes
    ----------
    length
        Bytes taken so far.
    """

    def __init__(self, length: int = 0, inner: int = 0, outer: int = 0) -> None:
        self.length, self._inner, self._outer = length, inner, outer

    @property
    def state(self) -> tuple[int, int, int]:
        """What a new one is made of that goes on from here."""
        return self.length, self._inner, self._outer

    def add(self, data: memoryview) -> None:
        """Take the next bytes."""
        while data:
            here = data[: STRETCH - self.length % STRETCH]
            self._inner = zlib.crc32(here, self._inner)
            self.length += len(here)
            data = data[len(here) :]
            if self.length % STRETCH == 0:
                self._outer = self._with_stretch()
                self._inner = 0

    def value(self) -> int:
        """Return the checksum of all bytes taken."""
        return self._with_stretch() if self.length % STRETCH else self._outer

    def _with_stretch(self) -> int:
        return zlib.crc32(struct.pack("<I", self._inner), self._outer)


class StretchSums:
    """Takes the checksums of the stretches of a section, in order, from whoever has computed them.

    Attributes
    ----------
    length
        Bytes taken so far.
    """

    def __init__(self) -> None:
        self.length = self._outer = 0

    def note(self, sums: Sequence[int], length: int) -> None:
        """Take the CRC-32s of the next stretches, ``length`` bytes in all: whole ones, but for the section's last."""
        self.length += length
        for value in sums:
            self._outer = zlib.crc32(struct.pack("<I", value), self._outer)

    def value(self) -> int:
        """Return the checksum of all stretches taken."""
        return self._outer


_POLYNOMIAL = 0xEDB88320
"""Of CRC-32, the highest power of x in the lowest bit."""


def joined(first: int, second: int, length: int) -> int:
    """Return the CRC-32 of some bytes and ``length`` more, given that of each: zlib's crc32_combine."""
    factor, power = 1 << 31, 1 << 23  # x**0 and x**8, of which each byte takes one
    while length:
        if length & 1:
            factor = _product(factor, power)
        power, length = _product(power, power), length >> 1
    return _product(factor, first) ^ second


def _product(one: int, other: int) -> int:
    """Return the product of two polynomials modulo that of CRC-32."""
    found = 0
    while one:
        if one & 1 << 31:
            found ^= other
        one = one << 1 & 0xFFFFFFFF
        other = other >> 1 ^ (_POLYNOMIAL if other & 1 else 0)
    return found


def checksum(array: np.ndarray, advance: Callable[[int], object] = lambda count: None) -> int:
    """Return the checksum of ``array`` as a section; ``advance`` is told of the bytes that are taken."""
    with checksum_threads() as pool:
        sums = Checksum(pool)
        for stretch in stretches(array):
            sums.add(stretch)
            advance(len(stretch))
        return sums.value()


def checksum_threads() -> ThreadPoolExecutor:
    """Return the threads for checksums: more than 8 only wait for memory."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(min(8, os.cpu_count() or 1), thread_name_prefix="checksum")
