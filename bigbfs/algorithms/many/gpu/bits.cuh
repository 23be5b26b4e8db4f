// The bits of a vertex, one for each source: how lanes load and join them.
#pragma once
#include "algorithms/many/gpu/many.cuh"

struct Bits {
    u64 w[PART];
};

// Words that nobody changes before the next barrier, or the end of the launch.
DEVICE Bits load_part(const u64* words) {
    Bits found;
#if MANY_PART == 1
    found.w[0] = *words;
#else
    const ulonglong2 both = *(const ulonglong2*)words;
    found.w[0] = both.x;
    found.w[1] = both.y;
#endif
    return found;
}

DEVICE Bits load_bits(const Many& s, u64* bits, u64 v) { return load_part(words_of(s, bits, v)); }

DEVICE Bits relaxed_bits(const Many& s, u64* bits, u64 v) {
    Bits found;
#pragma unroll
    for (u32 i = 0; i < PART; ++i) found.w[i] = relaxed_load(words_of(s, bits, v) + i);
    return found;
}

DEVICE void store_bits(const Many& s, u64* bits, u64 v, const Bits& b) {
#if MANY_PART == 1
    *words_of(s, bits, v) = b.w[0];
#else
    ulonglong2 both;
    both.x = b.w[0];
    both.y = b.w[1];
    *(ulonglong2*)words_of(s, bits, v) = both;
#endif
}

// The lane's words of as many as there can be sources.
DEVICE Bits own_bits(const Many& s, const u64* all) {
    Bits found;
#pragma unroll
    for (u32 i = 0; i < PART; ++i) found.w[i] = all[own_word(s) + i];
    return found;
}

// Of the sources that are searching still, and of those that bottom-up asks for.
DEVICE Bits active_bits(const Many& s) { return own_bits(s, s.many_stand->active); }
DEVICE Bits asked_bits(const Many& s) { return own_bits(s, s.many_stand->asked); }

DEVICE Bits no_bits() {
    Bits b;
    for (u32 i = 0; i < PART; ++i) b.w[i] = 0;
    return b;
}

DEVICE void add(Bits& b, const Bits& more) {
    for (u32 i = 0; i < PART; ++i) b.w[i] |= more.w[i];
}

DEVICE Bits without(const Bits& a, const Bits& b) {
    Bits c;
    for (u32 i = 0; i < PART; ++i) c.w[i] = a.w[i] & ~b.w[i];
    return c;
}

DEVICE Bits common(const Bits& a, const Bits& b) {
    Bits c;
    for (u32 i = 0; i < PART; ++i) c.w[i] = a.w[i] & b.w[i];
    return c;
}

DEVICE bool any(const Bits& b) { return (b.w[0] | b.w[PART - 1]) != 0; }

// The lanes of the caller's group in which x is true, by bits; whether there are any. All lanes call them.
DEVICE u32 lanes_in_group(const Many& s, bool x) {
    const u32 lanes = __ballot_sync(ALL_LANES, x);
    return (lanes >> (lane_id() & ~(group_lanes(s) - 1))) & ((1u << group_lanes(s)) - 1);
}
DEVICE bool any_in_group(const Many& s, bool x) { return lanes_in_group(s, x) != 0; }

// The sum of x over the caller's group; all lanes call it.
DEVICE u32 sum_in_group(const Many& s, u32 x) {
    for (u32 step = 1; step < group_lanes(s); step *= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
    return x;
}

// The bits that are set in some lane, of those that are a power of two from `from` on and below `to` lanes away, and
// sums of such; all lanes call it.
DEVICE Bits join_lanes(Bits b, u32 from, u32 to) {
    for (u32 step = from; step < to; step *= 2) {
        for (u32 i = 0; i < PART; ++i) b.w[i] |= __shfl_xor_sync(ALL_LANES, b.w[i], step);
    }
    return b;
}

// Those that are set in some lane which has the same words.
DEVICE Bits join_groups(const Many& s, const Bits& b) { return join_lanes(b, group_lanes(s), WARP); }
