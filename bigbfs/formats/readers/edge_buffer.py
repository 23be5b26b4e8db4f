"""Two growing arrays of vertex ids: uint32 until the first id of 2**32 or more, uint64 from then on.

The arrays are anonymous memory maps that the kernel moves when they grow (no copy, no double memory), on huge pages
where it has them (page faults cost as much as the tokenizing otherwise).
"""

from __future__ import annotations

import mmap

import numpy as np

from bigbfs.errors import DoesNotFitError
from bigbfs.graph.pages import Pages, allocated
from bigbfs.sizes import format_size

_FIRST_BYTES = 1 << 16
SPARE = 8
"""Behind the targets there is one part in so many more, not touched: who sorts the edges begins to write there."""


def _allocate(size: int) -> Pages:
    try:
        return allocated(size)
    except OSError as error:
        raise _no_memory(size) from error


def _no_memory(size: int) -> DoesNotFitError:
    return DoesNotFitError(
        f"no memory for the edges read so far ({format_size(size)} for one end of each): close other programs, "
        "or convert on a machine with more memory"
    )


class EdgeBuffer:
    """Edges appended in order.

    ``space(count)`` hands out room for ``count`` more edges, ``keep(count)`` makes the first of them permanent.
    Views that ``space`` returned must be dropped before the next call.

    Parameters
    ----------
    name
        The input, for messages.
    limit
        Bytes that the edges may take; None: any.

    Raises
    ------
    DoesNotFitError
        From ``space``, ``reserve`` and ``widen``: the edges pass the limit, or there is no such memory.
    """

    def __init__(self, name: str, limit: int | None = None) -> None:
        self._name, self._limit = name, limit
        self.dtype: np.dtype[np.unsignedinteger] = np.dtype(np.uint32)
        self.size = 0
        self._maps = [_allocate(_FIRST_BYTES), _allocate(_FIRST_BYTES)]

    def space(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return writable (sources, targets) of ``count`` entries, behind what is kept."""
        needed = (self.size + count) * self.dtype.itemsize
        self._check(needed)
        for memory, spare in zip(self._maps, (0, needed // SPARE), strict=True):
            if needed > len(memory):
                larger = max(needed + spare, len(memory) * 5 // 4)
                larger = -(-larger // mmap.PAGESIZE) * mmap.PAGESIZE
                try:
                    memory.resize(larger)
                except (OSError, SystemError) as error:
                    raise _no_memory(larger) from error
        first, second = (
            np.frombuffer(memory, self.dtype, count, self.size * self.dtype.itemsize) for memory in self._maps
        )
        return first, second

    def reserve(self, count: int) -> None:
        """Make room for ``count`` edges in all, where their number is known before the first is read."""
        self.space(count - self.size)

    def keep(self, count: int) -> None:
        """Keep the first ``count`` entries of the last space."""
        self.size += count

    def widen(self) -> None:
        """Turn the ids into uint64."""
        wide = np.dtype(np.uint64)
        self._check(self.size * wide.itemsize)
        for side, memory in enumerate(self._maps):
            larger = _allocate(max(len(memory) * 2, _FIRST_BYTES))
            np.frombuffer(larger, wide, self.size)[:] = np.frombuffer(memory, self.dtype, self.size)
            self._maps[side] = larger
        self.dtype = wide

    def _check(self, bytes_of_one_end: int) -> None:
        if self._limit is not None and 2 * bytes_of_one_end > self._limit:
            raise DoesNotFitError(
                f"{self._name}: its edges take more than {format_size(self._limit)}, which is what may be used "
                f"({self.size:,} read so far)",
                remedies=(("memory", None),),
            )

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (sources, targets): what was kept, without a copy."""
        first, second = (np.frombuffer(memory, self.dtype, self.size) for memory in self._maps)
        return first, second
