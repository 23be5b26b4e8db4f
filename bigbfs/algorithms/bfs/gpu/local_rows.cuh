// How the lanes of a block read rows while levels are local (local.cuh): eight to a vertex, all ends claimed at once.
//
// Short rows, of no more ids than lanes, come from the head table. Where s.local is 2, longer ones of up to
// LOCAL_LONGEST ids are read where they lie, if the list has room for all that they may lead to. What the next level
// begins with is asked for as soon as a vertex is found: it comes while the blocks meet.
// Frontier kind: lists in shared memory. Atomics: one atomicOr on `visited` for each edge, one in shared memory for
// each vertex found, and for each row where they may be long. Memory per edge: the id and one word of `visited`.
// Source: ours.
#pragma once
#include "algorithms/bfs/gpu/topdown.cuh"

// Lanes that share a row, and the longest one that they read from the head table.
constexpr u32 LOCAL_IDS = 8;

// Longest row of a level that stays local, and the mean one of a frontier that begins as a local one.
constexpr u32 LOCAL_LONGEST = 48;
constexpr u32 LOCAL_MEAN = 32;

// Ids of a row that a lane reads, all before the first end is claimed.
constexpr u32 LOCAL_SLOTS = LOCAL_LONGEST / LOCAL_IDS;

// Vertices that a block expands at most, and ids that the list of a level has room for: two fit the block's buffer.
constexpr u32 LOCAL_VERTICES = TEAM_WARPS * BUFFER_IDS / (2 * LOCAL_IDS);
constexpr u32 LOCAL_ROOM = LOCAL_VERTICES * LOCAL_IDS;

// Asks for the first heads of v ahead of time, as many as lanes share a row.
DEVICE void prefetch_held(const Adjacency& a, u64 v) {
    prefetch_heads(a, v);
    prefetch_heads(a, v, 1);
}

// Asks for the degree of v, and for the first heads if they are its row, ahead of time.
DEVICE void prefetch_local(const Bfs& s, const Team& t, u64 v) {
    prefetch_degree(s.out, v);
    if (!t.longer) prefetch_held(s.out, v);
}

// The edges parent -> ids[j] were read, for the bits j of `asked`. All ends are claimed before an answer is looked at.
template <u32 COUNT> DEVICE void reach_local(const Bfs& s, Team& t, vid* next, const vid* ids, u32 asked, vid parent) {
    u32 before[COUNT];
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        const bool wanted = (asked >> j) & 1;
        if (wanted && ids[j] >= s.out.n) count_invalid(s);
        before[j] = wanted && ids[j] < s.out.n ? atomicOr(s.visited + word_of(ids[j]), bit_of(ids[j])) : ~0u;
    }
#pragma unroll
    for (u32 j = 0; j < COUNT; ++j) {
        if (before[j] & bit_of(ids[j])) continue;
        prefetch_local(s, t, ids[j]);
        settle(s, ids[j], parent, t.level + 1);
        next[atomicAdd(&t.tail, 1u)] = ids[j];
    }
}

DEVICE void put_aside(Team& t, vid v) { t.aside[atomicAdd(&t.aside_count, 1u)] = v; }

// Lane `part` of those that share vertex v, whose row is short or put aside.
DEVICE void expand_short(const Bfs& s, Team& t, vid* next, vid v, u32 part) {
    // asked for before it is known whether the row has so many, so that both trips run at the same time
    const vid u = part < s.out.head_groups * HEAD_GROUP && v < s.out.head_rows ? head(s.out, v, part) : v;
    const u64 ids = degree(s.out, v);
    if (ids <= LOCAL_IDS && heads_are_all(s.out, ids)) {
        if (part < ids) reach_local<1>(s, t, next, &u, 1, v);
    } else if (part == 0) {
        put_aside(t, v);
    }
}

#if !VARINT
// The same of a row that may be long; lanes that are not `active` have no vertex. All lanes call it.
DEVICE void expand_long(const Bfs& s, Team& t, vid* next, vid v, u32 part, bool active) {
    vid ids[LOCAL_SLOTS];
    // as above: where rows are outside, heads are asked for before it is known whether they are the row
    const u32 held = active && v < s.out.head_rows ? (u32)s.held_to : 0;
#pragma unroll
    for (u32 j = 0; j < LOCAL_SLOTS; ++j) {
        const u32 i = part + j * LOCAL_IDS;
        ids[j] = i < held ? head(s.out, v, i) : v;
    }
    Segment whole = {0, 0, 0, false};
    if (active) whole = row(s.out, v);
    const u64 count = whole.end - whole.begin;
    u32 taken = 0;
    if (part == 0 && count <= LOCAL_LONGEST) taken = atomicAdd(&t.taken, (u32)count);
    taken = __shfl_sync(ALL_LANES, taken, lane_id() & ~(LOCAL_IDS - 1));
    if (!count) return;
    if (count > LOCAL_LONGEST || taken + count > LOCAL_ROOM) {
        if (part == 0) put_aside(t, v);
        return;
    }
    const vid* const data = (const vid*)memory_of(s.out, whole) + whole.begin;
    u32 valid = 0;
#pragma unroll
    for (u32 j = 0; j < LOCAL_SLOTS; ++j) {
        const u32 i = part + j * LOCAL_IDS;
        if (i < count && count > held) ids[j] = __ldg(data + i);
        valid |= (u32)(i < count) << j;
    }
    to_numbers<LOCAL_SLOTS>(s.out, ids, count > held && is_outside(s.out, whole) ? valid : 0);
    reach_local<LOCAL_SLOTS>(s, t, next, ids, valid, v);
}
#endif

// The block's part of a level, in `now`.
DEVICE void expand_local(const Bfs& s, Team& t, const vid* now, vid* next) {
#if !VARINT
    if (t.longer) {
        for (u32 base = threadIdx.x & ~(WARP - 1); base < t.own * LOCAL_IDS; base += TEAM) {
            const u32 i = base + lane_id();
            const bool active = i < t.own * LOCAL_IDS;
            expand_long(s, t, next, active ? now[i / LOCAL_IDS] : 0, i % LOCAL_IDS, active);
        }
        return;
    }
#endif
    for (u32 i = threadIdx.x; i < t.own * LOCAL_IDS; i += TEAM) {
        expand_short(s, t, next, now[i / LOCAL_IDS], i % LOCAL_IDS);
    }
}
