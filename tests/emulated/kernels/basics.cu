// Kernels that test the emulation itself: reductions, scans, histograms, queues, and what goes wrong with them.
#include "simt.hpp"

typedef unsigned int u32;
typedef unsigned long long u64;

static u32 warp_sum(u32 value) {
    for (u32 d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
    return value;
}

KERNEL void block_sums(u32 n, const u32* in, u32* out) {
    __shared__ u32 sums[32];
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u32 sum = warp_sum(i < n ? in[i] : 0);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const u32 total = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
        if (lane == 0) out[blockIdx.x] = total;
    }
}
ENTRY(block_sums)

KERNEL void block_scan(u32* data) {
    DYNAMIC_SHARED(u32, buffer);
    buffer[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d *= 2) {
        const u32 left = threadIdx.x >= d ? buffer[threadIdx.x - d] : 0;
        __syncthreads();
        buffer[threadIdx.x] += left;
        __syncthreads();
    }
    data[blockIdx.x * blockDim.x + threadIdx.x] = buffer[threadIdx.x];
}
ENTRY(block_scan)

// BUG 1: the barrier between reading and writing is missing.
KERNEL void block_scan_race(u32* data) {
    DYNAMIC_SHARED(u32, buffer);
    buffer[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d *= 2) {
        if (threadIdx.x >= d) buffer[threadIdx.x] += buffer[threadIdx.x - d];
        __syncthreads();
    }
    data[threadIdx.x] = buffer[threadIdx.x];
}
ENTRY(block_scan_race)

KERNEL void histogram(u32 n, const u32* in, u32* counts) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[in[i]], 1u);
    }
}
ENTRY(histogram)

// BUG 2: increments are lost.
KERNEL void histogram_race(u32 n, const u32* in, u32* counts) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) counts[in[i]] += 1;
}
ENTRY(histogram_race)

// Keeps the even numbers, one atomic for each warp.
KERNEL void append_even(u32 n, const u32* in, u32* queue, u32* size) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool keep = i < n && in[i] % 2 == 0;
    const u32 votes = __ballot_sync(0xffffffffu, keep);
    u32 base = 0;
    if (lane == 0 && votes) base = atomicAdd(size, (u32)__popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) queue[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}
ENTRY(append_even)

static void grid_barrier(u32* arrived, u32 goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (__ldcg(arrived) < goal) __nanosleep(20);
        __threadfence();
    }
    __syncthreads();
}

// Every round each thread takes over its right neighbour's number, across all blocks.
KERNEL void rotate(u32 rounds, u32* a, u32* b, u32* arrived) {
    __shared__ u32 seen;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (u32 round = 0; round < rounds; ++round) {
        if (threadIdx.x == 0) seen = round;
        const u32* from = round % 2 ? b : a;
        u32* to = round % 2 ? a : b;
        to[i] = from[(i + 1) % n];
        grid_barrier(arrived, (round + 1) * gridDim.x);
        assert(seen == round);
        __syncthreads();
    }
}
ENTRY(rotate)

// BUG 3: the fences are missing, and nothing else orders the data of different blocks.
KERNEL void rotate_no_fence(u32 rounds, u32* a, u32* b, u32* arrived) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (u32 round = 0; round < rounds; ++round) {
        const u32* from = round % 2 ? b : a;
        u32* to = round % 2 ? a : b;
        to[i] = from[(i + 1) % n];
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1u);
            while (__ldcg(arrived) < (round + 1) * gridDim.x) __nanosleep(20);
        }
        __syncthreads();
    }
}
ENTRY(rotate_no_fence)

// A counter guarded by a lock that the first thread of every block fights for.
KERNEL void locked_increment(u32* lock, u32* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0u, 1u) != 0) __nanosleep(10);
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch(lock, 0u);
    }
}
ENTRY(locked_increment)

KERNEL void early_exit(u32* out) {
    if (threadIdx.x >= 40) return;
    __syncthreads();
    atomicAdd(out, 1u);
}
ENTRY(early_exit)

KERNEL void divergent_barrier(u32* out) {
    if (threadIdx.x < 7) __syncthreads();
    else if (threadIdx.x < 64) __syncthreads();
    out[0] = 1;
}
ENTRY(divergent_barrier)

KERNEL void half_a_barrier(u32* out) {
    if (threadIdx.x < 32) __syncthreads();
    else if (threadIdx.x > 32) __ballot_sync(0xffffff00u, 1);
    out[0] = 1;
}
ENTRY(half_a_barrier)

// The first warp is at the barrier, of the second all but one wait for the one, which is at the barrier too.
KERNEL void half_a_warp_waits(u32* out) {
    if (threadIdx.x <= 32) __syncthreads();
    else __syncwarp();
    out[0] = 1;
}
ENTRY(half_a_warp_waits)

KERNEL void divergent_ballot(u32* out) {
    if (threadIdx.x % 2) out[0] = __ballot_sync(0xffffffffu, 1);
    else out[1] = __ballot_sync(0xffffffffu, 1);
}
ENTRY(divergent_ballot)

// The last eight lanes ask each other alone, and are asked by the others.
KERNEL void overlapping_masks(u32* out) {
    out[threadIdx.x] = __ballot_sync(threadIdx.x < 24 ? 0xffffffffu : 0xff000000u, 1);
}
ENTRY(overlapping_masks)

// And the other way round: the first lanes wait for less than the last one does.
KERNEL void narrow_masks_first(u32* out) {
    out[threadIdx.x] = __ballot_sync(threadIdx.x < 31 ? 0xfffffffeu : 0xffffffffu, 1);
}
ENTRY(narrow_masks_first)

KERNEL void wrong_mask(u32* out) { out[threadIdx.x] = __ballot_sync(0x0000ffffu, 1); }
ENTRY(wrong_mask)

KERNEL void exited_lane(u32* out) {
    if (threadIdx.x == 5) return;
    out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
}
ENTRY(exited_lane)

KERNEL void waits_forever(const u32* flag) {
    while (__ldcg(flag) == 0) {
    }
}
ENTRY(waits_forever)

KERNEL void volatile_wait(u32* flag) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *(volatile u32*)flag = 1;
    while (*(volatile u32*)flag == 0) {
    }
}
ENTRY(volatile_wait)

KERNEL void volatile_wait_alone(u32* flag) {
    while (*(volatile u32*)flag == 0) {
    }
}
ENTRY(volatile_wait_alone)

KERNEL void endless_barriers(u32* out) {
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) ++*out;
    }
}
ENTRY(endless_barriers)

KERNEL void store_past(u32 n, u32* data) { data[(int)n] = 1; }
ENTRY(store_past)
KERNEL void load_past(u32 n, const u32* data, u32* out) { out[0] = data[n]; }
ENTRY(load_past)

KERNEL void shared_past(u32 n, u32* out) {
    __shared__ u32 first[8];
    __shared__ u32 second[8];
    first[threadIdx.x % 8] = 1;
    second[threadIdx.x % 8] = 2;
    __syncthreads();
    u32* p = first;
    out[0] = p[n] + second[0];
}
ENTRY(shared_past)

KERNEL void dynamic_past(u32 n, u32* out) {
    DYNAMIC_SHARED(u32, buffer);
    out[0] = buffer[n];
}
ENTRY(dynamic_past)

KERNEL void shift(u32 by, u32* out) { out[0] = 1u << by; }
ENTRY(shift)

struct Pair {
    u32 a;
    u64 b;
    float* c;
};
KERNEL void takes_struct(Pair pair, int c, u64* out) { out[0] = pair.a + pair.b + (u64)c; }
ENTRY(takes_struct)

KERNEL void warp_functions(const u32* in, u32* out) {
    const u32 t = threadIdx.x, all = 0xffffffffu, x = in[t];
    int same = 0;
    u32 r[16];
    r[0] = __shfl_sync(all, x, 7);
    r[1] = __shfl_sync(all, x, 3, 8);
    r[2] = __shfl_up_sync(all, x, 3);
    r[3] = __shfl_up_sync(all, x, 3, 16);
    r[4] = __shfl_down_sync(all, x, 5);
    r[5] = __shfl_down_sync(all, x, 5, 8);
    r[6] = __shfl_xor_sync(all, x, 9);
    r[7] = __match_any_sync(all, x);
    r[8] = __match_all_sync(all, x / 1000, &same) + (u32)same;
    r[9] = __reduce_add_sync(all, x);
    r[10] = (u32)__reduce_min_sync(all, (int)x - 50);
    r[11] = __reduce_max_sync(all, x);
    r[12] = __reduce_xor_sync(all, x);
    r[13] = (u32)__any_sync(all, x == 3) | (u32)__all_sync(all, x < 1000) << 1;
    r[14] = (u32)__syncthreads_count(x % 2) + 100u * (u32)__syncthreads_or(x == 3) +
            1000u * (u32)__syncthreads_and(x < 1000);
    r[15] = (u32)(__shfl_sync(all, (u64)x << 40, 1) >> 40);
    for (u32 k = 0; k < 16; ++k) out[k * 32 + t] = r[k];
}
ENTRY(warp_functions)

KERNEL void sees_poison(u32* out) {
    __shared__ u32 array[4];
    out[0] = array[1];
    array[1] = 5;
}
ENTRY(sees_poison)
