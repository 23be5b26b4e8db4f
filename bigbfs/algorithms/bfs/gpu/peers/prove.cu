// Is a tree that several GPUs have found right? Each proves its own rows and vertices by the rules of verify_tree.cu.
//
// gather_tree: a thread owns a vertex, and reads level and parent of those of others in their memory: afterwards every
// rank has the whole tree. prove_own_edges: a warp takes an own row, or a chunk of an own hub's; an edge to a vertex
// from its parent marks it in `joined`, which others read. prove_own_vertices: a thread owns an own vertex; the rank of
// its parent has marked it. All ranks meet on their hosts between the three. Frontier kind: none. Atomics: one atomicOr
// for each tree edge, a count for each fault. Memory per edge: the id, two levels and a parent. Source: Graph500
// specification, section Validation.
#include "algorithms/bfs/gpu/tree_rule.cuh"
#include "kernels/verify/own_edges.cuh"

// bases: where the memory of each rank begins, with levels and parents levels_at and parents_at bytes behind it.
KERNEL void gather_tree(u64 n, Part part, const u64* bases, u64 levels_at, u64 parents_at) {
    i32* const levels = (i32*)(bases[part.rank] + levels_at);
    vid* const parents = (vid*)(bases[part.rank] + parents_at);
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        const u64 owner = owner_of(part, v);
        if (owner == part.rank) continue;
        levels[v] = ((const i32*)(bases[owner] + levels_at))[v];
        parents[v] = ((const vid*)(bases[owner] + parents_at))[v];
    }
}
ENTRY(gather_tree)

KERNEL void prove_own_edges(
    Adjacency a, Part part, const i32* levels, const vid* parents, u32* joined, i32 last, u64* faults
) {
    verify_own_edges(a, part, TreeRule{levels, parents, joined, last}, faults);
}
ENTRY(prove_own_edges)

// joined_at: as levels_at, of the bitmap that every rank has marked.
KERNEL void prove_own_vertices(
    u64 n, Part part, u64 source, const i32* levels, const vid* parents, const u64* bases, u64 joined_at, i32 last,
    u64* faults
) {
    for (u64 i = thread_id(); i < 64 * part.words; i += thread_count()) {
        const u64 v = own_half(part, i / 32) * 32 + i % 32;
        if (v >= n) continue;
        const vid parent = parents[v];
        const u64 above = parent < n ? owner_of(part, parent) : part.rank;
        const bool joined = test_bit((const u32*)(bases[above] + joined_at), v);
        if (breaks_tree(n, source, levels, parents, last, v, joined)) atomicAdd(faults, (u64)1);
    }
}
ENTRY(prove_own_vertices)
