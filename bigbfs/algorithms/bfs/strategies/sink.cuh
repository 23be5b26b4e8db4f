// Where the vertices found go: the next queue.
#pragma once
#include "algorithms/bfs/strategies/search.cuh"

// An atomic for each vertex.
DEVICE void put(const Search& s, vid u) { s.next_queue[atomicAdd(&beyond(s).size, (u64)1)] = u; }

// An atomic for the vertices of a warp; all lanes call it.
DEVICE void put_together(const Search& s, bool found, vid u) {
    const u32 finders = __ballot_sync(ALL_LANES, found);
    if (!finders) return;
    u64 at = 0;
    if (lane_id() == 0) at = atomicAdd(&beyond(s).size, (u64)__popc(finders));
    at = __shfl_sync(ALL_LANES, at, 0);
    if (found) s.next_queue[at + (u32)__popc(finders & ((1u << lane_id()) - 1))] = u;
}
