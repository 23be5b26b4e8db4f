// Sums and maxima over a warp, and the set bits of 32 words (one to a lane) as a list that all lanes share.
#pragma once
#include "kernels/base/platform.cuh"

DEVICE u64 warp_sum(u64 x) {
    for (u32 step = WARP / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
    return x;
}

DEVICE u64 warp_max(u64 x) {
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        const u64 other = __shfl_xor_sync(ALL_LANES, x, step);
        if (other > x) x = other;
    }
    return x;
}

DEVICE u32 warp_inclusive_sum(u32 x) {
    for (u32 step = 1; step < WARP; step *= 2) {
        const u32 left = __shfl_up_sync(ALL_LANES, x, step);
        if (lane_id() >= step) x += left;
    }
    return x;
}

// Position of the set bit of `word` that has `rank` set bits below it; rank < popc(word).
DEVICE u32 nth_set_bit(u32 word, u32 rank) {
    u32 position = 0;
    for (u32 width = 16; width > 0; width /= 2) {
        const u32 below = (u32)__popc(word & ((1u << width) - 1));
        if (rank >= below) {
            rank -= below;
            word >>= width;
            position += width;
        }
    }
    return position;
}

// The set bits of the warp's 32 words in ascending order: bit k is found by any lane in ten steps, so that sparse
// words still give every lane something to do. All lanes construct it and call find() together.
struct SetBits {
    u32 word;
    u32 before;
    u32 total;

    METHOD explicit SetBits(u32 own_word) : word(own_word) {
        const u32 count = (u32)__popc(own_word);
        const u32 through = warp_inclusive_sum(count);
        before = through - count;
        total = __shfl_sync(ALL_LANES, through, WARP - 1);
    }

    // Sets the lane that owns bit k and the bit's position there. A lane whose k is not below total gets nonsense.
    METHOD void find(u32 k, u32& owner, u32& bit) const {
        owner = 0;
        for (u32 step = WARP / 2; step > 0; step /= 2) {
            const u32 first = __shfl_sync(ALL_LANES, before, owner + step);
            if (first <= k) owner += step;
        }
        const u32 bits = __shfl_sync(ALL_LANES, word, owner);
        const u32 rank = k - __shfl_sync(ALL_LANES, before, owner);
        bit = nth_set_bit(bits, rank & (WARP - 1));
    }
};
