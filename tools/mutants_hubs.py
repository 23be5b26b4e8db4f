"""The bugs that tools/mutants.py plants into rows of hubs and rows that a head ends (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

_ROWS = "kernels/rows/adjacency.cuh"
_ENGINE = ("test_kernels_local.py", "test_kernels_engine.py")

HUBS = (
    Mutant(
        "hubs: the last part of a chunk ends where a line does",
        _ROWS,
        "if (s.end > to && (which & last) != last) s.end = to;",
        "if (s.end > to) s.end = to;",
        _ENGINE,
    ),
    Mutant(
        "hubs: a warp that looks for one begins anew at a multiple of its width",
        _ROWS,
        "        low += first;\n        count = count",
        "        low += first / WARP * WARP;\n        count = count",
        _ENGINE,
    ),
    Mutant(
        "heads: whoever finds nobody there has no other ids",
        "algorithms/bfs/gpu/search.cuh",
        "more = !hit && heads.ids[first + LOOKS - 1] != (vid)v;",
        "more = false;",
        _ENGINE,
    ),
)
