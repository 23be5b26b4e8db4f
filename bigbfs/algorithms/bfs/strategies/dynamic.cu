// As many threads as the device runs at once fetch one entry of the queue after the other, each its own, and read its
// row.
//
// Frontier kind: vertex queues. Atomics: one for each entry fetched, one for each vertex found, each on a counter that
// all threads share, and one on the label of each end that looks unreached. Memory per edge: the id and the label of
// its end. Source: report 001, 2.2 (version 1).
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/sink.cuh"

KERNEL void dynamic_expand(Search s) {
    u64 checked = 0;
    const u64 size = here(s).size;
    for (u64 i = atomicAdd(&here(s).taken, (u64)1); i < size; i = atomicAdd(&here(s).taken, (u64)1)) {
        const vid v = s.queue[i];
        checked += read_alone(s, s.out, v, [&](vid u) {
            if (swap_label(s, v, u)) put(s, u);
            return false;
        });
    }
    hand_in(s, checked);
}
ENTRY(dynamic_expand)
