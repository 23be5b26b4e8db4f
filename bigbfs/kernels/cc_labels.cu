// Labels of connected components: every vertex starts as its own root.
// A thread owns vertices thread_id(), + thread_count(), ... No atomics. Writes one id per vertex.
#include "platform.cuh"

KERNEL void cc_init(u64 n, vid* labels) {
    for (u64 v = thread_id(); v < n; v += thread_count()) labels[v] = (vid)v;
}
ENTRY(cc_init)
