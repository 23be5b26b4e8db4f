// The two simple algorithms for connected components, points of reference: Shiloach and Vishkin's hooking, and label
// propagation.
//
// A warp owns 32 vertices or a chunk of a hub row. Frontier kind: none (hooking), or a bitmap of the vertices whose
// labels got smaller (propagation). Atomics: a compare-and-swap for each link whose ends differ; a minimum and a bit
// for each label handed on. Memory per edge: the id and one or two labels. Sources: Shiloach, Vishkin, An O(log n)
// parallel connectivity algorithm (J. Algorithms 3, 1982); Min et al., EMOGI (VLDB'20).
#include "algorithms/components/gpu/operations.cuh"
#include "kernels/passes/passes.cuh"

// Tries to hook the roots at both ends of every edge of the vertices whose root is not *giant, once; except hubs.
KERNEL void cc_hook_rows(Adjacency a, vid* forest, u32 by_id, const vid* giant, Counts* counts) {
    Hook operation = {forest, *giant, by_id, {0, 0, 0}};
    walk_rows<false>(a, operation, counts);
}
ENTRY(cc_hook_rows)

// The same for the chunks of hub rows.
KERNEL void cc_hook_hubs(Adjacency a, vid* forest, u32 by_id, const vid* giant, Counts* counts) {
    Hook operation = {forest, *giant, by_id, {0, 0, 0}};
    walk_hubs(a, operation, counts);
}
ENTRY(cc_hook_hubs)

// Brings both ends of every edge of the vertices in `active` to the smaller of their labels; who got one is in
// `following`. Except hubs.
KERNEL void cc_spread_rows(Adjacency a, vid* labels, const u32* active, u32* following, Counts* counts) {
    Spread operation = {labels, active, following, {0, 0, 0}};
    walk_rows<false>(a, operation, counts);
}
ENTRY(cc_spread_rows)

// The same for the chunks of hub rows.
KERNEL void cc_spread_hubs(Adjacency a, vid* labels, const u32* active, u32* following, Counts* counts) {
    Spread operation = {labels, active, following, {0, 0, 0}};
    walk_hubs(a, operation, counts);
}
ENTRY(cc_spread_hubs)
