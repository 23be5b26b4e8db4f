"""The strategies whose levels look at all vertices of the graph."""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies.entry import RESULTS, Array, Step, Strategy

BITMAPS = (
    *RESULTS,
    Array("frontier", "u32", "words", "bitmap: the frontier"),
    Array("next_frontier", "u32", "words", "bitmap: the vertices found"),
)
SWAPS = (("frontier", "next_frontier"),)

ENTRIES = (
    Strategy(
        name="quadratic",
        summary="every level asks all vertices whether they lie in it; a thread reads a row",
        source="report 000, 2.1 (SimpleBFS); report 004, 2.2",
        frontier="none: the labels; quadratic in the worst case",
        mapping="a thread for each vertex of the graph, the whole row",
        filter="label stored by whoever sees none",
        wins="small graphs, few levels",
        loses="deep graphs: all vertices in each level; hubs",
        loop="levels",
        file="algorithms/bfs/strategies/quadratic.cu",
        steps=(Step("quadratic_expand", "n"),),
        arrays=RESULTS,
    ),
    Strategy(
        name="quadratic-warp",
        summary="every level asks all vertices whether they lie in it; a warp reads a row",
        source="report 004, 2.2 and 5.6 (Hong et al., PPoPP'11)",
        frontier="none: the labels; quadratic in the worst case",
        mapping="a warp for each vertex of the graph, the whole row",
        filter="label stored by whoever sees none",
        wins="some six levels, high degrees",
        loses="deep graphs: a warp for all vertices in each level",
        loop="levels",
        file="algorithms/bfs/strategies/quadratic.cu",
        steps=(Step("quadratic_expand_together", "n*32"),),
        arrays=RESULTS,
    ),
    Strategy(
        name="bitmap",
        summary="every level asks the bits of all vertices; a thread reads a row",
        source="report 002, 1.3.2",
        frontier="bitmaps",
        mapping="a thread for each vertex of the graph, the whole row",
        filter="label looked at, then compare-and-swap on it",
        wins="dense frontiers",
        loses="sparse frontiers, deep graphs",
        loop="levels",
        file="algorithms/bfs/strategies/bitmap.cu",
        steps=(Step("bitmap_expand", "n", clears=("next_frontier",)),),
        arrays=BITMAPS,
        swaps=SWAPS,
        clears=("frontier",),
    ),
    Strategy(
        name="bitmap-warp",
        summary="every level asks the bits of all vertices; a warp reads a row",
        source="report 002, 1.3.3 (warp-centric)",
        frontier="bitmaps",
        mapping="a warp for each vertex of the graph, the whole row",
        filter="label looked at, then compare-and-swap on it",
        wins="dense frontiers of high degree",
        loses="degree 2: 31 of 32 lanes have nothing to do",
        loop="levels",
        file="algorithms/bfs/strategies/bitmap.cu",
        steps=(Step("bitmap_expand_together", "n*32", clears=("next_frontier",)),),
        arrays=BITMAPS,
        swaps=SWAPS,
        clears=("frontier",),
    ),
)
