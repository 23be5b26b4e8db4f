// Top-down expansion: every edge out of the frontier is read once.
//
// bfs_expand_rows: a warp takes up to 32 entries of the queue; rows of more than THREAD_IDS ids are read by the whole
// warp one after the other, the shorter ones by a thread each. bfs_expand_hubs: a warp takes chunks (BLOCK_IDS ids) of
// the hub rows in the frontier. Frontier kind: queue and bitmap. Atomics: one atomicOr on `visited` for each edge whose
// end looks unvisited; its winner alone writes level and parent. Memory per edge: the id (4 or 8 bytes, or the varint's)
// and one word of `visited`. Source: Merrill et al. (PPoPP'12) for the degree classes, Min et al. (EMOGI, VLDB'20) for
// whole aligned lines per warp.
#include "bfs.cuh"

// At most this many ids are read by one thread.
constexpr u32 THREAD_IDS = 8;

// Parts into which a warp's share of the queue is cut, so that one warp does not get many long rows.
constexpr u32 ROUNDS = 8;

template <u32 WIDTH> DEVICE void expand(const Bfs& s, vid v, const Segment& segment, u32 lane, i32 level) {
    Cursor<WIDTH> cursor(s.out, segment, lane);
    while (cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) reach(s, cursor.ids[j], v, level);
        }
    }
}

KERNEL void bfs_expand_rows(Bfs s, u64 queued_before, i32 level) {
    const u64 length = s.counters[QUEUED] - queued_before;
    const u64 warps = thread_count() / WARP;
    u64 share = (length + warps * ROUNDS - 1) / (warps * ROUNDS);
    if (share > WARP) share = WARP;
    for (u64 start = thread_id() / WARP * share; start < length; start += warps * share) {
        const u64 at = start + lane_id();
        const bool mine = lane_id() < share && at < length;
        const vid v = mine ? s.queue[at] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        Segment segment = {0, 0, 0};
        if (mine) segment = row(s.out, v);
        for (u32 wide = __ballot_sync(ALL_LANES, ids > THREAD_IDS); wide; wide &= wide - 1) {
            const u32 from = (u32)__ffs((int)wide) - 1;
            const vid source = __shfl_sync(ALL_LANES, v, from);
            expand<WARP>(s, source, broadcast(segment, from), lane_id(), level);
        }
        if (mine && ids <= THREAD_IDS) expand<1>(s, v, segment, 0, level);
    }
}
ENTRY(bfs_expand_rows)

KERNEL void bfs_expand_hubs(Bfs s, i32 level) {
    const u64 warps = thread_count() / WARP;
    for (u64 start = thread_id() / WARP; start < s.out.chunks; start += warps * WARP) {
        // Neighbouring chunks go to different warps: a hub is a run of chunks.
        const u64 c = start + lane_id() * warps;
        u32 hub = 0;
        bool active = false;
        if (c < s.out.chunks) {
            hub = __ldg(s.out.chunk_hub + c);
            active = test_bit(s.frontier, s.out.hubs[hub]);
        }
        for (u32 todo = __ballot_sync(ALL_LANES, active); todo; todo &= todo - 1) {
            const u32 from = (u32)__ffs((int)todo) - 1;
            const u32 which = __shfl_sync(ALL_LANES, hub, from);
            expand<WARP>(s, s.out.hubs[which], chunk(s.out, start + from * warps, which), lane_id(), level);
        }
    }
}
ENTRY(bfs_expand_hubs)
