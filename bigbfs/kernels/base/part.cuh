// Which of several GPUs owns which vertices: words of 64, dealt in turn, one or more at a time, or in ranges
// (engines/ranks/partition.py).
#pragma once
#include "kernels/base/platform.cuh"

struct Part {
    const u64* bounds;  // size + 1: first word of each range; null: words are dealt
    u64 rank;           // who this is, of how many
    u64 size;
    u64 first;          // own word i is word own_word(i) of the graph, for i below words
    u64 stride;
    u64 words;
    u64 shift;          // 1 << shift words are dealt at a time; 0 in ranges
    u64 gap;            // words of others behind each of these
};
static_assert(sizeof(Part) == PART_BYTES, "Part differs from its NumPy dtype");

DEVICE u64 owner_of(const Part& part, u64 v) {
    const u64 word = v >> 6, turn = word >> part.shift;
#if ID_BITS == 32
    if (!part.bounds) return (u32)turn % (u32)part.size;
#else
    if (!part.bounds) return turn % part.size;
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

DEVICE u64 own_word(const Part& part, u64 i) { return part.first + i + (i >> part.shift) * part.gap; }

// Half h of own words: which word of a bitmap that is. There are 2 * part.words of them.
DEVICE u64 own_half(const Part& part, u64 h) {
#if ID_BITS == 32
    const u32 half = (u32)h;  // of 2^27: searches ask for each vertex, and 64 bits take thrice as many steps
    return 2 * ((u32)part.first + (half / 2 >> (u32)part.shift) * (u32)part.gap) + half;
#else
    return 2 * (part.first + (h / 2 >> part.shift) * part.gap) + h;
#endif
}
