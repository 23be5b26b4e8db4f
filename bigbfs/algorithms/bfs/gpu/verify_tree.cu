// Is a BFS tree right? The rules of algorithms/bfs/validate.py, for trees that should stay on the device.
//
// Edges: none leads from a reached vertex above the last level to an unreached one, or down more than one level; the
// edge that leads to a vertex from its parent marks it in `joined`. Vertices (one thread each): the source alone has
// level 0, who has a level has a parent one level up, joined to it by an edge. Atomics: one atomicOr for each tree
// edge. Source: Graph500 specification, section Validation.
#include "kernels/verify/edges.cuh"

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

KERNEL void verify_tree_edges(Adjacency a, const i32* levels, const vid* parents, u32* joined, i32 last, u64* faults) {
    verify_edges(a, TreeRule{levels, parents, joined, last}, faults);
}
ENTRY(verify_tree_edges)

KERNEL void verify_tree_pieces(
    Adjacency a, const i32* levels, const vid* parents, u32* joined, i32 last, const Piece* pieces, u64 count,
    u64* faults
) {
    verify_pieces(a, TreeRule{levels, parents, joined, last}, pieces, count, faults);
}
ENTRY(verify_tree_pieces)

KERNEL void verify_tree_vertices(
    u64 n, u64 source, const i32* levels, const vid* parents, const u32* joined, i32 last, u64* faults
) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        const vid parent = parents[v];
        bool broken = false;
        if (v == source || levels[v] <= 0) {
            broken = levels[v] != (v == source ? 0 : -1) || parent != (vid) ~(vid)0;
        } else {
            broken = parent >= n || levels[parent] != levels[v] - 1 || !test_bit(joined, v) || levels[v] > last;
        }
        if (broken) atomicAdd(faults, (u64)1);
    }
}
ENTRY(verify_tree_vertices)
