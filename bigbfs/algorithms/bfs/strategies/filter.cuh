// Who wins a vertex that several threads find in one level. The winner writes level and parent, the others neither.
#pragma once
#include "algorithms/bfs/strategies/search.cuh"

DEVICE bool is_reached(const Search& s, vid u) { return relaxed_load(s.levels + u) != -1; }

DEVICE void set_parent(const Search& s, vid u, vid v) {
    if (s.parents) s.parents[u] = v;
}

// Exactly one thread wins. -1 is the largest u32, so that the smallest level stays; most ends are reached already, and
// a look costs less than an atomic.
DEVICE bool claim_label(const Search& s, vid v, vid u) {
    if (is_reached(s, u)) return false;
    if (atomicMin((u32*)s.levels + u, (u32)s.level + 1) != ~0u) return false;
    set_parent(s, u, v);
    return true;
}

// The same by a compare-and-swap.
DEVICE bool swap_label(const Search& s, vid v, vid u) {
    if (is_reached(s, u)) return false;
    if (atomicCAS((u32*)s.levels + u, ~0u, (u32)s.level + 1) != ~0u) return false;
    set_parent(s, u, v);
    return true;
}

// Whoever looks before the label is stored wins: several threads may. All write the same level, and the last one the
// parent.
DEVICE bool store_label(const Search& s, vid v, vid u) {
    if (is_reached(s, u)) return false;
    relaxed_store(s.levels + u, (i32)s.level + 1);
    if (s.parents) relaxed_store(s.parents + u, v);
    return true;
}

// Exactly one thread wins, by its place as the parent; the source, which has none, is nobody's.
DEVICE bool claim_parent(const Search& s, vid v, vid u) {
    const vid none = ~(vid)0;
    if (u == s.source || relaxed_load(s.parents + u) != none) return false;
    if (atomicCAS(s.parents + u, none, v) != none) return false;
    s.levels[u] = (i32)s.level + 1;
    return true;
}
