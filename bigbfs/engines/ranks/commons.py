"""Arrays that all ranks of one machine see, and how ranks work on them together: none sends anything.

Every rank runs the same code over the same arrays, as threads of one process do. Pieces of work are taken from a
counter that all see. What one rank alone may do (:meth:`Commons.alone`) lies between two meetings, and what is read of
others' work behind one. A group of one has memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DoesNotFitError
from bigbfs.jit.meeting import words_of
from bigbfs.jit.settings import interpreted
from bigbfs.sizes import format_size

Shapes = Mapping[str, tuple[tuple[int, ...], np.dtype]]
"""Arrays by name: shape and dtype."""

ALIGNED = 4096
"""Where an array begins: no two share a page."""

_TOLD = 8
"""Numbers that one rank tells all others, at most."""


class Commons:
    """Arrays of ranks of one machine; all ranks make it together.

    Parameters
    ----------
    group
        The ranks.
    shapes
        The arrays.

    Attributes
    ----------
    arrays
        By name; their bytes are 0 at first where there are several ranks.
    claim
        uint64 (8,): the counter of pieces taken, for :meth:`begin`.
    nbytes
        Bytes of the arrays, on the rank that counts them: the first.

    Raises
    ------
    DoesNotFitError
        The machine does not give so much memory to share.
    """

    def __init__(self, group: Group, shapes: Shapes) -> None:
        self._group = group
        wanted = dict(shapes) | {
            "_claim": ((8,), np.dtype(np.uint64)), "_told": ((_TOLD,), np.dtype(np.int64)),
            "_words": ((words_of(group.size),), np.dtype(np.uint64)),
        }  # fmt: skip
        self.arrays = self._own(wanted) if group.size == 1 else self._shared(wanted)
        self.claim, self._told, self._words = (self.arrays.pop(name) for name in ("_claim", "_told", "_words"))
        self.claim[:] = 0
        self.nbytes = sum(array.nbytes for array in self.arrays.values()) if group.rank == 0 else 0

    @staticmethod
    def _own(shapes: Shapes) -> dict[str, np.ndarray]:
        return {name: np.empty(shape, dtype) for name, (shape, dtype) in shapes.items()}

    def _shared(self, shapes: Shapes) -> dict[str, np.ndarray]:
        sizes = [int(np.prod(shape, dtype=np.int64)) * dtype.itemsize for shape, dtype in shapes.values()]
        starts = np.cumsum([0, *(-(-size // ALIGNED) * ALIGNED for size in sizes)]).tolist()
        window = self._group.window(starts[-1])
        if window is None:
            raise DoesNotFitError(
                f"host {self._group.host} does not give {format_size(starts[-1])} of memory for ranks to share",
                remedies=(("exchange", "messages", "let ranks send messages: {}"),),
            )
        return {
            name: window[start : start + size].view(dtype).reshape(shape)
            for (name, (shape, dtype)), start, size in zip(shapes.items(), starts, sizes, strict=False)
        }

    @property
    def first(self) -> bool:
        """Whether this is the rank that works alone where one does."""
        return self._group.rank == 0

    def meet(self) -> None:
        """Return when all ranks have come here: what they wrote before is seen."""
        if self._group.size > 1:
            self._group.meet(self._words)

    def begin(self, before: Callable[[], None] | None = None) -> np.ndarray:
        """Let all take pieces of new work from the counter returned, once one rank has done what comes ``before``."""
        self.meet()
        if self.first:
            self.claim[0] = 0
            if before is not None:
                before()
        self.meet()
        return self.claim

    def alone(self, work: Callable[[], Sequence[int] | None]) -> list[int]:
        """Have one rank do ``work``; return on all the numbers that it returns."""
        self.meet()
        if self.first:
            told = work() or ()
            assert len(told) <= _TOLD
            self._told[: len(told)] = [int(number) for number in told]
        self.meet()
        return [int(number) for number in self._told]


def seen_by_all(group: Group) -> bool:
    """Return whether all ranks of ``group`` can work on one state; all make this call together.

    They are on one machine and share memory. Kernels that run as Python are atomic among threads alone.
    """
    if group.size == 1:
        return True
    if not group.one_host or (interpreted() and not group.one_process):
        return False
    return group.window(ALIGNED) is not None
