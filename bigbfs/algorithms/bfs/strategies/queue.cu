// A thread takes an entry of the queue, reads its whole row, and appends each vertex that it wins.
//
// Frontier kind: vertex queues. Atomics: one on the label of each end that looks unreached, and one on the counter of
// the next queue for each vertex found; that all of them meet there is what the strategy is known for. Memory per
// edge: the id and the label of its end. Source: report 000, 2.2; report 002, 1.3.1.
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/sink.cuh"

KERNEL void queue_expand(Search s) {
    u64 checked = 0;
    for (u64 i = thread_id(); i < here(s).size; i += thread_count()) {
        const vid v = s.queue[i];
        checked += read_alone(s, s.out, v, [&](vid u) {
            if (claim_label(s, v, u)) put(s, u);
            return false;
        });
    }
    hand_in(s, checked);
}
ENTRY(queue_expand)
