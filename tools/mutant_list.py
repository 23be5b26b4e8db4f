"""The bugs that tools/mutants.py plants: each a text that occurs once in a kernel file, and what takes its place."""

from __future__ import annotations

from mutant import Mutant
from mutants_components import COMPONENTS
from mutants_full import FULL
from mutants_hubs import HUBS
from mutants_joint import FAR_FORESTS, OVER_GPUS
from mutants_many import MANY
from mutants_merrill import MERRILL
from mutants_mixed import MIXED
from mutants_numbers import NUMBERS
from mutants_peers import FAR_ROWS, HOSTS, NOTICES, OWN_ROWS, PEERS, WAKES
from mutants_prove import PROOF
from mutants_standby import STANDBY
from mutants_strategies import STRATEGIES
from mutants_thin import THIN
from mutants_together import ALONE, BLANK, LINES, PASSED_ON, PUT_OFF, SHARED_HUBS, TOGETHER
from mutants_topological import TOPOLOGICAL
from mutants_wide import WIDE

MUTANTS = (
    Mutant(
        "lane bound 32 of 64 (report 001: half the edges)",
        "kernels/rows/plain.cuh",
        "position += SLOTS * WIDTH;",
        "position += 2 * SLOTS * WIDTH;",
    ),
    Mutant(
        "missing barrier after clearing shared memory",
        "algorithms/bfs/gpu/pieces.cuh",
        "    open_words(t)[lane_id()] = 0;\n    __syncwarp();\n",
        "    open_words(t)[lane_id()] = 0;\n",
    ),
    Mutant(
        "missing barrier before reading shared memory",
        "algorithms/bfs/gpu/pieces.cuh",
        "    }\n    __syncwarp();\n}\n\n// The first heads",
        "    }\n}\n\n// The first heads",
    ),
    Mutant(
        "non-atomic claim of a vertex",
        "kernels/base/bitmap.cuh",
        "    return (atomicOr(bitmap + word_of(v), bit) & bit) == 0;",
        "    const u32 old = relaxed_load(bitmap + word_of(v));\n"
        "    relaxed_store(bitmap + word_of(v), old | bit);\n"
        "    return (old & bit) == 0;",
    ),
    Mutant(
        "non-atomic counter",
        "algorithms/bfs/gpu/bfs.cuh",
        "if (lane_id() == 0 && x) atomicAdd(t.tally + which, x);",
        "if (lane_id() == 0 && x) t.tally[which] += x;",
    ),
    Mutant(
        "wrong mask of a shuffle",
        "algorithms/bfs/gpu/forms.cuh",
        "at = __shfl_sync(ALL_LANES, at, 0);",
        "at = __shfl_sync(0xffffu, at, 0);",
    ),
    Mutant(
        "warp operation in a divergent branch",
        "algorithms/bfs/gpu/topdown.cuh",
        "    for (u32 todo = __ballot_sync(ALL_LANES, wide); todo; todo &= todo - 1) {",
        "    if (!ids) return;\n    for (u32 todo = __ballot_sync(ALL_LANES, wide); todo; todo &= todo - 1) {",
    ),
    Mutant(
        "lanes read a word at different moments",
        "algorithms/bfs/gpu/bottomup.cuh",
        "const u32 word = __shfl_sync(ALL_LANES, relaxed_load(s.visited + word_of(v)), 0);",
        "const u32 word = relaxed_load(s.visited + word_of(v));",
    ),
    Mutant(
        "off by one at the end of a warp's bits",
        "algorithms/bfs/gpu/forms.cuh",
        "            if (start + lane_id() < bits.total) {",
        "            if (start + lane_id() <= bits.total) {",
    ),
    Mutant(
        "grid barrier without its fence",
        "kernels/base/grid.cuh",
        "    __threadfence();\n    const u32 own",
        "    const u32 own",
    ),
    Mutant(
        "grid barrier one block short",
        "kernels/base/grid.cuh",
        "0x80000000u - (gridDim.x - 1)",
        "0x80000000u - (gridDim.x > 1 ? gridDim.x - 2 : 0)",
    ),
    Mutant(
        "progress read behind the first barrier",
        "algorithms/bfs/gpu/bfs_traverse.cu",
        "        load_progress(s, t);\n        meet_other_blocks(s.meeting);",
        "        meet_other_blocks(s.meeting);\n        load_progress(s, t);",
        build="preempt",
    ),
    Mutant(
        "local levels: vertices put aside are lost",
        "algorithms/bfs/gpu/local_rows.cuh",
        "DEVICE void put_aside(Team& t, vid v) { t.aside[atomicAdd(&t.aside_count, 1u)] = v; }",
        "DEVICE void put_aside(Team&, vid) {}",
    ),
    Mutant(
        "local levels: one block is not waited for",
        "algorithms/bfs/gpu/local.cuh",
        "sum / ONE_ARRIVED < gridDim.x",
        "sum / ONE_ARRIVED + (gridDim.x > 1) < gridDim.x",
    ),
    Mutant(
        "local levels: the claim is not asked for",
        "algorithms/bfs/gpu/local_rows.cuh",
        "before[j] = wanted && ids[j] < s.out.n ? atomicOr(s.visited + word_of(ids[j]), bit_of(ids[j])) : ~0u;",
        "before[j] = wanted && ids[j] < s.out.n ? relaxed_load(s.visited + word_of(ids[j])) : ~0u;\n"
        "        if (wanted) atomicOr(s.visited + word_of(ids[j]), bit_of(ids[j]));",
        build="preempt",
    ),
    Mutant(
        "local levels: longer rows take room that is not there",
        "algorithms/bfs/gpu/local_rows.cuh",
        "if (count > LOCAL_LONGEST || taken + count > LOCAL_ROOM) {",
        "if (count > LOCAL_LONGEST) {",
    ),
    Mutant(
        "a hot row is looked for in the mapped rows",
        "kernels/rows/adjacency.cuh",
        "return s.hot ? a.hot : is_near",
        "return is_near",
    ),
    Mutant(
        "varint: a hot row moved one byte too far",
        "kernels/rows/varint.cuh",
        "const u64 moved = a.hot_ptr[hub] - a.indptr[a.hubs[hub]];",
        "const u64 moved = a.hot_ptr[hub] - a.indptr[a.hubs[hub]] + 1;",
    ),
    Mutant(
        "buffer of a warp flushed too late",
        "algorithms/bfs/gpu/topdown.cuh",
        "held + STEP_IDS <= BUFFER_IDS",
        "held < BUFFER_IDS",
    ),
    Mutant(
        "last ids of a buffer lost",
        "algorithms/bfs/gpu/topdown.cuh",
        "    flush<false>(s, t, true);\n}\n\nDEVICE void expand_chunks",
        "}\n\nDEVICE void expand_chunks",
    ),
    Mutant(
        "off by one at the end of a block of a hub",
        "kernels/rows/plain.cuh",
        "s.end = s.begin + BLOCK_IDS;",
        "s.end = s.begin + BLOCK_IDS - 1;",
    ),
    Mutant(
        "row of exactly one block belongs to nobody",
        "algorithms/bfs/gpu/topdown.cuh",
        "ids > THREAD_IDS && ids <= BLOCK_IDS;",
        "ids > THREAD_IDS && ids < BLOCK_IDS;",
    ),
    Mutant(
        "heads taken for the whole row",
        "algorithms/bfs/gpu/search.cuh",
        "ids <= BLOCK_IDS && !heads_are_all(s.in, ids)",
        "ids <= BLOCK_IDS && !s.in.head_groups",
    ),
    Mutant(
        "a lane's worst head first",
        "kernels/placement/best.cuh",
        "if (key > keys[i]) {",
        "if (key < keys[i] || !keys[i]) {",
    ),
    Mutant(
        "heads: a short row is filled up with vertex 0",
        "kernels/placement/best.cuh",
        "best.keys[i] ? best.ids[i] : (vid)v",
        "best.ids[i]",
    ),
    Mutant(
        "heads: a row one id too long for a thread belongs to nobody",
        "kernels/placement/place.cu",
        "__ballot_sync(ALL_LANES, ids > SHORT_ROW)",
        "__ballot_sync(ALL_LANES, ids > SHORT_ROW + 1)",
    ),
    Mutant("1u << 32", "kernels/base/warp.cuh", "word & ((1u << width) - 1)", "word & ((1u << 2 * width) - 1)"),
    Mutant(
        "lost queue slot",
        "algorithms/bfs/gpu/forms.cuh",
        "atomicAdd(&s.slots[t.slot].gathered, (u64)bits.total)",
        "atomicAdd(&s.slots[t.slot].gathered, (u64)(bits.total - (bits.total > WARP)))",
    ),
    Mutant(
        "the bitmap of the frontier is not cleared",
        "algorithms/bfs/gpu/plan.cuh",
        "t.phase = t.form == BITMAP ? SEARCH : CLEAR;",
        "t.phase = t.form == BITMAP ? SEARCH : SCATTER;",
    ),
    Mutant(
        "vertices stay in the frontier",
        "algorithms/bfs/gpu/bottomup.cuh",
        "FOUND_WORD(s, t, next, w, before, fresh);",
        "FOUND_WORD(s, t, next, w, before, next[w] | fresh);",
    ),
    Mutant(
        "last partial word of a bitmap lost",
        "kernels/base/bitmap.cuh",
        "return (n + 31) >> 5;",
        "return n < 32 ? 1 : n >> 5;",
    ),
    Mutant(
        "parent written by the loser too",
        "algorithms/bfs/gpu/topdown.cuh",
        "    if (!fresh) return;\n",
        "    for (u32 j = 0; s.parents && j < COUNT; ++j) {\n"
        "        if (asked >> j & 1 && ids[j] < s.out.n) relaxed_store(s.parents + ids[j], parent);\n"
        "    }\n"
        "    if (!fresh) return;\n",
    ),
    Mutant(
        "a stale look taken for the claim",
        "algorithms/bfs/gpu/topdown.cuh",
        "seen[j] = seen[j] & bit ? ~0u : atomicOr(s.visited + word_of(ids[j]), bit);",
        "if (!(seen[j] & bit)) atomicOr(s.visited + word_of(ids[j]), bit);",
    ),
    Mutant(
        "missing bounds check of an id",
        "algorithms/bfs/gpu/topdown.cuh",
        "const bool inside = ids[j] < s.out.n;",
        "const bool inside = true;",
    ),
    Mutant(
        "varint: wrong restart of a block",
        "kernels/rows/varint.cuh",
        "    s.begin = a.block_ptr[c];",
        "    s.begin = a.block_ptr[c] + (c > a.hub_ptr[hub]);",
    ),
    Mutant(
        "varint: last block runs into the next hub",
        "kernels/rows/varint.cuh",
        "c + 1 < a.hub_ptr[hub + 1] ?",
        "c + 1 <= a.hub_ptr[hub + 1] ?",
    ),
    Mutant(
        "varint: bytes before the row's first are counted",
        "kernels/rows/varint.cuh",
        "(~0u << (first > 0 ? 8 * first : 0)) & ",
        "",
    ),
    Mutant(
        "varint: bytes behind the row's last are counted",
        "kernels/rows/varint.cuh",
        " & (~0u >> (end < 4 ? 32 - 8 * end : 0))",
        "",
    ),
    Mutant(
        "varint: the fifth byte of a value is not shifted",
        "kernels/rows/varint.cuh",
        "(7 * begun)",
        "(7 * (begun & 3))",
    ),
    Mutant(
        "varint: open value lost between two lines",
        "kernels/rows/varint.cuh",
        "lane == WIDTH - 1 ? last : open,",
        "lane == WIDTH - 1 ? 0 : open,",
    ),
    Mutant(
        "varint: a thread forgets the value that its word before left open",
        "kernels/rows/varint.cuh",
        "u32 before = last;",
        "u32 before = 0;",
    ),
    Mutant(
        "varint: rest() begins behind the whole word",
        "kernels/rows/varint.cuh",
        "(u64)(i64)(first - (i32)open)",
        "(u64)(i64)first",
    ),
    Mutant(
        "varint: ids of ten bytes",
        "kernels/rows/varint.cuh",
        "sizeof(vid) == 4 ? 1 : 3;",
        "sizeof(vid) == 4 ? 1 : 2;",
    ),
    Mutant(
        "varint: carry of the last lane lost",
        "kernels/rows/varint.cuh",
        "total += WIDTH > 1 ? __shfl_sync(ALL_LANES, through, WIDTH - 1) : through;",
        "total += WIDTH > 1 ? __shfl_sync(ALL_LANES, through - sum, WIDTH - 1) : through;",
    ),
    Mutant(
        "varint: word read past the end of the blob",
        "kernels/rows/varint.cuh",
        "if (!juts || (first <= 0 && end >= 4)) return",
        "if (!juts || first <= 0) return",
        build="asan",
    ),
    Mutant(
        "streamed: parts of a hub's row found twice",
        "algorithms/bfs/gpu/streamed.cuh",
        "        if (claim_bit(s.visited, v)) {\n            settle(s, v, u);",
        "        {\n            settle(s, v, u);",
    ),
    Mutant(
        "streamed: rows of a piece that nobody asked for",
        "kernels/rows/piece.cuh",
        "lane_id() < piece.vertices && test_bit(asked, v) && work",
        "lane_id() < piece.vertices && work",
    ),
    Mutant(
        "streamed: chunks listed for rows that nobody asked for",
        "kernels/placement/streamed_pieces.cu",
        "word_of(v) < list.end && test_bit(wanted, v);",
        "word_of(v) < list.end;",
    ),
    Mutant(
        "streamed: two rows listed in one place",
        "kernels/placement/streamed_pieces.cu",
        "WARP - 1) + through - own;",
        "WARP - 1) + through - 2 * own;",
    ),
    *COMPONENTS,
    *MANY,
    *FULL,
    *NUMBERS,
    *PROOF,
    *STANDBY,
    *THIN,
    *STRATEGIES,
    *MERRILL,
    *HUBS,
    *MIXED,
    *PEERS,
    *OWN_ROWS,
    *FAR_ROWS,
    *TOGETHER,
    *LINES,
    *PASSED_ON,
    *PUT_OFF,
    *SHARED_HUBS,
    *ALONE,
    *BLANK,
    *NOTICES,
    *WAKES,
    *HOSTS,
    *OVER_GPUS,
    *FAR_FORESTS,
    *TOPOLOGICAL,
    *WIDE,
)
