// What a kernel's shared library and the machine that runs it (machine.cpp) agree on.
#pragma once

#include <cstddef>

namespace simt {

using u32 = unsigned int;
using u64 = unsigned long long;

struct Index3 {
    unsigned x, y, z;
};

// What a running CUDA thread may ask about itself.
struct Self {
    Index3 thread;
    Index3 block;
    Index3 block_size;
    Index3 grid_size;
    unsigned lane;
    char* dynamic_shared;
};

// A kernel as its shared library exports it. `shared` is where the library keeps its __shared__ arrays: all of its
// zero-initialised data, because nothing else in a kernel's file is mutable and static.
struct Entry {
    const char* name;
    const char* signature;
    void (*invoke)(void** arguments);
    char* shared_begin;
    char* shared_end;
    void (*touch)();  // has a system thread allocate its own shared arrays (thread sanitizer), or null
};

enum class Op : int {
    barrier, barrier_count, barrier_and, barrier_or,
    warp_sync, ballot, any, all, shuffle, shuffle_up, shuffle_down, shuffle_xor, match_any, match_all,
    add, min_unsigned, min_signed, max_unsigned, max_signed, bit_and, bit_or, bit_xor,
    operations
};

struct Options {
    u64 seed;          // 0: round robin, hardly any preemption; else random order and preemption
    u32 resident;      // blocks alive at a time; 0: all of them
    u32 preempt_every; // mean number of hooks (atomics, volatile loads, ...) between two preemptions, when seeded
    u64 spin_limit;    // switches without progress after which a launch is called a livelock
    double seconds;    // longest time that a launch may take
};

extern thread_local Self* self __attribute__((tls_model("initial-exec")));
extern thread_local int fuel __attribute__((tls_model("initial-exec")));

}  // namespace simt

extern "C" {
// Ends the time slice of the running CUDA thread; file and line say where, for reports.
void simt_yield(const char* file, int line);
int simt_barrier(simt::Op op, int predicate, const char* file, int line);
simt::u64 simt_warp(simt::Op op, simt::u32 mask, simt::u64 value, simt::u32 source, int width, int* predicate,
                    const char* file, int line);
[[noreturn]] void simt_fail(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
long long simt_clock();

#ifdef SIMT_TSAN
// The memory model as far as the thread sanitizer needs it: a fence makes the next atomic store or update a release,
// and acquires what the last atomic load or update read.
void simt_fence();
void simt_hook(const char* file, int line);
void simt_atomic_load(const volatile void* address);
void simt_atomic_store(const volatile void* address);
#else
inline void simt_fence() {}
inline void simt_atomic_load(const volatile void*) {}
inline void simt_atomic_store(const volatile void*) {}
#endif
}
