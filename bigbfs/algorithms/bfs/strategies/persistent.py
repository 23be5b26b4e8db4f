"""The strategies whose kernel goes from level to level by itself: one launch for a whole search."""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies.entry import LEVELS, PARENTS, Array, Step, Strategy

_FILE = "algorithms/bfs/gpu/bfs_traverse.cu"
_STEPS = (Step("bfs_traverse", "resident"), Step("bfs_count", "n"))
_MAPPING = "8 ids or less: a thread; up to 1024: a warp; longer: a warp for each chunk of 1024; thin levels: one block"
SLOT_WORDS, PROGRESS_WORDS = 14, 12
"""Words of what is recorded of a level, and of where a traversal stands (gpu/arguments.py)."""

ARRAYS = (
    Array("visited", "u32", "words", "bitmap: vertices reached"),
    Array("frontier", "u32", "words", "bitmap: vertices to expand (bottom-up, wide top-down)"),
    Array("next", "u32", "words", "bitmap: vertices found by the level in progress (bottom-up, wide top-down)"),
    Array("open", "u32", "words", "bitmap: vertices whose rows are put off (bottom-up)"),
    Array("queue", "id", "n", "frontiers one behind the other; labels of the components"),
    Array("chunk_list", "u32", "chunks", "chunks of hubs to be read in a level"),
    LEVELS,
    PARENTS,
    Array("slots", "u64", f"slots * {SLOT_WORDS}", "what each level did", True, "Slot"),
    Array("progress", "u64", f"{PROGRESS_WORDS}", "where a traversal stands", True, "Progress"),
    Array("meeting", "u32", "1", "where the blocks of the grid meet", True),
)
_EVERYWHERE = ("vram", "mapped", "streamed")

ENTRIES = (
    Strategy(
        name="auto",
        summary="direction-optimizing: each level top-down or bottom-up, whichever is predicted to cost less",
        source="Beamer et al., Direction-Optimizing Breadth-First Search, SC'12",
        frontier="queue for top-down levels, bitmap for bottom-up ones and for what wide ones find",
        mapping=_MAPPING,
        filter="atomicOr on a bitmap of visited vertices, asked first without an atomic",
        wins="nearly everywhere: low diameter by bottom-up levels, deep graphs by levels without a launch",
        loses="graphs of a single level, whose reset costs more than their edges",
        loop="persistent",
        file=_FILE,
        steps=_STEPS,
        arrays=ARRAYS,
        backends=("cpu", "gpu"),
        residencies=_EVERYWHERE,
        needs=("in-neighbours of a directed graph (without them it stays top-down)",),
        bottom_up=True,
    ),
    Strategy(
        name="topdown",
        summary="top-down only: every edge of the reached component is read once",
        source="Merrill et al., Scalable GPU Graph Traversal, PPoPP'12; Min et al., EMOGI, VLDB'20",
        frontier="queue; in vertex order where it is large and edges are in host memory",
        mapping=_MAPPING,
        filter="atomicOr on a bitmap of visited vertices, asked first without an atomic",
        wins="deep graphs, directed graphs without in-neighbours",
        loses="low diameter: a wide level reads every edge to find few vertices",
        loop="persistent",
        file=_FILE,
        steps=_STEPS,
        arrays=ARRAYS,
        backends=("cpu", "gpu"),
        residencies=_EVERYWHERE,
    ),
)
