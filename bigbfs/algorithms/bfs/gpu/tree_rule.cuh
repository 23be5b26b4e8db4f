// The rules of a BFS tree (verify_tree.cu), for an edge and for a vertex.
#pragma once
#include "kernels/base/bitmap.cuh"

struct TreeRule {
    const i32* levels;
    const vid* parents;
    u32* joined;
    i32 last;  // level at which the search was to stop

    METHOD bool broken(u64 u, vid v) const {
        if (levels[u] < 0) return false;
        if (levels[v] < 0) return levels[u] < last;
        if (levels[v] > levels[u] + 1) return true;
        if (parents[v] == (vid)u && !(relaxed_load(joined + word_of(v)) & bit_of(v))) {
            atomicOr(joined + word_of(v), bit_of(v));
        }
        return false;
    }
};

// Whether v, whose tree edge was met if `joined`, has a level or a parent that no tree from `source` has.
DEVICE bool breaks_tree(u64 n, u64 source, const i32* levels, const vid* parents, i32 last, u64 v, bool joined) {
    const vid parent = parents[v];
    if (v == source || levels[v] <= 0) return levels[v] != (v == source ? 0 : -1) || parent != (vid) ~(vid)0;
    return parent >= n || levels[parent] != levels[v] - 1 || !joined || levels[v] > last;
}
