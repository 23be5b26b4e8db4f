"""The bugs that tools/mutants.py plants into the take-over of what the CPU has found (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

STANDBY = (
    Mutant(
        "standby: who the CPU has found is not visited",
        "algorithms/bfs/gpu/adopt.cu",
        "        atomicOr(s.visited + word_of(v), bit_of(v));\n",
        "",
        ("test_kernels_standby.py",),
    ),
    Mutant(
        "standby: where a level ends counts as part of it",
        "algorithms/bfs/gpu/adopt.cu",
        "ends[middle] <= column",
        "ends[middle] < column",
        ("test_kernels_standby.py",),
    ),
    Mutant(
        "standby: a level is taken for a parent",
        "algorithms/bfs/gpu/adopt.cu",
        "settle(s, v, parents[i]",
        "settle(s, v, ends[i]",
        ("test_kernels_standby.py",),
    ),
    Mutant(
        "standby: the device stands where it stood before the walk",
        "algorithms/bfs/gpu/adopt.cu",
        "if (thread_id() == 0) *s.progress = stands;",
        "",
        ("test_kernels_standby.py",),
    ),
)
