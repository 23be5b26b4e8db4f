// What placement derives from the degrees of a graph that has just arrived in device memory.
//
// A warp owns 32 vertices at a time. Atomics: one for each hub. Memory: the degree of every vertex once, a bit for each.
#include "adjacency.cuh"

// Writes the bitmap of the vertices that are neither hubs nor without edges, and appends the hubs (in any order) to
// `hubs`, which has room for `capacity`; *count is how many there are.
KERNEL void place_rows(Adjacency a, u32* rows, vid* hubs, u64 capacity, u64* count) {
    const u64 warps_end = words_for(a.n) * WARP;
    for (u64 v = thread_id(); v < warps_end; v += thread_count()) {
        const u64 ids = v < a.n ? degree(a, v) : 0;
        const u32 bits = __ballot_sync(ALL_LANES, ids > 0 && ids <= BLOCK_IDS);
        if (lane_id() == 0) rows[v / WARP] = bits;
        if (ids > BLOCK_IDS) {
            const u64 at = atomicAdd(count, (u64)1);
            if (at < capacity) hubs[at] = (vid)v;
        }
    }
}
ENTRY(place_rows)
