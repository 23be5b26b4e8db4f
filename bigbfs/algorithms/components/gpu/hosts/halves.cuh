// Own vertices, and bits of everybody's, 32 at a time: a half is one of the two words of 32 in a word of a part.
#pragma once
#include "algorithms/components/gpu/giant.cuh"
#include "kernels/base/part.cuh"

// Bits of members: those of rank q begin at word q * most, own words in order. Half h of them: which half of all.
DEVICE u64 half_of(const Part& part, u64 q, u64 h) {
    return 2 * (part.bounds ? part.bounds[q] + h / 2 : q + h / 2 * part.size) + h % 2;
}

// The half of a bitmap of all vertices: which half of `bits` that is. The inverse.
DEVICE u64 member_half(const Part& part, u64 most, u64 half) {
    const u64 word = half / 2;
    const u64 q = owner_of(part, word * 64);
    return 2 * (q * most + (part.bounds ? word - part.bounds[q] : word / part.size)) + half % 2;
}

// What a warp goes through: own vertices, 32 at a time.
DEVICE u64 first_half() { return thread_id() / WARP; }
DEVICE u64 next_half() { return thread_count() / WARP; }
DEVICE u64 own_lane(const Part& part, u64 h) { return own_half(part, h) * 32 + lane_id(); }

// Vertex i of the sample of own vertices, of which there are some.
DEVICE u64 own_sampled(const Part& part, u64 n, u32 i) {
    const u64 at = sampled(i, 64 * part.words);
    const u64 v = own_half(part, at / 32) * 32 + at % 32;
    return v < n ? v : 64 * part.first;
}
