"""The bugs that tools/mutants.py plants into levels that heads begin and edges end (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

_PLAN = "algorithms/bfs/gpu/plan.cuh"
_ENGINE = ("test_kernels_local.py", "test_kernels_engine.py")

MIXED = (
    Mutant(
        "mixed: whom the edges find is in no bitmap",
        _PLAN,
        "else if (t.mixed && t.phase != JOIN) t.phase = JOIN;",
        "else if (t.mixed && t.phase != JOIN) end_level(s, t);",
        _ENGINE,
    ),
    Mutant(
        "mixed: whom the edges find is not counted",
        _PLAN,
        "t.count = relaxed_load(&slot.found) + queued;",
        "t.count = relaxed_load(&slot.found);",
        _ENGINE,
    ),
    Mutant(
        "mixed: the chunks of the frontier's hubs are taken for those of hubs that search",
        _PLAN,
        "return t.bottom_up && !t.mixed ? SEARCH_CHUNKS : EXPAND_CHUNKS;",
        "return t.bottom_up ? SEARCH_CHUNKS : EXPAND_CHUNKS;",
        _ENGINE,
    ),
    Mutant(
        "mixed: the frontier itself joins what is found",
        "algorithms/bfs/gpu/forms.cuh",
        "(joins ? t.count : 0)",
        "(joins ? 0 : 0)",
        _ENGINE,
    ),
    Mutant(
        "mixed: a frontier that is a bitmap alone has edges in the queue",
        "algorithms/bfs/gpu/costs.cuh",
        "t.form == QUEUE && t.count < s.sort_from",
        "t.count < s.sort_from",
        _ENGINE,
    ),
)
