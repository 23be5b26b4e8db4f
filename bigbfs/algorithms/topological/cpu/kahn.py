"""The rounds of Kahn's algorithm on the CPU: thin ones serially, many in one call, wide ones by all threads.

The state is allocated once; a run begins with in-degrees, or goes on from where a GPU run left ``left``, ``queue`` and
``rounds`` (:meth:`Kahn.go_on`).
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.topological.cpu import passes
from bigbfs.algorithms.topological.cpu.passes import COUNTS, EDGES, FAULTS, HUBS, TAIL
from bigbfs.engines.cpu.rows import NOBODY, Rows, row_count
from bigbfs.jit.team import team_of

WALK_EDGES = 32768
"""Rounds of at most this many edges run serially."""

ONE, ALL = "one thread", "all threads"


class Kahn:
    """Topological order of the graph of ``out``, with the memory that it takes.

    Parameters
    ----------
    out, incoming
        Rows of n vertices; ``incoming`` None where in-neighbours are not stored.
    ids
        Dtype of an id.
    edges
        Edges of ``out``.
    threads
        Threads of every parallel kernel.

    Attributes
    ----------
    left, queue
        id, shape (n,): edges into each vertex still to be taken off; the vertices that have a round, by round.
    rounds
        int32, shape (n,): -1: none.
    ran
        How many rounds of the last run ran where.
    faults
        Ids met by the last run that are no vertices.
    """

    def __init__(self, out: Rows, incoming: Rows | None, ids: np.dtype, edges: int, threads: int) -> None:
        n = row_count(out)
        self._team = team_of(threads)
        self._rows, self._in, self._edges, self._threads = out, incoming, edges, threads
        self.left, self.queue = np.empty((2, n), ids)
        self.rounds = np.empty(n, np.int32)
        most_hubs = min(n, edges // passes.HUB_EDGES)
        self._hubs, self._next_hubs = np.empty((2, most_hubs + 1), ids)
        self._pieces = np.zeros(most_hubs + 1, np.uint64)
        self._buffers = np.empty((threads, passes.BUFFER_IDS), ids)
        self._counts = np.zeros(COUNTS, np.uint64)
        self.ran: dict[str, int] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.left.nbytes + self.queue.nbytes + self.rounds.nbytes + self._buffers.nbytes

    @property
    def faults(self) -> int:
        """Ids met by the last run that are no vertices."""
        return int(self._counts[FAULTS])

    def run(self) -> float:
        """Fill ``queue`` and ``rounds``; return the seconds from the first in-degree to the last round."""
        start = time.perf_counter()
        self.ran = {ONE: 0, ALL: 0}
        self._counts[:] = 0
        self._count_in_degrees()
        passes.begin_with(self._rows, self.left, self.queue, self.rounds, self._hubs, self._counts)
        self._go_on(np.uint64(0), 0)
        return time.perf_counter() - start

    def go_on(self, first: int, last: int, number: int) -> float:
        """Go on serially from round ``number``, whose vertices are ``queue[first:last]``; return the seconds."""
        start = time.perf_counter()
        self.ran = {ONE: 0, ALL: 0}
        self._counts[:] = 0
        self._counts[TAIL] = last
        self._walk(np.uint64(first), number, NOBODY)
        return time.perf_counter() - start

    def warm_up(self) -> None:
        """Run every kernel once (on a small graph: that compiles them)."""
        incoming = self._in
        if incoming is not None:
            passes.take_lengths(self._team, incoming, self.left, self._counts)
        for self._in in (None, incoming):
            self._count_in_degrees()
        self._count(1 if self._threads > 1 else 2)
        self.run()
        self._walk(np.uint64(0), 0, NOBODY)  # a graph that is a cycle has no round for either
        self._round(np.uint64(0), 0)

    def _go_on(self, first: np.uint64, number: int) -> None:
        """Run the rounds from ``number`` on; counts say where that one ends, and what it holds."""
        alone = self._threads == 1
        while first < self._counts[TAIL]:
            if alone or self._counts[EDGES] <= WALK_EDGES:
                first, number = self._walk(first, number, NOBODY if alone else np.uint64(WALK_EDGES))
            else:
                first, number = self._round(first, number)

    def _walk(self, first: np.uint64, number: int, most: np.uint64) -> tuple[np.uint64, int]:
        """Run rounds serially while they have at most ``most`` edges; return first vertex and number of the next."""
        found = passes.walk(
            self._rows, self.left, self.queue, self.rounds, first, self._counts[TAIL], number, most, self._hubs,
            self._counts,
        )  # fmt: skip
        self.ran[ONE] += found[2] - number
        return np.uint64(found[0]), found[2]

    def _round(self, first: np.uint64, number: int) -> tuple[np.uint64, int]:
        """Run one round by all threads; return first vertex and number of the next."""
        last, hub_count = self._counts[TAIL], self._counts[HUBS]
        passes.cut(self._rows, self._hubs, hub_count, self._pieces)
        passes.run_round(
            self._team, self._rows, self.left, self.queue, self.rounds, first, last, number + 1, self._hubs, hub_count,
            self._pieces, self._next_hubs, self._buffers, self._counts,
        )  # fmt: skip
        self._hubs, self._next_hubs = self._next_hubs, self._hubs
        self.ran[ALL] += 1
        return last, number + 1

    def _count_in_degrees(self) -> None:
        """Fill ``left``: with the lengths of the rows of in-neighbours, else by a pass over all edges."""
        if self._in is not None:
            passes.take_lengths(self._team, self._in, self.left, self._counts)
            return
        # a count for each thread where that takes no more memory than the edges: then nobody waits for a line
        private = len(self.left) * self._threads <= self._edges
        self._count(self._threads if private else 1)

    def _count(self, parts: int) -> None:
        """Fill ``left`` by a pass over all edges, in as many arrays as ``parts``."""
        hub_count = np.uint64(passes.list_hubs(self._rows, self._hubs))
        passes.cut(self._rows, self._hubs, hub_count, self._pieces)
        counted = np.zeros((parts, len(self.left)), self.left.dtype)
        alone = parts == self._threads
        passes.count_edges(
            self._team, self._rows, self._hubs, hub_count, self._pieces, counted, self._counts, alone
        )  # fmt: skip
        passes.add_up(self._team, counted, self.left, self._counts)
