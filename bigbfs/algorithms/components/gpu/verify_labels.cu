// Are labels those of components? Edges: each joins equal labels. Vertices (one thread each): a label is its own
// label, and no larger than the vertex; who labels itself is counted. So labels are unions of components; that there
// are no fewer of them than components is for the host to say, which has the merges of a forest over all edges counted
// (verify.py).
#include "algorithms/components/gpu/label_rule.cuh"
#include "kernels/verify/edges.cuh"

KERNEL void verify_label_edges(Adjacency a, const vid* labels, u64* faults) {
    verify_edges(a, LabelRule{labels}, faults);
}
ENTRY(verify_label_edges)

KERNEL void verify_label_pieces(Adjacency a, const vid* labels, const Piece* pieces, u64 count, u64* faults) {
    verify_pieces(a, LabelRule{labels}, pieces, count, faults);
}
ENTRY(verify_label_pieces)

KERNEL void verify_label_vertices(u64 n, const vid* labels, u64* roots, u64* faults) {
    u64 own = 0;
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        if (breaks_labels(labels, v)) atomicAdd(faults, (u64)1);
        own += labels[v] == v;
    }
    own = warp_sum(own);
    if (lane_id() == 0 && own) atomicAdd(roots, own);
}
ENTRY(verify_label_vertices)
