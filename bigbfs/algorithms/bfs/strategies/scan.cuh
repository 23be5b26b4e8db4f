// Sums over the threads of a block, by shuffles and one shared word for each warp.
#pragma once
#include "algorithms/bfs/strategies/search.cuh"

// The sum of x over the threads before this one, and that over all of them; words: WARPS of shared memory. All threads
// of the block call it.
DEVICE u64 block_sum_before(u64 x, u64* words, u64& total) {
    u64 through = x;
#pragma unroll
    for (u32 step = 1; step < WARP; step *= 2) through = add_left(through, step);
    const u32 warp = threadIdx.x / WARP;
    if (lane_id() == WARP - 1) words[warp] = through;
    __syncthreads();
    u64 before = 0;
    total = 0;
    for (u32 w = 0; w < WARPS; ++w) {
        if (w < warp) before += words[w];
        total += words[w];
    }
    __syncthreads();
    return before + through - x;
}
