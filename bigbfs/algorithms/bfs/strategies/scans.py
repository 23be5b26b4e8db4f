"""The strategies that find slots in the next queue by prefix sums."""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies.entry import RESULTS, Array, Step, Strategy
from bigbfs.algorithms.bfs.strategies.queues import QUEUES, SWAPS

ENTRIES = (
    Strategy(
        name="scan",
        summary="slots by prefix sums: mark the ends, count them, add up, store them; no atomics",
        source="report 000, 2.3",
        frontier="vertex queues",
        mapping="a thread for each entry, the whole row, three times",
        filter="label stored by whoever sees none; the last to store the parent owns the vertex",
        wins="where a counter would be contended",
        loses="thin levels, for their five launches; rows that do not stay in the cache",
        loop="levels",
        file="algorithms/bfs/strategies/scan.cu",
        steps=(
            Step("scan_mark", "frontier"),
            Step("scan_count", "frontier"),
            Step("scan_blocks", "frontier"),
            Step("scan_sums", "1"),
            Step("scan_assign", "frontier"),
        ),
        arrays=(
            *RESULTS,
            *QUEUES,
            Array("offsets", "u64", "n", "vertices won by each entry, then where they go in its block"),
            Array("sums", "u64", "words", "the same for each block of entries"),
        ),
        swaps=SWAPS,
        claims="parents",
    ),
    Strategy(
        name="scan-fused",
        summary="a block adds up what its threads win in rounds of 32 ids, and appends it by one atomic",
        source="report 000, 2.4",
        frontier="vertex queues",
        mapping="a thread for each entry, the whole row, twice",
        filter="parent looked at, then compare-and-swap on it",
        wins="deep graphs of low degree: one launch a level, one atomic a block",
        loses="hubs: the block waits for its longest row",
        loop="levels",
        file="algorithms/bfs/strategies/scan_fused.cu",
        steps=(Step("scan_fused_expand", "frontier"),),
        arrays=(*RESULTS, *QUEUES),
        swaps=SWAPS,
        claims="parents",
    ),
)
