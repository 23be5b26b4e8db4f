// Top-down phases: every edge out of the frontier is read once.
//
// EXPAND: a warp takes up to 32 entries of the queue; rows of at most THREAD_IDS ids are read by a thread each (from
// the head table where it holds all of them), longer ones by the whole warp one after the other (from that table too,
// where they lie in host memory otherwise), hubs are listed.
// EXPAND_CHUNKS: a warp takes chunks of the listed hubs. What the first block does alone, thin.cuh says.
// Frontier kind: queue. Atomics: one atomicOr on `visited` for each edge whose end looks unvisited; its winner alone
// writes level and parent and enters the queue, by way of its warp's buffer. Memory per edge: the id (4 or 8 bytes, or
// the varint's) and one word of `visited`. Source: Merrill et al. (PPoPP'12) for the degree classes, Min et al. (EMOGI,
// VLDB'20) for whole aligned lines per warp.
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"

// Longest row of a thin level, and how many of more than THREAD_IDS ids it may have.
constexpr u32 THIN_IDS = 64;
constexpr u32 THIN_ROWS = 2 * TEAM_WARPS;

// The edges parent -> ids[j] were read, for the bits j of `asked`. The lane asks for the words of `visited` of all
// ends before it tests one, and claims all that look unvisited before it tests an answer: it waits twice, however many
// they are. Stale looks are safe: after reset(), which a grid barrier follows, no bit goes from 1 to 0 until the
// launch ends, and no cache holds anything older than that barrier (or, without a reset, than the launch). So a 1 is
// true; whether a 0 still is, the atomicOr says, which no cache answers.
template <bool ALONE, u32 COUNT> DEVICE void reach(const Bfs& s, Team& t, const vid* ids, u32 asked, vid parent) {
    u32 seen[COUNT];
    u32 invalid = 0;
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        const bool wanted = (asked >> j) & 1;
        const bool inside = ids[j] < s.out.n;
        invalid += wanted && !inside;
        seen[j] = wanted && inside ? stale_load(s.visited + word_of(ids[j])) : ~0u;
    }
    for (; invalid > 0; --invalid) count_invalid(s);
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        const u32 bit = bit_of(ids[j]);
        seen[j] = seen[j] & bit ? ~0u : atomicOr(s.visited + word_of(ids[j]), bit);
    }
    u32 fresh = 0;
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) fresh |= (u32)((seen[j] & bit_of(ids[j])) == 0) << j;
    if (!fresh) return;
    u32* const held = ALONE ? &t.tail : t.held + threadIdx.x / WARP;
    vid* put = ALONE ? s.queue + t.begin + t.count : t.buffer + threadIdx.x / WARP * BUFFER_IDS;
    put += atomicAdd(held, (u32)__popc(fresh));
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        if (fresh >> j & 1) {
            settle(s, ids[j], parent, t.level + 1);
            *put++ = ids[j];
        }
    }
}

// Appends the warp's buffer to the queue if it may not hold what comes next, or to its last id; all lanes call it.
template <bool ALONE> DEVICE void flush(const Bfs& s, Team& t, bool all) {
    if (ALONE) return;
    const u32 warp = threadIdx.x / WARP;
    __syncwarp();
    const u32 held = t.held[warp];
    __syncwarp();
    if (held == 0 || (!all && held + STEP_IDS <= BUFFER_IDS)) return;
    u64 at = 0;
    if (lane_id() == 0) {
        at = atomicAdd(&s.slots[t.slot].queued, (u64)held);
        t.held[warp] = 0;
    }
    at = t.begin + t.count + __shfl_sync(ALL_LANES, at, 0);
    u64 edges = 0;
    for (u32 i = lane_id(); i < held; i += WARP) {
        const vid v = t.buffer[warp * BUFFER_IDS + i];
        s.queue[at + i] = v;
        edges += degree(s.out, v);
    }
    // a loop of its own: the one above has no register left
    for (u32 i = lane_id(); s.out.hot_bytes && i < held; i += WARP) {
        count_edges(s, t, t.buffer[warp * BUFFER_IDS + i], 1);
    }
    // here and not at the end of the phase, so that the loops around do not keep the sum in registers
    hand_in(t, EDGES, edges);
    __syncwarp();
}

// The whole warp reads a segment of the row of v.
template <bool ALONE> DEVICE void expand_together(const Bfs& s, Team& t, vid v, const Segment& segment) {
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        reach<ALONE, SLOTS>(s, t, cursor.ids, cursor.valid, v);
        flush<ALONE>(s, t, false);
    }
}

// The whole warp reads the row of v from the head table, which holds all of its `ids`.
template <bool ALONE> DEVICE void expand_held(const Bfs& s, Team& t, vid v, u32 ids) {
    for (u32 i = lane_id(); __any_sync(ALL_LANES, i < ids); i += WARP) {
        const vid id = i < ids ? head(s.out, v, i) : v;
        reach<ALONE, 1>(s, t, &id, i < ids, v);
        flush<ALONE>(s, t, false);
    }
}

// Each lane reads a short row of its own (the lanes whose `ids` is 0 none).
template <bool ALONE> DEVICE void expand_apart(const Bfs& s, Team& t, vid v, u64 ids) {
    if (s.out.head_groups && __all_sync(ALL_LANES, heads_are_all(s.out, ids))) {
        for (u64 group = 0; __any_sync(ALL_LANES, group * HEAD_GROUP < ids); ++group) {
            if (group * HEAD_GROUP < ids) {
                const HeadGroup heads(s.out, v, group);
                const u64 left = ids - group * HEAD_GROUP;
                reach<ALONE, HEAD_GROUP>(s, t, heads.ids, (1u << (left < HEAD_GROUP ? left : HEAD_GROUP)) - 1, v);
            }
            flush<ALONE>(s, t, false);
        }
        return;
    }
    Segment segment = {0, 0, 0};
    if (ids) segment = row(s.out, v);
    Cursor<1> cursor(s.out, segment, 0);
    for (bool more = cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {
        reach<ALONE, SLOTS>(s, t, cursor.ids, more ? cursor.valid : 0, v);
        flush<ALONE>(s, t, false);
    }
}

// The rows of up to 32 vertices, one to a lane; ids is 0 in the other lanes.
template <bool ALONE> DEVICE void expand_batch(const Bfs& s, Team& t, vid v, u64 ids) {
    if (!ALONE) list_chunks<true>(s, t, s.out, ids > BLOCK_IDS, v);
    Segment segment = {0, 0, 0};
    const bool wide = ids > THREAD_IDS && ids <= BLOCK_IDS;
    if (wide && ids > s.held_to) segment = row(s.out, v);
    for (u32 todo = __ballot_sync(ALL_LANES, wide); todo; todo &= todo - 1) {
        const u32 from = (u32)__ffs((int)todo) - 1;
        const vid source = __shfl_sync(ALL_LANES, v, from);
        const u64 length = __shfl_sync(ALL_LANES, ids, from);
        if (length <= s.held_to) expand_held<ALONE>(s, t, source, (u32)length);
        else expand_together<ALONE>(s, t, source, broadcast(segment, from));
    }
    if (__any_sync(ALL_LANES, ids > 0 && ids <= THREAD_IDS)) {
        expand_apart<ALONE>(s, t, v, ids <= THREAD_IDS ? ids : 0);
    }
}

DEVICE void expand_rows(const Bfs& s, Team& t) {
    // Long rows are spread over all warps; short ones fill warps, so that few of them touch the queue's counter.
    u64 share = (t.count + team_warps() - 1) / team_warps();
    if (share > WARP || t.edges <= t.count * THREAD_IDS) share = WARP;
    for (u64 start = team_warp() * share; start < t.count; start += team_warps() * share) {
        const bool mine = lane_id() < share && start + lane_id() < t.count;
        const vid v = mine ? s.queue[t.begin + start + lane_id()] : 0;
        expand_batch<false>(s, t, v, mine ? degree(s.out, v) : 0);
    }
    flush<false>(s, t, true);
}

DEVICE void expand_chunks(const Bfs& s, Team& t, u64 chunks) {
    const u32 cuts = cuts_of(chunks);
    for (u64 i = team_warp(); i < chunks << cuts; i += team_warps()) {
        const u32 c = s.chunk_list[i >> cuts];
        const u32 hub = __ldg(s.out.chunk_hub + c);
        expand_together<false>(s, t, s.out.hubs[hub], cut_of(chunk(s.out, c, hub), (u32)i, cuts));
    }
    flush<false>(s, t, true);
}
