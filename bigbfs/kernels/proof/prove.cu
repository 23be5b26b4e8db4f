// The rows of a graph are what its offsets and degrees say (rows.cuh): that is looked at here.
//
// A warp looks at 32 rows: a lane alone at a short one, all of them at one that is no hub, and at hubs chunk by chunk.
// `faults` counts lanes that have seen one: 0 is the answer. Atomics: one for each warp that finds a fault. Memory per
// edge: the id.
#include "kernels/proof/rows.cuh"

// Of the rows `first`, a multiple of 32, to `last` - 1 those that are no hubs.
KERNEL void prove_rows(Adjacency a, u64 first, u64 last, u64* faults) {
    const u64 warps_end = words_for(last) * WARP;
    bool broken = false;
    for (u64 own = first + thread_id(); own < warps_end; own += thread_count()) {
        broken |= is_any_broken(a, own - lane_id(), last);
    }
    report(broken, faults);
}
ENTRY(prove_rows)

// Of the hubs' rows the chunks `first` to `last` - 1.
KERNEL void prove_chunks(Adjacency a, u64 first, u64 last, u64* faults) {
    bool broken = false;
    for (u64 c = first + thread_id() / WARP; c < last; c += thread_count() / WARP) {
        broken |= is_chunk_broken(a, c, a.chunk_hub[c]);
    }
    report(broken, faults);
}
ENTRY(prove_chunks)
