// Takes over what a thread of the CPU has found between two launches of a BFS.
//
// Three ids a vertex: itself, `width` ids behind it its parent, as far again its level. They go to the queue from `at`
// on. Frontier kind: queue. Atomics: one atomicOr on `visited` for each vertex. Source: ours.
#include "algorithms/bfs/gpu/bfs.cuh"

KERNEL void bfs_adopt(Bfs s, const vid* found, u64 width, u64 count, u64 at) {
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const vid v = found[i];
        s.queue[at + i] = v;
        settle(s, v, found[width + i], (i32)found[2 * width + i]);
        atomicOr(s.visited + word_of(v), bit_of(v));
    }
}
ENTRY(bfs_adopt)
