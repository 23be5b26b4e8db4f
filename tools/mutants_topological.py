"""The bugs that tools/mutants.py plants into the kernels of topological order (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

KAHN = "algorithms/topological/gpu/kahn.cuh"
ALONE = "algorithms/topological/gpu/alone.cuh"
ROUNDS = "algorithms/topological/gpu/topological.cu"
WIDE = "algorithms/topological/gpu/wide.cuh"

TOPOLOGICAL = (
    Mutant("an edge too early", KAHN, "freed |= (u32)(had[j] == 1) << j;", "freed |= (u32)(had[j] <= 2) << j;"),
    Mutant(
        "old <= 1 frees whoever is asked nothing",
        KAHN,
        "freed |= (u32)(had[j] == 1) << j;",
        "freed |= (u32)(had[j] <= 1) << j;",
    ),
    Mutant(
        "an edge taken off without an atomic",
        KAHN,
        "atomicAdd(s.left + ids[j], ~(vid)0)",
        "(relaxed_store(s.left + ids[j], relaxed_load(s.left + ids[j]) - 1), relaxed_load(s.left + ids[j]) + 1)",
    ),
    Mutant(
        "the in-degree without duplicates",
        ROUNDS,
        "METHOD void edge(vid, vid u) { atomicAdd(left + u, (vid)1); }",
        "vid last = ~(vid)0;\n    METHOD void edge(vid, vid u) {\n        if (u != last) atomicAdd(left + u, (vid)1);\n"
        "        last = u;\n    }",
    ),
    Mutant("sources that the ballot's lanes share", ROUNDS, "(u64)__popc(sources & ((1u << lane_id()) - 1))", "(u64)0"),
    Mutant(
        "the round of its predecessor",
        KAHN,
        "s.rounds[ids[j]] = (i32)(t.now.number + 1);",
        "s.rounds[ids[j]] = (i32)t.now.number;",
    ),
    Mutant("a list of one block that overflows", KAHN, "if (at < LIST_IDS) next[at] = ids[j];", "next[at] = ids[j];"),
    Mutant("the tail is not cleared", ALONE, "    t.tail = 0;\n    t.taken = 0;\n", "    t.taken = 0;\n"),
    Mutant(
        "rounds of one block without a barrier before they advance",
        ALONE,
        "        more = round_alone(s, t, list, next);\n        __syncthreads();\n",
        "        more = round_alone(s, t, list, next);\n",
    ),
    Mutant(
        "more vertices than threads stay with one block", ALONE, "t.now.count <= TEAM && t.now.number", "t.now.number"
    ),
    Mutant(
        "slices counted by the warp alone",
        ALONE,
        "return (warp > 0 ? above : 0) + through - x;",
        "return (above & 0) + through - x;",
    ),
    Mutant("the slice after its own", ALONE, "which - t.before[owner]", "which - t.before[owner] + 1"),
    Mutant(
        "the owner before",
        ALONE,
        "if (t.before[middle] <= which) low = middle;",
        "if (t.before[middle] < which) low = middle;",
    ),
    Mutant(
        "a plain row's slices to its end",
        "kernels/rows/slices.cuh",
        "if (s.end > first + SLICE_IDS) s.end = first + SLICE_IDS;",
        "if (s.begin > first + SLICE_IDS) s.end = first + SLICE_IDS;",
    ),
    Mutant(
        "a block too few of a varint hub",
        "kernels/rows/slices.cuh",
        "(degree(a, v) + BLOCK_IDS - 1) / BLOCK_IDS",
        "(degree(a, v) + BLOCK_IDS - 2) / BLOCK_IDS - (degree(a, v) > BLOCK_IDS)",
    ),
    Mutant("hubs are not listed", WIDE, "list_chunks(s, t, ids > BLOCK_IDS, v);", ""),
    Mutant(
        "a hub's chunks from the list's beginning",
        WIDE,
        "s.chunk_list[at + i] = (u32)(first + i);",
        "s.chunk_list[i] = (u32)(first + i);",
    ),
    Mutant("a warp's buffer is flushed too late", WIDE, "held + STEP_IDS <= BUFFER_IDS", "held + WARP <= BUFFER_IDS"),
    Mutant(
        "the last buffer is kept",
        WIDE,
        "    flush(s, t, true);\n    taken = warp_sum(taken);",
        "    flush(s, t, false);\n    taken = warp_sum(taken);",
    ),
    Mutant(
        "sums are not cleared",
        ROUNDS,
        "relaxed_store((u64*)(s.round_sums + (t.turn + 1) % TURNS) + thread_id(), (u64)0);",
        "",
    ),
    Mutant("sums in two turns", KAHN, "constexpr u32 TURNS = 3;", "constexpr u32 TURNS = 2;"),
    Mutant(
        "a round is not left before its hubs are read",
        ROUNDS,
        "if (t.phase == EXPAND && relaxed_load(&sums.chunks)) {",
        "if (t.phase == STOP) {",
    ),
    Mutant(
        "no meeting before the first round",
        ROUNDS,
        "        meet_other_blocks(s.meeting);\n        choose(s, t);",
        "        choose(s, t);",
    ),
    Mutant(
        "the proof takes edges inside a round",
        "algorithms/topological/gpu/verify_rounds.cu",
        "return other <= one;",
        "return other < one;",
    ),
    Mutant(
        "the proof takes rounds that nothing leads to",
        "algorithms/topological/gpu/verify_rounds.cu",
        "(rounds[v] > 0 && !test_bit(follows, v))",
        "(rounds[v] > 1000000 && !test_bit(follows, v))",
    ),
)
