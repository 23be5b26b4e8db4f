// The head table: up to head_groups x HEAD_GROUP neighbours of every vertex, those of highest degree first, in device
// memory, of vertices up to the last that has an edge. Group g of vertex v lies at heads[(g * head_rows + v) *
// HEAD_GROUP]: a sweep over vertices that find what they look for in the first group reads 16 bytes (u32 ids) for each
// and never the other groups. A row of fewer neighbours is filled up with the vertex's own id, which no row of a graph
// without self-loops holds and no search looks for.
#pragma once
#include "kernels/rows/adjacency.cuh"

constexpr u32 HEAD_GROUP = 4;

struct HeadGroup {
    vid ids[HEAD_GROUP];

    METHOD HeadGroup(const Adjacency& a, u64 v, u64 group) {
        const vid* const at = a.heads + (group * a.head_rows + v) * HEAD_GROUP;
#if ID_BITS == 32
        const uint4 all = __ldg((const uint4*)at);
        ids[0] = all.x;
        ids[1] = all.y;
        ids[2] = all.z;
        ids[3] = all.w;
#else
        const ulonglong2 low = __ldg((const ulonglong2*)at);
        const ulonglong2 high = __ldg((const ulonglong2*)at + 1);
        ids[0] = low.x;
        ids[1] = low.y;
        ids[2] = high.x;
        ids[3] = high.y;
#endif
    }
};

// Asks for a group of heads of v ahead of time, if there is one.
DEVICE void prefetch_heads(const Adjacency& a, u64 v, u64 group = 0) {
    if (group < a.head_groups && v < a.head_rows) prefetch(a.heads + (group * a.head_rows + v) * HEAD_GROUP);
}

// Head number `which` of v, or v itself.
DEVICE vid head(const Adjacency& a, u64 v, u32 which) {
    return __ldg(a.heads + (which / HEAD_GROUP * a.head_rows + v) * HEAD_GROUP + which % HEAD_GROUP);
}

// True if the whole row of v is in the table.
DEVICE bool heads_are_all(const Adjacency& a, u64 ids) { return ids <= a.head_groups * HEAD_GROUP; }
