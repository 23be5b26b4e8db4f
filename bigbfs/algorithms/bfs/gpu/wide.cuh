// Wide top-down levels: every edge out of the frontier is read once, and what it finds is a bitmap.
//
// EXPAND pays for each vertex found: a claim that it waits for, a level, a parent and an offset read, all scattered
// over memory. Where a level is large, WIDE sets bits and no more; SETTLE, a sweep over the bitmap, writes levels one
// after the other. WIDE: a warp takes up to 32 vertices of the frontier and gives the ids of their rows, one behind the
// other, to its lanes; hubs are listed, and warps take their chunks. `visited` stays as it is meanwhile, so any cache
// may answer for it. SETTLE: a lane owns a word. Plain rows only. Frontier kind: queue in, bitmap out. Atomics: one
// atomicOr on `next` for each edge whose end is not visited, whose answer is waited for only where parents are wanted.
// Memory per edge: the id, one word of `visited`, one of `next`. Source: Merrill et al. (PPoPP'12) for the gathering by
// prefix sums, Beamer et al. (SC'12) for bitmaps.
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"

#if !VARINT

// Whether a level marks v: of several GPUs that each have all rows, the owner does (peers/peers.cuh).
#ifndef MARKS
#define MARKS(s, v) true
#endif

// So many neighbours in the queue stay together, whose rows lie near each other; the next ones go to another warp.
constexpr u32 NEAR = 8;

// The edges from[j] -> ids[j] were read, for the bits j of `asked`.
DEVICE void mark(const Bfs& s, u32* next, const vid* ids, const vid* from, u32 asked) {
    u32 seen[SLOTS];
    u32 invalid = 0;
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        const bool wanted = (asked >> j) & 1;
        const bool inside = ids[j] < s.out.n;
        invalid += wanted && !inside;
        seen[j] = wanted && inside && MARKS(s, ids[j]) ? s.visited[word_of(ids[j])] : ~0u;
    }
    for (; invalid > 0; --invalid) count_invalid(s);
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (s.asks && !(seen[j] & bit_of(ids[j]))) seen[j] |= stale_load(next + word_of(ids[j]));
    }
    if (!s.parents) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!(seen[j] & bit_of(ids[j]))) atomicOr(next + word_of(ids[j]), bit_of(ids[j]));
        }
        return;
    }
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        const u32 bit = bit_of(ids[j]);
        seen[j] = seen[j] & bit ? ~0u : atomicOr(next + word_of(ids[j]), bit);
    }
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (!(seen[j] & bit_of(ids[j]))) s.parents[ids[j]] = from[j];
    }
}

// Up to 32 segments, one to a lane; the empty ones of none. All lanes call it.
DEVICE void mark_segments(const Bfs& s, u32* next, vid v, const Segment& own) {
    const u32 count = (u32)(own.end - own.begin);
    const u32 through = warp_inclusive_sum(count);
    const u32 before = through - count;
    const u32 total = __shfl_sync(ALL_LANES, through, WARP - 1);
    // where the first id of all would lie if it were this segment's; and in the last bit whether it is outside
    const u64 outside = RENUMBERED && is_outside(s.out, own);
    const u64 origin = (u64)memory_of(s.out, own) + (own.begin - before) * sizeof(vid) + outside;
    for (u32 start = 0; start < total; start += WARP * SLOTS) {
        vid found[SLOTS];
        vid from[SLOTS];
        u32 asked = 0, file_ids = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const u32 k = start + j * WARP + lane_id();
            u32 owner = 0;
            for (u32 step = WARP / 2; step > 0; step /= 2) {
                const u32 first = __shfl_sync(ALL_LANES, before, owner + step);
                if (first <= k) owner += step;
            }
            const u64 at = __shfl_sync(ALL_LANES, origin, owner) + (u64)k * sizeof(vid);
            from[j] = __shfl_sync(ALL_LANES, v, owner);
            const vid* const id_at = (const vid*)(RENUMBERED ? at & ~(u64)1 : at);
            found[j] = k < total ? __ldg(id_at) : 0;
            asked |= (u32)(k < total) << j;
            file_ids |= (u32)(k < total && (at & 1)) << j;
        }
        to_numbers<SLOTS>(s.out, found, file_ids);
        mark(s, next, found, from, asked);
    }
}

// A warp takes up to 32 entries of the queue or listed chunks at a time: from all over it, because neighbours in it are
// of like degree where ids are by degree, and one warp would have all the long rows.
DEVICE void mark_frontier(const Bfs& s, const Team& t, bool listed, u64 chunks) {
    u32* const next = next_bits(s, t);
    const u64 all = listed ? chunks : t.count;
    const u32 near = all >= team_warps() * NEAR ? NEAR : 1;
    for (u64 first = 0; first < all; first += team_warps() * WARP) {
        const u64 i = first + (lane_id() / near * team_warps() + team_warp()) * near + lane_id() % near;
        Segment own = {0, 0, 0, false};
        vid v = 0;
        u64 ids = 0;
        if (i < all && listed) {
            const u32 c = s.chunk_list[i];
            const u32 hub = __ldg(s.out.chunk_hub + c);
            v = s.out.hubs[hub];
            own = chunk(s.out, c, hub);
        } else if (i < all) {
            v = s.queue[t.begin + i];
            ids = degree(s.out, v);
            if (ids <= BLOCK_IDS) own = row(s.out, v);
        }
        list_chunks<true>(s, t, s.out, ids > BLOCK_IDS, v);
        mark_segments(s, next, v, own);
    }
}

// Who was found is visited and has a level; the frontier's bitmap is empty then, for the next level to be found in.
DEVICE void settle_found(const Bfs& s, Team& t) {
    const u32* const next = next_bits(s, t);
    u32* const frontier = frontier_bits(s, t);
    u64 found = 0, edges = 0;
    for (u64 base = thread_id() / WARP * WARP; base * 32 < s.out.n; base += thread_count()) {
        const u64 w = base + lane_id();
        const bool inside = w * 32 < s.out.n;
        const u32 fresh = inside ? next[w] : 0;
        if (inside) frontier[w] = 0;
        if (fresh) s.visited[w] |= fresh;
        found += (u64)__popc(fresh);
        // one vertex in 32 is asked for its degree
        if (fresh & 1) edges += count_edges(s, t, w * 32, 32);
        if (!s.levels) continue;
        for (u32 some = __ballot_sync(ALL_LANES, fresh != 0); some; some &= some - 1) {
            const u32 from = (u32)__ffs((int)some) - 1;
            const u32 word = __shfl_sync(ALL_LANES, fresh, from);
            const u64 v = (base + from) * 32 + lane_id();
            if (word & bit_of(v)) s.levels[v] = t.level + 1;
        }
    }
    hand_in(t, FOUND, found);
    hand_in(t, EDGES, edges);
}

#endif
