// Connected components over several GPUs of one machine: from trees that go by chance to labels. The other kernels are
// in cc_peers.cu.
//
// A warp has 32 own vertices. Frontier kind: none. Atomics: a minimum for each tree, and few more. Others' memory is
// read, and written by plain stores: labels of own roots, an id for each and each rank. Source: as cc_peers.cu.
#include "algorithms/components/gpu/peers/joint.cuh"

// As cc_lowest, of own vertices: the root's label becomes the smallest of them.
KERNEL void joint_lowest(Ranks r, vid* forest, vid* labels) {
    for (u64 h = first_half(); h < halves(r); h += next_half()) {
        const u64 v = own_lane(r, h);
        const vid root = v < r.n ? find_root(forest, (vid)v) : (vid)0;
        const vid left = __shfl_up_sync(ALL_LANES, root, 1);
        if (v >= r.n || (lane_id() > 0 && left == root)) continue;
        if (stale_load(labels + root) <= (vid)v) continue;  // labels only get smaller
        if (relaxed_load(labels + root) > (vid)v) atomicMin(labels + root, (vid)v);
    }
}
ENTRY(joint_lowest)

// The labels of own roots become the smallest that any rank has found, on every rank. alone: who has no row here is no
// root of others.
KERNEL void joint_lower(Adjacency a, Ranks r, const vid* forest, u32 alone, u64* moved) {
    u64 bytes = 0;
    for (u64 h = first_half(); h < halves(r); h += next_half()) {
        const u64 v = own_lane(r, h);
        if (v >= r.n || forest[v] != (vid)v || (alone && !test_bit(a.rows, v))) continue;
        vid least = (vid)v;
        for (u64 k = 0; k < r.part.size; ++k) {
            const vid label = relaxed_load(in_rank<vid>(r, k, r.labels_at) + v);
            if (label < least) least = label;
        }
        for (u64 k = 0; k < r.part.size; ++k) {
            if (k != r.part.rank) bytes += 2 * sizeof(vid);
            relaxed_store(in_rank<vid>(r, k, r.labels_at) + v, least);
        }
    }
    add_moved(bytes, moved);
}
ENTRY(joint_lower)

// As cc_label, of own vertices.
KERNEL void joint_label(Ranks r, const vid* forest, vid* labels) {
    for (u64 h = first_half(); h < halves(r); h += next_half()) {
        const u64 v = own_lane(r, h);
        const vid root = v < r.n ? forest[v] : (vid)v;
        if (root != (vid)v) labels[v] = labels[root];
    }
}
ENTRY(joint_label)
