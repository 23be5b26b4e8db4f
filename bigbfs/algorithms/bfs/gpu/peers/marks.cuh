// Wide top-down levels over several GPUs: every rank marks whom its rows lead to, and owners take over the marks; where
// all ranks have all rows each reads every row, and marks its own vertices alone.
//
// BLANK: the bitmap of what is found is emptied. MARK, MARK_CHUNKS: as on one GPU (wide.cuh), over own rows, of all
// vertices; who marks a vertex first on a rank writes that rank's copy of its parent. TAKE: a rank reads the marks of
// its own vertices, and the parents of those that it has not marked itself, in the memory of the others, one word after
// the other, and tells them all whom the level has found. A claim would be sorted by its owner, carried, and taken by
// an atomic; marks are n / 8 bytes, parents mostly whole lines. Frontier kind: queue in, bitmap out. Atomics: see
// wide.cuh. Memory over the link: a word in and one out for 32 own vertices and each other rank, 4 or 8 bytes of
// parent for each vertex that only another has marked. Source: ours; after Pan, Pearce, Owens (IPDPS'18).
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

#if TELLS && !VARINT

DEVICE void blank(const Peers& p, const Team& t) {
    u32* const next = next_bits(p.s, t);
    for (u64 w = thread_id(); w < words_for(p.s.out.n); w += thread_count()) next[w] = 0;
}

// Parents that a lane asks another rank for before it waits for one: an answer takes microseconds.
constexpr u32 ASKED = 4;

// Parents of the vertices of `word`, halves of own words from `base` on, from another rank; all lanes call it.
DEVICE void fetch_parents(const Peers& p, u64 base, u32 word, const vid* parents) {
    const SetBits bits(word);
    for (u32 start = 0; start < bits.total; start += ASKED * WARP) {
        u32 place[ASKED];
        vid parent[ASKED];
#pragma unroll
        for (u32 j = 0; j < ASKED; ++j) {
            const u32 k = start + j * WARP + lane_id();
            u32 owner, bit;
            bits.find(k, owner, bit);
            place[j] = owner * 32 + bit;
            if (k < bits.total) parent[j] = relaxed_load(parents + own_half(p.part, base + owner) * 32 + bit);
        }
#pragma unroll
        for (u32 j = 0; j < ASKED; ++j) {
            const u64 v = own_half(p.part, base + place[j] / 32) * 32 + place[j] % 32;
            if (start + j * WARP + lane_id() < bits.total) p.s.parents[v] = parent[j];
        }
    }
}

// What of `open`, bits of word w, others have marked; parents come from the first of them. All lanes call it.
DEVICE u32 marked_by_others(const Peers& p, const Team& t, u64 base, u64 w, u32 open) {
    u32 found = 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        const u32* const marks = in_rank<u32>(p, r, t.swapped ? p.frontier_at : p.next_at);
        const u32 theirs = open & ~found ? relaxed_load(marks + w) & open & ~found : 0;
        found |= theirs;
        const bool some = __any_sync(ALL_LANES, theirs != 0);
        if (some && p.s.parents) fetch_parents(p, base, theirs, in_rank<vid>(p, r, p.parents_at));
    }
    return found;
}

// Levels of the vertices of `word`, halves of own words from `base` on. All lanes call it.
DEVICE void write_levels(const Peers& p, const Team& t, u64 base, u32 word) {
    for (u32 some = __ballot_sync(ALL_LANES, word != 0); some; some &= some - 1) {
        const u32 from = (u32)__ffs((int)some) - 1;
        const u32 bits = __shfl_sync(ALL_LANES, word, from);
        const u64 v = own_half(p.part, base + from) * 32 + lane_id();
        if (bits >> lane_id() & 1) p.s.levels[v] = t.level + 1;
    }
}

// A word for each lane: 32 words, halves of own ones, from `base` on.
DEVICE u64 word_at(const Peers& p, u64 base) {
    const u64 h = base + lane_id();
    return h < 2 * p.part.words ? own_half(p.part, h) : words_for(p.s.out.n);
}

// Marks of own vertices that others have made, beside those of this rank.
DEVICE void gather_marks(const Peers& p, const Team& t) {
    u32* const next = next_bits(p.s, t);
    for (u64 base = team_warp() * WARP; base < 2 * p.part.words; base += team_warps() * WARP) {
        const u64 w = word_at(p, base);
        const bool inside = w < words_for(p.s.out.n);
        const u32 visited = inside ? p.s.visited[w] : ALL_LANES;
        const u32 fresh = inside ? next[w] & ~visited : 0;
        const u32 theirs = marked_by_others(p, t, base, w, ~visited & ~fresh);
        if (inside) next[w] = fresh | theirs;
    }
}

// Own vertices of word w that marks have found; all rows: nobody else has marked them, and those that heads have found
// before are visited, and told.
DEVICE u32 newly_marked(const Peers& p, const u32* next, u64 w) {
    return ALL_ROWS ? next[w] & ~p.s.visited[w] : next[w];
}

// Who was found is visited, has a level, and is known to all ranks; the frontier's bitmap is empty then, for the next
// level to be found in.
APART void take_marked(const Peers& p, Team& t) {
    if (!ALL_ROWS) gather_marks(p, t);  // the same words in the same lanes as below
    u32* const next = next_bits(p.s, t);
    u32* const frontier = frontier_bits(p.s, t);
    for (u64 w = thread_id(); w < words_for(p.s.out.n); w += thread_count()) frontier[w] = 0;
    u64 found = 0, edges = 0;
    for (u64 base = team_warp() * WARP; base < 2 * p.part.words; base += team_warps() * WARP) {
        const u64 w = word_at(p, base);
        const bool inside = w < words_for(p.s.out.n);
        const u32 fresh = inside ? newly_marked(p, next, w) : 0;
        if (ALL_ROWS ? fresh : inside) tell_found(p, t, next, w, 0, ALL_ROWS ? next[w] : fresh);
        if (fresh) p.s.visited[w] |= fresh;
        found += (u64)__popc(fresh);
        // one vertex in 32 is asked for its degree
        if (fresh & 1) edges += count_edges(p.s, t, w * 32, 32);
        if (p.s.levels) write_levels(p, t, base, fresh);
    }
    hand_in(t, FOUND, found);
    hand_in(t, EDGES, edges);
}

#endif
