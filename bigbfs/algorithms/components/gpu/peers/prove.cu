// Are labels that several GPUs have found those of components? Each proves its own rows and vertices by the rules of
// verify_labels.cu.
//
// joint_labels: a thread owns a vertex, and reads its label in the memory of its owner: afterwards every rank has all
// labels. prove_label_edges: a warp takes an own row, or a chunk of an own hub's. prove_own_labels, joint_roots: a
// thread owns an own vertex. All ranks meet on their hosts behind the first. Frontier kind: none. Atomics: a count for
// each fault, one for each warp that counts. Memory per edge: the id and two labels. Source: ours; verify.py of one GPU
// says why it proves.
#include "algorithms/components/gpu/label_rule.cuh"
#include "algorithms/components/gpu/peers/joint.cuh"
#include "kernels/verify/own_edges.cuh"

// at: as Ranks.labels_at, of what holds the labels of own vertices; `labels` is this rank's array at labels_at.
KERNEL void joint_labels(Ranks r, u64 at, vid* labels) {
    for (u64 v = thread_id(); v < r.n; v += thread_count()) {
        const u64 owner = owner_of(r.part, v);
        if (owner != r.part.rank || at != r.labels_at) labels[v] = in_rank<vid>(r, owner, at)[v];
    }
}
ENTRY(joint_labels)

KERNEL void prove_label_edges(Adjacency a, Ranks r, const vid* labels, u64* faults) {
    verify_own_edges(a, r.part, LabelRule{labels}, faults);
}
ENTRY(prove_label_edges)

KERNEL void prove_own_labels(Ranks r, const vid* labels, u64* faults) {
    for (u64 i = thread_id(); i < 64 * r.part.words; i += thread_count()) {
        const u64 v = own_half(r.part, i / 32) * 32 + i % 32;
        if (v < r.n && breaks_labels(labels, v)) atomicAdd(faults, (u64)1);
    }
}
ENTRY(prove_own_labels)

// Own vertices that are their own parents, or labels.
KERNEL void joint_roots(Ranks r, const vid* parents, u64* roots) {
    u64 own = 0;
    for (u64 i = thread_id(); i < 64 * r.part.words; i += thread_count()) {
        const u64 v = own_half(r.part, i / 32) * 32 + i % 32;
        own += v < r.n && parents[v] == (vid)v;
    }
    own = warp_sum(own);
    if (lane_id() == 0 && own) atomicAdd(roots, own);
}
ENTRY(joint_roots)
