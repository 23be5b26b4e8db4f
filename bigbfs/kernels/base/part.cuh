// Which of several GPUs owns which vertices: words of 64, dealt in turn or in ranges (engines/ranks/partition.py).
#pragma once
#include "kernels/base/platform.cuh"

struct Part {
    const u64* bounds;  // size + 1: first word of each range; null: words are dealt
    u64 rank;           // who this is, of how many
    u64 size;
    u64 first;          // own word i is word first + i * stride of the graph, for i below words
    u64 stride;
    u64 words;
};
static_assert(sizeof(Part) == PART_BYTES, "Part differs from its NumPy dtype");

DEVICE u64 owner_of(const Part& part, u64 v) {
    const u64 word = v >> 6;
#if ID_BITS == 32
    if (!part.bounds) return (u32)word % (u32)part.size;
#else
    if (!part.bounds) return word % part.size;
#endif
    u64 low = 0, high = part.size;  // the last range that does not begin after it
    while (high - low > 1) {
        const u64 middle = (low + high) / 2;
        if (part.bounds[middle] <= word) low = middle;
        else high = middle;
    }
    return low;
}

DEVICE bool is_own(const Part& part, u64 v) { return owner_of(part, v) == part.rank; }

// Half h of own words: which word of a bitmap that is. There are 2 * part.words of them.
DEVICE u64 own_half(const Part& part, u64 h) { return 2 * (part.first + h / 2 * part.stride) + h % 2; }
