// How fast this device reads host memory over the link, copies inside its own memory, and meets at a barrier.
//
// read_units: a thread owns 16 bytes at a time, neighbours side by side. read_lines: a warp owns an aligned line of
// 128 bytes at a time; line k is drawn from the `window` lines of window k / per_window, so that windows of a few
// lines read once give ascending lines at any density, and windows of many lines random ones. copy_units: a thread
// owns 16 bytes. meet: `rounds` barriers of the grid and nothing else. Four reads are in flight for each thread.
// Frontier kind: none. Atomics: one for each warp, on the sum that shows that everything was read. Memory per edge:
// none; 16 or 4 bytes a thread. Source: ours.
#include "kernels/base/grid.cuh"
#include "kernels/base/warp.cuh"

constexpr u32 IN_FLIGHT = 4;

// A bijective scramble of 32 bits (the finalizer of MurmurHash3).
DEVICE u32 scatter(u32 x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

DEVICE void add_to(u64* sum, u64 own) {
    own = warp_sum(own);
    if (lane_id() == 0 && own) atomicAdd(sum, own);
}

KERNEL void read_units(const uint4* data, u64 units, u64* sum) {
    const u64 step = thread_count();
    u64 own = 0;
    for (u64 i = thread_id(); i < units; i += step * IN_FLIGHT) {
        uint4 got[IN_FLIGHT];
#pragma unroll
        for (u32 j = 0; j < IN_FLIGHT; ++j) {
            const u64 at = i + j * step;
            got[j] = at < units ? data[at] : uint4{0, 0, 0, 0};
        }
#pragma unroll
        for (u32 j = 0; j < IN_FLIGHT; ++j) own += (u64)got[j].x + got[j].y + got[j].z + got[j].w;
    }
    add_to(sum, own);
}
ENTRY(read_units)

KERNEL void read_lines(const u32* data, u64 window, u64 per_window, u64 lines, u64* sum) {
    const u64 warps = thread_count() / WARP;
    u64 own = 0;
    for (u64 k = thread_id() / WARP; k < lines; k += warps * IN_FLIGHT) {
        u32 got[IN_FLIGHT];
#pragma unroll
        for (u32 j = 0; j < IN_FLIGHT; ++j) {
            const u64 which = k + j * warps;
            const u64 line = which / per_window * window + ((u64)scatter((u32)which) * window >> 32);
            got[j] = which < lines ? data[line * WARP + lane_id()] : 0;
        }
#pragma unroll
        for (u32 j = 0; j < IN_FLIGHT; ++j) own += got[j];
    }
    add_to(sum, own);
}
ENTRY(read_lines)

KERNEL void copy_units(const uint4* from, uint4* to, u64 units) {
    for (u64 i = thread_id(); i < units; i += thread_count()) to[i] = from[i];
}
ENTRY(copy_units)

// word: zero; it is zero again after an even number of rounds.
KERNEL void meet(u32* word, u64 rounds) {
    for (u64 round = 0; round < rounds; ++round) {
        __syncthreads();
        if (threadIdx.x == 0) meet_other_blocks(word);
        __syncthreads();
    }
}
ENTRY(meet)
