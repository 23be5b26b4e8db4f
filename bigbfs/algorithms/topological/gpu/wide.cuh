// EXPAND, EXPAND_CHUNKS: one round by the whole grid.
//
// A warp takes up to 32 entries of the queue; rows of at most THREAD_IDS ids are read by a thread each, longer ones
// by the warp, hubs are listed and then read chunk by chunk by all warps. Frontier kind: queue. Atomics: one
// subtraction for each edge; one for each buffer that a warp appends. Memory per edge: the id and one word of `left`.
// Source: Merrill et al. (PPoPP'12) for the degree classes.
#pragma once
#include "algorithms/topological/gpu/kahn.cuh"

// Appends the warp's buffer to the queue if it may not hold what comes next, or to its last id; all lanes call it.
DEVICE void flush(const Kahn& s, Team& t, bool all) {
    const u32 warp = threadIdx.x / WARP;
    __syncwarp();
    const u32 held = t.held[warp];
    __syncwarp();
    if (held == 0 || (!all && held + STEP_IDS <= BUFFER_IDS)) return;
    u64 at = 0;
    if (lane_id() == 0) {
        at = atomicAdd(&s.round_sums[t.turn].freed, (u64)held);
        t.held[warp] = 0;
    }
    at = t.now.begin + t.now.count + __shfl_sync(ALL_LANES, at, 0);
    u64 edges = 0;
    for (u32 i = lane_id(); i < held; i += WARP) {
        const vid v = t.buffer[warp * BUFFER_IDS + i];
        if (at + i < s.out.n) s.queue[at + i] = v;
        s.rounds[v] = (i32)(t.now.number + 1);
        edges += degree(s.out, v);
    }
    edges = warp_sum(edges);
    if (lane_id() == 0 && edges) atomicAdd(&s.round_sums[t.turn].edges, edges);
    __syncwarp();
}

// The whole warp reads a segment.
DEVICE void expand_together(const Kahn& s, Team& t, const Segment& segment) {
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        take_off<false>(s, t, cursor.ids, cursor.valid, nullptr);
        flush(s, t, false);
    }
}

// Each lane reads a short row of its own; the lanes whose `ids` is 0 none.
DEVICE void expand_apart(const Kahn& s, Team& t, vid v, u64 ids) {
    Segment segment = {0, 0, 0, false};
    if (ids) segment = row(s.out, v);
    Cursor<1> cursor(s.out, segment, 0);
    for (bool more = cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {
        take_off<false>(s, t, cursor.ids, more ? cursor.valid : 0, nullptr);
        flush(s, t, false);
    }
}

// Lists the chunks of the hubs of the lanes that ask for it; all lanes call it.
DEVICE void list_chunks(const Kahn& s, const Team& t, bool asked, vid v) {
    for (u32 todo = __ballot_sync(ALL_LANES, asked); todo; todo &= todo - 1) {
        const u32 hub = find_hub(s.out, __shfl_sync(ALL_LANES, v, (u32)__ffs((int)todo) - 1));
        const u64 first = s.out.hub_ptr[hub];
        const u64 count = s.out.hub_ptr[hub + 1] - first;
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(&s.round_sums[t.turn].chunks, count);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u64 i = lane_id(); i < count; i += WARP) s.chunk_list[at + i] = (u32)(first + i);
    }
}

DEVICE void expand_rows(const Kahn& s, Team& t) {
    // Long rows are spread over all warps; short ones fill warps, so that few of them touch the queue's counter.
    u64 share = (t.now.count + team_warps() - 1) / team_warps();
    if (share > WARP || t.now.edges <= t.now.count * THREAD_IDS) share = WARP;
    u64 taken = 0;
    for (u64 start = team_warp() * share; start < t.now.count; start += team_warps() * share) {
        const bool mine = lane_id() < share && start + lane_id() < t.now.count;
        const vid v = mine ? s.queue[t.now.begin + start + lane_id()] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        taken += ids;
        list_chunks(s, t, ids > BLOCK_IDS, v);
        Segment segment = {0, 0, 0, false};
        const bool wide = ids > THREAD_IDS && ids <= BLOCK_IDS;
        if (wide) segment = row(s.out, v);
        for (u32 todo = __ballot_sync(ALL_LANES, wide); todo; todo &= todo - 1) {
            expand_together(s, t, broadcast(segment, (u32)__ffs((int)todo) - 1));
        }
        if (__any_sync(ALL_LANES, ids > 0 && ids <= THREAD_IDS)) expand_apart(s, t, v, ids <= THREAD_IDS ? ids : 0);
    }
    flush(s, t, true);
    taken = warp_sum(taken);
    if (lane_id() == 0 && taken) atomicAdd(&s.round_sums[t.turn].taken, taken);
}

DEVICE void expand_chunks(const Kahn& s, Team& t, u64 chunks) {
    for (u64 i = team_warp(); i < chunks; i += team_warps()) {
        const u32 c = s.chunk_list[i];
        expand_together(s, t, chunk(s.out, c, __ldg(s.out.chunk_hub + c)));
    }
    flush(s, t, true);
}
