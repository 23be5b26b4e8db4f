// EXPAND, EXPAND_CHUNKS: one level top-down by the whole grid.
//
// EXPAND: a warp takes up to 32 entries of the queue; rows of at most THREAD_IDS ids are read by a group of lanes each,
// longer ones by the warp, hubs are listed and then read chunk by chunk by all warps. The sources of a vertex that a
// neighbour lacks are added to the neighbour's `other`, and whoever claims it appends it to the next queue. Frontier
// kind: queue. Atomics: for each edge that brings something new one for each word, and one to claim the vertex; one for
// each buffer that a warp appends. Memory per edge: the id, and the neighbour's `seen`. Source: Merrill et al.
// (PPoPP'12) for the degree classes.
#pragma once
#include "algorithms/many/gpu/collect.cuh"

// Ids that a warp collects before it appends them to the queue, and what one step finds at most.
constexpr u32 BUFFER_IDS = 1024 / sizeof(vid);
constexpr u32 STEP_IDS = WARP * SLOTS;

enum Phase { EXPAND, EXPAND_CHUNKS, SETTLE, STOP };

// What a block knows, in shared memory; the same in every block after a barrier of the grid.
struct Team {
    ManyStand now;
    u64 limit;  // level before which the launch ends
    u32 phase;
    u32 turn;
    Collector found;
    u64 read;  // ids
    u32 invalid;
    u32 held[TEAM_WARPS];
    vid buffer[TEAM_WARPS * BUFFER_IDS];
};

DEVICE ManySums& sums_of(const Many& s, const Team& t) { return s.many_sums[t.turn]; }

// The sources `bits` reach u, which `lacks` some of them; true where this is the first that somebody adds to it.
DEVICE bool add_to(const Many& s, const Team& t, vid u, const Bits& lacks) {
    bool fresh = false;
#pragma unroll
    for (u32 i = 0; i < PART; ++i) {
        if (!lacks.w[i]) continue;
        u64* const word = words_of(s, s.other, u) + i;
        const u64 more = lacks.w[i] & ~relaxed_load(word);
        fresh |= more && (more & ~atomicOr(word, more)) != 0;
    }
    return fresh && claim_bit(claimed_by(s, t.now.level + 1), u);
}

// The sources `bits` reach ids[j], j < LOOKS, for the bits j of `asked`; all the lanes of a group ask for the same.
// What the neighbours lack is asked for together, before the first answer is looked at.
DEVICE void reach(const Many& s, Team& t, const vid* ids, u32 asked, const Bits& bits) {
    Bits lacking[LOOKS];
    u32 invalid = 0;
#pragma unroll
    for (u32 j = 0; j < LOOKS; ++j) {
        const bool wanted = (asked >> j) & 1;
        invalid += wanted && ids[j] >= s.out.n && leads_group(s);
        lacking[j] = wanted && ids[j] < s.out.n ? without(bits, load_bits(s, s.seen, ids[j])) : no_bits();
    }
    if (invalid) atomicAdd(&t.invalid, invalid);
#pragma unroll
    for (u32 j = 0; j < LOOKS; ++j) {
        if (!any(lacking[j]) || !add_to(s, t, ids[j], lacking[j])) continue;
        const u32 at = atomicAdd(t.held + threadIdx.x / WARP, 1u);
        t.buffer[threadIdx.x / WARP * BUFFER_IDS + at] = ids[j];
    }
}

// Appends the warp's buffer to the next queue if it may not hold what comes next, or to its last id; all lanes call it.
DEVICE void flush(const Many& s, Team& t, bool all) {
    const u32 warp = threadIdx.x / WARP;
    __syncwarp();
    const u32 held = t.held[warp];
    __syncwarp();
    if (held == 0 || (!all && held + STEP_IDS <= BUFFER_IDS)) return;
    u64 at = 0;
    if (lane_id() == 0) {
        at = atomicAdd(&sums_of(s, t).freed, (u64)held);
        t.held[warp] = 0;
    }
    at = __shfl_sync(ALL_LANES, at, 0);
    vid* const queue = queue_of(s, t.now.level + 1);
    for (u32 i = lane_id(); i < held; i += WARP) {
        if (at + i < s.out.n) queue[at + i] = t.buffer[warp * BUFFER_IDS + i];
    }
    __syncwarp();
}

// What of a vertex goes on to its neighbours: the lane's part of the sources that reached it last.
DEVICE Bits frontier_bits(const Many& s, u64 v) {
    return without(load_bits(s, s.seen, v), relaxed_bits(s, s.other, v));
}

// The whole warp reads a segment of the row of v.
DEVICE void expand_together(const Many& s, Team& t, vid v, const Segment& segment) {
    const Bits bits = frontier_bits(s, v);
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        for (u32 part = 0; part < group_lanes(s); ++part) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; j += LOOKS) {
                vid ids[LOOKS];
                const u32 asked = hand_out(s, cursor.ids + j, cursor.valid >> j, part, ids);
                reach(s, t, ids, asked, bits);
            }
            flush(s, t, false);
        }
    }
}

// Each group reads a short row of its own, those whose `ids` is 0 none: from the head table where that holds all of
// them.
DEVICE void expand_apart(const Many& s, Team& t, vid v, u32 ids) {
    const bool heads_only = s.out.head_groups && __all_sync(ALL_LANES, heads_are_all(s.out, ids));
    const Bits bits = ids ? frontier_bits(s, v) : no_bits();
    Segment segment = {0, 0, 0, false};
    if (ids && !heads_only) segment = row(s.out, v);
    Cursor<1> cursor(s.out, segment, 0);
    bool more = ids != 0;
    for (u32 group = 0;; ++group) {
        if (heads_only) {
            more = more && group * HEAD_GROUP < ids;
            if (more) {
                const HeadGroup heads(s.out, v, group);
                const u32 left = ids - group * HEAD_GROUP;
                for (u32 j = 0; j < HEAD_GROUP; ++j) cursor.ids[j] = heads.ids[j];
                cursor.valid = (1u << (left < HEAD_GROUP ? left : HEAD_GROUP)) - 1;
            }
        } else {
            more = more && cursor.load();
        }
        if (!__any_sync(ALL_LANES, more)) return;
#pragma unroll
        for (u32 j = 0; j < SLOTS; j += LOOKS) reach(s, t, cursor.ids + j, more ? cursor.valid >> j : 0, bits);
        flush(s, t, false);
    }
}
static_assert(HEAD_GROUP <= SLOTS, "a group of heads is no more than a cursor holds");

DEVICE void expand_rows(const Many& s, Team& t) {
    const vid* const queue = queue_of(s, t.now.level);
    // Long rows are spread over all warps; short ones fill warps, so that few of them touch the queue's counter.
    u64 share = (t.now.count + team_warps() - 1) / team_warps();
    if (share > WARP) share = WARP;
    for (u64 start = team_warp() * share; start < t.now.count; start += team_warps() * share) {
        const bool mine = lane_id() < share && start + lane_id() < t.now.count;
        const vid v = mine ? queue[start + lane_id()] : 0;
        const u32 ids = mine ? short_degree(s.out, v) : 0;
        list_chunks(s, &sums_of(s, t).chunks, s.out, ids > BLOCK_IDS, v);
        for (u32 todo = __ballot_sync(ALL_LANES, ids > THREAD_IDS && ids <= BLOCK_IDS); todo; todo &= todo - 1) {
            const vid whose = __shfl_sync(ALL_LANES, v, (u32)__ffs((int)todo) - 1);
            expand_together(s, t, whose, row(s.out, whose));
        }
        for (u32 first = 0; first < WARP; first += warp_groups(s)) {
            const u32 own = __shfl_sync(ALL_LANES, ids <= THREAD_IDS ? ids : 0, first + own_group(s));
            const vid whose = __shfl_sync(ALL_LANES, v, first + own_group(s));
            if (__any_sync(ALL_LANES, own != 0)) expand_apart(s, t, whose, own);
        }
    }
    flush(s, t, true);
}

DEVICE void expand_chunks(const Many& s, Team& t, u64 chunks) {
    for (u64 i = team_warp(); i < chunks; i += team_warps()) {
        const u32 c = s.chunk_list[i];
        const u32 hub = __ldg(s.out.chunk_hub + c);
        expand_together(s, t, s.out.hubs[hub], chunk(s.out, c, hub));
    }
    flush(s, t, true);
}
