"""The strategies of report 004: queues of vertices and of edges, gathering by scan + warp + block, culling."""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies.entry import RESULTS, Array, Step, Strategy
from bigbfs.algorithms.bfs.strategies.queues import QUEUES, SWAPS

_FILE = "algorithms/bfs/strategies/merrill.cu"
_MAPPING = "rows of less than 32 ids: packed for a block; up to 1024: a warp; hubs: the warps of a block"
_EDGES = "4 * n + 65536"
_MASK = Array("bitmask", "u32", "words", "bitmap: ends that somebody has seen, not all of them")
_EDGE_QUEUE = (
    Array("edges", "id", _EDGES, "ends of the frontier's edges"),
    Array("origins", "id", _EDGES, "where each of them begins"),
    Array("bases", "u64", "2 * words", "numbers of the edges of each tile, from and to"),
)
_NEXT_EDGES = (
    Array("next_edges", "id", _EDGES, "ends of the edges of the vertices found"),
    Array("next_origins", "id", _EDGES, "where each of them begins"),
)
_REBUILD = Step("rebuild_queue", "n", when="overflow")
_TWO_PHASES = (Step("expand", "frontier", batched=True), Step("contract", "resident", batched=True), _REBUILD)
_SWEPT = (
    Step("sweep_labels", "n", when="swept"),
    Step("expand_swept", "resident", when="swept", batched=True),
    Step("contract_swept", "resident", when="swept", batched=True),
    Step("expand_found", "resident", when="swept"),
)
_EDGE_SWAPS = (("edges", "next_edges"), ("origins", "next_origins"))


def _culling(edge_queues: int, parts: int) -> tuple[tuple[str, str], ...]:
    """Return the defines of a file with so many edge queues, and the sum of the parts of its filter (culling.cuh)."""
    return (("EDGE_QUEUES", str(edge_queues)), ("CULLING", str(parts)))


ENTRIES = (
    Strategy(
        name="expand-contract",
        summary="vertices to vertices: every id gathered goes through the filter at once",
        source="report 004, 5.1 (Merrill et al., PPoPP'12)",
        frontier="vertex queues, which may hold a vertex twice",
        mapping=_MAPPING,
        filter="bitmask, label, history, warp culling; none with an atomic",
        wins="never the best; the least traffic of queues",
        loses="small levels, for the scans of each tile",
        loop="levels",
        file=_FILE,
        steps=(Step("expand_contract", "frontier"), _REBUILD),
        arrays=(*RESULTS, *QUEUES, _MASK),
        swaps=SWAPS,
        clears=("bitmask",),
        racing=True,
        defines=_culling(0, 7),
    ),
    Strategy(
        name="contract-expand",
        summary="edges to edges: the ends of a level are filtered, and the rows of those left gathered, in one launch",
        source="report 004, 5.2",
        frontier="edge queues: an end and its origin for each edge",
        mapping=_MAPPING,
        filter="bitmask, label, warp culling; none with an atomic",
        wins="thin levels",
        loses="high mean degree: every edge goes through the queue; levels of more edges than it holds",
        loop="levels",
        file=_FILE,
        steps=(Step("contract_expand", "frontier", when="narrow"), *_SWEPT),
        arrays=(*RESULTS, *QUEUES, *_EDGE_QUEUE, *_NEXT_EDGES, _MASK),
        swaps=_EDGE_SWAPS,
        clears=("bitmask",),
        racing=True,
        defines=_culling(2, 5),
    ),
    Strategy(
        name="two-phase",
        summary="vertices to edges, edges to vertices: two launches a level",
        source="report 004, 5.3",
        frontier="a vertex queue, which may hold a vertex twice, and an edge queue",
        mapping=_MAPPING,
        filter="bitmask, label, history, warp culling; none with an atomic",
        wins="wide levels",
        loses="thin levels, for the second launch",
        loop="levels",
        file=_FILE,
        steps=_TWO_PHASES,
        arrays=(*RESULTS, *QUEUES, *_EDGE_QUEUE, _MASK),
        swaps=SWAPS,
        clears=("bitmask",),
        racing=True,
        defines=_culling(1, 7),
    ),
    Strategy(
        name="two-phase-raw",
        summary="two-phase with labels alone for a filter: shows what culling is for",
        source="report 004, 4.2 (its figure 7)",
        frontier="a vertex queue, which may hold a vertex many times, and an edge queue",
        mapping=_MAPPING,
        filter="label, without an atomic",
        wins="nowhere",
        loses="whatever has many ways to a vertex in one level: rows are read again and again",
        loop="levels",
        file=_FILE,
        steps=_TWO_PHASES,
        arrays=(*RESULTS, *QUEUES, *_EDGE_QUEUE),
        swaps=SWAPS,
        racing=True,
        defines=_culling(1, 0),
    ),
    Strategy(
        name="hybrid-merrill",
        summary="contract-expand for thin levels, two-phase for those of more edges than the device has threads",
        source="report 004, 5.4",
        frontier="edge queues: an end and its origin for each edge",
        mapping=_MAPPING,
        filter="bitmask, label, history, warp culling; none with an atomic",
        wins="wherever one of its halves does",
        loses="high mean degree: every edge goes through the queue",
        loop="levels",
        file=_FILE,
        steps=(
            Step("contract_expand", "frontier", when="narrow"),
            Step("contract", "frontier", when="wide"),
            Step("expand_found", "resident", when="wide"),
            *_SWEPT,
        ),
        arrays=(*RESULTS, *QUEUES, *_EDGE_QUEUE, *_NEXT_EDGES, _MASK),
        swaps=_EDGE_SWAPS,
        clears=("bitmask",),
        turn="resident",
        racing=True,
        defines=_culling(2, 7),
    ),
)
