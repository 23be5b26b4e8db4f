// Bottom-up: every vertex that lacks a source asks its in-neighbours.
//
// HEADS: a warp owns 32 vertices, a group of lanes has one at a time and adds up the bits of its heads until no wanted
// bit is missing; a lane whose words lack none asks for none. What heads decide is collected at once. What they do not
// decide is put off, so that no lane waits for another's row: ROWS reads the rows, longer ones than apart_ids by the
// whole warp, APART the others by a group each, and both leave them when nothing is missing; CHUNKS reads those of
// hubs, by all warps, the first chunks of rows first. What is found goes to `other`, which is a level behind `seen`
// before and ahead of it after. Frontier kind: bitmap. Atomics: for chunks one on each word of `other`; the
// collector's. Memory per vertex that lacks a source: its bits, 16 bytes of heads and the bits of four neighbours or
// more, and its bits written if they have changed, in this level or the last. Source: Beamer et al. (SC'12), Then et
// al. (VLDB 2014).
#pragma once
#include "algorithms/many/gpu/collect.cuh"

// What a lane counts.
struct PullTally {
    u32 left;
    u32 read;
    u32 invalid;
    // of vertices whose bits are final after their heads
    u32 found;
    u32 freed;
    u64 edges;
};

// Adds up over the warp and hands in; all lanes call it.
DEVICE void add_up(const Many& s, const PullTally& lane) {
    tally(&s.many_sums->left, lane.left);
    tally(&s.counts->read, lane.read);
    tally(&s.counts->invalid, lane.invalid);
}

// An id that is a vertex and may bring something new: where few edges lead to the frontier, its bitmap says so.
DEVICE bool may_bring(const Many& s, vid id, bool wanted, PullTally& lane, bool counts) {
    const bool inside = id < s.vertices;
    lane.invalid += wanted && !inside && counts;
    if (!wanted || !inside) return false;
    return !s.sparse || (claimed_by(s, s.many_stand->level)[word_of(id)] & bit_of(id)) != 0;
}

// Adds the sources that have reached one of ids[j], for the bits j of `asked`; all are asked for before the first
// answer.
template <u32 COUNT> DEVICE void ask(const Many& s, const vid* ids, u32 asked, Bits& found) {
    Bits each[COUNT];
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) each[j] = (asked >> j) & 1 ? load_bits(s, s.seen, ids[j]) : no_bits();
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) add(found, each[j]);
}

// Those of ids[j], for the bits j of `asked`, that are worth a look.
template <u32 COUNT> DEVICE u32 worth(const Many& s, const vid* ids, u32 asked, PullTally& lane, bool counts) {
    u32 found = 0;
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) found |= (u32)may_bring(s, ids[j], (asked >> j) & 1, lane, counts) << j;
    return found;
}

// A vertex for each group that is `active`; sets in `marks`, at bit 0, 1, 2, whether it is in the next frontier, lacks
// nothing, and has a row to be read. All lanes call it.
DEVICE u32 ask_heads(const Many& s, Collector& c, u64 v, bool active, PullTally& lane) {
    Bits have = active ? load_bits(s, s.seen, v) : no_bits();
    const bool finished = !any_in_group(s, active && any(without(active_bits(s), have))) && active;
    if (s.spread && active) add(have, load_bits(s, s.other, v));
    bool lacks = active && any(without(asked_bits(s), have));
    bool open = any_in_group(s, lacks);
    for (u64 group = 0; group < s.in.head_groups && __any_sync(ALL_LANES, open); ++group) {
        if (open) {
            const HeadGroup heads(s.in, v, group);
            const u32 some = worth<HEAD_GROUP>(s, heads.ids, (1u << HEAD_GROUP) - 1, lane, leads_group(s));
            ask<HEAD_GROUP>(s, heads.ids, lacks ? some : 0, have);
            lacks = any(without(asked_bits(s), have));
        }
        open = any_in_group(s, open && lacks);
    }
    const u64 ids = open ? degree(s.in, v) : 0;
    open = open && !heads_are_all(s.in, ids);
    if (open && leads_group(s) && ids <= BLOCK_IDS) lane.left += (u32)ids;
    const Bits found = active ? without(have, load_bits(s, s.seen, v)) : no_bits();
    const bool fresh = any_in_group(s, any(found));
    const bool changed = active && (claimed_by(s, s.many_stand->level)[word_of(v)] & bit_of(v)) != 0;
    if (fresh || changed || open) store_bits(s, s.other, v, have);
    const u32 pairs = collect(s, c, v, open ? no_bits() : found, s.many_stand->level + 1);
    if (leads_group(s) && fresh && !open) {
        lane.found += pairs;
        lane.edges += degree(s.out, v);
        lane.freed += 1;
    }
    return (u32)fresh | (u32)finished << 1 | (u32)open << 2;
}

// Each group whose vertex is `active` reads its row; whether the vertex is in the next frontier. All lanes call it.
DEVICE bool ask_apart(const Many& s, vid v, const Segment& segment, bool active, PullTally& lane) {
    Bits have = active ? load_bits(s, s.other, v) : no_bits();
    bool open = active;
    Cursor<1> cursor(s.in, segment, 0);
    bool lacks = active && any(without(asked_bits(s), have));
    for (open = open && cursor.load(); __any_sync(ALL_LANES, open); open = open && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; j += LOOKS) {
            const u32 some = worth<LOOKS>(s, cursor.ids + j, open ? cursor.valid >> j : 0, lane, leads_group(s));
            ask<LOOKS>(s, cursor.ids + j, lacks ? some : 0, have);
        }
        if (open && leads_group(s)) lane.read += (u32)__popc(cursor.valid);
        lacks = any(without(asked_bits(s), have));
        open = any_in_group(s, open && lacks);
    }
    const bool fresh = active && any(without(have, load_bits(s, s.other, v)));
    if (fresh) store_bits(s, s.other, v, have);
    return any_in_group(s, fresh);
}

// Every group asks for one after the other of the ids that the warp's lanes have, and that are worth a look.
DEVICE void ask_listed(const Many& s, const vid* ids, u32 some, bool lacks, Bits& have) {
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        const u32 todo = __ballot_sync(ALL_LANES, (some >> j) & 1);
        const u32 count = (u32)__popc(todo);
        for (u32 first = own_group(s); first - own_group(s) < count; first += LOOKS * warp_groups(s)) {
            vid each[LOOKS];
            u32 asked = 0;
#pragma unroll
            for (u32 i = 0; i < LOOKS; ++i) {
                const u32 k = first + i * warp_groups(s);
                each[i] = __shfl_sync(ALL_LANES, ids[j], k < count ? nth_set_bit(todo, k) : 0);
                asked |= (u32)(k < count && lacks) << i;
            }
            ask<LOOKS>(s, each, asked, have);
        }
    }
}

// The whole warp reads a segment for a vertex; all lanes that have the same words have the same bits, here and after.
DEVICE void ask_together(const Many& s, const Segment& segment, Bits& have, PullTally& lane) {
    Cursor<WARP> cursor(s.in, segment, lane_id());
    bool lacks = any(without(asked_bits(s), have));
    for (bool more = cursor.load(); more;) {
        lane.read += (u32)__popc(cursor.valid);
        const u32 some = worth<SLOTS>(s, cursor.ids, cursor.valid, lane, true);
        if (s.sparse) ask_listed(s, cursor.ids, some, lacks, have);
        for (u32 part = 0; part < group_lanes(s) && !s.sparse; ++part) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; j += LOOKS) {
                vid ids[LOOKS];
                const u32 asked = hand_out(s, cursor.ids + j, some >> j, part, ids);
                ask<LOOKS>(s, ids, lacks ? asked : 0, have);
            }
        }
        have = join_groups(s, have);
        lacks = any(without(asked_bits(s), have));
        more = __any_sync(ALL_LANES, lacks) && cursor.load();
    }
}

// The whole warp reads the row of v, which nobody else writes to; whether v is in the next frontier.
DEVICE bool ask_row(const Many& s, vid v, const Segment& segment, PullTally& lane) {
    Bits have = load_bits(s, s.other, v);
    ask_together(s, segment, have, lane);
    const bool fresh = any(without(have, load_bits(s, s.other, v)));
    __syncwarp();
    if (fresh && lane_id() < group_lanes(s)) store_bits(s, s.other, v, have);
    return __any_sync(ALL_LANES, fresh);
}

// The whole warp reads a part of the row of v, which may have got from another part what it lacks; `next` is the bitmap
// of the next frontier.
DEVICE void ask_part(const Many& s, u32* next, vid v, const Segment& segment, PullTally& lane) {
    // lanes could read these words at different moments: those of the first group count for all
    Bits have = relaxed_bits(s, s.other, v);
    for (u32 k = 0; k < PART; ++k) have.w[k] = __shfl_sync(ALL_LANES, have.w[k], lane_id() & (group_lanes(s) - 1));
    if (!__any_sync(ALL_LANES, any(without(asked_bits(s), have)))) return;
    ask_together(s, segment, have, lane);
    const Bits fresh = without(have, relaxed_bits(s, s.other, v));
    if (lane_id() >= group_lanes(s) || !any(fresh)) return;
    for (u32 k = 0; k < PART; ++k) {
        if (fresh.w[k]) atomicOr(words_of(s, s.other, v) + k, fresh.w[k]);
    }
    atomicOr(next + word_of(v), bit_of(v));
}

// Reads the chunks listed.
DEVICE void ask_chunks(const Many& s, u64 chunks, PullTally& lane) {
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    for (u64 i = thread_id() / WARP; i < chunks; i += thread_count() / WARP) {
        const u32 c = s.chunk_list[i];
        const u32 hub = __ldg(s.in.chunk_hub + c);
        ask_part(s, next, s.in.hubs[hub], chunk(s.in, c, hub), lane);
    }
}
