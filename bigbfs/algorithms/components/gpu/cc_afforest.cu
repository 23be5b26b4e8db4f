// Connected components by Afforest, exact: the first forest from the head table, links by compare-and-swap with retry.
//
// A thread owns a vertex (cc_plant, cc_round, cc_compress, cc_label), a warp 32 vertices or a chunk of a hub row
// (cc_link_*). Frontier kind: none. Atomics: one compare-and-swap for each merge of two trees, more when it loses a
// race; a minimum for each tree, and few more. Memory per edge: the id and the labels along two short paths. Source:
// Sutton, Ben-Nun, Barak, Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling (IPDPS'18).
#include "algorithms/components/gpu/giant.cuh"
#include "algorithms/components/gpu/operations.cuh"
#include "kernels/passes/passes.cuh"

constexpr u32 PART_BITS = 3;   // a round can be cut into 8 parts
constexpr u32 PIECE_BITS = 10; // of pieces of 1024 vertices in turn

DEVICE bool stronger(const Adjacency& a, vid u, vid v, u32 by_id) {
    return by_id ? u < v : is_stronger(u, degree(a, u), v, degree(a, v));
}

// The first forest: every vertex, or with `tie` every vertex below its first head if that is stronger. No atomics.
// Where the order is not by id, labels become the vertices (else they are the forest).
KERNEL void cc_plant(Adjacency a, vid* forest, vid* labels, u32 tie, u32 by_id) {
    for (u64 v = thread_id(); v < a.n; v += thread_count()) {
        vid parent = (vid)v;
        if (tie && a.head_groups && test_bit(a.rows, v)) {
            const vid first = head(a, v, 0);
            if (stronger(a, first, (vid)v, by_id)) parent = first;
        }
        forest[v] = parent;
        if (!by_id) labels[v] = (vid)v;
    }
}
ENTRY(cc_plant)

// Links vertices to their neighbours number first..last - 1 (heads, where there is a table), unless *settled: those of
// the parts begin..end - 1, or all of them where that is 0..8.
KERNEL void cc_round(
    Adjacency a, vid* forest, u32 by_id, u32 first, u32 last, u32 begin, u32 end, const u32* settled, Counts* counts
) {
    if (*settled) return;
    const u64 pieces = (a.n >> (PIECE_BITS + PART_BITS)) + 1;
    const u64 width = end - begin;
    const u64 size = (pieces * width) << PIECE_BITS;
    for (u64 i = thread_id(); i < size; i += thread_count()) {
        const u64 piece = i >> PIECE_BITS;
        const u64 place = ((piece / width) << PART_BITS) + begin + piece % width;
        const u64 v = (place << PIECE_BITS) + (i & ((1u << PIECE_BITS) - 1));
        if (v >= a.n || !test_bit(a.rows, v)) continue;
        if (a.head_groups) {
            for (u32 which = first; which < last; ++which) {
                const vid u = head(a, v, which);
                if (u == (vid)v) break;  // the row has no more
                link(forest, (vid)v, u, by_id);
            }
            continue;
        }
        Cursor<1> cursor(a, row(a, v), 0);
        u32 seen = 0;
        while (seen < last && cursor.load()) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; ++j) {
                if (!cursor.has(j)) continue;
                const u32 which = seen++;
                if (which < first || which >= last) continue;
                if (cursor.ids[j] < a.n) link(forest, (vid)v, cursor.ids[j], by_id);
                else atomicAdd(&counts->invalid, (u64)1);
            }
        }
    }
}
ENTRY(cc_round)

// Points every vertex at its root, unless *settled: then they do.
KERNEL void cc_compress(u64 n, vid* forest, const u32* settled) {
    if (*settled) return;
    for (u64 first = thread_id(); first < n; first += POINTED * thread_count()) {
        u64 v[POINTED];
#pragma unroll
        for (u32 j = 0; j < POINTED; ++j) v[j] = first + j * thread_count();
        point(forest, v, n);
    }
}
ENTRY(cc_compress)

// One block: the giant of a sample of all vertices, unless *settled.
KERNEL void cc_giant(Adjacency a, const vid* forest, vid* giant, u32* settled) {
    __shared__ vid roots[SAMPLE];
    __shared__ Votes votes;
    if (*settled) return;
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) roots[i] = a.n ? forest[sampled(i, a.n)] : 0;
    elect(roots, votes, [&](u32 i) { return a.n && test_bit(a.rows, sampled(i, a.n)); }, giant, settled);
}
ENTRY(cc_giant)

// Links the vertices whose root is not *giant along all edges of their rows, except hubs.
KERNEL void cc_link_rows(Adjacency a, vid* forest, u32 by_id, const vid* giant, Counts* counts) {
    Link operation = {forest, *giant, by_id, {0, 0, 0}};
    walk_rows<true>(a, operation, counts);
}
ENTRY(cc_link_rows)

// The same for the chunks of hub rows.
KERNEL void cc_link_hubs(Adjacency a, vid* forest, u32 by_id, const vid* giant, Counts* counts) {
    Link operation = {forest, *giant, by_id, {0, 0, 0}};
    walk_hubs(a, operation, counts);
}
ENTRY(cc_link_hubs)

// Points every vertex at its root and lowers the root's label, which is a vertex of its tree, to the smallest one. Of
// neighbouring lanes in one tree the first has the smallest vertex. Nearly all ask for the label of the giant's root:
// the multiprocessor's own cache answers most, or all warps would meet at one line.
KERNEL void cc_lowest(u64 n, vid* forest, vid* labels) {
    for (u64 base = thread_id() / WARP * WARP; base < n; base += thread_count()) {
        const u64 v = base + lane_id();
        const vid root = v < n ? find_root(forest, (vid)v) : (vid)0;
        const vid left = __shfl_up_sync(ALL_LANES, root, 1);
        if (v >= n || (lane_id() > 0 && left == root)) continue;
        if (stale_load(labels + root) <= (vid)v) continue;  // labels only get smaller
        if (relaxed_load(labels + root) > (vid)v) atomicMin(labels + root, (vid)v);
    }
}
ENTRY(cc_lowest)

// Gives every vertex the label of its root. No root's label changes, and no other is read.
KERNEL void cc_label(u64 n, const vid* forest, vid* labels) {
    for (u64 first = thread_id(); first < n; first += POINTED * thread_count()) {
        vid root[POINTED], label[POINTED];
#pragma unroll
        for (u32 j = 0; j < POINTED; ++j) {
            const u64 v = first + j * thread_count();
            root[j] = v < n ? forest[v] : (vid)first;
        }
#pragma unroll
        for (u32 j = 0; j < POINTED; ++j) label[j] = stale_load(labels + root[j]);
#pragma unroll
        for (u32 j = 0; j < POINTED; ++j) {
            const u64 v = first + j * thread_count();
            if (v < n && root[j] != (vid)v) relaxed_store(labels + v, label[j]);
        }
    }
}
ENTRY(cc_label)
