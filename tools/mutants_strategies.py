"""The bugs that tools/mutants.py plants into the strategies whose levels the host launches (see mutant_list.py).

Those that the reports themselves contain come first.
"""

from __future__ import annotations

from mutant import Mutant

_FOLDER = "algorithms/bfs/strategies/"
_SUITES = ("test_kernels_strategies.py",)


def _mutant(name: str, file: str, old: str, new: str) -> Mutant:
    return Mutant(name, _FOLDER + file, old, new, _SUITES)


STRATEGIES = (
    _mutant(
        "cooperative: chunks of 64 for 32 lanes (report 001, 3.2)",
        "cooperative.cuh",
        "k < count); k += WARP) {",
        "k < count); k += 2 * WARP) {",
    ),
    _mutant(
        "cooperative: ids are overwritten while lanes still take them",
        "cooperative.cuh",
        "                }\n                __syncwarp();\n",
        "                }\n",
    ),
    _mutant(
        "cooperative: ids are taken before they are there",
        "cooperative.cuh",
        "    __syncwarp();\n    return __shfl_sync(ALL_LANES, through, WARP - 1);",
        "    return __shfl_sync(ALL_LANES, through, WARP - 1);",
    ),
    _mutant(
        "adaptive: lanes leave the loop when their own row ends (report 003, V4)",
        "adaptive.cu",
        "for (bool more = cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {",
        "for (bool more = cursor.load(); more; more = more && cursor.load()) {",
    ),
    _mutant(
        "adaptive: a row of 1024 ids is in two classes",
        "adaptive.cu",
        "ids >= SMALL && ids < MEDIUM,",
        "ids >= SMALL && ids <= MEDIUM,",
    ),
    _mutant(
        "adaptive: a row of 32 ids is in none", "adaptive.cu", "there && ids >= SMALL &&", "there && ids > SMALL &&"
    ),
    _mutant(
        "adaptive: the counter of the block is not reset",
        "adaptive.cu",
        "    if (threadIdx.x == 0) in_block = 0;\n    __syncthreads();\n}",
        "    __syncthreads();\n}",
    ),
    _mutant(
        "adaptive: slots are used before the block has them",
        "adaptive.cu",
        "first = atomicAdd(count, (u64)in_block);\n    __syncthreads();",
        "first = atomicAdd(count, (u64)in_block);",
    ),
    _mutant("adaptive: every warp reads every chunk", "adaptive.cu", "pieces.next += WARPS - 1)", "pieces.next += 0)"),
    _mutant(
        "quadratic: the next level is the same one (report 002, listing 3)",
        "filter.cuh",
        "relaxed_store(s.levels + u, (i32)s.level + 1);",
        "relaxed_store(s.levels + u, (i32)s.level);",
    ),
    _mutant(
        "quadratic: nobody is a parent (report 000)",
        "filter.cuh",
        "    if (s.parents) relaxed_store(s.parents + u, v);\n",
        "",
    ),
    _mutant(
        "quadratic: only the first lane says that it found", "quadratic.cu", "__any_sync(ALL_LANES, found)", "found"
    ),
    _mutant(
        "quadratic: threads leave before the ballot (report 002, listing 2)",
        "quadratic.cu",
        "v < s.out.n; v += thread_count()) {\n        if (!is_in_frontier(s, v)) continue;",
        "v < s.out.n; v += thread_count()) {\n        if (!is_in_frontier(s, v)) return;",
    ),
    _mutant(
        "queue: a claim without an atomic",
        "filter.cuh",
        "    if (atomicMin((u32*)s.levels + u, (u32)s.level + 1) != ~0u) return false;",
        "    relaxed_store(s.levels + u, (i32)s.level + 1);",
    ),
    _mutant(
        "queue: the level is one too small",
        "filter.cuh",
        "atomicMin((u32*)s.levels + u, (u32)s.level + 1)",
        "atomicMin((u32*)s.levels + u, (u32)s.level)",
    ),
    _mutant(
        "queue: losers write the parent",
        "filter.cuh",
        "(u32)s.level + 1) != ~0u) return false;\n    set_parent(s, u, v);\n    return true;\n}\n\n// The same",
        "(u32)s.level + 1) != ~0u) {\n        set_parent(s, u, u);\n        return false;\n    }\n"
        "    set_parent(s, u, v);\n    return true;\n}\n\n// The same",
    ),
    _mutant(
        "queue: slots without an atomic",
        "sink.cuh",
        "s.next_queue[atomicAdd(&beyond(s).size, (u64)1)] = u;",
        "s.next_queue[beyond(s).size++] = u;",
    ),
    _mutant(
        "a warp's slots: all lanes write the first",
        "sink.cuh",
        "at + (u32)__popc(finders & ((1u << lane_id()) - 1))",
        "at",
    ),
    _mutant(
        "a warp's slots: fewer than are used",
        "sink.cuh",
        "(u64)__popc(finders));",
        "(u64)__popc(finders) - (finders == ALL_LANES));",
    ),
    _mutant(
        "hubs: a thread reads the first chunk alone",
        "search.cuh",
        "        end = a.hub_ptr[hub + 1];",
        "        end = next + 1;",
    ),
    _mutant(
        "ids that are no vertices are used",
        "search.cuh",
        "    if (u < s.out.n) return true;",
        "    if (u <= s.out.n) return true;",
    ),
    _mutant("ids read are counted twice", "search.cuh", "                ++read;", "                read += 2;"),
    _mutant(
        "dynamic: entries are fetched without an atomic",
        "dynamic.cu",
        "i = atomicAdd(&here(s).taken, (u64)1); i < size;",
        "i = here(s).taken++; i < size;",
    ),
    _mutant(
        "dynamic: a thread stops after one entry",
        "dynamic.cu",
        "i < size; i = atomicAdd(&here(s).taken, (u64)1)) {",
        "i < size; i = size) {",
    ),
    _mutant(
        "chunked: the last slots are not emptied (report 001, 3.2: vertices missing)",
        "chunked.cu",
        "    mine.empty(s);\n",
        "",
    ),
    _mutant("chunked: one slot too many", "chunked.cu", "++held == HELD", "++held == HELD + 1"),
    _mutant(
        "chunked: runs rounded down",
        "chunked.cu",
        "(size + thread_count() - 1) / thread_count();",
        "size / thread_count() + (size < thread_count());",
    ),
    _mutant(
        "scan: the parent is the neighbour (report 000, Alg. 6)",
        "filter.cuh",
        "    if (s.parents) relaxed_store(s.parents + u, v);",
        "    if (s.parents) relaxed_store(s.parents + u, u);",
    ),
    _mutant(
        "scan: sums of the block next door (report 000, Alg. 9)",
        "scan.cu",
        "s.sums[i / THREADS]",
        "s.sums[i / THREADS ? 1 : 0]",
    ),
    _mutant(
        "scan: the last block is lost (report 000, Alg. 5)",
        "scan.cu",
        "(here(s).size + THREADS - 1) / THREADS;",
        "here(s).size / THREADS;",
    ),
    _mutant(
        "scan: down-sweep adds what it must leave out (report 000, Alg. 8)",
        "scan.cuh",
        "return before + through - x;",
        "return before + through;",
    ),
    _mutant(
        "scan: sums of degrees instead of blocks (report 000)",
        "scan.cu",
        "if (threadIdx.x == 0) s.sums[base / THREADS] = total;",
        "if (threadIdx.x == 0) s.sums[base / THREADS] = before;",
    ),
    _mutant("scan: a neighbour kept twice is won twice", "scan.cu", "if (u != last && s.levels", "if (s.levels"),
    _mutant(
        "scan: whoever marked first and whoever stored last both own",
        "scan.cu",
        " && s.parents[u] == v) take(u);",
        ") take(u);",
    ),
    _mutant(
        "scan: threads without an entry miss the barrier (report 000)",
        "scan.cu",
        "        u64 total;\n"
        "        const u64 before = block_sum_before(i < here(s).size ? s.offsets[i] : 0, words, total);",
        "        if (i >= here(s).size) break;\n        u64 total;\n"
        "        const u64 before = block_sum_before(s.offsets[i], words, total);",
    ),
    _mutant(
        "scan: words of the block are reused too early",
        "scan.cuh",
        "    __syncthreads();\n    return before",
        "    return before",
    ),
    _mutant(
        "scan: words of the block are read too early", "scan.cuh", "= through;\n    __syncthreads();", "= through;"
    ),
    _mutant(
        "scan-fused: what is beyond 32 ids is lost (report 000, 2.4)",
        "scan_fused.cu",
        "more = more && (rest.begin < rest.end || pieces.next < pieces.end);",
        "more = more && pieces.next < pieces.end;",
    ),
    _mutant(
        "scan-fused: threads without an entry leave (report 000)",
        "scan_fused.cu",
        "        const vid v = more ?",
        "        if (!more) break;\n        const vid v = more ?",
    ),
    _mutant(
        "scan-fused: slots are used before the block has them",
        "scan_fused.cu",
        "            __syncthreads();\n            store_round",
        "            store_round",
    ),
    _mutant("scan-fused: the source is won", "filter.cuh", "if (u == s.source || relaxed_load", "if (relaxed_load"),
    _mutant(
        "scan-fused: a parent without an atomic",
        "filter.cuh",
        "    if (atomicCAS(s.parents + u, none, v) != none) return false;",
        "    relaxed_store(s.parents + u, v);",
    ),
    _mutant(
        "scan-fused: bits of one load in those of the next",
        "scan_fused.cu",
        "(u32)mine << (load * SLOTS + j)",
        "(u32)mine << (load * (SLOTS - 1) + j)",
    ),
    _mutant(
        "packed: the search takes the first of equal sums",
        "packed.cuh",
        "if (sums[low + step] <= k) low += step;",
        "if (sums[low + step] < k || (low + step == 1 && sums[1] <= k)) low += step;",
    ),
    _mutant(
        "packed: sums of 32 bits (reports 000, 004)",
        "packed.cuh",
        "const u32 owner = first + owner_of<Group::SIZE>(p.sums + first, k);\n        take_edge",
        "const u32 owner = first + owner_of<Group::SIZE>(p.sums + first, (u64)(u8)k);\n        take_edge",
    ),
    _mutant(
        "packed: rows are used before they are there",
        "packed.cuh",
        "+ segment.begin;\n    }\n    Group::sync();",
        "+ segment.begin;\n    }",
    ),
    _mutant(
        "packed: rows are overwritten while others take their edges",
        "packed.cuh",
        "(k - p.sums[owner])));\n    }\n    Group::sync();",
        "(k - p.sums[owner])));\n    }",
    ),
    _mutant(
        "packed: the last thread of a block is not asked (report 000, CM of 1024)",
        "packed.cuh",
        "step = SIZE / 2; step > 0;",
        "step = SIZE / 2; step > 1;",
    ),
    _mutant(
        "packed: a long row's units past the first", "packed.cuh", "        pieces.next += k - p.sums[owner];\n", ""
    ),
    _mutant(
        "packed: ids are taken before they are decoded",
        "packed.cuh",
        "own[held] = ~(vid)0;\n    Group::sync();",
        "own[held] = ~(vid)0;",
    ),
    _mutant(
        "bitmap: the next frontier without an atomic",
        "bitmap.cu",
        "    atomicOr(s.next_frontier + word_of(u), bit_of(u));",
        "    relaxed_store(s.next_frontier + word_of(u), relaxed_load(s.next_frontier + word_of(u)) | bit_of(u));",
    ),
    _mutant(
        "bitmap: every edge is a find (report 002)",
        "bitmap.cu",
        "    if (!swap_label(s, v, u)) return false;\n",
        "    swap_label(s, v, u);\n",
    ),
    _mutant(
        "hybrid: a bit of another vertex",
        "hybrid_td_bu.cu",
        "word_of(s.queue[i]), bit_of(s.queue[i]));",
        "word_of(s.queue[i]), bit_of(s.queue[i] + 1));",
    ),
    _mutant(
        "hybrid: a parent by its label, which may be of this level",
        "hybrid_td_bu.cu",
        "if (!test_bit(s.frontier, u)) return false;",
        "if (relaxed_load(s.levels + u) == -1) return false;",
    ),
    _mutant(
        "hybrid: the rows out of a vertex instead of those into it",
        "hybrid_td_bu.cu",
        "read_alone(s, s.in, (vid)v,",
        "read_alone(s, s.out, (vid)v,",
    ),
)

_NO_BARRIER = "merrill, warp culling: no barrier "

MERRILL = (
    _mutant(
        _NO_BARRIER + "before the id is read (as printed in report 004)",
        "culling.cuh",
        "    if (held) relaxed_store(c.ids + slot, u);\n    __syncwarp();\n",
        "    if (held) relaxed_store(c.ids + slot, u);\n",
    ),
    _mutant(
        _NO_BARRIER + "before the lane is read",
        "culling.cuh",
        "relaxed_store(c.lanes + slot, lane_id());\n    __syncwarp();\n",
        "relaxed_store(c.lanes + slot, lane_id());\n",
    ),
    _mutant(
        "merrill: the history begins with vertex 0",
        "culling.cuh",
        "c.seen[i] = ~(vid)0;",
        "c.seen[i] = 0;",
    ),
    _mutant(
        "merrill: a bit is set before the label is asked, and the end dropped",
        "culling.cuh",
        "passes_bitmask(s, u) && store_label(s, v, u);",
        "passes_bitmask(s, u) && (u & 7) != 3 && store_label(s, v, u);",
    ),
    _mutant(
        "merrill: dropped by the history before the label",
        "culling.cuh",
        "passes_bitmask(s, u) && store_label(s, v, u);\n    held = held && passes_history(c, u);",
        "passes_history(c, u) && passes_bitmask(s, u);\n    held = passes_warp(c, held, u) && store_label(s, v, u);",
    ),
    _mutant(
        "merrill: who finds its twin in the hash is dropped with it",
        "culling.cuh",
        "relaxed_load(c.lanes + slot) != lane_id();",
        "relaxed_load(c.lanes + slot) != 0;",
    ),
    _mutant(
        "merrill: capacity of the vertex queue is not asked",
        "merrill.cu",
        "if (found && at < s.capacity) s.next_queue[at] = u;",
        "if (found) s.next_queue[at] = u;",
    ),
    _mutant(
        "merrill: capacity of the edge queue asked after the store",
        "merrill.cu",
        "            if (!there || slot >= s.edge_capacity) return;\n            ends[slot] = u;",
        "            if (there && number >= s.window) ends[slot] = u;\n"
        "            if (!there || slot >= s.edge_capacity) return;",
    ),
    _mutant(
        "merrill: the seam between two windows",
        "merrill.cu",
        "if (!there || slot >= s.edge_capacity) return;",
        "if (!there || slot >= s.edge_capacity - 1) return;",
    ),
    _mutant(
        "merrill: the sweep finds the level before",
        "merrill.cu",
        "s.levels[v] == (i32)s.level;",
        "s.levels[v] == (i32)s.level - 1;",
    ),
    _mutant(
        "merrill: the queue is rebuilt from the level itself",
        "merrill.cu",
        "s.levels[v] == (i32)s.level + 1, (vid)v);",
        "s.levels[v] == (i32)s.level, (vid)v);",
    ),
    _mutant(
        "merrill: a tile's first number is forgotten",
        "merrill.cu",
        "            if (KEEPS) s.bases[base / THREADS] = first;\n",
        "            if (KEEPS) s.bases[base / THREADS] = base;\n",
    ),
    _mutant(
        "merrill: the origin at another slot",
        "merrill.cu",
        "            s.next_origins[number] = from;",
        "            s.next_origins[number ^ 1] = from;",
    ),
    _mutant(
        "merrill: more vertices found than the queue holds, and their rows left out",
        "merrill.cu",
        "        if (thread_id() == 0) atomicAdd(&beyond(s).size, s.edge_capacity + 1);\n",
        "",
    ),
    _mutant(
        "merrill: the block takes the hub of whoever vied last, after others have begun (lock step)",
        "gather.cuh",
        "        if (vies) relaxed_store(&g.vying, threadIdx.x);\n        __syncthreads();\n",
        "        if (vies) relaxed_store(&g.vying, threadIdx.x);\n",
    ),
    _mutant(
        "merrill: the vying word keeps its winner",
        "gather.cuh",
        "        if (winner == threadIdx.x) vies = false;",
        "        vies = false;",
    ),
    _mutant(
        "merrill: a hub's chunks at the same slots",
        "gather.cuh",
        "g.numbers[winner] + before, emit);",
        "g.numbers[winner], emit);",
    ),
    _mutant(
        "merrill: a row of 32 ids is read by nobody",
        "gather.cuh",
        "length >= WARP && length <= BLOCK_IDS);",
        "length > WARP && length <= BLOCK_IDS);",
    ),
    _mutant(
        "merrill: a row of 1024 ids is read twice",
        "gather.cuh",
        "g.lengths[threadIdx.x] > BLOCK_IDS;",
        "g.lengths[threadIdx.x] >= BLOCK_IDS;",
    ),
    _mutant(
        "merrill: short rows past the first round",
        "gather.cuh",
        "for (u32 begin = 0; begin < total;) {",
        "for (u32 begin = 0; begin < total && begin == 0;) {",
    ),
    _mutant(
        "merrill: a round's places are overwritten while others take them",
        "gather.cuh",
        "        begin += count;\n        __syncthreads();\n",
        "        begin += count;\n",
    ),
    _mutant(
        "merrill: what does not fit is cut instead of put off",
        "gather.cuh",
        "            else g.next = before;\n",
        "",
    ),
    _mutant(
        "merrill: numbers of the tile before",
        "gather.cuh",
        "    gather_short(s, g, (u32)fine, g.first + coarse, emit);\n    __syncthreads();\n",
        "    gather_short(s, g, (u32)fine, g.first + coarse, emit);\n",
    ),
)
