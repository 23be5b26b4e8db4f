// The own rows of one of several GPUs are what offsets and degrees say (rows.cuh). `a` has own rows where they are; of
// other rows nothing is read.
//
// A warp owns 32 own vertices, or a chunk of a hub. `faults` counts lanes that have seen one. Atomics: one for each
// warp that finds a fault. Memory per edge: the id.
#include "kernels/base/part.cuh"
#include "kernels/proof/rows.cuh"

// Of own rows those that are no hubs.
KERNEL void prove_own_rows(Adjacency a, Part part, u64* faults) {
    bool broken = false;
    for (u64 h = thread_id() / WARP; h < 2 * part.words; h += thread_count() / WARP) {
        broken |= is_any_broken(a, own_half(part, h) * 32, a.n);
    }
    report(broken, faults);
}
ENTRY(prove_own_rows)

// Of own hubs' rows those among the chunks `first` to `last` - 1.
KERNEL void prove_own_chunks(Adjacency a, Part part, u64 first, u64 last, u64* faults) {
    bool broken = false;
    for (u64 c = first + thread_id() / WARP; c < last; c += thread_count() / WARP) {
        const u32 hub = a.chunk_hub[c];
        if (is_own(part, a.hubs[hub])) broken |= is_chunk_broken(a, c, hub);
    }
    report(broken, faults);
}
ENTRY(prove_own_chunks)
