"""The strategies that lay the edges of many rows end to end."""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies.entry import RESULTS, Step, Strategy
from bigbfs.algorithms.bfs.strategies.queues import QUEUES, SWAPS

_FILE = "algorithms/bfs/strategies/packed.cu"
_FILTER = "parent looked at, then compare-and-swap on it"

ENTRIES = (
    Strategy(
        name="warp-mapped",
        summary="a warp lays 32 rows end to end and takes their edges in turn (varint: decoding is not even)",
        source="report 000, 2.5 (warp-merge, WM)",
        frontier="vertex queues",
        mapping="a warp for 32 entries, a thread for each edge of theirs",
        filter=_FILTER,
        wins="mildly skewed degrees",
        loses="one hub holds its warp",
        loop="levels",
        file=_FILE,
        steps=(Step("packed_by_warp", "frontier"),),
        arrays=(*RESULTS, *QUEUES),
        swaps=SWAPS,
        claims="parents",
    ),
    Strategy(
        name="block-mapped",
        summary="a block lays 256 rows end to end and takes their edges in turn (varint: decoding is not even)",
        source="report 000, 2.6 (coalesced mapping, CM)",
        frontier="vertex queues",
        mapping="a block for 256 entries, a thread for each edge of theirs",
        filter=_FILTER,
        wins="strongly skewed degrees",
        loses="thin levels: eight steps of a search for each edge",
        loop="levels",
        file=_FILE,
        steps=(Step("packed_by_block", "frontier"),),
        arrays=(*RESULTS, *QUEUES),
        swaps=SWAPS,
        claims="parents",
    ),
)
