"""A search's way to the CPU and back: where it stands goes there, what a thread of the CPU finds comes while it walks.

Pinned buffers take turns: while the CPU fills one, the device takes over what the one before held, which a second
thread sees to: the calls take some 250 us, in which the first one walks. Buffers are made when the CPU first walks, and
belong to the engine. Nothing waits for the device but the beginning of a walk and a buffer that is to be filled again:
what follows a walk is launched behind its last take-over.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import PART, PROGRESS
from bigbfs.algorithms.bfs.gpu.pace import Pace
from bigbfs.algorithms.bfs.gpu.standby import PARTS, Limits, Part, Standby, Walked, Walker
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.arguments import BLOCK, struct
from bigbfs.engines.gpu.runtime.runtime import Array, Kernel, Pinned, Stage
from bigbfs.errors import DoesNotFitError

BATCH = 1 << 19
"""Vertices of a buffer at most: so long a walk that the calls for a batch are nothing beside it, and 6 MiB to take over
when it ends."""

BUFFERS = 2

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
        self._pace = pace
        self._adopt, self._arrays = adopt, arrays
        self._blocks = self._runtime.max_blocks(adopt, BLOCK)
        self.standby = Standby(placed.graph)
        self._stages: list[Stage] = []
        self._rooms: list[np.ndarray] = []
        self._bits: Pinned | None = None
        self._turn = self._room = 0
        self._sender = ThreadPoolExecutor(1, "bigbfs-hand-over", initializer=self._runtime.use)
        self._sent: Future[None] | None = None

    def warm(self, state: np.ndarray) -> None:
        """Launch the kernel on nothing: where the search stands becomes nothing."""
        self._adopt(1, BLOCK, (state, struct(PROGRESS), struct(PART), self._arrays["queue"]))

    def ready(self, progress: np.void, limits: Limits) -> bool:
        """Return whether the CPU can go on from ``progress`` now; it is made ready when this is first asked."""
        there = int(progress["form"]) == QUEUE and max(int(progress["edges"]), int(progress["count"])) <= limits.thin
        return there and self.standby.ask() is not None and self._buffers()

    def _buffers(self) -> bool:
        """Return whether there are buffers; they are made when they are first asked for."""
        if not self._stages:
            words = self._walker().words
            try:
                stages = self._pool.stages("hand-over", BUFFERS, self._most * PARTS * self._ids.itemsize)
                self._bits = self._pool.pinned("hand-over", words * 4)
            except DoesNotFitError:
                return False
            self._bits.host[:] = 0
            self._rooms = [stage.host.view(self._ids).reshape(PARTS, -1) for stage in stages]
            self._stages = stages
        return True

    def walk(self, state: np.ndarray, progress: np.void, limits: Limits, source: int | None = None) -> Walked:
        """Have the CPU walk on from ``progress``, or where that is the beginning, from ``source``; the device then
        stands where the CPU has stopped.

        Return what it did. The last of what it found may still be on its way; what is launched finds it there.

        Raises
        ------
        DeviceError
            The device could not take over what was found.
        """
        walker, start = self._walker(), time.perf_counter()
        bits, frontier = self._reached_so_far(progress, source)
        at, walked = int(progress["begin"]) + len(frontier), Walked(int(progress["level"]), len(frontier))
        self._room = 0
        levels, edges, before = 0, 0, time.perf_counter()
        try:
            for part in walker.walk(bits, frontier, walked, limits, self._more_room):
                now = time.perf_counter()
                goes_on = self._pace.goes_on(walked.levels - levels, walked.read - edges, now - before)
                ends = part.over or not goes_on
                if ends or self._room == self._most:
                    at += part.end - part.begin
                    self._send(ends, state, _standing(progress, walked, at), part, at)
                if ends:
                    break
                levels, edges, before = walked.levels, walked.read, now
        finally:
            self._is_sent()
        self._pace.walked(walked, time.perf_counter() - start)
        return walked

    def _reached_so_far(self, progress: np.void, source: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the bitmap of who is reached (uint64), and the frontier: the device's, or ``source`` alone."""
        assert self._bits is not None
        bits = self._bits.host
        if source is not None:
            bits[:] = 0
            bits[source >> 3] = 1 << (source & 7)
            return bits.view(np.uint64), np.array([source], self._ids)
        visited, begin = self._arrays["visited"], int(progress["begin"])
        self._runtime.read(visited, bits.view(np.uint32)[: len(visited)])
        queue = self._arrays["queue"][begin : begin + int(progress["count"])]
        return bits.view(np.uint64), self._runtime.download(queue)

    def records(self, walked: Walked) -> np.ndarray:
        """Return the levels of the last walk: a table of level_records.py."""
        return self._walker().records(walked)

    def _walker(self) -> Walker:
        walker = self.standby.ask()
        assert walker is not None
        return walker

    def _more_room(self) -> tuple[np.ndarray, int]:
        """Return a buffer and how many of its columns may be filled: few at first, so that their time is known soon,
        then all of it, then those of the next buffer."""
        if self._room in (0, self._most):
            self._turn = (self._turn + 1) % BUFFERS
            self._stages[self._turn].wait()
        self._room = self._most if self._room else self._first
        return self._rooms[self._turn], self._room

    def _send(self, now: bool, state: np.ndarray, stands: np.ndarray, part: Part, at: int) -> None:
        """Have the device take over the buffer, ``now`` or by the other thread; those before come first."""
        self._is_sent()
        if now:
            self._take_over(state, stands, part, at, self._turn)
        else:
            self._sent = self._sender.submit(self._take_over, state, stands, part, at, self._turn)

    def _is_sent(self) -> None:
        """Return when the other thread has nothing to send.

        Raises
        ------
        DeviceError
            It could not.
        """
        sent = self._sent
        if sent is not None:
            wait([sent])  # an interrupt leaves it to be waited for
            self._sent = None
            sent.result()

    def _take_over(self, state: np.ndarray, stands: np.ndarray, part: Part, at: int, turn: int) -> None:
        """Append what is in buffer ``turn`` to the queue, up to ``at``, and write down its parents and levels, and
        where the search then ``stands`` (PROGRESS)."""
        stage, width = self._stages[turn], self._most
        # no more levels end than columns are filled: each of them has a vertex, but the last
        stage.send(max(part.end, part.levels) * self._ids.itemsize, PARTS)
        count = part.end - part.begin
        columns = struct(
            PART, width=width, begin=part.begin, end=part.end, levels=part.levels, depth=part.depth, at=at - count
        )
        blocks = max(1, min(self._blocks, -(-count // BLOCK)))
        self._adopt(blocks, BLOCK, (state, stands, columns, stage.array.view(self._ids)))
        stage.done()


def _standing(progress: np.void, walked: Walked, at: int) -> np.ndarray:
    """Return where a search stands (PROGRESS) that has ``walked`` on from ``progress``; the queue ends ``at``."""
    stands = np.array(progress, PROGRESS)
    stands["level"], stands["edges"], stands["hot"] = walked.depth, walked.edges, 0
    stands["begin"], stands["count"] = at - walked.count, walked.count
    stands["reached"] = int(progress["reached"]) + walked.found
    return stands
