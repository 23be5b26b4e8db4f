"""The edges of a whole graph as one array, of which those of some shards are there: for who reads rows by the offsets
of the graph, as GPUs do.

In: shards that follow one another, and where the section of each begins in that of the graph. Out: an array as long as
that of the graph: addresses without memory, into which the pages of each shard's section are mapped (``MAP_FIXED``).
That goes where a section begins at the same place within a page in its file as in the graph; ``split`` puts it there
(version 2). The pages in which one shard ends and the next begins are memory, and hold both; the sections of other
shards (version 1) are copied to memory as a whole.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bigbfs.errors import FileAccessError
from bigbfs.formats.container.layout import HUGE_PAGE
from bigbfs.formats.shards.manifest import Manifest, open_shard
from bigbfs.formats.shards.mapped import Lot
from bigbfs.formats.shards.pieces import Piece, addresses_for, map_fixed

_PAGE = mmap.ALLOCATIONGRANULARITY
_WRITABLE = mmap.PROT_READ | mmap.PROT_WRITE


def spanned(folder: Path, manifest: Manifest, lot: Lot, name: str, starts: Sequence[int], count: int) -> np.ndarray:
    """Return section ``name`` of the whole graph, in place and read-only, with zeros where other shards have items.

    Parameters
    ----------
    lot
        The shards, mapped.
    starts, count
        The first item of each of them in the section of the graph, and all items of that.

    Raises
    ------
    FormatError
        A shard is not the one that was mapped before.
    FileAccessError
        It cannot be mapped, or there is no memory for what is copied.
    """
    kind = np.dtype(lot.pieces[0].sections[name].dtype)
    if count == 0:
        return np.zeros(0, kind)
    addresses = addresses_for(count * kind.itemsize + HUGE_PAGE)
    where = np.frombuffer(addresses, np.uint8).__array_interface__["data"][0]
    lead = -where % HUGE_PAGE  # large sections begin on huge pages in the file as well
    for piece, start in zip(lot.pieces, starts, strict=True):
        _put(piece, name, where + lead + start * kind.itemsize, folder, manifest)
    return np.frombuffer(addresses, kind, count, lead)


def copied_bytes(lot: Lot, name: str, starts: Sequence[int]) -> int:
    """Return how many bytes of section ``name`` :func:`spanned` has to copy to memory."""
    sections = [piece.sections[name] for piece in lot.pieces]
    sizes = [np.dtype(section.dtype).itemsize * start for section, start in zip(sections, starts, strict=True)]
    inner = [
        section.length if (place - section.offset) % _PAGE else min(section.length, 2 * _PAGE)
        for section, place in zip(sections, sizes, strict=True)
    ]
    return sum(inner)


def _put(piece: Piece, name: str, first: int, folder: Path, manifest: Manifest) -> None:
    """Let a shard's section be at the address ``first``: whole pages mapped, the rest copied."""
    section = piece.sections[name]
    last = first + section.length
    low, high = -(-first // _PAGE) * _PAGE, last // _PAGE * _PAGE
    copied = [(first, last)]
    if (first - section.offset) % _PAGE == 0 and low < high:
        with open_shard(folder, manifest, piece.header.part) as shard:
            map_fixed(shard.path, shard.handle, low, high - low, section.offset + (low - first))
        copied = [(first, low), (high, last)]
    source = piece.array(name).ctypes.data
    for begin, end in copied:
        if begin < end:
            _make_writable(begin, end)
            ctypes.memmove(begin, source + (begin - first), end - begin)


def _make_writable(begin: int, end: int) -> None:
    """Give memory to the addresses from ``begin`` to ``end``; what is there already stays."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    page = begin // _PAGE * _PAGE
    if libc.mprotect(page, end - page, _WRITABLE):
        raise FileAccessError(f"no memory for {end - begin:,} bytes of shards: {os.strerror(ctypes.get_errno())}")
