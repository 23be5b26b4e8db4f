"""The bugs that tools/mutants.py plants into the levels that one block goes through alone (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

SOURCE = "algorithms/bfs/gpu/thin.cuh"
TESTS = ("test_kernels_thin.py",)

THIN = (
    Mutant(
        "missing block barrier between two thin levels",
        SOURCE,
        "    expand_batch<true>(s, t, v, ids);\n    __syncthreads();",
        "    expand_batch<true>(s, t, v, ids);",
    ),
    Mutant("thin: the queue is left where it was", SOURCE, "        if (levels) t.begin = behind;\n", "", TESTS),
    Mutant(
        "thin: a row that lanes do not share is taken for a short one",
        SOURCE,
        "ids > LOCAL_IDS || !heads_are_all(rows, ids)",
        "!heads_are_all(rows, ids)",
        TESTS,
    ),
    Mutant(
        "thin: heads are taken for the whole row",
        SOURCE,
        "ids > LOCAL_IDS || !heads_are_all(rows, ids)",
        "ids > LOCAL_IDS",
        TESTS,
    ),
    Mutant("thin: what was found before is not subtracted", SOURCE, "&t.tail, 1u) - before]", "&t.tail, 1u)]", TESTS),
    Mutant(
        "thin: a list is longer than it may be",
        SOURCE,
        "count <= few.most && levels",
        "count <= few.most + TEAM && levels",
        TESTS,
    ),
    Mutant(
        "thin: what one block may have at most is not asked",
        SOURCE,
        "s.thin_to < FEW_VERTICES ? (u32)s.thin_to : FEW_VERTICES",
        "FEW_VERTICES",
        TESTS,
    ),
    Mutant("thin: who was found is not counted", SOURCE, "        t.reached += before;\n", "", TESTS),
    Mutant(
        "thin: nobody waits before the list is counted",
        SOURCE,
        "        __syncthreads();\n        count = t.tail - before;",
        "        count = t.tail - before;",
        TESTS,
    ),
    Mutant(
        "thin: the list at the end is the one before",
        SOURCE,
        "few.queue[behind + i] = now[i]",
        "few.queue[behind + i] = next[i]",
        TESTS,
    ),
)
