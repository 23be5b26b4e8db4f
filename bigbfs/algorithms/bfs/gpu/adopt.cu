// Takes over what a thread of the CPU has found between two launches of a BFS.
//
// The vertices stand in the queue already, from `at` on. Frontier kind: queue. Atomics: one atomicOr on `visited` for
// each vertex. Source: ours.
#include "algorithms/bfs/gpu/bfs.cuh"

KERNEL void bfs_adopt(Bfs s, const vid* parents, const i32* levels, u64 count, u64 at) {
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const vid v = s.queue[at + i];
        settle(s, v, parents[i], levels[i]);
        atomicOr(s.visited + word_of(v), bit_of(v));
    }
}
ENTRY(bfs_adopt)
