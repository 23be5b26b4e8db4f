// The CUDA that the kernels use, for g++: what NVRTC knows by itself, written on top of a machine of fibers.
//
// In: a .cu file that keeps to own integer typedefs, no standard headers and no launch syntax. Out: a shared library
// whose entries (macro ENTRY) the loader finds by name. Every operation that CUDA calls convergent takes the place it
// was called from, so that a divergent barrier or ballot is reported by file and line.
// Source: CUDA C++ Programming Guide, sections on execution, synchronization, atomic and warp functions.
#pragma once

#include "interface.hpp"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __grid_constant__
#define __restrict__ __restrict

// One static array serves all blocks: the machine swaps its content when it goes from block to block. Under the thread
// sanitizer each block has a system thread of its own, and its own arrays.
#ifdef SIMT_TSAN
#define __shared__ static thread_local
#else
#define __shared__ static
#endif
#define DYNAMIC_SHARED(type, name) type* name = reinterpret_cast<type*>(::simt::self->dynamic_shared)

#define threadIdx (::simt::self->thread)
#define blockIdx (::simt::self->block)
#define blockDim (::simt::self->block_size)
#define gridDim (::simt::self->grid_size)
constexpr int warpSize = 32;

#define SIMT_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMT_INLINE inline __attribute__((always_inline))

namespace simt {

// A point where the running thread may lose the processor.
SIMT_INLINE void hook(const char* file, int line) {
#ifdef SIMT_TSAN
    simt_hook(file, line);  // uninstrumented: the fibers of a system thread share `fuel`
#else
    if (__builtin_expect(--fuel < 0, 0)) simt_yield(file, line);
#endif
}

}  // namespace simt

#include "vectors.hpp"
//
#include "arithmetic.hpp"
#include "atomics.hpp"
#include "entry.hpp"
#include "warp.hpp"

#undef assert
#define assert(condition) \
    ((condition) ? (void)0 : simt_fail(__FILE__, __LINE__, "assertion failed: %s", #condition))
#define __trap() simt_fail(__FILE__, __LINE__, "__trap()")
#define __builtin_assume(condition) assert(condition)
#define __builtin_unreachable() simt_fail(__FILE__, __LINE__, "__builtin_unreachable() was reached")
