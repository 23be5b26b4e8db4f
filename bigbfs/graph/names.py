"""Names: the original id r of a graph with names is its r-th name in byte order; from rank to name and back.

The names lie front-coded in pages (docs/formats.md, "Names"), each compressed on its own: a look-up unpacks one page,
or some twenty of them to find a name among a thousand million. Nothing is trusted: a damaged page is a FormatError.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.name_limits import PAGE_NAMES
from bigbfs.sizes import free_memory

STORED, ZSTD = 0, 1
"""The first byte of a page: its front-coded names as they are, or as one frame."""
LONGEST_PAGE = 1 << 31
"""Bytes of a page, unpacked: a longer one is damaged."""
_KEPT_PAGES = 32


@dataclass(frozen=True, slots=True)
class Stretch:
    """Names in a row: ``data[offsets[i]:offsets[i + 1]]`` (uint8) is the name ``first + i``; ``offsets`` is int64."""

    first: int
    data: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def name(self, rank: int) -> bytes:
        """Return the name of ``rank``, one of the stretch."""
        at = rank - self.first
        return bytes(self.data[int(self.offsets[at]) : int(self.offsets[at + 1])])


class Names:
    """The names of a graph's vertices.

    Parameters
    ----------
    blob
        uint8: all pages, one behind the other.
    ptr
        uint64, shape (pages + 1,): where each begins.
    firsts
        uint64, shape (pages + 1,): the rank of each page's first name; the last is the number of names.
    where
        The file, for messages.
    """

    def __init__(self, blob: np.ndarray, ptr: np.ndarray, firsts: np.ndarray, where: str = "graph") -> None:
        self.blob, self.ptr, self.firsts, self.where = blob, ptr, firsts, where
        self.pages = len(ptr) - 1
        self._whole: Stretch | None = None
        self._kept: OrderedDict[int, Stretch] = OrderedDict()

    def __len__(self) -> int:
        return int(self.firsts[-1])

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the sections by name."""
        return {"names": self.blob, "names_ptr": self.ptr, "names_first": self.firsts}

    def sections(self) -> Iterator[tuple[str, np.dtype, int, Iterator[np.ndarray]]]:
        """Return name, dtype, items and content of each section."""
        for name, array in self.arrays().items():
            yield name, array.dtype, len(array), iter([array])

    def _damaged(self, page: int, what: str) -> FormatError:
        return FormatError(f"{self.where}: names: page {page} {what}; convert the graph again or fetch the file again")

    def page(self, number: int) -> Stretch:
        """Return the names of a page.

        Raises
        ------
        FormatError
            It is damaged.
        """
        from bigbfs.graph import name_kernels as kernels  # opening a graph takes no Numba

        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number]
        begin, end = int(self.ptr[number]), int(self.ptr[number + 1])
        first, last = int(self.firsts[number]), int(self.firsts[number + 1])
        if not 0 <= begin < end <= len(self.blob) or not first < last <= first + PAGE_NAMES:
            raise self._damaged(number, f"has bytes {begin} to {end} and names {first} to {last}")
        coded = self._unpacked(number, np.asarray(self.blob[begin:end]))
        size = int(kernels.measure(coded, last - first))
        if not 0 <= size <= LONGEST_PAGE:
            raise self._damaged(number, f"(byte {begin} of the section) is damaged near its byte {-1 - size}")
        data, offsets = np.empty(size, np.uint8), np.empty(last - first + 1, np.int64)
        kernels.decode(coded, last - first, data, offsets)
        found = Stretch(first, data, offsets)
        self._kept[number] = found
        if len(self._kept) > _KEPT_PAGES:
            self._kept.popitem(last=False)
        return found

    def _unpacked(self, number: int, packed: np.ndarray) -> np.ndarray:
        if packed[0] == STORED:
            return np.ascontiguousarray(packed[1:])
        if packed[0] != ZSTD:
            raise self._damaged(number, f"begins with {int(packed[0])}, which is no way of packing")
        import zstandard

        try:
            frame = packed[1:].tobytes()
            if not 0 <= zstandard.frame_content_size(frame) <= LONGEST_PAGE:
                raise self._damaged(number, "does not say its size")
            return np.frombuffer(zstandard.ZstdDecompressor().decompress(frame), np.uint8)
        except (zstandard.ZstdError, MemoryError) as error:
            raise self._damaged(number, f"cannot be unpacked ({error})") from error

    def name_bytes(self, rank: int) -> bytes:
        """Return the name of ``rank`` (0 to len - 1) as bytes of UTF-8."""
        page = int(np.searchsorted(self.firsts, np.uint64(rank), side="right")) - 1
        return self.page(page).name(rank)

    def name(self, rank: int) -> str:
        """Return the name of ``rank``.

        Raises
        ------
        UsageError
            There are fewer names, or ``rank`` is negative.
        """
        if not 0 <= rank < len(self):
            raise UsageError(f"there are {len(self):,} names, 0 to {len(self) - 1}", about=(("rank", rank),))
        return self.name_bytes(rank).decode("utf-8", "backslashreplace")

    def find(self, name: str | bytes) -> int | None:
        """Return the rank of ``name``, or None where no vertex is called so."""
        place = self.place(name)
        found = place < len(self) and self.name_bytes(place) == _utf8(name)
        return place if found else None

    def place(self, name: str | bytes) -> int:
        """Return the rank of the first name that is not below ``name`` in byte order (len: none)."""
        wanted = _utf8(name)
        if not self.pages:
            return 0
        stretch = self._whole or self._page_of(wanted)
        first, end = stretch.first, stretch.first + len(stretch)
        while first < end:
            middle = (first + end) // 2
            first, end = (middle + 1, end) if stretch.name(middle) < wanted else (first, middle)
        return first

    def _page_of(self, wanted: bytes) -> Stretch:
        """Return the last page whose first name is not above the wanted one; there is a page."""
        low, high = 0, self.pages
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.page(middle).name(int(self.firsts[middle])) <= wanted else (low, middle)
        return self.page(low)

    def near(self, name: str | bytes, count: int = 2) -> list[str]:
        """Return names that stand around ``name`` in byte order, for a message."""
        place = self.place(name)
        low = max(0, min(place - count // 2, len(self) - count))
        return [self.name(rank) for rank in range(low, min(low + count, len(self)))]

    def stretches(self) -> Iterator[Stretch]:
        """Return all names in order, page by page."""
        for number in range(self.pages):
            yield self.page(number)

    def hold(self) -> None:
        """Unpack all names into memory, where there is room for them: many will be asked for, in any order."""
        if self._whole is not None or 16 * len(self.blob) > free_memory() or not self.pages:
            return
        parts = list(self.stretches())
        bases = np.cumsum([0, *(len(each.data) for each in parts)])
        begins = [each.offsets[:-1] + base for each, base in zip(parts, bases.tolist(), strict=False)]
        offsets = np.concatenate([*begins, bases[-1:]])
        self._whole = Stretch(0, np.concatenate([each.data for each in parts]), offsets)

    def taken(self, ranks: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the names ``ranks`` (int64; -1: an empty one) one behind the other: (bytes, offsets)."""
        wanted = np.asarray(ranks, np.int64)
        if self._whole is not None:
            return _gathered(self._whole.data, self._whole.offsets, wanted)
        order = np.argsort(wanted, kind="stable")
        ascending = wanted[order]
        missing = int(np.searchsorted(ascending, 0))
        pages = np.searchsorted(self.firsts, ascending[missing:].astype(np.uint64), side="right") - 1
        cuts = np.concatenate([[0], np.flatnonzero(np.diff(pages)) + 1, [len(pages)]]) if len(pages) else [0]
        parts, lengths = [np.empty(0, np.uint8)], [np.zeros(missing, np.int64)]
        for begin, end in pairwise(cuts):  # one page at a time: they are many more bytes than what is wanted of them
            stretch = self.page(int(pages[begin]))
            local = ascending[missing + begin : missing + end] - stretch.first
            data, places = _gathered(stretch.data, stretch.offsets, local)
            parts.append(data)
            lengths.append(np.diff(places))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))])
        back = np.empty(len(wanted), np.int64)
        back[order] = np.arange(len(wanted))
        return _gathered(np.concatenate(parts), offsets, back)


def _gathered(data: np.ndarray, offsets: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some names (-1: an empty one) of a stretch one behind the other."""
    from bigbfs.graph import name_kernels as kernels

    places = np.empty(len(wanted) + 1, np.int64)
    kernels.gather_lengths(offsets, wanted, places)
    out = np.empty(int(places[-1]), np.uint8)
    kernels.gather_bytes(data, offsets, wanted, places, out)
    return out, places


def _utf8(name: str | bytes) -> bytes:
    return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
