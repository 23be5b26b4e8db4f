"""Memory that ranks share, made before there is anything to put into it, and opened while edges are copied.

To open another GPU's memory takes 20 ms and more, and asks for no edge. Edges of other ranks come through it, too,
before a search runs: a window of its own would have to be opened as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from bigbfs.engines.gpu.ranks.memory import Memory
from bigbfs.engines.gpu.ranks.telling import Tell, say, silent
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import Group


class EarlyMemory:
    """This rank's memory, and that of the others as soon as a thread has opened it; a ``Memory`` of ranks/memory.py.

    All ranks make it together, have it opened together, and give it back together unless somebody has taken it.

    Parameters
    ----------
    runtime, group
        The device, and the ranks, all of one machine.
    nbytes
        How much.
    tell
        Is told each step.

    Attributes
    ----------
    array, handle
        As of a ``Memory``.
    """

    def __init__(self, runtime: Runtime, group: Group, nbytes: int, tell: Tell = silent) -> None:
        self._runtime, self._group, self._tell = runtime, group, tell
        begin = time.perf_counter()
        self._memory: Memory = runtime.shareable(nbytes)
        say(tell, "memory for others is made", begin, time.perf_counter())
        self.array, self.handle = self._memory.array, self._memory.handle
        self._pool = ThreadPoolExecutor(1, "bigbfs-open")
        self._opened: list[Future[int] | None] = []
        self._handles: list[Any] = []
        self._lent, self._used = False, False

    def begin(self) -> None:
        """Tell the others how to open it, and begin to open theirs."""
        self._handles = self._group.objects(self.handle)
        ranks = range(self._group.size)
        self._opened = [None if rank == self._group.rank else self._pool.submit(self._open, rank) for rank in ranks]

    def _open(self, rank: int) -> int:
        begin = time.perf_counter()
        address = self._memory.open(self._handles[rank])
        say(self._tell, f"memory of rank {rank} is opened", begin, time.perf_counter())
        return address

    def bases(self) -> list[int]:
        """Return the address of every rank's memory; whoever writes there clears it (:meth:`clear`).

        Raises
        ------
        DeviceError
            It cannot be opened.
        """
        self._used = True
        own = self._runtime.pointer(self.array)
        return [own if each is None else each.result() for each in self._opened]

    def clear(self) -> None:
        """Make it zero again after all ranks have met for the last time about what was in it."""
        if self._used:
            self._runtime.fill(self.array, 0)

    def lend(self, nbytes: int) -> Any:
        """Return this memory to the first who asks for as much as it has; else other memory. All ranks ask alike."""
        if self._lent or nbytes != len(self.array):
            return self._runtime.shareable(nbytes)
        self._lent = True
        return self

    def open(self, handle: Any) -> int:
        """Return the address that kernels of this rank see of another's memory.

        Raises
        ------
        DeviceError
            It cannot be opened.
        """
        opened = self._opened[self._handles.index(handle)]
        assert opened is not None
        return opened.result()

    def close(self) -> None:
        """Close what was opened."""
        self._pool.shutdown()  # nothing is opened from now on
        self._memory.close()

    def free(self) -> None:
        """Give the memory back."""
        array: Array = None
        self.array = array
        self._memory.free()

    def leave(self) -> None:
        """Give it back, all ranks together, unless it is lent: whoever has it does that."""
        if not self._lent:
            self._lent = True  # nobody gets it any more
            self._runtime.synchronize()
            self.close()
            self._group.barrier()
            self.free()


Lend = Callable[[int], Any]
"""Makes memory of so many bytes for others to write into: ``Runtime.shareable``, or :meth:`EarlyMemory.lend`."""
