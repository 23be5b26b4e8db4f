"""The bugs that tools/mutants.py plants into the kernels of the components (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

COMPONENTS = (
    Mutant(
        "stale root in the union (one atomicMin, no retry)",
        "algorithms/components/gpu/forest.cuh",
        "            above = atomicCAS(forest + late, late, early);\n            if (above == late) return 1;",
        "            atomicMin(forest + late, early);\n            return 1;",
    ),
    Mutant(
        "link without compare-and-swap",
        "algorithms/components/gpu/forest.cuh",
        "            above = atomicCAS(forest + late, late, early);\n            if (above == late) return 1;",
        "            above = relaxed_load(forest + late);\n"
        "            if (above == late) { relaxed_store(forest + late, early); return 1; }",
        build="preempt",
    ),
    Mutant(
        "a failed hook is not tried again",
        "algorithms/components/gpu/forest.cuh",
        "            if (above == late) return 1;",
        "            return above == late;",
        build="preempt",
    ),
    Mutant(
        "halving writes to a root",
        "algorithms/components/gpu/forest.cuh",
        "        if (a != above) relaxed_store(forest + late, a);",
        "        relaxed_store(forest + above, early);",
    ),
    Mutant(
        "compression stops one step short",
        "algorithms/components/gpu/forest.cuh",
        "further != above; further = stale_load(forest + above)) {",
        "further != above; further = above) {",
    ),
    Mutant(
        "compression undone by who shortens the way",
        "algorithms/components/gpu/forest.cuh",
        "if (++steps > SHORT_WAY) atomicCAS(forest + at, above, further);",
        "if (++steps > 1) relaxed_store(forest + at, further);",
        build="preempt",
    ),
    Mutant(
        "the smallest vertex of a tree is not looked for",
        "algorithms/components/gpu/cc_afforest.cu",
        "if (relaxed_load(labels + root) > (vid)v) atomicMin(labels + root, (vid)v);",
        "if (relaxed_load(labels + root) > (vid)v) relaxed_store(labels + root, (vid)v);",
        build="preempt",
    ),
    Mutant(
        "a forest of heads that goes round in a circle",
        "algorithms/components/gpu/forest.cuh",
        "return one != other ? one > other : u != v && before(u, v, 0);",
        "return one != other ? one > other : u != v;",
    ),
    Mutant(
        "the last part of a round is left out",
        "algorithms/components/gpu/cc_afforest.cu",
        "const u64 pieces = (a.n >> (PIECE_BITS + PART_BITS)) + 1;",
        "const u64 pieces = a.n >> (PIECE_BITS + PART_BITS);",
    ),
    Mutant(
        "a label handed on without a bit",
        "algorithms/components/gpu/operations.cuh",
        "        if (!(relaxed_load(following + word_of(v)) & bit_of(v))) atomicOr(following + word_of(v), bit_of(v));",
        "        if (!relaxed_load(following + word_of(v))) atomicOr(following + word_of(v), bit_of(v));",
        build="preempt",
    ),
)
