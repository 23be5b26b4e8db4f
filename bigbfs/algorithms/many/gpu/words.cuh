// A segment of a row, top-down, by words: most edges of wide frontiers bring few sources each, so that a lane takes a
// neighbour alone.
//
// Of the words of the vertex each lane asks SLOTS neighbours of its own at a time, or with many words a group of lanes
// all words of a neighbour. Frontier kind: bitmap. Atomics and memory per edge: as push.cuh says. Source: ours.
#pragma once
#include "algorithms/many/gpu/push.cuh"

// What a block knows that expands rows for a level which others begin and end; the whole block calls it.
DEVICE void begin_part(const Many& s, Team& t) {
    begin_team(s, t);
    if (threadIdx.x < MOST_WORDS) {
        const ManyStand& now = *s.many_stand;
        t.going[threadIdx.x] = s.spread ? now.active[threadIdx.x] & ~now.asked[threadIdx.x] : ~(u64)0;
    }
    if (threadIdx.x == 0) t.spreads = s.spread;
    __syncthreads();
}

// The same at its end.
DEVICE void end_part(const Many& s, Team& t) {
    flush(s, t, true);
    __syncthreads();
    if (threadIdx.x == 0 && t.invalid) atomicAdd(&s.counts->invalid, (u64)t.invalid);
}

// Leaves what a vertex hands on in shared memory, whose words the lanes have in groups, and returns which words are not
// empty, by bits; all lanes call it.
DEVICE u32 leave_words(const Many& s, u64* words, const Bits& bits) {
    u32 found = 0;
    __syncwarp();
#pragma unroll
    for (u32 i = 0; i < PART; ++i) {
        const u32 lanes = __ballot_sync(ALL_LANES, bits.w[i] != 0);
        for (u32 k = 0; k < group_lanes(s); ++k) found |= ((lanes >> k) & 1) << (k * PART + i);
        if (lane_id() < group_lanes(s)) words[own_word(s) + i] = bits.w[i];
    }
    __syncwarp();
    return found;
}

// Those of ids[j], for the bits j of `asked`, that nobody has queued yet are queued.
DEVICE void queue_new(Team& t, const vid* ids, u32 asked) {
    u32 queued = 0;
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if ((asked >> j) & 1) queued |= (u32)((relaxed_load(t.to + word_of(ids[j])) & bit_of(ids[j])) != 0) << j;
    }
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (!((asked & ~queued) >> j & 1)) continue;
        if (atomicOr(t.to + word_of(ids[j]), bit_of(ids[j])) & bit_of(ids[j])) continue;
        const u32 at = atomicAdd(t.held + threadIdx.x / WARP, 1u);
        t.buffer[threadIdx.x / WARP * BUFFER_IDS + at] = ids[j];
    }
}

// As reach() does it, for ids of the lane's own. What is asked about the neighbours is asked about all of them before
// the first answer is looked at, one thing after the other: the trips to memory are what takes time here.
DEVICE void reach_all(const Many& s, Team& t, const vid* ids, u32 asked, u32 i, u64 word) {
    u64 lacks[SLOTS];
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        lacks[j] = (asked >> j) & 1 ? word & ~relaxed_load(word_at(s, s.other, ids[j], i)) : 0;
    }
    u32 known = 0;  // what a vertex of the frontier got last is not in its `other`
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (lacks[j]) known |= (u32)((stale_load(t.from + word_of(ids[j])) & bit_of(ids[j])) != 0) << j;
    }
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if ((known >> j) & 1) lacks[j] &= ~word_at(s, s.seen, ids[j], i)[0];
    }
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (lacks[j]) atomicOr(word_at(s, s.other, ids[j], i), lacks[j]);
        else asked &= ~(1u << j);
    }
    if (!t.spreads) queue_new(t, ids, asked);
}

// The whole warp reads a segment of the row of a vertex that hands on those of `words` that `some` says, one after the
// other.
DEVICE void expand_by_words(const Many& s, Team& t, const Segment& segment, const u64* words, u32 some) {
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        const u32 asked = vertices_of<SLOTS>(s, t, cursor.ids, cursor.valid);
#pragma unroll 1
        for (u32 todo = some; todo; todo &= todo - 1) {
            const u32 i = (u32)__ffs((int)todo) - 1;
            reach_all(s, t, cursor.ids, asked, i, words[i]);
        }
        flush(s, t, false);
    }
}

// The whole warp reads a segment of the row of v; `own`: MOST_WORDS words of shared memory of the warp's.
DEVICE void expand_part(const Many& s, Team& t, u64* own, vid v, const Segment& segment) {
    const u32 some = leave_words(s, own, frontier_bits(s, t, v));
    if ((u32)__popc(some) > s.few_words) expand_together(s, t, v, segment);
    else if (some) expand_by_words(s, t, segment, own, some);
}
