// ALONE: round after round by the first block, while the others wait at the barrier; for rounds of few vertices and
// edges.
//
// A thread owns a vertex of the round and reads its row if that is short; longer rows are cut into slices, which the
// warps take in turn. A round is one trip for the row, one for the atomics, and three barriers of the block. Frontier
// kind: a list in shared memory, and the queue. Atomics: one subtraction for each edge, one in shared memory for the
// vertices that a thread frees. Memory per edge: the id and one word of `left`. Source: ours; report 002 (3.2)
// launches once a round.
#pragma once
#include "algorithms/topological/gpu/kahn.cuh"

// The sum of x over the threads before this one, and over all of them in `total`; the whole block calls it.
DEVICE u32 sum_before(Team& t, u32 x, u32& total) {
    const u32 through = warp_inclusive_sum(x);
    if (lane_id() == WARP - 1) t.total[threadIdx.x / WARP] = through;
    __syncthreads();
    const u32 warps = warp_inclusive_sum(lane_id() < TEAM_WARPS ? t.total[lane_id()] : 0);
    total = __shfl_sync(ALL_LANES, warps, WARP - 1);
    const u32 warp = threadIdx.x / WARP;
    const u32 above = __shfl_sync(ALL_LANES, warps, warp > 0 ? warp - 1 : 0);
    return (warp > 0 ? above : 0) + through - x;
}

// The last of the `count` vertices whose slices begin at or before `which`.
DEVICE u32 owner_of(const Team& t, u32 count, u32 which) {
    u32 low = 0;
    for (u32 high = count; high - low > 1;) {
        const u32 middle = (low + high) / 2;
        if (t.before[middle] <= which) low = middle;
        else high = middle;
    }
    return low;
}

// Thread 0: would the CPU be quicker with what is left, if rounds go on as in the window that ends here?
DEVICE bool is_deep(const Kahn& s, Team& t) {
    if (!s.window || ++t.window_rounds < s.window) return false;
    const u64 width = t.now.begin - t.window_begin;
    t.window_begin = t.now.begin;
    t.window_rounds = 0;
    if (!width || width >= s.deep_width * s.window) return false;
    const u64 edges = s.edges - t.now.taken;
    const u64 rounds = (s.out.n - t.now.begin) * s.window / width;
    return edges * s.cpu_edge_cost + s.cpu_cost < edges * s.edge_cost + rounds * s.round_cost;
}

// Thread 0: the next round; returns whether this block goes on with it.
DEVICE bool advance_alone(const Kahn& s, Team& t) {
    t.now.begin += t.now.count;
    t.now.count = t.tail;
    t.now.taken += t.taken;
    t.now.number += 1;
    t.now.alone += 1;
    t.tail = 0;
    t.taken = 0;
    if (!t.now.count) t.now.ending = DONE;
    else if (is_deep(s, t)) t.now.ending = DEEP;
    return t.now.ending == MORE && t.now.count <= TEAM && t.now.number < t.limit;
}

// The edges of one round; false if it has more slices than it may have, and nothing was done.
DEVICE bool round_alone(const Kahn& s, Team& t, const vid* list, vid* next) {
    const u32 count = (u32)t.now.count;
    const bool mine = threadIdx.x < count;
    const vid v = mine ? list[threadIdx.x] : 0;
    const u64 ids = mine ? degree(s.out, v) : 0;
    const u64 cut = ids > THREAD_IDS ? slices(s.out, v) : 0;
    u32 total;
    t.before[threadIdx.x] = sum_before(t, (u32)(cut > s.thin_slices ? s.thin_slices + 1 : cut), total);
    if (total > s.thin_slices) return false;
    if (threadIdx.x / WARP * WARP < count) {
        const u64 edges = warp_sum(ids);
        if (lane_id() == 0 && edges) atomicAdd(&t.taken, edges);
    }
    __syncthreads();
    if (ids && ids <= THREAD_IDS) {
        Cursor<1> cursor(s.out, row(s.out, v), 0);
        while (cursor.load()) take_off<true>(s, t, cursor.ids, cursor.valid, next);
    }
    __syncwarp();
    for (u32 which = threadIdx.x / WARP; which < total; which += TEAM_WARPS) {
        const u32 owner = owner_of(t, count, which);
        Cursor<WARP> cursor(s.out, slice(s.out, list[owner], which - t.before[owner]), lane_id());
        while (cursor.load()) take_off<true>(s, t, cursor.ids, cursor.valid, next);
    }
    return true;
}

DEVICE void rounds_alone(const Kahn& s, Team& t) {
    vid* list = t.buffer;
    vid* next = t.buffer + LIST_IDS;
    if (threadIdx.x < t.now.count) list[threadIdx.x] = s.queue[t.now.begin + threadIdx.x];
    if (threadIdx.x == 0) {
        t.window_begin = t.now.begin;
        t.window_rounds = t.tail = 0;
        t.taken = 0;
    }
    __syncthreads();
    for (bool more = true; more;) {
        more = round_alone(s, t, list, next);
        __syncthreads();
        if (threadIdx.x == 0) t.phase = more && advance_alone(s, t) ? ALONE : STOP;
        __syncthreads();
        more = t.phase == ALONE;
        vid* const done = list;
        list = next;
        next = done;
    }
    if (threadIdx.x == 0) {
        t.now.edges = ~0ull;
        save_stand(s, t);
    }
}
