// The filter of the Merrill family: cheap tests that may let an end pass twice, and never let the last one who has it
// drop it.
//
// -D CULLING: a sum of BITMASK, HISTORY and WARP_CULLING; labels are always asked. Whoever finds a bit or an entry of
// the history drops its end: somebody has put it there who goes on to the label, or beyond. Atomics: none.
#pragma once
#include "algorithms/bfs/strategies/filter.cuh"

constexpr u32 BITMASK = 1;
constexpr u32 HISTORY = 2;
constexpr u32 WARP_CULLING = 4;

constexpr u32 HASHES = 128;    // slots of a warp
constexpr u32 REMEMBERED = 1024;  // ids that a block remembers

struct Culling {
    vid ids[CULLING & WARP_CULLING ? WARPS * HASHES : 1];
    u32 lanes[CULLING & WARP_CULLING ? WARPS * HASHES : 1];
    vid seen[CULLING & HISTORY ? REMEMBERED : 1];
};

// All threads of the block call it first: an id that is none.
DEVICE void forget(Culling& c) {
#if CULLING & 2
    for (u32 i = threadIdx.x; i < REMEMBERED; i += THREADS) c.seen[i] = ~(vid)0;
    __syncthreads();
#endif
}

// The word is stored whole, without an atomic: it may undo bits of others, which costs a second look at those ends.
DEVICE bool passes_bitmask(const Search& s, vid u) {
#if CULLING & 1
    const u32 word = stale_load(s.bitmask + word_of(u));
    if (word & bit_of(u)) return false;
    relaxed_store(s.bitmask + word_of(u), word | bit_of(u));
#endif
    return true;
}

DEVICE bool passes_history(Culling& c, vid u) {
    if (!(CULLING & HISTORY)) return true;
    vid* const entry = c.seen + u % REMEMBERED;
    if (relaxed_load(entry) == u) return false;
    relaxed_store(entry, u);
    return true;
}

// Of the lanes that hold the same id, one. Exactly one id stays in a slot of the hash, and one of the lanes that hold
// it; a lane whose id did not stay keeps it. Without the barriers between its steps this loses ends, on every GPU
// whose lanes are not in lock step. All lanes call it.
DEVICE bool passes_warp(Culling& c, bool held, vid u) {
    if (!(CULLING & WARP_CULLING)) return held;
    const u32 slot = threadIdx.x / WARP * HASHES + (u32)(u % HASHES);
    if (held) relaxed_store(c.ids + slot, u);
    __syncwarp();
    const bool stayed = held && relaxed_load(c.ids + slot) == u;
    if (stayed) relaxed_store(c.lanes + slot, lane_id());
    __syncwarp();
    const bool twin = stayed && relaxed_load(c.lanes + slot) != lane_id();
    __syncwarp();
    return held && !twin;
}

// True for at least one of those who bring an unreached end u, found from v. All lanes call it.
DEVICE bool cull(const Search& s, Culling& c, bool there, vid v, vid u) {
    bool held = there && is_vertex(s, u) && passes_bitmask(s, u) && store_label(s, v, u);
    held = held && passes_history(c, u);
    return passes_warp(c, held, u);
}
