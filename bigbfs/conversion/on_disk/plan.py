"""How a conversion in bounded memory is laid out: what it may hold, how many partitions, how much temporary space."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.conversion.numbering.ids import LARGEST_ID
from bigbfs.conversion.on_disk.spill import MOST_PARTS, TABLE_BITS, Map, map_by_weight
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.sizes import format_size, size_allowed, size_needed

KERNELS = 48 << 20
"""Bytes that compiled code and threads take once they are loaded (measured: 40 MB from the cache)."""
LEAST = 48 << 20
"""Least bytes to work in."""
BYTES_PER_PAIR = 44
BYTES_PER_WIDE_PAIR = 68
"""Bytes held for a pair while its partition is sorted: itself, its key, its value twice, its share of rows and blob."""


@dataclass(frozen=True)
class Plan:
    """Sizes of the buffers of an external build.

    Attributes
    ----------
    room
        Bytes for all of them.
    pairs
        Pairs that are sorted at once.
    block_bytes
        Bytes of text read at once.
    present_bytes
        Largest table of the ids that exist; beyond it ids are joined with a sorted list on disk.
    parts
        Partitions aimed at.
    """

    room: int
    pairs: int
    block_bytes: int
    present_bytes: int
    parts: int

    @property
    def rows(self) -> int:
        """Rows that are handled at once."""
        return max(64, self.pairs // 4)


def resident_bytes() -> int:
    """Return the memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def make_plan(memory: int, lines: int, largest: int) -> Plan:
    """Return the plan for a process that may take ``memory`` bytes in all.

    ``lines`` is about how many lines will come, ``largest`` about the largest id; 0 where nobody knows.

    Raises
    ------
    DoesNotFitError
        The program itself takes nearly as much.
    """
    held = resident_bytes() + KERNELS
    room = memory - held
    if room < LEAST:
        raise DoesNotFitError(
            f"{size_allowed(memory)} may be used, but Python, its libraries and the compiled code alone take "
            f"{size_needed(held)}",
            remedies=(("memory", None, f"allow at least {size_needed(held + LEAST)} with {{}}"),),
        )
    present = room // 3
    if largest:  # twice what the sample asks for, or nothing where that is too much anyway
        wanted = 32 * (largest // 64 + 1024)
        present = wanted if wanted <= present else 0
    pairs = (room - present) // (BYTES_PER_PAIR if largest < 2**32 else BYTES_PER_WIDE_PAIR)
    parts = 64 if lines == 0 else int(2 * lines * 1.4 / pairs) + 1
    return Plan(room, pairs, max(1 << 20, min(8 << 20, room // 16)), present, min(MOST_PARTS, max(4, parts)))


def spill_estimate(lines: int, largest: int) -> int:
    """Return the bytes of temporary files that ``lines`` lines take."""
    return 2 * lines * 2 * (4 if largest < 2**32 else 8)


def require_space(tmp: Path, spill: int, output: Path, result: int, beside: int = 0, there: int = 0) -> None:
    """Refuse work for whose temporary files, or result, there is no room.

    On one file system the temporary files go as the result grows, so that the larger of the two has to fit, and some;
    or all temporary files with the part of the result, ``beside``, that is there before the first of them goes. Of the
    temporary files ``there`` bytes are there already. ``tmp`` is a folder, ``output`` the file to write.

    Raises
    ------
    DoesNotFitError
        Names the file, or the folder where that is another one, what is needed and what is free.
    """
    same = tmp.stat().st_dev == output.parent.stat().st_dev
    most = max(max(spill, result) + min(spill, result) // 4, spill + beside)
    needs = [(tmp, most)] if same else [(tmp, spill), (output.parent, result)]
    for folder, need in needs:
        status = os.statvfs(folder)
        free = status.f_bavail * status.f_frsize + (there if folder == tmp else 0)
        if need > free:
            raise DoesNotFitError(
                f"{output if folder == output.parent else folder}: the conversion needs about {size_needed(need)} "
                f"there (temporary files "
                f"{format_size(spill)}, result {format_size(result)}), and {size_allowed(free)} are free",
                remedies=(
                    "free some",
                    ("tmp", None, "name another folder for temporary files with {}"),
                    ("output", None, "for the result with {}"),
                ),
            )


def first_map(sample: np.ndarray, parts: int) -> Map:
    """Return the partitions of all ids from 0 on, each with about as many of the sample."""
    largest = int(sample[-1]) if len(sample) else 2**22
    shift = max(0, largest.bit_length() - TABLE_BITS)
    weights = np.bincount((sample >> np.uint64(shift)).astype(np.int64), minlength=(largest >> shift) + 1)
    if not len(sample):
        weights = np.ones(len(weights), np.int64)
    return map_by_weight(0, LARGEST_ID + 1, shift, weights, max(1.0, float(weights.sum()) / parts))


def expected_lines(guesses: Sequence[InputEstimate]) -> int:
    """Return about how many lines all inputs have; 0 where one of them does not tell."""
    if any(guess.bytes_in == 0 for guess in guesses):
        return 0
    return sum(guess.edges_upper_bound for guess in guesses)
