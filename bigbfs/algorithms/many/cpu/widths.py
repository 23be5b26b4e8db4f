"""How many searches at once there is room for on the CPU: the bytes of each width, by what they are for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.algorithms.many.cpu.batch import bytes_of
from bigbfs.algorithms.many.gathered import Wants, wants_of
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions

FEW = 64
"""The width for so many sources at most: for more it is the widest. Kernels are compiled for each width."""


class Item(NamedTuple):
    """Bytes that are taken, and what for."""

    name: str
    bytes: int
    purpose: str


def ledger(n: int, ids: np.dtype, width: int, threads: int, options: ManyOptions, sources: int) -> list[Item]:
    """Return what ``width`` searches at once take of a graph of ``n`` vertices, the survey left out."""
    wants = wants_of(options)
    whole, bare = (bytes_of(n, ids, width, threads, each) for each in (wants, Wants()))
    bits = 3 * width // 8 * n
    found = [
        Item("bits", bits, "for each vertex and search a bit, three times"),
        Item("queues", bare - bits, "frontier and next one, buffers of the threads"),
        Item("collected", whole - bare, "levels, or sums over batches"),
        Item("result", n * (24 * options.sums + 8 * options.harmonic) + 4 * n * options.fetch * sources, "copies"),
        Item("aside", width * options.aside, "distances on their way out"),
    ]
    return [item for item in found if item.bytes]


def needs(n: int, ids: np.dtype, threads: int, options: ManyOptions, sources: int) -> dict[int, int]:
    """Return the bytes of each width."""
    return {width: sum(item.bytes for item in ledger(n, ids, width, threads, options, sources)) for width in WIDTHS}


def widest(need: dict[int, int], sources: int, free: int) -> int:
    """Return the width for ``sources`` that ``free`` bytes hold; the narrowest where none does."""
    enough = FEW if sources <= FEW else WIDTHS[-1]
    return max((each for each in WIDTHS if each <= enough and need[each] <= free), default=WIDTHS[0])
