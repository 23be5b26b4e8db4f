"""What the kernels of a batch share: one bit for each vertex and each source, twice.

``now`` has the bits of the sources that have reached a vertex by the level under way, ``before`` by the level before.
Between two levels they differ at most for the vertices of the frontier. Bit ``b`` of word ``w`` of a vertex belongs to
source ``64 w + b`` of the batch (a batch of 32 sources has words of 32 bits). There is a row for every id up to the
head table's ``absent``, whose bits are never set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TALLY = 8
"""Items of ``tallies`` for each thread, a cache line."""

VERTICES, EDGES, LEFT, READ, FOUND, HUBS = range(6)
"""Places there: vertices of the new frontier, edges in their rows, edges in rows of vertices that lack a bit, edges
read, pairs of source and vertex found, rows of the frontier longer than a piece."""


class State(NamedTuple):
    """See the module; T threads, K words for each vertex.

    Attributes
    ----------
    now, before
        Words, (rows * K).
    queue, next_queue
        Ids, (n,): the frontier, and the next one.
    bits
        Words, (n * K): for each entry of ``queue`` the sources that reached it last.
    queued
        uint8, (n,): whether a vertex is in ``next_queue``.
    done
        Bitmap of the vertices that all sources under way have reached, by ``before`` too, or that no edge leads to.
    full
        Words, (K,): the sources of the batch.
    heads, short
        Of the survey; empty where levels only run top-down.
    buffers
        Ids, (T, entries): what a thread has found and not yet appended.
    claim
        uint64, (16,): work given out, and at 8 the end of a queue.
    tallies
        uint64, (T * TALLY).
    faults
        uint64, (1,): ids met that are no vertices.
    """

    now: np.ndarray
    before: np.ndarray
    queue: np.ndarray
    next_queue: np.ndarray
    bits: np.ndarray
    queued: np.ndarray
    done: np.ndarray
    full: np.ndarray
    heads: np.ndarray
    short: np.ndarray
    buffers: np.ndarray
    claim: np.ndarray
    tallies: np.ndarray
    faults: np.ndarray
