// What happens before and after the levels of a search that the host launches, whatever the strategy.
//
// begin_levels: a thread for each vertex; nobody but the source is reached. count_levels: a thread for each vertex;
// how many vertices each of BINS levels has, by shared counters of the block, and the edges of all that are reached.
// Atomics: one on a shared counter for each vertex that is reached, one for each counter of a block. Memory: the level
// (and degree) of each.
#include "kernels/rows/adjacency.cuh"

// Arrays that a strategy does not have are null.
struct Start {
    i32* levels;
    vid* parents;
    vid* queue;
    u32* bits;
    u64* records;
    u64 record_words;
    u64 n;
    u64 source;
};
static_assert(sizeof(Start) == START_BYTES, "Start differs from its NumPy dtype");

KERNEL void begin_levels(Start s) {
    for (u64 v = thread_id(); v < s.n; v += thread_count()) {
        s.levels[v] = v == s.source ? 0 : -1;
        if (s.parents) s.parents[v] = ~(vid)0;
    }
    // the first record has one entry, which is its first word
    for (u64 i = thread_id(); i < s.record_words; i += thread_count()) s.records[i] = i == 0;
    if (thread_id() != 0) return;
    if (s.queue) s.queue[0] = (vid)s.source;
    if (s.bits) s.bits[word_of(s.source)] = bit_of(s.source);
}
ENTRY(begin_levels)

// bins: of the levels from `first` on, and behind them the edges of all reached, counted when first is 0.
KERNEL void count_levels(Adjacency a, const i32* levels, u64 first, u64* bins) {
    __shared__ u64 own[LEVEL_BINS];
    for (u32 i = threadIdx.x; i < LEVEL_BINS; i += blockDim.x) own[i] = 0;
    __syncthreads();
    u64 edges = 0;
    for (u64 v = thread_id(); v < a.n; v += thread_count()) {
        const i32 level = levels[v];
        if (level < 0) continue;
        if (first == 0) edges += degree(a, v);
        const u64 bin = (u64)level - first;
        if (bin < LEVEL_BINS) atomicAdd(own + bin, (u64)1);
    }
    edges = warp_sum(edges);
    if (lane_id() == 0 && edges) atomicAdd(bins + LEVEL_BINS, edges);
    __syncthreads();
    for (u32 i = threadIdx.x; i < LEVEL_BINS; i += blockDim.x) {
        if (own[i]) atomicAdd(bins + i, own[i]);
    }
}
ENTRY(count_levels)
