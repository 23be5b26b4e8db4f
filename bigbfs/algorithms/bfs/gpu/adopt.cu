// Takes over what a thread of the CPU has found between two launches of a BFS, and writes down where it stands.
//
// A thread owns a column of `found`: a vertex, `width` ids behind it its parent. As far again stand the columns where
// levels end, in ascending order; how many of them a column has reached says its level. Vertices go to the queue from
// `at` on. Frontier kind: queue. Atomics: one atomicOr on `visited` for each vertex. Memory per vertex: two ids, and
// the ends that a binary search looks at, which its neighbours look at too. Source: ours.
#include "algorithms/bfs/gpu/bfs.cuh"

// What is taken over at a time.
struct Part {
    u64 width;   // ids between the rows of `found`
    u64 begin;   // first column
    u64 end;     // last column + 1
    u64 levels;  // ends of levels
    u64 depth;   // level of the columns before the first end
    u64 at;      // where the queue goes on
};
static_assert(sizeof(Part) == PART_BYTES, "Part differs from its NumPy dtype");

// How many of the ends are not behind a column.
DEVICE u64 ends_up_to(const vid* ends, u64 count, u64 column) {
    u64 low = 0;
    while (low < count) {
        const u64 middle = (low + count) / 2;
        if (ends[middle] <= column) low = middle + 1;
        else count = middle;
    }
    return low;
}

KERNEL void bfs_adopt(Bfs s, Progress stands, Part p, const vid* found) {
    const vid* const parents = found + p.width;
    const vid* const ends = parents + p.width;
    for (u64 i = p.begin + thread_id(); i < p.end; i += thread_count()) {
        const vid v = found[i];
        s.queue[p.at + i - p.begin] = v;
        settle(s, v, parents[i], (i32)(p.depth + ends_up_to(ends, p.levels, i)));
        atomicOr(s.visited + word_of(v), bit_of(v));
    }
    if (thread_id() == 0) *s.progress = stands;
}
ENTRY(bfs_adopt)
