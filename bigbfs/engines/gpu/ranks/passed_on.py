"""All edges to each of several GPUs of a machine: each copies a part from host memory, and has the others from theirs.

In: an array of which this rank's part is in place. Out: all of it. Where each copied everything, the host's memory was
read once for each GPU, and the links to it, which add up, carried as much each as that of one GPU alone. Between GPUs
go 370 GB/s (NVLink, docs/results/distributed.md): the others' parts take a fraction of the own one's time. They come by
way of a window that others read, half of which is filled while they read the other, since edges lie in a pool of whose
memory nobody else can open a part.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.engines.gpu.ranks.memory import SharedMemory
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Kernel, Runtime
from bigbfs.engines.ranks.group import Group

LEAST = 128 << 20
"""Bytes of edges of a rank from which on it is worth meeting for them."""

WINDOW = 1 << 30
"""Bytes that others read at most: 1.4 ms for a half of it over NVLink, beside which a meeting of hosts is nothing."""


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
    room
        Bytes of device memory that are free meanwhile, the same on all ranks.

    Attributes
    ----------
    own
        First item of this rank's part, and last + 1.
    """

    def __init__(self, runtime: Runtime, group: Group, edges: np.ndarray, room: int) -> None:
        self._runtime, self._group, self._unit = runtime, group, edges.itemsize
        self._parts = parts_of(len(edges), edges.itemsize, group.size)
        self.own = self._parts[group.rank]
        self._half = max(LINE, min(WINDOW, room) // 2 // LINE * LINE)

    def bring(self, edges: Array, kernel: Kernel) -> str:
        """Fill ``edges``, which has the own part; ``kernel`` is ``own_pass_on``. Return what took how long."""
        runtime, group = self._runtime, self._group
        parts = [(begin * self._unit, end * self._unit) for begin, end in self._parts]
        to, begun, copying = runtime.pointer(edges), time.perf_counter(), 0.0
        with SharedMemory(group, runtime.shareable, [("window", 2 * self._half)]) as window:
            mine = runtime.pointer(window.array)
            bases = [mine if rank == group.rank else int(base) for rank, base in enumerate(window.bases)]
            turns, opened = -(-max(end - begin for begin, end in parts) // self._half), time.perf_counter()
            for turn in range(turns):
                half = turn % 2 * self._half
                begin, count = self._piece(parts[group.rank], turn)
                self._copy(kernel, to + begin, mine + half, count)
                start = time.perf_counter()
                runtime.synchronize()  # and what was read in the turn before
                copying += time.perf_counter() - start
                group.barrier()
                for rank, part in enumerate(parts):
                    if rank != group.rank:
                        begin, count = self._piece(part, turn)
                        self._copy(kernel, bases[rank] + half, to + begin, count)
            runtime.synchronize()
            group.barrier()  # nobody closes what others read
            took = time.perf_counter() - opened
        return f"{turns} turns in {took:.3f} s, {copying:.3f} copying; opened in {opened - begun:.3f}"

    def _piece(self, part: tuple[int, int], turn: int) -> tuple[int, int]:
        """Return where the piece of ``part`` begins that is due in a turn, and its bytes."""
        begin = part[0] + turn * self._half
        return begin, max(0, min(self._half, part[1] - begin))

    def _copy(self, kernel: Kernel, source: int, target: int, count: int) -> None:
        launch(self._runtime, kernel, -(-count // 16), (np.uint64(source), np.uint64(target), np.uint64(count)))


def others_of(runtime: Runtime, group: Group, edges: np.ndarray, room: int) -> Others | None:
    """Return who brings the edges that this rank does not copy, or None, where it copies all: they are too few."""
    return Others(runtime, group, edges, room) if group.size > 1 and edges.nbytes >= LEAST * group.size else None
