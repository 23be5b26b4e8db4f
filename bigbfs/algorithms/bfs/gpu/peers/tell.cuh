// Bitmaps that ranks tell one another: phases between those that read rows.
//
// FILL, SET: the frontier as a bitmap. COLLECT: as a queue again. PUBLISH: own words of a bitmap to all others, in
// their places; where hosts carry them, one behind the other, and MERGE puts them there. It is the frontier before a
// bottom-up level, unless the level before has told it (found.cuh, marks.cuh), and before a top-down one what is
// visited, where telling that costs less than claims of those would. Frontier kind: queue, bitmap. Atomics: one for
// each vertex that SET gets. Memory: a word is written once over the link for each other rank.
// Source: ours; after Pan, Pearce, Owens (IPDPS'18) for the division of work.
#pragma once
#include "algorithms/bfs/gpu/peers/whole.cuh"

DEVICE void fill_frontier(const Peers& p, const Team& t) {
    u32* const bits = frontier_bits(p.s, t);
    for (u64 h = thread_id(); h < swept(p); h += thread_count()) bits[swept_word(p, h)] = 0;
}

DEVICE void set_frontier(const Peers& p, const Team& t) {
    u32* const bits = frontier_bits(p.s, t);
    for (u64 i = thread_id(); i < t.count; i += thread_count()) {
        const vid v = p.s.queue[t.begin + i];
        atomicOr(bits + word_of(v), bit_of(v));
    }
}

// Own words of the bitmap at `at` to all other ranks; to hosts, if they are dealt, one behind the other. Where all have
// all rows, also that who is in it is visited.
DEVICE void publish(const Peers& p, u64 at) {
    const u64* const own = in_rank<u64>(p, p.part.rank, at);
    const bool packed = !TELLS && is_dealt(p);
    for (u64 i = thread_id(); i < p.part.words; i += thread_count()) {
        const u64 w = own_word(p.part, i);
        const u64 word = own[w];
        const u64 visited = ALL_ROWS && word ? in_rank<u64>(p, p.part.rank, p.visited_at)[w] : 0;
        for (u64 r = 0; r < p.part.size; ++r) {
            if (r == p.part.rank) continue;
            if (packed) in_rank<u64>(p, r, p.told_at)[p.part.rank * p.most_words + i] = word;
            else in_rank<u64>(p, r, at)[w] = word;
            if (visited) in_rank<u64>(p, r, p.visited_at)[w] = visited;
        }
    }
}

// What others have published, into the bitmap at `at`.
DEVICE void merge(const Peers& p, u64 at) {
    const u64* const told = in_rank<u64>(p, p.part.rank, p.told_at);
    u64* const bits = in_rank<u64>(p, p.part.rank, at);
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        const u64* const theirs = told + r * p.most_words;
        for (u64 i = thread_id(); r + i * p.part.size < words_of_64(p); i += thread_count()) {
            bits[r + i * p.part.size] = relaxed_load(theirs + i);
        }
    }
}

// Own vertices of the frontier, or all, as a queue, ascending inside 1024 of a rank's vertices, the pieces nearly so.
DEVICE void collect(const Peers& p, const Team& t) {
    const u32* const frontier = frontier_bits(p.s, t);
    for (u64 base = team_warp() * WARP; base < swept(p); base += team_warps() * WARP) {
        const u64 h = base + lane_id();
        const u32 word = h < swept(p) ? frontier[swept_word(p, h)] : 0;
        if (!__any_sync(ALL_LANES, word != 0)) continue;
        const SetBits bits(word);
        u64 at = 0;
        if (lane_id() == 0) at = t.begin + atomicAdd(&p.s.slots[t.slot].gathered, (u64)bits.total);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u32 start = 0; start < bits.total; start += WARP) {
            u32 owner, bit;
            bits.find(start + lane_id(), owner, bit);
            if (start + lane_id() < bits.total) {
                p.s.queue[at + start + lane_id()] = (vid)(swept_word(p, base + owner) * 32 + bit);
            }
        }
    }
}
