// One bit for each vertex, 32 to a word.
#pragma once
#include "kernels/base/platform.cuh"

DEVICE u64 word_of(u64 v) { return v >> 5; }
DEVICE u32 bit_of(u64 v) { return 1u << (v & 31); }
DEVICE u64 words_for(u64 n) { return (n + 31) >> 5; }

// For a bitmap that nobody changes while the kernel runs.
DEVICE bool test_bit(const u32* bitmap, u64 v) { return (__ldg(bitmap + word_of(v)) & bit_of(v)) != 0; }

// True for exactly one of the threads that set the same bit.
DEVICE bool claim_bit(u32* bitmap, u64 v) {
    const u32 bit = bit_of(v);
    if (relaxed_load(bitmap + word_of(v)) & bit) return false;
    return (atomicOr(bitmap + word_of(v), bit) & bit) == 0;
}
