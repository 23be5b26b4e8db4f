"""All edges to each of several GPUs of a machine: each copies a part from host memory, and has the others from theirs.

In: an array to which this rank's part is on its way. Out: all of it. Where each copied everything, the host's memory
was read once for each GPU, and the links to it, which add up, carried as much each as that of one GPU alone. Between
GPUs go 370 GB/s (NVLink, docs/results/distributed.md): the others' parts take a fraction of the own one's time. They
come by way of a window that others read, half of which is filled while they read the other, since edges lie in a pool
of whose memory nobody else can open a part. What has come of the own part goes on while the rest of it is copied.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bigbfs.engines.gpu.ranks.early import EarlyMemory
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Coming, Kernel, Runtime
from bigbfs.engines.ranks.group import Group

LEAST = 128 << 20
"""Bytes of edges of a rank from which on it is worth meeting for them."""

WINDOW = 1 << 30
"""Bytes that others read at most: 1.4 ms for a half of it over NVLink, beside which a meeting of hosts is nothing."""

REST = 1e-4
"""Seconds between two looks of who waits for the others, whose copying threads want the interpreter."""

Arrived = Callable[[list[int], bool], None]
"""Is told where the edges of each rank's part end that have come, and whether all are there; it may launch kernels."""


def parts_of(count: int, unit: int, size: int) -> list[tuple[int, int]]:
    """Return first item and last + 1 of the part of each of ``size`` ranks, of items of ``unit`` bytes: whole lines."""
    line = LINE // unit
    ends = [min(count, -(-count * rank // size // line) * line) for rank in range(size)] + [count]
    return [(ends[rank], ends[rank + 1]) for rank in range(size)]


class Others:
    """Brings the parts of other ranks; all ranks make it, and bring theirs, together.

    Parameters
    ----------
    runtime, group
        The device, and the ranks, which reach one another's memory.
    edges
        The array in host memory.
    window
        Memory of each rank through which they come, as long on all.

    Attributes
    ----------
    parts
        First item of each rank's part, and last + 1.
    own
        Those of this rank's.
    """

    def __init__(self, runtime: Runtime, group: Group, edges: np.ndarray, window: EarlyMemory) -> None:
        self._runtime, self._group, self._unit, self._window = runtime, group, edges.itemsize, window
        self.parts = parts_of(len(edges), edges.itemsize, group.size)
        self.own = self.parts[group.rank]
        self._half = max(LINE, min(WINDOW, len(window.array)) // 2 // LINE * LINE)

    def bring(self, coming: Coming, kernel: Kernel, arrived: Arrived) -> str:
        """Fill the array to which the own part is ``coming``; ``kernel`` is ``own_pass_on``. Return what took how long.

        Every turn, a rank puts what has come into its half of the window, all meet, and each takes what the others
        have there. Nobody writes to a half before all have met once more: then it has been read.
        """
        runtime, group, bases = self._runtime, self._group, self._window.bases()
        parts = [(begin * self._unit, end * self._unit) for begin, end in self.parts]
        to, begun, waited, met = runtime.pointer(coming.array), time.perf_counter(), 0.0, 0.0
        mine, bell = parts[group.rank], runtime.zeros(1, np.uint64)
        turns = -(-max(end - begin for begin, end in parts) // self._half)
        for turn in range(turns):
            half, start = turn % 2 * self._half, time.perf_counter()
            begin, count = self._piece(mine, turn)
            coming.wait(begin + count - mine[0] if turn < turns - 1 else None)
            waited += time.perf_counter() - start
            self._copy(kernel, to + begin, bases[group.rank] + half, count)
            runtime.download(bell)  # what is launched has ended, what was read a turn before among it; copies go on
            start = time.perf_counter()
            group.barrier(REST)
            met += time.perf_counter() - start
            for rank, part in enumerate(parts):
                if rank != group.rank:
                    begin, count = self._piece(part, turn)
                    self._copy(kernel, bases[rank] + half, to + begin, count)
            arrived([sum(self._piece(part, turn)) // self._unit for part in parts], turn == turns - 1)
        runtime.synchronize()
        group.barrier(REST)  # nobody gives up or clears what others read
        took = time.perf_counter() - begun
        return f"{turns} turns in {took:.3f} s, {waited:.3f} for the own copy, {met:.3f} for other ranks"

    def _piece(self, part: tuple[int, int], turn: int) -> tuple[int, int]:
        """Return where the piece of ``part`` begins that is due in a turn, and its bytes."""
        begin = min(part[1], part[0] + turn * self._half)
        return begin, min(self._half, part[1] - begin)

    def _copy(self, kernel: Kernel, source: int, target: int, count: int) -> None:
        if count:
            launch(self._runtime, kernel, -(-count // 16), (np.uint64(source), np.uint64(target), np.uint64(count)))


def goes_on(group: Group, edges: np.ndarray) -> bool:
    """Return whether ranks copy parts of ``edges``; else each copies all: they are too few."""
    return group.size > 1 and edges.nbytes >= LEAST * group.size


class Arriving:
    """Which words have all the edges of their rows, while the parts of all ranks come.

    Parameters
    ----------
    parts
        First edge of each rank's part, and last + 1.
    indptr
        First edge of each row, and the last one's end: uint64. Some of it is looked at, never all.
    rank
        Who proves what begins in its own part.
    """

    def __init__(self, parts: list[tuple[int, int]], indptr: np.ndarray, rank: int) -> None:
        self._indptr, self._rank = indptr, rank
        words = -(-(len(indptr) - 1) // 64)
        rows = np.searchsorted(indptr, np.array([begin for begin, _ in parts[1:]], np.uint64), side="left")
        first = [min(words, -(-int(row) // 64)) for row in rows]
        self._next, self._last = [0, *first], [*first, words]

    def see(
        self, ends: list[int], last: bool, heads: Callable[[int, int], None], prove: Callable[[int, int], None]
    ) -> None:
        """Hand on the words that have been complete since the last call: to ``heads`` of all parts, to ``prove`` of
        the own one. ``ends`` and ``last`` as of :data:`Arrived`."""
        for rank, end in enumerate(ends):
            done, until = self._next[rank], self._last[rank]
            if not last:  # the last word of a part may end in the next one
                rows = int(np.searchsorted(self._indptr, np.uint64(end), side="right")) - 1
                until = max(done, min(until, rows // 64))
            if done < until:
                heads(done, until)
                if rank == self._rank:
                    prove(done, until)
            self._next[rank] = until
