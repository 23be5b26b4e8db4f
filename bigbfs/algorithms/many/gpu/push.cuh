// EXPAND, EXPAND_CHUNKS: one level top-down by the whole grid.
//
// EXPAND: a warp takes up to 32 entries of the queue; rows of at most THREAD_IDS ids are read by a group of lanes each,
// longer ones by the warp, hubs are listed and then read chunk by chunk by all warps, unless they are left to
// many_push_chunks. Where rows are streamed (-D MANY_STREAMED=1), groups read those that the heads hold; the others are
// counted, and left to many_push_pieces. The sources of a vertex that a neighbour lacks are added to the neighbour's
// `other`, and whoever claims it appends it to the next queue. Frontier kind: queue. Atomics: for each edge that brings
// something new one for each word, and one to claim the vertex; one for each buffer that a warp appends. Memory per
// edge: the id, and the neighbour's `other`. Source: Merrill et al. (PPoPP'12) for the degree classes.
#pragma once
#include "algorithms/many/gpu/team.cuh"

#ifndef MANY_STREAMED
#define MANY_STREAMED 0
#endif

// Rows of up to so many ids are read by a group of lanes each; where rows are streamed, all that the heads hold are.
constexpr u32 APART_IDS = MANY_STREAMED ? BLOCK_IDS : THREAD_IDS;

// The sources `lacks` of word number i of a vertex reach u, whose `other` was without them; true where nobody has
// queued it yet, unless nobody wants to know. What a vertex of the frontier got last is not in its `other`.
DEVICE bool add_to(const Many& s, const Team& t, vid u, u32 i, u64 lacks) {
    if (relaxed_load(t.from + word_of(u)) & bit_of(u)) lacks &= ~word_at(s, s.seen, u, i)[0];
    if (!lacks) return false;
    // nobody waits for what was there: who adds what another has added meanwhile finds the vertex queued
    atomicOr(word_at(s, s.other, u, i), lacks);
    if (t.spreads) return false;
    return claim_bit(t.to, u);
}

// Those of ids[j], j < COUNT, for the bits j of `asked`, that are vertices.
template <u32 COUNT> DEVICE u32 vertices_of(const Many& s, Team& t, const vid* ids, u32 asked) {
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        if (!((asked >> j) & 1) || ids[j] < s.vertices) continue;
        relaxed_store(&t.invalid, 1u);
        asked &= ~(1u << j);
    }
    return asked;
}

// The sources `word` of word number i of a vertex reach ids[j], j < COUNT, for the bits j of `asked`. What the
// neighbours have is asked for together, before the first answer is looked at.
template <u32 COUNT> DEVICE void reach(const Many& s, Team& t, const vid* ids, u32 asked, u32 i, u64 word) {
    u64 lacks[COUNT];
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        lacks[j] = (asked >> j) & 1 ? word & ~relaxed_load(word_at(s, s.other, ids[j], i)) : 0;
    }
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        if (!lacks[j] || !add_to(s, t, ids[j], i, lacks[j])) continue;
        const u32 at = atomicAdd(t.held + threadIdx.x / WARP, 1u);
        t.buffer[threadIdx.x / WARP * BUFFER_IDS + at] = ids[j];
    }
}

// The sources `bits` reach ids[j], j < LOOKS, for the bits j of `asked`; all the lanes of a group ask for the same. One
// word of a lane after the other: most edges bring few sources, and registers are scarce.
DEVICE void reach_together(const Many& s, Team& t, const vid* ids, u32 asked, const Bits& bits) {
    asked = vertices_of<LOOKS>(s, t, ids, asked);
    u32 i = own_word(s);
#pragma unroll 1
    do {
        const u64 word = i % PART ? bits.w[PART - 1] : bits.w[0];
        if (word) reach<LOOKS>(s, t, ids, asked, i, word);
    } while (++i % PART);
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
    for (u32 i = lane_id(); i < held; i += WARP) {
        if (at + i < s.vertices) t.queue[at + i] = t.buffer[warp * BUFFER_IDS + i];
    }
    __syncwarp();
}

// What of a vertex goes on to its neighbours: the lane's part of the sources that reached it last.
DEVICE Bits frontier_bits(const Many& s, const Team& t, u64 v) {
    return common(without(load_bits(s, s.seen, v), relaxed_bits(s, s.other, v)), own_bits(s, t.going));
}

// The whole warp reads a segment of the row of v.
DEVICE void expand_together(const Many& s, Team& t, vid v, const Segment& segment) {
    const Bits bits = frontier_bits(s, t, v);
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        for (u32 part = 0; part < group_lanes(s); ++part) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; j += LOOKS) {
                vid ids[LOOKS];
                const u32 asked = hand_out(s, cursor.ids + j, cursor.valid >> j, part, ids);
                reach_together(s, t, ids, asked, bits);
            }
            flush(s, t, false);
        }
    }
}

// Each group reads a short row of its own, those whose `ids` is 0 none: from the head table where that holds all of
// them.
DEVICE void expand_apart(const Many& s, Team& t, vid v, u32 ids) {
    const bool heads_only = MANY_STREAMED || (s.out.head_groups && __all_sync(ALL_LANES, heads_are_all(s.out, ids)));
    const Bits bits = ids ? frontier_bits(s, t, v) : no_bits();
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
        for (u32 j = 0; j < SLOTS; j += LOOKS) reach_together(s, t, cursor.ids + j, more ? cursor.valid >> j : 0, bits);
        flush(s, t, false);
    }
}
static_assert(HEAD_GROUP <= SLOTS, "a group of heads is no more than a cursor holds");

#if MANY_STREAMED
// 0 instead of the ids of a row that the heads do not hold: the host has it read, and goes on behind it.
DEVICE u32 leave_outside(const Many& s, Team& t, u32 ids) {
    const bool outside = !heads_are_all(s.out, ids);
    const u32 found = __ballot_sync(ALL_LANES, outside);
    if (lane_id() == 0 && found) atomicAdd(&sums_of(s, t).chunks, (u64)__popc(found));
    return outside ? 0 : ids;
}
#endif

DEVICE void expand_rows(const Many& s, Team& t) {
    // Long rows are spread over all warps; short ones fill warps, so that few of them touch the queue's counter.
    const u64 even = (t.now.count + team_warps() - 1) / team_warps();
    const u32 share = even > WARP ? WARP : (u32)even;
    for (u64 start = team_warp() * share; start < t.now.count; start += team_warps() * share) {
        const bool mine = lane_id() < share && start + lane_id() < t.now.count;
        const vid v = mine ? queue_of(s, t.now.level)[start + lane_id()] : 0;
        u32 ids = mine ? short_degree(s.out, v) : 0;
#if MANY_STREAMED
        ids = leave_outside(s, t, ids);
#else
        list_chunks(s, &sums_of(s, t).chunks, s.out, ids > BLOCK_IDS + (u32)s.hubs_apart, v);
#endif
        for (u32 todo = __ballot_sync(ALL_LANES, ids > APART_IDS && ids <= BLOCK_IDS); todo; todo &= todo - 1) {
            const vid whose = queue_of(s, t.now.level)[start + (u32)__ffs((int)todo) - 1];
            expand_together(s, t, whose, row(s.out, whose));
        }
        for (u32 first = 0; first < WARP; first += warp_groups(s)) {
            const u32 own = __shfl_sync(ALL_LANES, ids <= APART_IDS ? ids : 0, first + own_group(s));
            const vid whose = own ? queue_of(s, t.now.level)[start + first + own_group(s)] : 0;
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
