// Is a BFS tree right? The rules of algorithms/bfs/validate.py, for trees that should stay on the device.
//
// Edges: none leads from a reached vertex above the last level to an unreached one, or down more than one level; the
// edge that leads to a vertex from its parent marks it in `joined`. Vertices (one thread each): the source alone has
// level 0, who has a level has a parent one level up, joined to it by an edge. Atomics: one atomicOr for each tree
// edge. Source: Graph500 specification, section Validation.
#include "algorithms/bfs/gpu/tree_rule.cuh"
#include "kernels/verify/edges.cuh"

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
        if (breaks_tree(n, source, levels, parents, last, v, test_bit(joined, v))) atomicAdd(faults, (u64)1);
    }
}
ENTRY(verify_tree_vertices)
