// The state of a BFS that the host runs level by level, and what reading an id means to it: the `Work` of piece.cuh.
//
// Expand reaches every id of a frontier vertex's row; Seek stops at the first id of an unvisited vertex's row that is
// in the frontier. Atomics: an atomicOr on `visited`, whose winner alone writes level, parent and `next`.
#pragma once
#include "kernels/rows/piece.cuh"

enum Count { VERTICES = 0, EDGES = 1, ROWS = 2, UNITS = 3, FOUND = 4, INVALID = 5 };

struct Search {
    // visited, frontier (level `level`), next, wanted, levels, parents, tallies (see Count): as streamed.py says
    SEARCH_ARRAYS
    u64 level;
};
static_assert(sizeof(Search) == SEARCH_BYTES, "Search differs from its NumPy dtype");

DEVICE void settle(const Search& s, u64 v, vid parent) {
    if (s.levels) s.levels[v] = (i32)s.level + 1;
    if (s.parents) s.parents[v] = parent;
}

DEVICE void hand_in(const Search& s, Count which, u64 x) {
    x = warp_sum(x);
    if (lane_id() == 0 && x) atomicAdd(s.tallies + which, x);
}

// Top-down: every id of a row is reached.
struct Expand {
    static constexpr bool STOPS = false;
    const Search& s;
    u64 n;
    u64 found;

    METHOD Expand(const Search& search, u64 vertices) : s(search), n(vertices), found(0) {}

    METHOD bool wants(vid) const { return true; }

    METHOD bool read(vid v, vid u) {
        if (u >= n) {
            atomicAdd(s.tallies + INVALID, (u64)1);
        } else if (claim_bit(s.visited, u)) {
            settle(s, u, v);
            atomicOr(s.next + word_of(u), bit_of(u));
            found += 1;
        }
        return false;
    }
};

// Bottom-up: the first id of a row that is in the frontier is the parent.
struct Seek {
    static constexpr bool STOPS = true;
    const Search& s;
    u64 n;
    u64 found;

    METHOD Seek(const Search& search, u64 vertices) : s(search), n(vertices), found(0) {}

    METHOD bool wants(vid v) const { return !(relaxed_load(s.visited + word_of(v)) & bit_of(v)); }

    METHOD bool read(vid v, vid u) {
        if (u >= n) {
            atomicAdd(s.tallies + INVALID, (u64)1);
            return false;
        }
        if (!test_bit(s.frontier, u)) return false;
        if (claim_bit(s.visited, v)) {
            settle(s, v, u);
            atomicOr(s.next + word_of(v), bit_of(v));
            found += 1;
        }
        return true;
    }
};

// True if some head of v is in the frontier: it is the parent.
DEVICE bool parent_among_heads(const Adjacency& a, const u32* frontier, u64 v, vid& parent) {
    bool hit = false;
    bool more = true;
    for (u64 group = 0; more && group < a.head_groups; ++group) {
        const HeadGroup heads(a, v, group);
        // no return in here: leaving an unrolled loop makes compilers keep ids in memory instead of registers
#pragma unroll
        for (u32 j = 0; j < HEAD_GROUP; ++j) {
            if (more) {
                hit = test_bit(frontier, heads.ids[j]);
                if (hit) parent = heads.ids[j];
                more = !hit && heads.ids[j] != (vid)v;
            }
        }
    }
    return hit;
}
