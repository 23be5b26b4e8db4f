"""The bugs that tools/mutants.py plants into the strategies whose levels the host launches (see mutant_list.py).

Those that the reports themselves contain come first.
"""

from __future__ import annotations

from mutant import Mutant

_FOLDER = "algorithms/bfs/strategies/"
_SUITES = ("test_kernels_strategies.py",)


def in_strategy(name: str, file: str, old: str, new: str, suites: tuple[str, ...] = _SUITES, build: str = "") -> Mutant:
    """Return the mutant of ``file`` in the folder of the strategies."""
    return Mutant(name, _FOLDER + file, old, new, suites, build)


STRATEGIES = (
    in_strategy(
        "cooperative: chunks of 64 for 32 lanes (report 001, 3.2)",
        "cooperative.cuh",
        "k < count); k += WARP) {",
        "k < count); k += 2 * WARP) {",
    ),
    in_strategy(
        "cooperative: ids are overwritten while lanes still take them",
        "cooperative.cuh",
        "                }\n                __syncwarp();\n",
        "                }\n",
    ),
    in_strategy(
        "cooperative: ids are taken before they are there",
        "cooperative.cuh",
        "    __syncwarp();\n    return __shfl_sync(ALL_LANES, through, WARP - 1);",
        "    return __shfl_sync(ALL_LANES, through, WARP - 1);",
    ),
    in_strategy(
        "adaptive: lanes leave the loop when their own row ends (report 003, V4)",
        "adaptive.cu",
        "for (bool more = cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {",
        "for (bool more = cursor.load(); more; more = more && cursor.load()) {",
    ),
    in_strategy(
        "adaptive: a row of 1024 ids is in two classes",
        "adaptive.cu",
        "ids >= SMALL && ids < MEDIUM,",
        "ids >= SMALL && ids <= MEDIUM,",
    ),
    in_strategy(
        "adaptive: a row of 32 ids is in none", "adaptive.cu", "there && ids >= SMALL &&", "there && ids > SMALL &&"
    ),
    in_strategy(
        "adaptive: the counter of the block is not reset",
        "adaptive.cu",
        "    if (threadIdx.x == 0) in_block = 0;\n    __syncthreads();\n}",
        "    __syncthreads();\n}",
    ),
    in_strategy(
        "adaptive: slots are used before the block has them",
        "adaptive.cu",
        "first = atomicAdd(count, (u64)in_block);\n    __syncthreads();",
        "first = atomicAdd(count, (u64)in_block);",
    ),
    in_strategy(
        "adaptive: every warp reads every chunk", "adaptive.cu", "pieces.next += WARPS - 1)", "pieces.next += 0)"
    ),
    in_strategy(
        "quadratic: the next level is the same one (report 002, listing 3)",
        "filter.cuh",
        "relaxed_store(s.levels + u, (i32)s.level + 1);",
        "relaxed_store(s.levels + u, (i32)s.level);",
    ),
    in_strategy(
        "quadratic: nobody is a parent (report 000)",
        "filter.cuh",
        "    if (s.parents) relaxed_store(s.parents + u, v);\n",
        "",
    ),
    in_strategy(
        "quadratic: only the first lane says that it found", "quadratic.cu", "__any_sync(ALL_LANES, found)", "found"
    ),
    in_strategy(
        "quadratic: threads leave before the ballot (report 002, listing 2)",
        "quadratic.cu",
        "v < s.out.n; v += thread_count()) {\n        if (!is_in_frontier(s, v)) continue;",
        "v < s.out.n; v += thread_count()) {\n        if (!is_in_frontier(s, v)) return;",
    ),
    in_strategy(
        "queue: a claim without an atomic",
        "filter.cuh",
        "    if (atomicMin((u32*)s.levels + u, (u32)s.level + 1) != ~0u) return false;",
        "    relaxed_store(s.levels + u, (i32)s.level + 1);",
    ),
    in_strategy(
        "queue: the level is one too small",
        "filter.cuh",
        "atomicMin((u32*)s.levels + u, (u32)s.level + 1)",
        "atomicMin((u32*)s.levels + u, (u32)s.level)",
    ),
    in_strategy(
        "queue: losers write the parent",
        "filter.cuh",
        "(u32)s.level + 1) != ~0u) return false;\n    set_parent(s, u, v);\n    return true;\n}\n\n// The same",
        "(u32)s.level + 1) != ~0u) {\n        set_parent(s, u, u);\n        return false;\n    }\n"
        "    set_parent(s, u, v);\n    return true;\n}\n\n// The same",
    ),
    in_strategy(
        "queue: slots without an atomic",
        "sink.cuh",
        "s.next_queue[atomicAdd(&beyond(s).size, (u64)1)] = u;",
        "s.next_queue[beyond(s).size++] = u;",
    ),
    in_strategy(
        "a warp's slots: all lanes write the first",
        "sink.cuh",
        "at + (u32)__popc(finders & ((1u << lane_id()) - 1))",
        "at",
    ),
    in_strategy(
        "a warp's slots: fewer than are used",
        "sink.cuh",
        "(u64)__popc(finders));",
        "(u64)__popc(finders) - (finders == ALL_LANES));",
    ),
    in_strategy(
        "hubs: a thread reads the first chunk alone",
        "search.cuh",
        "        end = a.hub_ptr[hub + 1];",
        "        end = next + 1;",
    ),
    in_strategy(
        "ids that are no vertices are used",
        "search.cuh",
        "    if (u < s.out.n) return true;",
        "    if (u <= s.out.n) return true;",
    ),
    in_strategy("ids read are counted twice", "search.cuh", "                ++read;", "                read += 2;"),
    in_strategy(
        "dynamic: entries are fetched without an atomic",
        "dynamic.cu",
        "i = atomicAdd(&here(s).taken, (u64)1); i < size;",
        "i = here(s).taken++; i < size;",
    ),
    in_strategy(
        "dynamic: a thread stops after one entry",
        "dynamic.cu",
        "i < size; i = atomicAdd(&here(s).taken, (u64)1)) {",
        "i < size; i = size) {",
    ),
    in_strategy(
        "chunked: the last slots are not emptied (report 001, 3.2: vertices missing)",
        "chunked.cu",
        "    mine.empty(s);\n",
        "",
    ),
    in_strategy("chunked: one slot too many", "chunked.cu", "++held == HELD", "++held == HELD + 1", build="asan"),
    in_strategy(
        "chunked: runs rounded down",
        "chunked.cu",
        "(size + thread_count() - 1) / thread_count();",
        "size / thread_count() + (size < thread_count());",
    ),
    in_strategy(
        "scan: the parent is the neighbour (report 000, Alg. 6)",
        "filter.cuh",
        "    if (s.parents) relaxed_store(s.parents + u, v);",
        "    if (s.parents) relaxed_store(s.parents + u, u);",
    ),
    in_strategy(
        "scan: sums of the block next door (report 000, Alg. 9)",
        "scan.cu",
        "s.sums[i / THREADS]",
        "s.sums[i / THREADS ? 1 : 0]",
    ),
    in_strategy(
        "scan: the last block is lost (report 000, Alg. 5)",
        "scan.cu",
        "(here(s).size + THREADS - 1) / THREADS;",
        "here(s).size / THREADS;",
    ),
    in_strategy(
        "scan: down-sweep adds what it must leave out (report 000, Alg. 8)",
        "scan.cuh",
        "return before + through - x;",
        "return before + through;",
    ),
    in_strategy(
        "scan: sums of degrees instead of blocks (report 000)",
        "scan.cu",
        "if (threadIdx.x == 0) s.sums[base / THREADS] = total;",
        "if (threadIdx.x == 0) s.sums[base / THREADS] = before;",
    ),
    in_strategy("scan: a neighbour kept twice is won twice", "scan.cu", "if (u != last && s.levels", "if (s.levels"),
    in_strategy(
        "scan: whoever marked first and whoever stored last both own",
        "scan.cu",
        " && s.parents[u] == v) take(u);",
        ") take(u);",
    ),
    in_strategy(
        "scan: threads without an entry miss the barrier (report 000)",
        "scan.cu",
        "        u64 total;\n"
        "        const u64 before = block_sum_before(i < here(s).size ? s.offsets[i] : 0, words, total);",
        "        if (i >= here(s).size) break;\n        u64 total;\n"
        "        const u64 before = block_sum_before(s.offsets[i], words, total);",
    ),
    in_strategy(
        "scan: words of the block are reused too early",
        "scan.cuh",
        "    __syncthreads();\n    return before",
        "    return before",
    ),
    in_strategy(
        "scan: words of the block are read too early", "scan.cuh", "= through;\n    __syncthreads();", "= through;"
    ),
    in_strategy(
        "scan-fused: what is beyond 32 ids is lost (report 000, 2.4)",
        "scan_fused.cu",
        "more = more && (rest.begin < rest.end || pieces.next < pieces.end);",
        "more = more && pieces.next < pieces.end;",
    ),
    in_strategy(
        "scan-fused: threads without an entry leave (report 000)",
        "scan_fused.cu",
        "        const vid v = more ?",
        "        if (!more) break;\n        const vid v = more ?",
    ),
    in_strategy(
        "scan-fused: slots are used before the block has them",
        "scan_fused.cu",
        "            __syncthreads();\n            store_round",
        "            store_round",
    ),
    in_strategy("scan-fused: the source is won", "filter.cuh", "if (u == s.source || relaxed_load", "if (relaxed_load"),
    in_strategy(
        "scan-fused: a parent without an atomic",
        "filter.cuh",
        "    if (atomicCAS(s.parents + u, none, v) != none) return false;",
        "    relaxed_store(s.parents + u, v);",
    ),
    in_strategy(
        "scan-fused: bits of one load in those of the next",
        "scan_fused.cu",
        "(u32)mine << (load * SLOTS + j)",
        "(u32)mine << (load * (SLOTS - 1) + j)",
    ),
    in_strategy(
        "packed: the search takes the first of equal sums",
        "packed.cuh",
        "if (sums[low + step] <= k) low += step;",
        "if (sums[low + step] < k || (low + step == 1 && sums[1] <= k)) low += step;",
    ),
    in_strategy(
        "packed: sums of 32 bits (reports 000, 004)",
        "packed.cuh",
        "const u32 owner = first + owner_of<Group::SIZE>(p.sums + first, k);\n        take_edge",
        "const u32 owner = first + owner_of<Group::SIZE>(p.sums + first, (u64)(u8)k);\n        take_edge",
    ),
    in_strategy(
        "packed: rows are used before they are there",
        "packed.cuh",
        "+ segment.begin;\n    }\n    Group::sync();",
        "+ segment.begin;\n    }",
    ),
    in_strategy(
        "packed: rows are overwritten while others take their edges",
        "packed.cuh",
        "(k - p.sums[owner])));\n    }\n    Group::sync();",
        "(k - p.sums[owner])));\n    }",
    ),
    in_strategy(
        "packed: the last thread of a block is not asked (report 000, CM of 1024)",
        "packed.cuh",
        "step = SIZE / 2; step > 0;",
        "step = SIZE / 2; step > 1;",
    ),
    in_strategy(
        "packed: a long row's units past the first", "packed.cuh", "        pieces.next += k - p.sums[owner];\n", ""
    ),
    in_strategy(
        "packed: ids are taken before they are decoded",
        "packed.cuh",
        "own[held] = ~(vid)0;\n    Group::sync();",
        "own[held] = ~(vid)0;",
    ),
    in_strategy(
        "bitmap: the next frontier without an atomic",
        "bitmap.cu",
        "    atomicOr(s.next_frontier + word_of(u), bit_of(u));",
        "    relaxed_store(s.next_frontier + word_of(u), relaxed_load(s.next_frontier + word_of(u)) | bit_of(u));",
    ),
    in_strategy(
        "bitmap: every edge is a find (report 002)",
        "bitmap.cu",
        "    if (!swap_label(s, v, u)) return false;\n",
        "    swap_label(s, v, u);\n",
    ),
    in_strategy(
        "hybrid: a bit of another vertex",
        "hybrid_td_bu.cu",
        "word_of(s.queue[i]), bit_of(s.queue[i]));",
        "word_of(s.queue[i]), bit_of(s.queue[i] + 1));",
    ),
    in_strategy(
        "hybrid: a parent by its label, which may be of this level",
        "hybrid_td_bu.cu",
        "if (!test_bit(s.frontier, u)) return false;",
        "if (relaxed_load(s.levels + u) == -1) return false;",
    ),
    in_strategy(
        "hybrid: the rows out of a vertex instead of those into it",
        "hybrid_td_bu.cu",
        "read_alone(s, s.in, (vid)v,",
        "read_alone(s, s.out, (vid)v,",
    ),
)
