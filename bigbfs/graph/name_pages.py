"""Writes the pages of a names section from names in byte order, in any number of portions."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

import numpy as np
import zstandard

from bigbfs.graph import name_kernels as kernels
from bigbfs.graph.name_limits import PAGE_BYTES
from bigbfs.graph.names import STORED, ZSTD, Names, Stretch

LEVEL = 1
"""Of zstd: pages are written at the speed of sorting, and most of the gain is in the first level."""

MOST_ODD, MOST_LOOKED = 256, 1 << 20
"""Names that are kept because of their normal form, and names beyond ASCII that are looked at for it."""


class PageWriter:
    """Front-codes and packs names; what it writes does not depend on the portions that they come in.

    Parameters
    ----------
    take
        Gets the bytes of each page.

    Attributes
    ----------
    count
        Names so far.
    odd
        Some of them that are not in Unicode's normal form C, ``MOST_ODD`` at most.
    """

    def __init__(self, take: Callable[[bytes], object]) -> None:
        self._take = take
        self._packer = zstandard.ZstdCompressor(level=LEVEL)
        self._page = np.empty(PAGE_BYTES + (1 << 12), np.uint8)
        self._filled = self._inside = 0
        self._last = np.empty(0, np.uint64)
        self._sizes: list[int] = []
        self._firsts: list[int] = []
        self.count = 0
        self.odd: list[bytes] = []
        self._looked = 0

    def add(self, words: np.ndarray, records: np.ndarray) -> None:
        """Append names: ``records`` (int64) are places in ``words`` (uint64), in byte order."""
        first, before = 0, -1
        if self._inside and len(records):
            # the record before the first one is of an earlier portion: both stand side by side for a moment
            words_of_first = _record(words, int(records[0]))
            joined = np.concatenate((self._last, words_of_first))
            one = np.array([len(self._last)])
            self._run(joined, one, 0, 0)
            first, before = 1, int(records[0]) if self._inside else -1
        self._run(words, records, first, before)
        if len(records):
            self._last = _record(words, int(records[-1])).copy()
        self.count += len(records)
        self._look(words, records)

    def _look(self, words: np.ndarray, records: np.ndarray) -> None:
        """Keep some names that are not in normal form C."""
        first, found = 0, np.empty(1 << 12, np.int64)
        while first < len(records) and len(self.odd) < MOST_ODD and self._looked < MOST_LOOKED:
            first, count = (int(each) for each in kernels.beyond_ascii(words, records, first, found))
            self._looked += count
            for record in found[:count].tolist():
                name = words[record + 1 :][: (int(kernels.length_of(words, record)) + 7) // 8].tobytes()
                name = name[: int(kernels.length_of(words, record))]
                if not unicodedata.is_normalized("NFC", name.decode("utf-8", "surrogateescape")):
                    self.odd.append(name)

    def _run(self, words: np.ndarray, records: np.ndarray, first: int, before: int) -> None:
        while first < len(records):
            state = kernels.encode(words, records, first, before, self._page, self._filled, self._inside)
            first, before, self._filled, self._inside, full = (int(each) for each in state)
            if full == 2:
                length = int(kernels.length_of(words, records[first]))
                larger = np.empty(self._filled + length + (1 << 12), np.uint8)
                larger[: self._filled] = self._page[: self._filled]
                self._page = larger
            elif full == 1:
                self._end_page()
                before = -1

    def _end_page(self) -> None:
        coded = self._page[: self._filled].tobytes()
        packed = self._packer.compress(coded)
        page = bytes([ZSTD]) + packed if len(packed) < len(coded) else bytes([STORED]) + coded
        self._sizes.append(len(page))
        self._firsts.append(self._inside)
        self._filled = self._inside = 0
        self._take(page)

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Complete the last page; return ``ptr`` and ``firsts`` of all (uint64)."""
        if self._inside:
            self._end_page()
        ends = (np.cumsum(np.array([0, *each], np.uint64)).astype(np.uint64) for each in (self._sizes, self._firsts))
        ptr, firsts = ends
        return ptr, firsts


def _record(words: np.ndarray, at: int) -> np.ndarray:
    return words[at : at + 1 + (int(kernels.length_of(words, at)) + 7) // 8]


def names_of(stretches: Iterable[Stretch], keep: np.ndarray | None = None) -> Names:
    """Return names of stretches in byte order; with ``keep`` (bool by rank) those of them alone."""
    pages: list[bytes] = []
    writer = PageWriter(pages.append)
    for each in stretches:
        data, offsets = each.data, each.offsets
        words = np.empty(len(data) // 8 + 2 * len(each) + 1, np.uint64)
        records = np.empty(len(each), np.int64)
        kernels.records_of(data, offsets, 0, len(each), words, records)
        writer.add(words, records if keep is None else records[keep[each.first : each.first + len(each)]])
    ptr, firsts = writer.finish()
    return Names(np.frombuffer(b"".join(pages), np.uint8), ptr, firsts)


def stretch_of(names: Iterable[str | bytes]) -> Stretch:
    """Return names, which the caller has in byte order, as a stretch."""
    coded = [name.encode() if isinstance(name, str) else name for name in names]
    offsets = np.cumsum([0, *map(len, coded)], dtype=np.int64)
    return Stretch(0, np.frombuffer(b"".join(coded), np.uint8), offsets)
