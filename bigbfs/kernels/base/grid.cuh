// All blocks of a cooperative launch as one team: a barrier, and sums that are handed in on the way.
#pragma once
#include "kernels/base/platform.cuh"

// Threads of a block of the kernels that hold the whole device.
constexpr u32 TEAM = TEAM_THREADS;
constexpr u32 TEAM_WARPS = TEAM / WARP;

// Warps are numbered across the blocks first: neighbouring pieces of work go to different multiprocessors.
DEVICE u64 team_warp() { return (u64)(threadIdx.x / WARP) * gridDim.x + blockIdx.x; }
DEVICE u64 team_warps() { return (u64)gridDim.x * TEAM_WARPS; }

// Waits until a thread of every block is here; what any of them wrote before is seen by all after. One thread of each
// block calls it, between two __syncthreads(). The top bit of *word turns over when the last one arrives, so the word
// needs no reset: the first block adds what is missing to 2^31.
DEVICE void meet_other_blocks(u32* word) {
    __threadfence();
    const u32 own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    const u32 before = atomicAdd(word, own);
    while (((before ^ relaxed_load(word)) & 0x80000000u) == 0) spin();
    __threadfence();
}
