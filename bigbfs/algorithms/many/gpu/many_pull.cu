// A level bottom-up (pull.cuh): heads, then the rows that they do not decide, then the chunks of hubs.
//
// A warp takes 32 vertices, a group of its lanes one of them. Frontier kind: bitmap. Atomics and memory per vertex: as
// pull.cuh says. Source: Beamer et al. (SC'12), Then et al. (VLDB 2014).
#include "algorithms/many/gpu/pull_rows.cuh"

// A warp takes 32 vertices; a group asks the heads of one at a time.
KERNEL __launch_bounds__(256, 4) void many_pull(Many s);

KERNEL void many_pull(Many s) {
    __shared__ Collector c;
    clear(c);
    __syncthreads();
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    PullTally lane = {};
    const u64 words = words_for(s.vertices);
    for (u64 w = thread_id() / WARP; w < words; w += thread_count() / WARP) {
        const u32 todo = s.in.rows[w] & ~s.done[w];
        const u32 count = (u32)__popc(todo);
        u32 fresh = 0, finished = 0, open = 0;
        for (u32 first = 0; first < count; first += warp_groups(s)) {
            const u32 k = first + own_group(s);
            const u32 bit = k < count ? nth_set_bit(todo, k) : 0;
            const u32 marks = ask_heads(s, c, w * 32 + bit, k < count, lane);
            fresh |= (marks & 1) << bit;
            finished |= (marks >> 1 & 1) << bit;
            open |= (marks >> 2 & 1) << bit;
        }
        for (u32 step = WARP / 2; count && step > 0; step /= 2) {
            fresh |= __shfl_xor_sync(ALL_LANES, fresh, step);
            finished |= __shfl_xor_sync(ALL_LANES, finished, step);
            open |= __shfl_xor_sync(ALL_LANES, open, step);
        }
        __syncwarp();
        if (lane_id() > 0) continue;
        next[w] = fresh;
        s.open[w] = open;
        if (finished) s.done[w] |= finished;
    }
    __syncwarp();
    add_up(s, lane);
    tally(&c.found, lane.found);
    tally(&c.edges, lane.edges);
    tally(&c.freed, lane.freed);
    hand_in(s, c, *s.many_sums, s.many_stand->level + 1);
}
ENTRY(many_pull)

// Rows of more than apart_ids ids, but the hubs'.
DEVICE bool is_long(const Many& s, u64 v) {
    const u64 ids = degree(s.in, v);
    return ids > s.apart_ids && ids <= BLOCK_IDS;
}

// The row of v behind its heads, which have been asked.
DEVICE Segment behind_heads(const Adjacency& a, u64 v) {
    Segment rest = row(a, v);
    rest.begin += a.head_skip;
    return rest;
}

// The longer rows that were put off, in order. With wide ids a fourth block would cost spilled registers on sm_100.
KERNEL __launch_bounds__(256, sizeof(vid) == 4 ? 4 : 3) void many_pull_rows(Many s);

KERNEL void many_pull_rows(Many s) {
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    PullTally lane = {};
    const u64 words = words_for(s.vertices);
    for (u64 w = thread_id() / WARP; w < words; w += thread_count() / WARP) {
        u32 fresh = 0;
        for (u32 todo = s.open[w]; todo; todo &= todo - 1) {
            const u32 bit = (u32)__ffs((int)todo) - 1;
            const vid v = (vid)(w * 32 + bit);
            if (is_long(s, v)) fresh |= (u32)ask_row(s, v, behind_heads(s.in, v), lane) << bit;
        }
        if (lane_id() == 0 && fresh) next[w] |= fresh;
    }
    add_up(s, lane);
}
ENTRY(many_pull_rows)

// The shorter ones, a group to a row.
KERNEL __launch_bounds__(256, sizeof(vid) == 4 ? 4 : 3) void many_pull_apart(Many s);

KERNEL void many_pull_apart(Many s) {
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    PullTally lane = {};
    const u64 words = words_for(s.vertices);
    for (u64 w = thread_id() / WARP; w < words; w += thread_count() / WARP) {
        const bool asked = ((s.open[w] >> lane_id()) & 1) && degree(s.in, w * 32 + lane_id()) <= s.apart_ids;
        const u32 todo = __ballot_sync(ALL_LANES, asked);
        const u32 count = (u32)__popc(todo);
        u32 fresh = 0;
        for (u32 first = 0; first < count; first += warp_groups(s)) {
            const u32 k = first + own_group(s);
            const u32 bit = k < count ? nth_set_bit(todo, k) : 0;
            const vid v = (vid)(w * 32 + bit);
            Segment segment = {0, 0, 0, false};
            if (k < count) segment = behind_heads(s.in, v);
            fresh |= (u32)ask_apart<true>(s, v, segment, k < count, lane) << bit;
        }
        for (u32 step = WARP / 2; count && step > 0; step /= 2) fresh |= __shfl_xor_sync(ALL_LANES, fresh, step);
        if (lane_id() == 0 && fresh) next[w] |= fresh;
    }
    add_up(s, lane);
}
ENTRY(many_pull_apart)

// The chunks of hubs.
KERNEL __launch_bounds__(256, 4) void many_pull_chunks(Many s);

KERNEL void many_pull_chunks(Many s) {
    PullTally lane = {};
    ask_chunks(s, s.many_sums->listed, lane);
    add_up(s, lane);
}
ENTRY(many_pull_chunks)
