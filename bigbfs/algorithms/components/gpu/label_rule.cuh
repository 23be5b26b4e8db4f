// The rules of labels of components (verify_labels.cu), for an edge and for a vertex.
#pragma once
#include "kernels/base/platform.cuh"

struct LabelRule {
    const vid* labels;

    METHOD bool broken(u64 u, vid v) const { return labels[u] != labels[v]; }
};

DEVICE bool breaks_labels(const vid* labels, u64 v) { return labels[v] > v || labels[labels[v]] != labels[v]; }
