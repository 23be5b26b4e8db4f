// LOCAL: level after level by the whole grid, each vertex expanded by the block that found it, for frontiers of few
// edges.
//
// A block keeps its part of the frontier in shared memory and gives eight lanes to each vertex, one for each id, so
// that a level is a chain of two trips to device memory (heads and degree; the claim) and one barrier, which carries
// the sums on which the next step depends: no queue, no counters. Which rows are read so, local_rows.cuh says; others
// are put aside for EXPAND. When the levels end, what they found is put into the queue.
// Frontier kind: lists in shared memory. Atomics: those of local_rows.cuh, and one for each block and level. Memory per
// edge: the same. Source: ours; after Gupta et al. (InPar'12) for persistent kernels.
#pragma once
#include "algorithms/bfs/gpu/local_rows.cuh"

// Frontiers of up to so many vertices for each block begin as local ones: there must be room to grow.
constexpr u32 LOCAL_BEGIN = LOCAL_VERTICES / 4;

// Levels for which nothing is local after a row was met that is too long.
constexpr i32 LOCAL_PAUSE = 32;

// What the blocks tell each other at the end of a level, added up in one word of the level's slot: vertices found (22
// bits), put aside (18), blocks whose list is full (12), blocks that have arrived (12). Room for the sums of 511
// blocks.
constexpr u64 ONE_ASIDE = 1ull << 22;
constexpr u64 ONE_FULL = 1ull << 40;
constexpr u64 ONE_ARRIVED = 1ull << 52;
constexpr u32 LOCAL_BLOCKS = 511;

static_assert(LOCAL_ROOM * (u64)LOCAL_BLOCKS < ONE_ASIDE, "the sum of what is found does not fit");
static_assert(LOCAL_VERTICES * (u64)LOCAL_BLOCKS < ONE_FULL / ONE_ASIDE, "the sum of what is put aside does not fit");

DEVICE u32 found_by_all(u64 word) { return (u32)(word & (ONE_ASIDE - 1)); }
DEVICE u32 aside_by_all(u64 word) { return (u32)((word & (ONE_FULL - 1)) / ONE_ASIDE); }
DEVICE bool any_full(u64 word) { return (word & (ONE_ARRIVED - 1)) >= ONE_FULL; }

// The frontier's rows are short in the mean, or may be longer.
DEVICE bool rows_fit(const Bfs& s, const Team& t) {
    if (t.edges <= t.count * LOCAL_IDS) return s.out.head_groups != 0;
    return s.local > 1 && t.edges <= t.count * LOCAL_MEAN && t.edges <= (u64)gridDim.x * LOCAL_ROOM / 2;
}

DEVICE bool fits_local(const Bfs& s, const Team& t) {
    return t.form == QUEUE && t.level >= t.local_from && gridDim.x <= LOCAL_BLOCKS && s.local &&
           t.count <= (u64)gridDim.x * LOCAL_BEGIN && rows_fit(s, t);
}

// Hands in the block's counts and waits for those of the others. What the blocks write for each other before the queue
// is filled is `visited` alone, by atomics whose results have come back: there is nothing for a fence to order.
DEVICE u64 meet_with_counts(const Bfs& s, const Team& t) {
    u64* const word = &s.slots[t.slot].local;
    u64 own = ONE_ARRIVED + t.tail + t.aside_count * ONE_ASIDE;
    if (t.tail > LOCAL_VERTICES) own += ONE_FULL;
    atomicAdd(word, own);
    u64 sum = relaxed_load(word);
    while (sum / ONE_ARRIVED < gridDim.x) {
        spin();
        sum = relaxed_load(word);
    }
    return sum;
}

// Puts what the last level found, and what it put aside, into the queue, those aside first; EXPAND goes on with them.
DEVICE void leave_local(const Bfs& s, Team& t, const vid* next) {
    const u64 asides = aside_by_all(t.counts);
    Slot& slot = s.slots[t.slot];
    if (threadIdx.x == 0) {
        // Over entries that are done with, so that the queue never needs room for a vertex twice. Every block has read
        // its part of them, but nothing has put its reads in order before these writes yet.
        if (asides) meet_other_blocks(s.meeting);
        t.begin -= t.begin < asides ? t.begin : asides;
        t.left_at = t.begin;
        if (t.aside_count) t.left_at += atomicAdd(&slot.gathered, (u64)t.aside_count);
        t.found_at = t.begin + asides;
        if (t.tail) t.found_at += atomicAdd(&slot.queued, (u64)t.tail);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < t.aside_count; i += TEAM) s.queue[t.left_at + i] = t.aside[i];
    u64 edges = 0;
    for (u32 i = threadIdx.x; i < t.tail; i += TEAM) {
        s.queue[t.found_at + i] = next[i];
        edges += count_edges(s, t, next[i], 1);
    }
    hand_in(t, EDGES, edges);
    __syncthreads();
    if (threadIdx.x == 0) {
        t.count = asides;
        t.tail = t.aside_count = 0;
        if (asides) {
            if (t.longer || s.local < 2) t.local_from = t.level + LOCAL_PAUSE;
            t.longer = s.local > 1;
            t.edges = asides * BLOCK_IDS;  // long rows, for expand_rows()
        }
    }
}

// Thread 0 of every block, after the barrier: all of them decide alike. Returns true to go on with the next level.
DEVICE bool advance_local(const Bfs& s, Team& t) {
    const u32 found = found_by_all(t.counts);
    if (!found || found > t.local_most || aside_by_all(t.counts) || any_full(t.counts)) return false;
    if (t.slot + 1 >= s.slot_count || (u64)t.level + 1 >= s.max_depth) return false;
    t.own = t.tail;
    t.tail = t.taken = 0;
    t.count = found;
    t.reached += found;
    t.level += 1;
    t.slot += 1;
    return true;
}

// Thread 0: what kind of rows there are, and how many vertices a level may have, and stay local.
DEVICE void look_at_rows(const Bfs& s, Team& t) {
    const u32 count = (u32)t.count;
    const u32 mean = ((u32)t.edges + count) / count;  // one more where it is even: never none
    t.longer |= s.local > 1 && mean > LOCAL_IDS;
    t.local_most = gridDim.x * (t.longer ? LOCAL_ROOM / mean : LOCAL_ROOM);
}

// `direction`: as which levels are noted.
DEVICE void local_levels(const Bfs& s, Team& t, u64 direction) {
    vid* now = t.buffer;
    vid* next = t.buffer + LOCAL_ROOM;
    const u64 others = t.count > blockIdx.x ? t.count - blockIdx.x - 1 : 0;
    const u32 own = t.count > blockIdx.x ? (u32)(others / gridDim.x) + 1 : 0;
    for (u32 i = threadIdx.x; i < own; i += TEAM) now[i] = s.queue[t.begin + blockIdx.x + (u64)i * gridDim.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        look_at_rows(s, t);
        t.begin += t.count;
        t.own = own;
        t.tail = t.taken = t.aside_count = 0;
    }
    __syncthreads();
    for (bool more = true; more;) {
        if (threadIdx.x == 0) note_level(s, t, direction);
        expand_local(s, t, now, next);
        __syncthreads();
        if (threadIdx.x == 0) {
            t.counts = meet_with_counts(s, t);
            t.go_on = advance_local(s, t);
        }
        __syncthreads();
        more = t.go_on;
        if (more) {
            vid* const filled = next;
            next = now;
            now = filled;
        }
    }
    leave_local(s, t, next);
}
