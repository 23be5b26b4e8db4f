// A frontier in its two forms, and from one to the other: a queue and a bitmap.
//
// CLEAR: a bitmap is emptied. SCATTER: the frontier's queue becomes one, too. GATHER: a bitmap becomes a queue. JOIN:
// what is queued gets its bits. Frontier kind: both. Atomics: one for each vertex that SCATTER or JOIN takes, one for
// each 1024 vertices of which GATHER finds some. Memory: a bit or an id for each vertex. Source: Beamer et al. (SC'12).
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"

DEVICE void clear_bits(const Bfs& s, const Team& t) {
    u32* const bits = t.wide ? next_bits(s, t) : frontier_bits(s, t);
    // by address: with a counter beside it, one register too many
    const u32* const end = bits + words_for(s.out.n);
    for (u32* word = bits + thread_id(); word < end; word += thread_count()) *word = 0;
}

// The frontier's queue as a bitmap; or what a mixed level has queued joins what it has found as one.
DEVICE void scatter_queue(const Bfs& s, const Team& t) {
    const bool joins = t.phase == JOIN;
    u32* const bits = joins ? next_bits(s, t) : frontier_bits(s, t);
    const vid* const queue = s.queue + t.begin + (joins ? t.count : 0);
    const u64 count = joins ? s.slots[t.slot].queued : t.count;
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const vid v = queue[i];
        atomicOr(bits + word_of(v), bit_of(v));
    }
}

// The frontier's vertices as a queue, ascending inside 1024 vertices, the pieces nearly so.
DEVICE void gather_queue(const Bfs& s, const Team& t) {
    const u32* const frontier = frontier_bits(s, t);
    const u64 warps = warps_in_window(s, WARP * 32);
    for (u64 base = team_warp() * WARP; base * 32 < s.out.n && team_warp() < warps; base += warps * WARP) {
        const u64 w = base + lane_id();
        const u32 word = w * 32 < s.out.n ? frontier[w] : 0;
        if (!__any_sync(ALL_LANES, word != 0)) continue;
        const SetBits bits(word);
        u64 at = 0;
        if (lane_id() == 0) at = t.begin + atomicAdd(&s.slots[t.slot].gathered, (u64)bits.total);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u32 start = 0; start < bits.total; start += WARP) {
            u32 owner, bit;
            bits.find(start + lane_id(), owner, bit);
            if (start + lane_id() < bits.total) {
                s.queue[at + start + lane_id()] = (vid)((base + owner) * 32 + bit);
            }
        }
    }
}
