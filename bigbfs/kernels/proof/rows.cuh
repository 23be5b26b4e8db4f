// Proof of rows: their rules, for a row, a chunk of a hub's, and the rows of 32 vertices.
//
// Are the rows of a graph what its offsets and degrees say, so that whoever traverses them gets nothing wrong? The
// rules of bigbfs.graph.rows.require_ids: every id is a vertex, rows ascend, a varint row holds as many ids as its
// degree says in the bytes that it has, and no value is longer than an id.
//
// The structure is known to be right (bigbfs.graph.structure: no row has more bytes than its ids may take). Rows are
// read from where traversals read them.
#pragma once
#include "kernels/rows/adjacency.cuh"

// Whether what a cursor reads goes up, load by load; all WIDTH lanes call follows() after each load().
#if VARINT
template <u32 WIDTH> struct Order {
    static constexpr u32 LAST_BYTE = sizeof(vid) == 4 ? 4 : 9;  // of the longest value
    static constexpr u32 LAST_LIMIT = 1u << (8 * (u32)sizeof(vid) - 7 * LAST_BYTE);  // what that holds is below

    // A value that is too long is seen where it has one byte too many, or one bit. Others add less than 2^ID_BITS with
    // each byte, so that a sum that leaves the range of ids falls.
    METHOD bool follows(const Cursor<WIDTH>& c) const {
        bool right = true;
        u32 index = c.begun;
        vid before = c.left;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            right &= index != LAST_BYTE || c.byte(j) < LAST_LIMIT;
            index = c.byte(j) & 0x80 ? index + 1 : 0;
            right &= before <= c.ids[j];
            before = c.ids[j];
            const bool last = c.end + (i32)Cursor<WIDTH>::LINE == (i32)j + 1;
            right &= !(last && c.byte(j) & 0x80);
        }
        return right;
    }
};
#else
template <u32 WIDTH> struct Order {
    vid before = 0;  // last id of the slot before

    // Slot after slot, in each of them lane after lane; what lies outside the segment is 0 to its left.
    METHOD bool follows(const Cursor<WIDTH>& c) {
        bool right = true;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const vid own = c.ids[j];
            vid left = before;
            before = own;
            if (WIDTH > 1) {
                left = __shfl_sync(ALL_LANES, c.lane == WIDTH - 1 ? left : own, (c.lane - 1) & (WIDTH - 1));
                before = __shfl_sync(ALL_LANES, own, WIDTH - 1);
            }
            right &= !c.has(j) || left <= own;
        }
        return right;
    }
};
#endif

// Whether a lane sees a fault in a segment that should hold `ids` ids; `largest` becomes the largest that it read.
// WIDTH lanes call it.
template <u32 WIDTH> DEVICE bool is_broken(const Adjacency& a, const Segment& s, u64 ids, u32 lane, u64& largest) {
    Cursor<WIDTH> cursor(a, s, lane);
    Order<WIDTH> order;
    bool broken = false;
    u64 found = 0;
    largest = 0;
    while (cursor.load()) {
        broken |= !order.follows(cursor);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) {
                found += 1;
                if (cursor.ids[j] > largest) largest = cursor.ids[j];
            }
        }
    }
    if (WIDTH > 1) found = warp_sum(found);
    return broken || found != ids || (ids && largest >= a.n);
}

// First id of a segment; of one without any, 0.
DEVICE vid first_id(const Adjacency& a, const Segment& s) {
    Cursor<1> cursor(a, s, 0);
    vid id = 0;
    bool found = false;
    while (!found && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j) && !found) {
                id = cursor.ids[j];
                found = true;
            }
        }
    }
    return id;
}

DEVICE void report(bool broken, u64* faults) {
    const u32 found = (u32)__popc(__ballot_sync(ALL_LANES, broken));
    if (lane_id() == 0 && found) atomicAdd(faults, (u64)found);
}

// Whether a lane sees a fault in the rows of the 32 vertices from `first` on that are no hubs; those from `last` on are
// left out. A lane alone looks at a short row, all of them at the others; all call it.
DEVICE bool is_any_broken(const Adjacency& a, u64 first, u64 last) {
    bool broken = false;
    u64 largest;
    const u64 own = first + lane_id();
    const u64 ids = own < last ? degree(a, own) : 0;
    Segment segment = {0, 0, 0, false};
    if (own < last && ids <= BLOCK_IDS) segment = row(a, own);
    if (ids <= THREAD_IDS) broken |= is_broken<1>(a, segment, ids, 0, largest);
    for (u32 left = __ballot_sync(ALL_LANES, ids > THREAD_IDS && ids <= BLOCK_IDS); left; left &= left - 1) {
        const u32 from = (u32)__ffs((int)left) - 1;
        const u64 expected = __shfl_sync(ALL_LANES, ids, from);
        broken |= is_broken<WARP>(a, broadcast(segment, from), expected, lane_id(), largest);
    }
    return broken;
}

// Whether a lane sees a fault in chunk c of a hub's row, which must not go further up than the next of the row begins.
DEVICE bool is_chunk_broken(const Adjacency& a, u64 c, u32 hub) {
    u64 largest;
    const u64 begin = (c - a.hub_ptr[hub]) * BLOCK_IDS;
    const u64 ids = degree(a, a.hubs[hub]) - begin;
    bool broken = is_broken<WARP>(a, chunk(a, c, hub), ids < BLOCK_IDS ? ids : BLOCK_IDS, lane_id(), largest);
    if (c + 1 < a.hub_ptr[hub + 1]) broken |= first_id(a, chunk(a, c + 1, hub)) < largest;
    return broken;
}
