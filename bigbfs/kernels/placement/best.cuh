// The heads of a row: its ids of highest degree, best first, as placement puts them into the head table.
//
// A warp owns a row; every lane keeps the best LANE_BEST ids that it has read, then the warp takes the best of all
// lanes, one after the other: exact for rows of up to 128 ids, nearly so for longer ones. A row of SHORT_ROW ids or
// fewer, as most are, is a thread's own (short_heads). Atomics: one for each id that is no vertex. Memory per edge:
// the id and, unless ids are ranks already, two words of indptr.
#pragma once
#include "kernels/base/chance.cuh"
#include "kernels/rows/heads.cuh"

constexpr u32 LANE_BEST = 4;

// Longest row whose best ids, all of them, a thread holds in registers.
constexpr u32 SHORT_ROW = ID_BITS == 32 ? THREAD_IDS : THREAD_IDS / 2;

// A lane's best ids, best first; key 0: none.
template <u32 COUNT> struct Best {
    u64 keys[COUNT];
    vid ids[COUNT];

    METHOD Best() {
#pragma unroll
        for (u32 i = 0; i < COUNT; ++i) keys[i] = ids[i] = 0;
    }

    METHOD void insert(u64 key, vid id) {
#pragma unroll
        for (u32 i = 0; i < COUNT; ++i) {
            if (key > keys[i]) {
                const u64 other_key = keys[i];
                const vid other = ids[i];
                keys[i] = key;
                ids[i] = id;
                key = other_key;
                id = other;
            }
        }
    }

    METHOD void drop_first() {
#pragma unroll
        for (u32 i = 0; i + 1 < COUNT; ++i) {
            keys[i] = keys[i + 1];
            ids[i] = ids[i + 1];
        }
        keys[COUNT - 1] = 0;
    }
};

// Key of a neighbour by its degree; of equal ones the first by chance, as cc_afforest.cu's first forest wants them:
// where degrees are alike, few vertices are then better than all of their neighbours.
DEVICE u64 strength(u64 ids, vid u) {
    const u64 most = 0xffffffffull;
    return ((ids < most ? ids + 1 : most) << 32) | (u32)~chance(u);
}

// Gives the neighbour u of v its place in `best`; `all` has the degrees of all vertices.
template <u32 COUNT>
DEVICE void consider(const Adjacency& all, u64 v, vid u, u32 ranked, Best<COUNT>& best, u64* invalid) {
    if (u >= all.n) atomicAdd(invalid, (u64)1);
    else if (u != (vid)v) best.insert(ranked ? all.n - u : strength(degree(all, u), u), u);
}

// Reads a segment of the row of v, or its beginning where ids are ranks; all lanes call it. `all`: as for consider.
DEVICE Best<LANE_BEST> read_best(
    const Adjacency& a, const Adjacency& all, u64 v, const Segment& part, u32 ranked, u64* invalid
) {
    const u64 wanted = a.head_groups * HEAD_GROUP;
    Best<LANE_BEST> best;
    u64 seen = 0;
    Cursor<WARP> cursor(a, part, lane_id());
    while ((!ranked || seen < wanted) && cursor.load()) {
        u64 own = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) {
                own += cursor.ids[j] != (vid)v;  // a self-loop is no head
                consider(all, v, cursor.ids[j], ranked, best, invalid);
            }
        }
        seen += warp_sum(own);
    }
    return best;
}

// Puts the best ids of v into the table, and v itself where there are no more; all lanes call it.
DEVICE void write_heads(const Adjacency& a, u64 v, Best<LANE_BEST>& best, vid* heads) {
    const u32 wanted = (u32)a.head_groups * HEAD_GROUP;
    vid chosen = (vid)v;
    for (u32 i = 0; i < wanted; ++i) {
        const u64 top = warp_max(best.keys[0]);
        if (top == 0) break;
        const u32 from = (u32)__ffs((int)__ballot_sync(ALL_LANES, best.keys[0] == top)) - 1;
        const vid id = __shfl_sync(ALL_LANES, best.ids[0], from);
        if (lane_id() == i) chosen = id;
        if (lane_id() == from) best.drop_first();
    }
    const u32 i = lane_id();
    if (i < wanted) heads[(i / HEAD_GROUP * a.head_rows + v) * HEAD_GROUP + i % HEAD_GROUP] = chosen;
}

// Fills the heads of v, whose row has SHORT_ROW ids or fewer, or none; a thread alone. `all`: as for consider.
DEVICE void short_heads(const Adjacency& a, const Adjacency& all, u64 v, u32 ranked, vid* heads, u64* invalid) {
    Best<SHORT_ROW> best;
    Cursor<1> cursor(a, row(a, v), 0);
    while (cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) consider(all, v, cursor.ids[j], ranked, best, invalid);
        }
    }
    const u32 wanted = (u32)a.head_groups * HEAD_GROUP;
#pragma unroll
    for (u32 i = 0; i < SHORT_ROW; ++i) {
        if (i >= wanted) continue;
        heads[(i / HEAD_GROUP * a.head_rows + v) * HEAD_GROUP + i % HEAD_GROUP] = best.keys[i] ? best.ids[i] : (vid)v;
    }
    for (u32 i = SHORT_ROW; i < wanted; ++i)
        heads[(i / HEAD_GROUP * a.head_rows + v) * HEAD_GROUP + i % HEAD_GROUP] = (vid)v;
}
