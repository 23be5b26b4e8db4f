"""The bugs that tools/mutants.py plants: each a text that occurs once in a kernel file, and what takes its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One bug: in ``file`` (below bigbfs/kernels) ``old`` becomes ``new``."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        "lane bound 32 of 64 (report 001: half the edges)",
        "include/plain.cuh",
        "position += SLOTS * WIDTH;",
        "position += 2 * SLOTS * WIDTH;",
    ),
    Mutant(
        "missing barrier after clearing shared memory",
        "bfs_bottomup.cu",
        "        found[lane_id()] = 0;\n        __syncwarp();\n",
        "        found[lane_id()] = 0;\n",
    ),
    Mutant(
        "missing barrier before reading shared memory",
        "bfs_bottomup.cu",
        "        __syncwarp();\n        if (found[lane_id()])",
        "        if (found[lane_id()])",
    ),
    Mutant(
        "non-atomic claim of a vertex",
        "include/bitmap.cuh",
        "    return (atomicOr(bitmap + word_of(v), bit) & bit) == 0;",
        "    const u32 old = relaxed_load(bitmap + word_of(v));\n"
        "    relaxed_store(bitmap + word_of(v), old | bit);\n"
        "    return (old & bit) == 0;",
    ),
    Mutant(
        "non-atomic counter",
        "bfs_frontier.cu",
        "atomicAdd(s.counters + REACHED, vertices);",
        "s.counters[REACHED] += vertices;",
    ),
    Mutant(
        "wrong mask of a shuffle",
        "bfs_frontier.cu",
        "at = __shfl_sync(ALL_LANES, at, 0);",
        "at = __shfl_sync(0xffffu, at, 0);",
    ),
    Mutant(
        "warp operation in a divergent branch",
        "bfs_topdown.cu",
        "        if (mine) segment = row(s.out, v);\n"
        "        for (u32 wide = __ballot_sync(ALL_LANES, ids > THREAD_IDS);",
        "        if (!mine) continue;\n        segment = row(s.out, v);\n"
        "        for (u32 wide = __ballot_sync(ALL_LANES, ids > THREAD_IDS);",
    ),
    Mutant(
        "lanes read a word at different moments",
        "bfs_bottomup.cu",
        "const u32 word = __shfl_sync(ALL_LANES, relaxed_load(s.visited + word_of(v)), 0);",
        "const u32 word = relaxed_load(s.visited + word_of(v));",
    ),
    Mutant(
        "off by one at the end of a warp's bits",
        "bfs_frontier.cu",
        "            if (start + lane_id() < bits.total) {\n                s.queue",
        "            if (start + lane_id() <= bits.total) {\n                s.queue",
    ),
    Mutant(
        "off by one at the end of a block of a hub",
        "include/plain.cuh",
        "s.end = s.begin + BLOCK_IDS;",
        "s.end = s.begin + BLOCK_IDS - 1;",
    ),
    Mutant(
        "row of exactly one block belongs to nobody",
        "place.cu",
        "ids > 0 && ids <= BLOCK_IDS",
        "ids > 0 && ids < BLOCK_IDS",
    ),
    Mutant("1u << 32", "include/warp.cuh", "word & ((1u << width) - 1)", "word & ((1u << 2 * width) - 1)"),
    Mutant(
        "lost queue slot",
        "bfs_frontier.cu",
        "atomicAdd(s.counters + QUEUED, (u64)bits.total)",
        "atomicAdd(s.counters + QUEUED, (u64)(bits.total - (bits.total > WARP)))",
    ),
    Mutant(
        "counter not reset: the queue begins where it ended",
        "bfs_frontier.cu",
        "(u64)bits.total) - queued_before;",
        "(u64)bits.total);",
    ),
    Mutant("vertices stay in the frontier", "bfs_frontier.cu", "if (fresh) s.seen[w] = visited;", ""),
    Mutant(
        "last partial word of a bitmap lost",
        "include/bitmap.cuh",
        "return (n + 31) >> 5;",
        "return n < 32 ? 1 : n >> 5;",
    ),
    Mutant(
        "parent written by the loser too",
        "include/bfs.cuh",
        "    if (claim_bit(s.visited, v)) settle(s, v, parent, level);",
        "    if (s.parents) relaxed_store(s.parents + v, parent);\n"
        "    if (claim_bit(s.visited, v)) relaxed_store(s.levels + v, level);",
    ),
    Mutant(
        "missing bounds check of an id",
        "include/bfs.cuh",
        "    if (v >= s.out.n) return count_invalid(s.counters);\n",
        "",
    ),
    Mutant(
        "stale root in the union (one atomicMin, no retry)",
        "cc_afforest.cu",
        "if (above == high && atomicCAS(labels + high, high, low) == high) return;",
        "if (above == high) { atomicMin(labels + high, low); return; }",
    ),
    Mutant(
        "link without compare-and-swap",
        "cc_afforest.cu",
        "atomicCAS(labels + high, high, low) == high) return;",
        "relaxed_load(labels + high) == high) { relaxed_store(labels + high, low); return; }",
    ),
    Mutant(
        "compression stops one step short",
        "cc_afforest.cu",
        "above != root; above = relaxed_load(labels + root)) root = above;",
        "above != root; above = root) root = above;",
    ),
    Mutant(
        "varint: wrong restart of a block",
        "include/varint.cuh",
        "    s.begin = a.block_ptr[c];",
        "    s.begin = a.block_ptr[c] + (c > a.hub_ptr[hub]);",
    ),
    Mutant(
        "varint: last block runs into the next hub",
        "include/varint.cuh",
        "c + 1 < a.hub_ptr[hub + 1] ?",
        "c + 1 <= a.hub_ptr[hub + 1] ?",
    ),
    Mutant(
        "varint: bytes before the row's first are counted",
        "include/varint.cuh",
        "if (touches && at + (i64)j >= (i64)first && ",
        "if (touches && ",
    ),
    Mutant(
        "varint: ids of ten bytes",
        "include/varint.cuh",
        "sizeof(vid) == 4 ? 1 : 3;",
        "sizeof(vid) == 4 ? 1 : 2;",
    ),
    Mutant(
        "varint: carry of the last lane lost",
        "include/varint.cuh",
        "carry += WIDTH > 1 ? __shfl_sync(ALL_LANES, through, WIDTH - 1) : through;",
        "carry += WIDTH > 1 ? __shfl_sync(ALL_LANES, through - sum, WIDTH - 1) : through;",
    ),
    Mutant(
        "varint: word read past the end of the blob",
        "include/varint.cuh",
        "if (at >= 0 && (u64)at + 4 <= blob_bytes) return",
        "if (at >= 0 && (u64)at < blob_bytes) return",
    ),
)
