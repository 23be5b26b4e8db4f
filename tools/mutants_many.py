"""The bugs that tools/mutants.py plants into the kernels of many searches (see mutant_list.py).

That a vertex hands on all that it has, and not what it got last, is none: its neighbours have the rest, and nothing but
time is lost.
"""

from __future__ import annotations

from mutant import Mutant

SUITE = ("test_kernels_many.py",)
STREAMED = ("test_kernels_many_streamed.py",)
MEMORY = ("test_kernels_many_memory.py",)


def _planted(name: str, file: str, old: str, new: str) -> Mutant:
    return Mutant(f"many searches: {name}", f"algorithms/many/gpu/{file}", old, new, SUITE)


def _streamed(name: str, file: str, old: str, new: str) -> Mutant:
    return Mutant(f"many searches, streamed: {name}", f"algorithms/many/gpu/{file}", old, new, STREAMED)


MANY = (
    _planted(
        "an OR that is lost",
        "push.cuh",
        "    atomicOr(word_at(s, s.other, u, i), lacks);\n",
        "    u64* const word = word_at(s, s.other, u, i);\n    relaxed_store(word, relaxed_load(word) | lacks);\n",
    ),
    _planted(
        "only the first word of a lane is looked at",
        "push.cuh",
        "i % PART ? bits.w[PART - 1] : bits.w[0]",
        "i % PART ? 0 : bits.w[0]",
    ),
    _planted(
        "what a vertex of the frontier got last is new to it",
        "push.cuh",
        "    if (relaxed_load(t.from + word_of(u)) & bit_of(u)) lacks &= ~word_at(s, s.seen, u, i)[0];\n",
        "",
    ),
    _planted(
        "a buffer is flushed too late",
        "push.cuh",
        "held + STEP_IDS <= BUFFER_IDS",
        "held + WARP <= BUFFER_IDS",
    ),
    _planted(
        "a vertex is queued by everybody",
        "push.cuh",
        "return claim_bit(t.to, u);",
        "claim_bit(t.to, u);\n    return true;",
    ),
    _planted(
        "a level is counted twice",
        "settle.cuh",
        "            fresh = without(load_bits(s, s.other, v), before);",
        "            fresh = load_bits(s, s.other, v);",
    ),
    _planted(
        "who leaves the frontier keeps its bits new",
        "settle.cuh",
        "store_bits(s, s.other, v, load_bits(s, s.seen, v));",
        "{\n            }",
    ),
    _planted(
        "a vertex of both queues is closed twice",
        "settle.cuh",
        "if (!(relaxed_load(next_claimed + word_of(v)) & bit_of(v)))",
        "if (next_claimed)",
    ),
    _planted(
        "a bitmap is not cleared",
        "settle.cuh",
        "if (leads_group(s)) relaxed_store(claimed + word_of(v), 0u);",
        "(void)claimed;",
    ),
    _planted(
        "no bit is asked for after the first group of heads",
        "pull.cuh",
        "open = any_in_group(s, open && lacks);\n        if (open) prefetch",
        "open = false;\n        if (open) prefetch",
    ),
    _planted(
        "a group leaves when its first lane lacks nothing",
        "bits.cuh",
        "{ return lanes_in_group(s, x) != 0; }",
        "{ return (lanes_in_group(s, x) & 1) != 0; }",
    ),
    _planted(
        "the warp leaves a row when the first lane lacks nothing",
        "pull_rows.cuh",
        "while (__any_sync(ALL_LANES, lacks) && cursor.read())",
        "while (__shfl_sync(ALL_LANES, (u32)lacks, 0) && cursor.read())",
    ),
    _planted("groups do not tell each other", "pull_rows.cuh", "        have = join_groups(s, have);\n", ""),
    _planted(
        "bits of the last level are not carried over",
        "pull.cuh",
        "if (fresh || changed || open) store_bits",
        "if (fresh || (changed && false) || open) store_bits",
    ),
    _planted(
        "a hub that some other chunk completes is left as it was",
        "pull_rows.cuh",
        "if (fresh.w[k]) atomicOr(words_of(s, s.other, v) + k, fresh.w[k]);",
        "if (fresh.w[k]) *(words_of(s, s.other, v) + k) = have.w[k];",
    ),
    _planted(
        "a hub's chunks but the last",
        "many.cuh",
        "i < count; i += WARP) s.chunk_list",
        "i + 1 < count; i += WARP) s.chunk_list",
    ),
    _planted(
        "who has found all is forgotten too early",
        "pull.cuh",
        "const bool full = !any_in_group(s, open || any(without(active_bits(s), have))) && active;",
        "const bool full = active;",
    ),
    _planted(
        "the level of the other bitmap",
        "many.cuh",
        "s.claimed + (level & 1) * words_for",
        "s.claimed + (level & 0) * words_for",
    ),
    _planted(
        "a row of long ids that nobody reads",
        "many_pull.cu",
        "return ids > s.apart_ids && ids",
        "return ids > s.apart_ids + 1 && ids",
    ),
    _planted("the first witness of every level", "collect.cuh", "        c.alive[i] = 0;\n        for", "        for"),
    _planted(
        "columns by the wrong half",
        "collect.cuh",
        "32 * (half % 2) + lane_id(), count",
        "32 * (1 - half % 2) + lane_id(), count",
    ),
    _planted("a queue out of order has vertices twice", "many.cu", "+ through - count;", "+ through;"),
    _planted(
        "the sums of two levels",
        "many_push.cu",
        "(s.many_sums + (t.turn + 1) % TURNS)",
        "(s.many_sums + (t.turn + 2) % TURNS)",
    ),
    _planted(
        "who lacks nothing that is asked for is done",
        "pull.cuh",
        "const bool full = !any_in_group(s, open || any(without(active_bits(s), have))) && active;",
        "const bool full = !any_in_group(s, open || any(without(asked_bits(s), have))) && active;",
    ),
    _planted("what was spread is forgotten", "pull.cuh", "if (s.spread && active) add(have,", "if (false) add(have,"),
    _planted(
        "all sources are spread, not those picked",
        "many_split.cu",
        "t.going[i] = t.now.active[i] & ~t.now.asked[i];",
        "t.going[i] = t.now.asked[i];",
    ),
    _planted(
        "half of those to be spread",
        "many_split.cu",
        "chosen |= (u32)hit << bit;",
        "chosen |= (u32)(hit && bit % 2) << bit;",
    ),
    _planted(
        "the bitmap of the next frontier",
        "pull.cuh",
        "(claimed_by(s, s.many_stand->level)[word_of(id)]",
        "(claimed_by(s, s.many_stand->level + 1)[word_of(id)]",
    ),
    _planted(
        "every second listed neighbour",
        "pull_rows.cuh",
        "first += LOOKS * warp_groups(s)) {",
        "first += 2 * LOOKS * warp_groups(s)) {",
    ),
    Mutant(
        "many searches: levels of a batch as wide as its bits",
        "algorithms/many/gpu/collect.cuh",
        "s.levels + v * s.kept",
        "s.levels + v * vertex_words(s) * 64",
        MEMORY,
    ),
    _planted(
        "a chunk of every warp is not listed",
        "many.cu",
        "if (found & bit_of(lane_id())) s.chunk_list",
        "if (found & (found - 1) & bit_of(lane_id())) s.chunk_list",
    ),
    _planted(
        "hubs hand on their first word alone",
        "words.cuh",
        "todo; todo &= todo - 1) {",
        "todo; todo = 0) {",
    ),
    _planted(
        "what a vertex of the frontier got last is new to it, by words",
        "words.cuh",
        "        if ((known >> j) & 1) lacks[j] &= ~word_at(s, s.seen, ids[j], i)[0];\n",
        "        if ((known >> j) & 1) lacks[j] &= lacks[j];\n",
    ),
    _planted(
        "a vertex is queued by nobody that a chunk of a hub leads to",
        "words.cuh",
        "if (!((asked & ~queued) >> j & 1)) continue;",
        "if (!((asked & queued) >> j & 1)) continue;",
    ),
    _planted(
        "levels by bits, not by sources",
        "collect.cuh",
        "levels[s.many_places[word * 64 + (u32)__ffsll((i64)bits) - 1]]",
        "levels[word * 64 + (u32)__ffsll((i64)bits) - 1]",
    ),
    _planted("more than the heads is left out", "many_pull.cu", "a.head_skip;", "a.head_skip + (a.head_skip != 0);"),
    _planted(
        "the chunks of hubs bring what is asked for bottom-up",
        "words.cuh",
        "now.active[threadIdx.x] & ~now.asked[threadIdx.x]",
        "now.asked[threadIdx.x]",
    ),
    _planted(
        "a hub that is open is counted before its chunks are read",
        "pull.cuh",
        "collect(s, c, v, open ? no_bits() : found,",
        "collect(s, c, v, found,",
    ),
    _planted(
        "who is decided by heads is counted again",
        "many.cu",
        "load_dealt(s, next, base) & load_dealt(s, s.open, base);",
        "load_dealt(s, next, base);",
    ),
    _planted(
        "a lane that lacks nothing speaks for those that do",
        "pull_rows.cuh",
        "        lacking = lanes_in_group(s, active && any(without(asked_bits(s), have)));\n        open =",
        "        lacking = 0;\n        open =",
    ),
    _planted(
        "a word of which nothing is asked keeps the last frontier",
        "many_pull.cu",
        "claimed_by(s, s.many_stand->level + 1)[mine] = s.open[mine] = 0;",
        "s.open[mine] = 0;",
    ),
    _planted(
        "lanes that share out a row ask for words of their own",
        "pull_rows.cuh",
        "const u32 part = open ? (u32)__ffs((int)lacking) - 1 : own_part(s);",
        "const u32 part = own_part(s);",
    ),
    _planted(
        "lanes that ask alone do not all tell",
        "pull_rows.cuh",
        "found = join_lanes(found, 1, WARP);",
        "found = join_lanes(found, 2, WARP);",
    ),
    _planted("the bitmaps of the level before", "many_push.cu", "        point(s, t);\n", ""),
    _planted(
        "the depth is passed", "many_push.cu", "t.now.level >= s.max_depth) t.now", "t.now.level > s.max_depth) t.now"
    ),
    _streamed(
        "a level is settled before its rows have come",
        "many_push.cu",
        "        t.now.ending = ROWS;\n        t.phase = STOP;\n",
        "        t.phase = SETTLE;\n",
    ),
    _streamed(
        "what was counted before the rows came is lost",
        "many_push.cu",
        "relaxed_store((u64*)s.many_sums + i, word);",
        "relaxed_store((u64*)s.many_sums + i, word & 0);",
    ),
    _streamed(
        "the next sums are not cleared",
        "many_push.cu",
        "        relaxed_store((u64*)(s.many_sums + 1) + i, (u64)0);\n",
        "",
    ),
    _streamed(
        "sums are moved that others still read",
        "many_push.cu",
        "    if (MANY_STREAMED && t.now.ending == ROWS) meet_other_blocks(s.meeting);\n",
        "",
    ),
    _streamed(
        "rows that heads do not hold are read in place",
        "push.cuh",
        "return outside ? 0 : ids;",
        "return ids;",
    ),
    _streamed(
        "rows that heads do not hold are nobody's",
        "push.cuh",
        "    if (lane_id() == 0 && found) atomicAdd(&sums_of(s, t).chunks, (u64)__popc(found));\n",
        "    if (found > ALL_LANES) atomicAdd(&sums_of(s, t).chunks, (u64)1);\n",
    ),
    _streamed(
        "a bitmap is read to the last vertex of all",
        "many_streamed.cu",
        "w < words ? __ldg(bits + w) : 0",
        "w + 0 * words < all ? __ldg(bits + w) : 0",
    ),
    _streamed(
        "every row of a piece is its first",
        "many_streamed.cu",
        "row(a, piece.first + k)",
        "row(a, piece.first + 0 * k)",
    ),
    _streamed(
        "the last rows of a piece are left out",
        "many_streamed.cu",
        "lane_id() < piece.vertices &&",
        "lane_id() + 1 < piece.vertices &&",
    ),
    _streamed(
        "short rows are left out",
        "many_streamed.cu",
        "(degree(a, v) > apart) == longer",
        "degree(a, v) > apart && longer",
    ),
    _streamed(
        "who finds something in a short row is in no frontier",
        "many_streamed.cu",
        "        if (!fresh || !leads_group(s)) continue;\n",
        "        if (fresh || lane_id() < WARP) continue;\n",
    ),
    _streamed(
        "parts of a row overwrite each other's bits",
        "pull_rows.cuh",
        "        if (fresh.w[k]) atomicOr(words_of(s, s.other, v) + k, fresh.w[k]);\n",
        "        if (fresh.w[k]) *(words_of(s, s.other, v) + k) = fresh.w[k];\n",
    ),
)
