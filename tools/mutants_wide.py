"""The bugs that tools/mutants.py plants into wide top-down levels (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

_FILE = "algorithms/bfs/gpu/wide.cuh"
_PLAN = "algorithms/bfs/gpu/plan.cuh"
_ENGINE = ("test_kernels_engine.py",)

WIDE = (
    Mutant(
        "wide: what the bitmap held before counts as found",
        _PLAN,
        "else if (t.wide) t.phase = t.clean ? WIDE : CLEAR;",
        "else if (t.wide) t.phase = WIDE;",
        _ENGINE,
    ),
    Mutant(
        "wide: the bitmap that a bottom-up level leaves counts as empty",
        _PLAN,
        "t.clean = t.wide;",
        "t.clean = 1;",
        _ENGINE,
    ),
    Mutant(
        "wide: the frontier's bits stay for the level after next",
        _FILE,
        "if (inside) frontier[w] = 0;",
        "if (inside) frontier[w] |= 0;",
        _ENGINE,
    ),
    Mutant(
        "wide: who is found is not visited",
        _FILE,
        "        if (fresh) s.visited[w] |= fresh;\n",
        "",
        _ENGINE,
    ),
    Mutant(
        "wide: the rows of hubs are left out",
        _PLAN,
        "const bool rows = t.phase == EXPAND || t.phase == WIDE ||",
        "const bool rows = t.phase == EXPAND ||",
        _ENGINE,
    ),
    Mutant(
        "wide: a parent is the lane's own vertex and not the row's",
        _FILE,
        "from[j] = __shfl_sync(ALL_LANES, v, owner);",
        "from[j] = v;",
        _ENGINE,
    ),
    Mutant(
        "wide: a row begins where the ids before it end",
        _FILE,
        "(own.begin - before) * sizeof(vid)",
        "own.begin * sizeof(vid)",
        _ENGINE,
    ),
    Mutant(
        "wide: the neighbours of the next warp are taken too",
        _FILE,
        "(lane_id() / near * team_warps() + team_warp()) * near",
        "(lane_id() / near * team_warps() + team_warp() + 1) * near",
        _ENGINE,
    ),
    Mutant(
        "wide: a frontier gathered from a bitmap is expanded as a narrow one is",
        _PLAN,
        "t.phase = !t.wide ? EXPAND : t.clean ? WIDE : CLEAR;",
        "t.phase = EXPAND;",
        _ENGINE,
    ),
)
