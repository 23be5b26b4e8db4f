// A row in slices, so that several warps can read it at the same time: as many ids as one load() gives a warp where
// rows are plain, a block where they are varint.
#pragma once
#include "kernels/rows/adjacency.cuh"

#if VARINT

DEVICE u64 slices(const Adjacency& a, u64 v) { return (degree(a, v) + BLOCK_IDS - 1) / BLOCK_IDS; }

// Slice number i of the row of v; i < slices(a, v).
DEVICE Segment slice(const Adjacency& a, vid v, u64 i) {
    if (degree(a, v) <= BLOCK_IDS) return row(a, v);
    const u32 hub = find_hub(a, v);
    return chunk(a, a.hub_ptr[hub] + i, hub);
}

#else

constexpr u64 SLICE_IDS = WARP * SLOTS;

// Slices end where a cursor's loads end, so that each of them is one load.
DEVICE u64 slices(const Adjacency& a, u64 v) {
    const Segment s = row(a, v);
    return s.begin < s.end ? (s.end - 1) / SLICE_IDS - s.begin / SLICE_IDS + 1 : 0;
}

DEVICE Segment slice(const Adjacency& a, vid v, u64 i) {
    Segment s = row(a, v);
    const u64 first = (s.begin / SLICE_IDS + i) * SLICE_IDS;
    if (s.begin < first) s.begin = first;
    if (s.end > first + SLICE_IDS) s.end = first + SLICE_IDS;
    return s;
}

#endif
