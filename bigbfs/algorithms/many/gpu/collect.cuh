// What is collected of many searches while they run: counts, sums, last levels and a vertex in each.
//
// A group of lanes hands in the new bits of its vertex. Frontier kind: any. Atomics: on shared memory, for the first
// vertex that a block finds for a source in a level, and where columns are wanted one for each source and warp; at the
// end of a level a few for each block. Memory per vertex: 16 or 24 bytes where sums are wanted, four for each bit where
// levels are.
#pragma once
#include "algorithms/many/gpu/bits.cuh"

// What a block has found in a level, in shared memory.
struct Collector {
    u64 alive[MOST_WORDS];  // sources that have reached a vertex
    vid witness[MOST_BITS];  // such a vertex
    u32 counts[MOST_BITS];  // how many
    u64 found;  // pairs of source and vertex
    u64 edges;  // of the rows of these vertices
    u64 freed;  // such vertices, bottom-up
};

// The whole block calls it; a barrier follows.
DEVICE void clear(Collector& c) {
    for (u32 i = threadIdx.x; i < MOST_BITS; i += blockDim.x) {
        c.counts[i] = 0;
        if (i < MOST_WORDS) c.alive[i] = 0;
    }
    if (threadIdx.x == 0) c.found = c.edges = c.freed = 0;
}

// Bit i of lane j becomes bit j of lane i.
DEVICE u32 transposed(u32 x) {
    u32 low = 0x0000ffffu;
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        const u32 partner = __shfl_xor_sync(ALL_LANES, x, step);
        x = lane_id() & step ? (x & ~low) | ((partner & ~low) >> step) : (x & low) | ((partner & low) << step);
        low ^= low << (step / 2);
    }
    return x;
}

// Counts the bits of every source over the warp; all lanes call it.
DEVICE void count_columns(const Many& s, Collector& c, const Bits& fresh) {
    const u32 every = 0xffffffffu / ((1u << group_lanes(s)) - 1);  // the lanes that have the same words as lane 0
#pragma unroll 1
    for (u32 half = 0; half < 2 * PART; ++half) {
        const u64 word = half < 2 ? fresh.w[0] : fresh.w[PART - 1];
        const u32 lanes = transposed((u32)(word >> (32 * (half % 2))));
        for (u32 k = 0; k < group_lanes(s); ++k) {
            const u32 count = (u32)__popc(lanes & (every << k));
            if (count) atomicAdd(c.counts + (k * PART + half / 2) * 64 + 32 * (half % 2) + lane_id(), count);
        }
    }
}

// The sources `bits` of a word have reached v in `level`.
DEVICE void note_word(const Many& s, Collector& c, u64 v, u32 word, u64 bits, u64 level) {
    u64 first = bits & ~relaxed_load(c.alive + word);
    if (first) first &= ~atomicOr(c.alive + word, first);
    for (; first; first &= first - 1) c.witness[word * 64 + (u32)__ffsll((i64)first) - 1] = (vid)v;
    if (!s.levels) return;
    i32* const levels = s.levels + v * s.kept;
    for (; bits; bits &= bits - 1) levels[s.many_places[word * 64 + (u32)__ffsll((i64)bits) - 1]] = (i32)level;
}

// The group's vertex v is reached by the sources `fresh` in `level`; none: by nobody. Returns how many they are. All
// lanes call it.
DEVICE u32 collect(const Many& s, Collector& c, u64 v, const Bits& fresh, u64 level) {
    u32 pairs = 0;
#pragma unroll
    for (u32 i = 0; i < PART; ++i) {
        pairs += (u32)__popcll((i64)fresh.w[i]);
        if (fresh.w[i]) note_word(s, c, v, own_word(s) + i, fresh.w[i], level);
    }
    pairs = sum_in_group(s, pairs);
    if (pairs && leads_group(s)) {
        if (s.reach) {
            s.reach[v] += pairs;
            s.farness[v] += pairs * level;
        }
        if (s.harmonic) s.harmonic[v] += (double)pairs / (double)level;
    }
    if (s.columns && __any_sync(ALL_LANES, pairs != 0)) count_columns(s, c, fresh);
    return pairs;
}

// Adds up over the warp and hands in; all lanes call it.
DEVICE void tally(u64* sum, u64 x) {
    x = warp_sum(x);
    if (lane_id() == 0 && x) atomicAdd(sum, x);
}

// Hands in what the block has found in `level`, and clears it; the whole block calls it, and goes on behind a barrier.
DEVICE void hand_in(const Many& s, Collector& c, ManySums& sums, u64 level) {
    __syncthreads();
    const u64 row = level - s.base;
    for (u32 i = threadIdx.x; i < 64 * vertex_words(s); i += blockDim.x) {
        if (s.columns && c.counts[i]) atomicAdd(s.columns + row * 64 * vertex_words(s) + i, (u64)c.counts[i]);
        c.counts[i] = 0;
        if (i >= vertex_words(s) || !c.alive[i]) continue;
        u64 first = c.alive[i] & ~atomicOr(sums.active + i, c.alive[i]);
        c.alive[i] = 0;
        for (; first; first &= first - 1) {
            const u32 bit = i * 64 + (u32)__ffsll((i64)first) - 1;
            s.far[bit] = c.witness[bit];
            s.depth[bit] = level;
        }
    }
    if (threadIdx.x > 0) return;
    if (c.found) atomicAdd(s.pairs + row, c.found);
    if (c.edges) atomicAdd(&sums.edges, c.edges);
    if (c.freed) atomicAdd(&sums.freed, c.freed);
    c.found = c.edges = c.freed = 0;
}
