"""Device memory that the ranks of one machine write into: one allocation on each, opened by all others.

What is in it is laid out alike on every rank, so that an array of another rank is its base and an offset that all know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import Group

ALIGNED = 256
"""Every array begins at a multiple of so many bytes."""

Fields = Sequence[tuple[str, int]]
"""Name and bytes of each array of a memory."""


class Memory(Protocol):
    """One rank's memory: ``array`` (uint8, on the device), and what others open it by."""

    array: Array
    handle: Any

    def open(self, handle: Any) -> int:
        """Return the address that kernels of this rank see of another's memory."""

    def close(self) -> None:
        """Close what was opened; then, when all ranks have, ``free``."""

    def free(self) -> None:
        """Give the memory back."""


def layout(fields: Fields) -> tuple[dict[str, int], int]:
    """Return where each of the fields (name, bytes) begins, and the bytes of all of them."""
    places, end = {}, 0
    for name, nbytes in fields:
        places[name] = end
        end += -(-nbytes // ALIGNED) * ALIGNED
    return places, end


class SharedMemory:
    """The memory of all ranks as this one sees it; every rank makes it together, and closes it together.

    Parameters
    ----------
    group
        The ranks, all of one machine.
    make
        Makes this rank's memory of so many bytes, all of them zero.
    fields
        Name and bytes of each array in it, the same on all ranks.

    Attributes
    ----------
    places
        Where each array begins.
    bases
        Address of every rank's memory, uint64 (ranks,), as this rank sees it.
    array
        This rank's own, uint8.
    """

    def __init__(self, group: Group, make: Callable[[int], Memory], fields: Fields) -> None:
        self._group = group
        self.places, nbytes = layout(fields)
        self._memory: Memory | None = make(nbytes)
        try:
            self.array = self._memory.array
            handles = group.objects(self._memory.handle)
            bases = [self._memory.open(handle) if rank != group.rank else 0 for rank, handle in enumerate(handles)]
            self.bases = np.array(bases, np.uint64)
        except BaseException:
            memory, self._memory = self._memory, None
            memory.close()
            memory.free()
            raise

    @property
    def nbytes(self) -> int:
        """Bytes of this rank's memory."""
        return 0 if self._memory is None else int(self.array.nbytes)

    def own(self, name: str, nbytes: int) -> Array:
        """Return this rank's array ``name``, uint8."""
        return self.array[self.places[name] : self.places[name] + nbytes]

    def close(self) -> None:
        """Close what others own, and when all have, give back what is own; a second call does nothing."""
        memory, self._memory = self._memory, None
        if memory is None:
            return
        memory.close()
        try:
            self._group.barrier()
        finally:
            self.array = None
            memory.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class OwnMemory:
    """The same arrays where no rank reaches another's memory: a rank's own, and what it has for others beside them.

    Parameters
    ----------
    runtime, group
        The device, and the ranks.
    fields
        As for :class:`SharedMemory`.

    Attributes
    ----------
    places, bases, array
        As of :class:`SharedMemory`; every base is this rank's own.
    """

    def __init__(self, runtime: Runtime, group: Group, fields: Fields) -> None:
        self.places, nbytes = layout(fields)
        self.array = runtime.zeros(nbytes, np.uint8)
        self.bases = np.full(group.size, runtime.pointer(self.array), np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of this rank's memory."""
        return 0 if self.array is None else int(self.array.nbytes)

    def own(self, name: str, nbytes: int) -> Array:
        """Return the array ``name``, uint8."""
        return self.array[self.places[name] : self.places[name] + nbytes]

    def close(self) -> None:
        """Give it back; a second call does nothing."""
        self.array = None
