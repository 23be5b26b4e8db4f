"""The strategies that keep a frontier as a queue of vertices which enters each vertex exactly once."""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies.entry import RESULTS, Array, Step, Strategy

QUEUES = (
    Array("queue", "id", "n", "the frontier"),
    Array("next_queue", "id", "n", "the vertices found"),
)
SWAPS = (("queue", "next_queue"),)

ENTRIES = (
    Strategy(
        name="queue",
        summary="a thread takes an entry of the queue and reads its row; one counter for all that is found",
        source="report 000, 2.2; report 002, 1.3.1 (frontier)",
        frontier="vertex queues",
        mapping="a thread for each entry, the whole row",
        filter="label looked at, then atomicMin on it",
        wins="even, low degrees",
        loses="hubs, whose row one thread reads; the one counter that every vertex found adds to",
        loop="levels",
        file="algorithms/bfs/strategies/queue.cu",
        steps=(Step("queue_expand", "frontier"),),
        arrays=(*RESULTS, *QUEUES),
        swaps=SWAPS,
    ),
)
