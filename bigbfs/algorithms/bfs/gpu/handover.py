"""A search's way to the CPU and back: where it stands goes there, what a thread of the CPU finds comes while it walks.

Pinned buffers take turns: while the CPU fills one, the device takes over what the one before held. They are made when
the CPU first walks, and belong to the engine.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import PROGRESS
from bigbfs.algorithms.bfs.gpu.pace import Pace
from bigbfs.algorithms.bfs.gpu.standby import PARTS, Limits, Standby, Walked, Walker
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.arguments import BLOCK
from bigbfs.engines.gpu.runtime.runtime import Array, Kernel, Stage
from bigbfs.errors import DoesNotFitError

BATCH = 1 << 19
"""Vertices of a buffer at most: so long a walk that the calls for a batch are nothing beside it, and 6 MiB to take over
when it ends."""

BUFFERS = 2

GROWTH, SMALLER = 16, 2
"""Each part of a walk has so many times the room of the one before, up to a whole buffer, which the third has."""

PAGE = 1024
"""Ids of a page of memory."""

QUEUE = 0
"""``PROGRESS.form`` of a frontier that stands in the queue."""


def unlike(room: int) -> int:
    """Return ``room`` or a little more, so that arrays of so many ids, one behind the other, are written a third of a
    page from each other: a load waits for a store before it whose address ends in the same bits, and a walk reads what
    it has just written (a path of 10^6 vertices took 13.3 ms instead of 6.4)."""
    return room if room < 2 * PAGE else room + (PAGE // 3 - room) % PAGE


class HandOver:
    """What hands over searches of one loop.

    Parameters
    ----------
    placed
        The graph.
    pace
        Who is quicker.
    adopt
        Kernel ``bfs_adopt``.
    arrays
        The loop's: ``visited``, ``queue`` and ``progress`` are used.

    Attributes
    ----------
    standby
        Who walks.
    """

    def __init__(self, placed: PlacedGraph, pace: Pace, adopt: Kernel, arrays: dict[str, Array]) -> None:
        self._runtime, self._pool, self._ids = placed.runtime, placed.pool, placed.ids
        self._first = 2 * pace.most_edges
        self._most = unlike(max(min(placed.n, BATCH), self._first))
        self._pace, self._part = pace, 0
        self._adopt, self._arrays = adopt, arrays
        self.standby = Standby(placed.graph)
        self._stages: list[Stage] = []
        self._turn = self._width = 0

    def warm(self, state: np.ndarray) -> None:
        """Launch the kernel on nothing."""
        self._adopt(1, BLOCK, (state, self._arrays["queue"], np.uint64(0), np.uint64(0), np.uint64(0)))

    def ready(self, progress: np.void, limits: Limits) -> bool:
        """Return whether the CPU can go on from ``progress`` now; it is made ready when this is first asked."""
        there = int(progress["form"]) == QUEUE and max(int(progress["edges"]), int(progress["count"])) <= limits.thin
        return there and self.standby.ask() is not None and self._buffers()

    def _buffers(self) -> bool:
        """Return whether there are buffers; they are made when they are first asked for."""
        if not self._stages:
            try:
                self._stages = self._pool.stages("hand-over", BUFFERS, self._most * PARTS * self._ids.itemsize)
            except DoesNotFitError:
                return False
        return True

    def walk(self, state: np.ndarray, progress: np.void, limits: Limits) -> tuple[Walked, float]:
        """Have the CPU walk on from ``progress``; the device then stands where the CPU has stopped. Return what it did,
        and in how many seconds."""
        runtime, walker, start = self._runtime, self._walker(), time.perf_counter()
        visited, queue = self._arrays["visited"], self._arrays["queue"]
        begin, count, level = (int(progress[name]) for name in ("begin", "count", "level"))
        runtime.read(visited, walker.visited[: len(visited)])
        at, walked = begin + count, Walked(level, count)
        frontier = runtime.download(queue[begin:at])
        self._part, levels, edges, before = 0, 0, 0, time.perf_counter()
        for new in walker.walk(frontier, walked, limits, self._room):
            self._take_over(state, new, at)
            at += new.stop - new.start
            now = time.perf_counter()
            if not self._pace.goes_on(walked.levels - levels, walked.read - edges, now - before):
                break
            levels, edges, before = walked.levels, walked.read, now
        stands = np.array(progress, PROGRESS).reshape(1)
        stands["level"], stands["edges"], stands["hot"] = walked.depth, walked.edges, 0
        stands["begin"], stands["count"] = at - walked.count, walked.count
        stands["reached"] += np.uint64(walked.found)
        runtime.write(self._arrays["progress"], stands.view(np.uint64))
        return walked, time.perf_counter() - start

    def records(self, walked: Walked) -> np.ndarray:
        """Return the levels of the last walk: a table of level_records.py."""
        return self._walker().records(walked)

    def _walker(self) -> Walker:
        walker = self.standby.ask()
        assert walker is not None
        return walker

    def _room(self) -> np.ndarray:
        """Return the buffer whose turn it is, free to be filled; of the first of a walk a part, so that its time is
        known soon."""
        room, self._part = self._first * GROWTH**self._part, min(self._part + 1, SMALLER)
        self._turn = (self._turn + 1) % BUFFERS
        stage = self._stages[self._turn]
        stage.wait()
        self._width = min(unlike(room), self._most)
        return stage.host.view(self._ids)[: PARTS * self._width].reshape(PARTS, -1)

    def _take_over(self, state: np.ndarray, new: slice, at: int) -> None:
        """Append these columns of the buffer to the queue at ``at``, and write down their parents and levels.

        One copy up to the last of them: of all parts but the last of a walk nothing that matters lies between.
        """
        stage, size, width = self._stages[self._turn], self._ids.itemsize, self._width
        stage.send(((PARTS - 1) * width + new.stop) * size)
        count = new.stop - new.start
        blocks = max(1, min(self._runtime.max_blocks(self._adopt, BLOCK), -(-count // BLOCK)))
        found = stage.array[new.start * size :].view(self._ids)
        self._adopt(blocks, BLOCK, (state, found, np.uint64(width), np.uint64(count), np.uint64(at)))
        stage.done()
