// The forest in which components grow: forest[v] is v's parent, a root is its own.
//
// A root is only ever hung below a vertex that comes before it in a fixed order, so no cycle can close: by ids, the
// smaller first, so that a root is the smallest vertex of its tree; or by chance, a hash of the id. By chance because
// neighbours' ids often ascend along a line (a grid, a road): by ids, trees hooked at the same moment become a chain
// as long as the line, by chance about the logarithm of it. cc_plant's own trees follow another order; before the
// first link, cc_compress must have pointed all vertices at roots, or links climb there: a link meets only vertices
// that were roots then, and those follow this one. Reports that link with one atomicMin on a root that may be stale
// lose links; a compare-and-swap that fails is tried again from what is there now.
#pragma once
#include "kernels/base/chance.cuh"

// Whether links of trees that go by chance climb to roots themselves: on one of several GPUs, which has pointed only
// its own vertices at roots.
#ifndef CLIMBS
#define CLIMBS 0
#endif

// True if u comes before v, another vertex.
DEVICE bool before(vid u, vid v, u32 by_id) {
    if (by_id) return u < v;
    const u32 one = chance(u);
    const u32 other = chance(v);
    return one != other ? one < other : u < v;
}

// True if u, which has `one` neighbours, is stronger than v, which has `other`: it has more, or as many and comes
// before v. Along such steps no cycle can close.
DEVICE bool is_stronger(vid u, u64 one, vid v, u64 other) {
    return one != other ? one > other : u != v && before(u, v, 0);
}

// Steps to a root that are not worth shortening: those of the first trees, whose upper vertices are on the way of
// millions.
constexpr u32 SHORT_WAY = 4;

// The root of v, whose parent and the parent's own are known: v is put below it, and a long way there made shorter.
// A vertex on the way may have been put below the root by its own thread meanwhile, which nobody may undo. An old value
// is as good: it is a vertex on the way, and a root, or where links go on meanwhile was one when they began; from its
// cache a multiprocessor reads them without all meeting at one line.
DEVICE vid root_above(vid* forest, vid v, vid parent, vid further) {
    vid at = v;
    vid above = parent;
    u32 steps = 0;
    for (; further != above; further = stale_load(forest + above)) {
        if (++steps > SHORT_WAY) atomicCAS(forest + at, above, further);
        at = above;
        above = further;
    }
    if (above != parent) relaxed_store(forest + v, above);
    return above;
}

DEVICE vid find_root(vid* forest, vid v) {
    const vid parent = stale_load(forest + v);
    return root_above(forest, v, parent, stale_load(forest + parent));
}

// Vertices that a thread asks for before it waits for one.
constexpr u32 POINTED = 4;

// Points the vertices v[j] below `end` at their roots, and says whose parent is another vertex, by bits.
DEVICE u32 point(vid* forest, const u64* v, u64 end) {
    vid parent[POINTED], above[POINTED];
#pragma unroll
    for (u32 j = 0; j < POINTED; ++j) parent[j] = v[j] < end ? stale_load(forest + v[j]) : (vid)v[j];
#pragma unroll
    for (u32 j = 0; j < POINTED; ++j) above[j] = v[j] < end ? stale_load(forest + parent[j]) : parent[j];
    u32 below = 0;
#pragma unroll
    for (u32 j = 0; j < POINTED; ++j) {
        below |= (u32)(parent[j] != (vid)v[j]) << j;
        root_above(forest, (vid)v[j], parent[j], above[j]);
    }
    return below;
}

// Unites the trees of u and v; returns how many roots that hung, 0 or 1.
DEVICE u32 link(vid* forest, vid u, vid v, u32 by_id) {
    vid a = CLIMBS && !by_id ? find_root(forest, u) : relaxed_load(forest + u);
    vid b = CLIMBS && !by_id ? find_root(forest, v) : relaxed_load(forest + v);
    while (a != b) {
        const bool swap = before(a, b, by_id);
        const vid late = swap ? b : a;
        const vid early = swap ? a : b;
        vid above = relaxed_load(forest + late);
        if (above == early) return 0;
        if (above == late) {
            above = atomicCAS(forest + late, late, early);
            if (above == late) return 1;
        }
        // late is no root and never will be one again: whoever comes after takes a shorter way
        a = relaxed_load(forest + above);
        if (a != above) relaxed_store(forest + late, a);
        b = relaxed_load(forest + early);
    }
    return 0;
}

// The same tried once: hangs the label of one end below that of the other if it still is a root. Returns 1 if it did;
// counts in `open` that the labels differed.
DEVICE u32 hook(vid* forest, vid u, vid v, u32 by_id, u32& open) {
    const vid a = relaxed_load(forest + u);
    const vid b = relaxed_load(forest + v);
    if (a == b) return 0;
    open += 1;
    const bool swap = before(a, b, by_id);
    const vid late = swap ? b : a;
    return atomicCAS(forest + late, late, swap ? a : b) == late;
}
