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
    // of vertices whose bits are final after their heads
    u32 found;
    u32 freed;
    u32 full;
    u64 edges;
};

// Adds up over the warp and hands in; all lanes call it.
DEVICE void add_up(const Many& s, const PullTally& lane) {
    tally(&s.many_sums->left, lane.left);
    tally(&s.counts->read, lane.read);
}

// An id that is a vertex and may bring something new: where few edges lead to the frontier, its bitmap says so.
DEVICE bool may_bring(const Many& s, vid id, bool wanted, PullTally& lane, bool counts) {
    const bool inside = id < s.vertices;
    if (wanted && !inside && counts) atomicAdd(&s.counts->invalid, (u64)1);
    if (!wanted || !inside) return false;
    return !s.sparse || (claimed_by(s, s.many_stand->level)[word_of(id)] & bit_of(id)) != 0;
}

// Adds the sources that have reached one of ids[j], for the bits j of `asked`, in the words that lane `part` of a group
// has; all are asked for before the first answer.
template <u32 COUNT> DEVICE void ask_for(const Many& s, const vid* ids, u32 asked, u32 part, Bits& found) {
    Bits each[COUNT];
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        each[j] = (asked >> j) & 1 ? load_part(word_at(s, s.seen, ids[j], part * PART)) : no_bits();
    }
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) add(found, each[j]);
}

// The same for the lane's own words.
template <u32 COUNT> DEVICE void ask(const Many& s, const vid* ids, u32 asked, Bits& found) {
    ask_for<COUNT>(s, ids, asked, own_part(s), found);
}

// Instead of neighbours that are worth a look: one of them is full, and brings all that is asked for.
constexpr u32 ALL_ASKED = 1u << 31;

// Those of ids[j], for the bits j of `asked`, that are worth a look, or ALL_ASKED alone.
template <u32 COUNT> DEVICE u32 worth(const Many& s, const vid* ids, u32 asked, PullTally& lane, bool counts) {
    u32 found = 0, full = 0;
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) found |= (u32)may_bring(s, ids[j], (asked >> j) & 1, lane, counts) << j;
    if (!s.by_full) return found;
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) full |= (found >> j) & 1 ? s.full[word_of(ids[j])] & bit_of(ids[j]) : 0;
    return full ? ALL_ASKED : found;
}

// The lane's part of what is asked for, if `some` says that a full neighbour brings it.
DEVICE void add_all(const Many& s, u32 some, Bits& have) {
    if (some & ALL_ASKED) add(have, asked_bits(s));
}

// Asks for what ask_heads will want to know of v, ahead of time.
DEVICE void fetch_ahead(const Many& s, u64 v) {
    prefetch(s.seen + v * vertex_words(s));
    if (s.spread) prefetch(s.other + v * vertex_words(s));
    prefetch_heads(s.in, v, 0);
    if (!s.by_full) prefetch_heads(s.in, v, 1);  // else the first group most often has a full one
    prefetch_degree(s.out, v);
}

// A vertex for each group that is `active`; returns, at bit 0, 1, 2, whether it is in the next frontier, lacks nothing
// after it, and has a row to be read. All lanes call it.
DEVICE u32 ask_heads(const Many& s, Collector& c, u64 v, bool active, PullTally& lane) {
    Bits have = active ? load_bits(s, s.seen, v) : no_bits();
    if (s.spread && active) add(have, load_bits(s, s.other, v));
    bool lacks = active && any(without(asked_bits(s), have));
    bool open = any_in_group(s, lacks);
    for (u64 group = 0; group < s.in.head_groups && __any_sync(ALL_LANES, open); ++group) {
        if (open) {
            const HeadGroup heads(s.in, v, group);
            const u32 some = worth<HEAD_GROUP>(s, heads.ids, (1u << HEAD_GROUP) - 1, lane, leads_group(s));
            ask<HEAD_GROUP>(s, heads.ids, lacks ? some : 0, have);
            add_all(s, some, have);
            lacks = any(without(asked_bits(s), have));
            // else the row has ended; the id is asked for anew, because registers are scarce
            open = head(s.in, v, (u32)group * HEAD_GROUP + HEAD_GROUP - 1) != (vid)v;
        }
        open = any_in_group(s, open && lacks);
        if (open) prefetch_heads(s.in, v, group + 2);  // fetch_ahead has asked for the first ones
    }
    const u64 ids = open ? degree(s.in, v) : 0;
    open = open && !heads_are_all(s.in, ids);
    if (open && leads_group(s) && ids <= BLOCK_IDS) lane.left += (u32)ids;
    const bool full = !any_in_group(s, open || any(without(active_bits(s), have))) && active;
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
    return (u32)fresh | (u32)full << 1 | (u32)open << 2;
}
