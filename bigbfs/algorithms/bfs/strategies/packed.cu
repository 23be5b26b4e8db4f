// The edges of the rows of 32 or of THREADS entries laid end to end (packed.cuh), a thread to each edge.
//
// packed_by_warp: a warp takes 32 entries; packed_by_block: a block takes THREADS. Frontier kind: vertex queues.
// Atomics: one on the parent of each end that looks unreached, one on the counter of the next queue for each vertex
// found. Memory per edge: the id, the parent of its end, five or eight steps of a search in shared memory. Source:
// report 000, 2.5 and 2.6.
#include "algorithms/bfs/strategies/packed.cuh"

KERNEL void packed_by_warp(Search s) {
    __shared__ Packed packed;
    expand_packed<ByWarp>(s, packed);
}
ENTRY(packed_by_warp)

KERNEL void packed_by_block(Search s) {
    __shared__ Packed packed;
    expand_packed<ByBlock>(s, packed);
}
ENTRY(packed_by_block)
