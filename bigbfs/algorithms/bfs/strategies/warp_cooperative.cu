// A warp for each entry of the queue (cooperative.cuh).
//
// Frontier kind: vertex queues. Atomics: one on the label of each end that looks unreached, one on the counter of the
// next queue for up to 32 vertices. Memory per edge: the id, in whole lines, and the label of its end. Source: report
// 001, 2.4 (version 3, its way down).
#include "algorithms/bfs/strategies/cooperative.cuh"

KERNEL void cooperative_expand(Search s) {
    __shared__ vid stage[WARPS * STAGED];
    expand_entries(s, stage);
}
ENTRY(cooperative_expand)
