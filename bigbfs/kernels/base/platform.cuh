// The one place that knows which compiler reads a kernel: NVRTC for a GPU, or g++ for the emulation of the test suite
// (BIGBFS_SIMT, whose simt.hpp provides the CUDA names). Everything else in kernels/ is the same text for both.
//
// KERNEL      opens a kernel definition; ENTRY(name) follows it.
// DEVICE      opens a function that kernels call, METHOD one inside a struct.
// APART       opens one with registers of its own, for a phase that would cost the others theirs; IN_PLACE before a
//             parameter that such a function gets by reference, so that nobody copies it.
// DYNAMIC_SHARED(type, name)  the dynamic shared memory of a launch, as type name[].
// spin()       inside a loop that waits for other threads.
// nanoseconds()  of a clock that goes as fast on every GPU.
// prefetch(p)  asks for the line at p, which will be read soon, from device memory.
// relaxed_load, relaxed_store  a word that other threads change meanwhile: one whole load or store, never a cached
// one. stale_load   such a word by way of the multiprocessor's own cache: it may be as old as the launch or the last
// grid
//              barrier, whichever came later. For words of which an old value costs time and never the answer.
// acquire_load  such a word, which another GPU, or another block, wrote behind a fence: what was written before that
// fence is seen after the load.
// add_left(x, step)  x and that of the lane `step` to the left where there is one; all lanes call it.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#if ID_BITS == 32
typedef u32 vid;
#elif ID_BITS == 64
typedef u64 vid;
#else
#error "ID_BITS must be 32 or 64"
#endif

constexpr u32 WARP = 32;
constexpr u32 ALL_LANES = 0xffffffffu;

#ifdef BIGBFS_SIMT

#include "simt.hpp"

#define DEVICE static inline
#define APART static
#define IN_PLACE const
#define METHOD inline

template <typename T> DEVICE T relaxed_load(const T* p, SIMT_PLACE) { return simt::load_relaxed(p, file, line); }
template <typename T> DEVICE void relaxed_store(T* p, T value, SIMT_PLACE) {
    simt::store_relaxed(p, value, file, line);
}
// as a relaxed one: the thread sanitizer would call a plain load beside other threads' atomics a race
template <typename T> DEVICE T stale_load(const T* p, SIMT_PLACE) { return simt::load_relaxed(p, file, line); }
DEVICE void spin() { __nanosleep(20); }
DEVICE u64 nanoseconds() { return (u64)clock64(); }
DEVICE void gpu_fence() { __threadfence(); }
DEVICE void system_fence() { __threadfence_system(); }
DEVICE void prefetch(const void*) {}
DEVICE u64 acquire_load(const u64* p, SIMT_PLACE) {
    const u64 word = simt::load_relaxed(p, file, line);
    __threadfence_system();
    return word;
}

#else

#define KERNEL extern "C" __global__
#define ENTRY(name)
#define DEVICE static __device__ __forceinline__
#define APART static __device__ __noinline__
#define IN_PLACE const __grid_constant__
#define METHOD __device__ __forceinline__
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]

template <typename T> DEVICE T relaxed_load(const T* p) { return *(const volatile T*)p; }
template <typename T> DEVICE void relaxed_store(T* p, T value) { *(volatile T*)p = value; }
template <typename T> DEVICE T stale_load(const T* p) { return *p; }
DEVICE void spin() {}
DEVICE u64 nanoseconds() {
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
DEVICE void gpu_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
DEVICE void system_fence() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
DEVICE u64 acquire_load(const u64* p) {
    u64 word;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
    return word;
}
DEVICE void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

#endif

DEVICE u32 lane_id() { return threadIdx.x & (WARP - 1); }

DEVICE u64 add_left(u64 x, u32 step) {
    const u64 left = __shfl_up_sync(ALL_LANES, x, step);
    return lane_id() >= step ? x + left : x;
}

DEVICE u32 add_left(u32 x, u32 step) {
#ifdef BIGBFS_SIMT
    const u32 left = __shfl_up_sync(ALL_LANES, x, step);
    return lane_id() >= step ? x + left : x;
#else
    // the shuffle says itself whether there is such a lane
    asm volatile(
        "{ .reg .u32 left; .reg .pred there;\n"
        "shfl.sync.up.b32 left|there, %0, %1, 0x0, 0xffffffff;\n"
        "@there add.u32 %0, %0, left; }"
        : "+r"(x)
        : "r"(step)
    );
    return x;
#endif
}

DEVICE u64 thread_id() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 thread_count() { return (u64)gridDim.x * blockDim.x; }
