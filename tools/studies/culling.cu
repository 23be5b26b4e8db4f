// How many ends that are reached already, or found by somebody else, each part of the Merrill family's filter lets
// pass.
//
// The rows of a true frontier are gathered by scan + warp + block and every end goes through the parts asked for
// (culling.cuh), in the order bitmask, label, history, warp. Atomics: one for a warp, on the counter of those that
// pass, and with EXACT one on a word of the bitmask for each end that looks new. Memory per edge: the id, a word of the
// bitmask, a label. Source: report 004, 4.2 and its figure 8.
#include "algorithms/bfs/strategies/culling.cuh"
#include "algorithms/bfs/strategies/gather.cuh"

constexpr u32 LABEL = 8;
constexpr u32 MATCH = 16;  // of the lanes of a warp that hold the same id, one: without shared memory
constexpr u32 EXACT = 32;  // the bit is set by an atomic: nothing passes twice

KERNEL void cull_ends(Search s, u64 parts) {
    __shared__ Gather g;
    __shared__ Culling c;
    forget(c);
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const bool mine = base + threadIdx.x < here(s).size;
        const vid v = mine ? s.queue[base + threadIdx.x] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        const auto reserve = [&](u64 wanted) { return atomicAdd(&here(s).checked, wanted); };
        gather_rows(s, g, v, ids, reserve, [&](bool there, vid from, vid u, u64) {
            bool held = there && is_vertex(s, u);
            if (parts & BITMASK) held = held && passes_bitmask(s, u);
            if (parts & EXACT) held = held && claim_bit(s.bitmask, u);
            if (parts & LABEL) held = held && store_label(s, from, u);
            if (parts & HISTORY) held = held && passes_history(c, u);
            if (parts & WARP_CULLING) held = passes_warp(c, held, u);
            if (parts & MATCH) {
                const u32 same = __match_any_sync(ALL_LANES, held ? u : ~(vid)0);
                held = held && (u32)__ffs((int)same) - 1 == lane_id();
            }
            const u32 passed = (u32)__popc(__ballot_sync(ALL_LANES, held));
            if (lane_id() == 0 && passed) atomicAdd(&here(s).vertices, (u64)passed);
        });
    }
}
ENTRY(cull_ends)
