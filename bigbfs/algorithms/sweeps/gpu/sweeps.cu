// What follows a search that closes in on the diameter: bounds of eccentricities renewed from its levels where these
// are, open vertices counted and listed (algorithms/sweeps/options.py says what for).
//
// A thread takes a vertex, in strides. Frontier kind: none. Atomics: on shared memory a few for each warp, then on the
// record one for each of its words and block; one for each open vertex until the list is full. Memory per vertex: its
// level and two bounds, of an open one two bytes for each source kept; degrees of few. Sources: Takes, Kosters (CIKM
// 2011); Bradley, Akathoott, Burtscher (ICPP 2025).
#include "kernels/rows/adjacency.cuh"

constexpr i32 MOST = 0x7fffffff;
constexpr i32 WIDE = 0xffff;
constexpr i32 TOO_FAR = SWEEP_FAR;
constexpr u32 KEPT = SWEEP_KEPT;
constexpr u32 WORDS = SWEEP_WORDS;
constexpr u64 NOBODY = (1ull << VERTEX_BITS) - 1;

// What is largest for the highest score.
DEVICE u64 key(u64 score, u64 v) { return (score << VERTEX_BITS) | (v + 1); }

// A byte that grows with the degree of v: exponent and three bits of mantissa.
DEVICE u64 rank_of(const Adjacency& a, u64 v) {
    const u64 count = degree(a, v);
    if (count < 8) return count;
    const u64 exponent = 63 - (u64)__clzll((i64)count);
    const u64 rank = (exponent - 2) * 8 + ((count >> (exponent - 3)) & 7);
    return rank < 255 ? rank : 255;
}

DEVICE i32 smaller(i32 a, i32 b) { return a < b ? a : b; }
DEVICE i32 larger(i32 a, i32 b) { return a > b ? a : b; }

// Adds up over the warp; all lanes call it.
DEVICE void add_to(u64* word, u64 x) {
    x = warp_sum(x);
    if (lane_id() == 0 && x) atomicAdd(word, x);
}

// The largest of the warp; all lanes call it.
DEVICE void raise(u64* word, u64 x) {
    x = warp_max(x);
    if (lane_id() == 0 && x > relaxed_load(word)) atomicMax(word, x);
}

// Is this word of the record a sum?
DEVICE bool is_sum(u32 i) { return i == AT_REACHED || i == AT_OPEN || (i >= AT_LEFT && i < AT_LEFT + KEPT); }

// The block's words are there; the whole block calls it.
DEVICE void begin_record(u64* own) {
    if (threadIdx.x < WORDS) own[threadIdx.x] = 0;
    __syncthreads();
}

// Hands in the block's words; the whole block calls it.
DEVICE void end_record(const u64* own, u64* record) {
    __syncthreads();
    const u32 i = threadIdx.x;
    if (i >= WORDS || !own[i]) return;
    if (is_sum(i)) atomicAdd(record + i, own[i]);
    else atomicMax(record + i, own[i]);
}

// The vertex of most neighbours, of several the first, as what its id lacks to NOBODY; and who has any.
KERNEL void sweep_hub(Adjacency a, u64* record, u64 n) {
    __shared__ u64 own[WORDS];
    begin_record(own);
    u64 linked = 0, best = 0;
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        const u64 count = degree(a, v);
        const u64 score = count < 0xffffff ? count : 0xffffff;
        const u64 mine = (score << VERTEX_BITS) | (NOBODY - v);
        if (count && mine > best) best = mine;
        linked += count != 0;
    }
    add_to(own + AT_REACHED, linked);
    raise(own + AT_FAR, best);
    end_record(own, record);
}
ENTRY(sweep_hub)

// What a thread counts.
struct Tally {
    u64 reached, open, far, central;
    u64 left[KEPT], next[KEPT], top[KEPT];
    i32 floor, ceiling;
    bool lists;
};

// v is open below `high`: counted, listed, and told of which balls it lies outside.
DEVICE void note_open(
    const Adjacency& a, Tally& t, const u16* kept, u64* listed, u64* record, u64 n, u64 v, i32 high, i32 longest,
    u32 known
) {
    ++t.open;
    if (t.lists) {
        t.lists = relaxed_load(record + AT_LISTED) < SWEEP_LISTED;
        const u64 at = t.lists ? atomicAdd(record + AT_LISTED, 1ull) : SWEEP_LISTED;
        if (at < SWEEP_LISTED) listed[at] = v;
    }
    const i32 half = longest / 2;
    const u64 score = (u64)smaller(high, WIDE) << 8;
#pragma unroll
    for (u32 k = 0; k < KEPT; ++k) {
        if (!(known >> k & 1)) continue;
        const i32 away = kept[k * n + v];
        if (away <= half && away != TOO_FAR) continue;
        ++t.left[k];
        if ((u64)high > t.top[k]) t.top[k] = (u64)high;
        if ((score | 255) < t.next[k] >> VERTEX_BITS) continue;
        const u64 mine = key(score + 255 - rank_of(a, v), v);
        if (mine > t.next[k]) t.next[k] = mine;
    }
}

// Renews the bounds by the levels of a source of eccentricity `depth`; these are kept as number `keep`, unless that is
// KEPT. Bit k of `known`: number k is a source's, this one's too. `anew`: nothing is known before. `asked`: a central
// vertex is looked for.
KERNEL void sweep_renew(
    Adjacency a, const i32* levels, i32* lower, i32* upper, u16* kept, u64* listed, u64* record, u64 n, i32 depth,
    i32 longest, u32 keep, u32 known, u32 anew, u32 asked
) {
    __shared__ u64 own[WORDS];
    begin_record(own);
    Tally t = {0, 0, 0, 0, {0}, {0}, {0}, MOST, MOST, true};
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        const i32 level = levels[v];
        if (level < 0) {
            if (anew) {
                lower[v] = 0;
                upper[v] = -1;
            }
            continue;
        }
        ++t.reached;
        i32 low = larger(level, depth - level), high = depth + level;
        if (!anew) {
            low = larger(low, lower[v]);
            high = smaller(high, upper[v]);
        }
        lower[v] = low;
        upper[v] = high;
        if (keep < KEPT) kept[keep * n + v] = (u16)smaller(level, TOO_FAR);
        t.floor = smaller(t.floor, low);
        t.ceiling = smaller(t.ceiling, high);
        if (level == depth) {
            const u64 mine = key(255 - rank_of(a, v), v);
            if (mine > t.far) t.far = mine;
        }
        const u64 score = (u64)(WIDE - smaller(low, WIDE)) << 8;
        if (asked && low < high && (score | 255) >= t.central >> VERTEX_BITS) {
            const u64 mine = key(score + rank_of(a, v), v);
            if (mine > t.central) t.central = mine;
        }
        if (high > longest) note_open(a, t, kept, listed, record, n, v, high, longest, known);
    }
    add_to(own + AT_REACHED, t.reached);
    add_to(own + AT_OPEN, t.open);
    raise(own + AT_FAR, t.far);
    raise(own + AT_CENTRAL, t.central);
    raise(own + AT_RADIUS, (u64)(MOST - t.floor));
    raise(own + AT_CEILING, (u64)(MOST - t.ceiling));
#pragma unroll
    for (u32 k = 0; k < KEPT; ++k) {
        add_to(own + AT_LEFT + k, t.left[k]);
        raise(own + AT_NEXT + k, t.next[k]);
        raise(own + AT_TOP + k, t.top[k]);
    }
    end_record(own, record);
}
ENTRY(sweep_renew)

// Of each listed vertex its upper bound, its level, and its distances from the sources kept, a row of `found` each.
KERNEL void sweep_gather(
    const i32* levels, const i32* upper, const u16* kept, const u64* listed, u64 count, u64 n, i32* found
) {
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const u64 v = listed[i];
        found[i] = upper[v];
        found[SWEEP_LISTED + i] = levels[v];
        for (u64 k = 0; k < KEPT; ++k) found[(2 + k) * SWEEP_LISTED + i] = kept[k * n + v];
    }
}
ENTRY(sweep_gather)

// The vertex so many steps above v; one thread.
KERNEL void sweep_climb(const vid* parents, u64 v, u64 steps, u64* found) {
    if (thread_id() > 0) return;
    for (u64 i = 0; i < steps; ++i) v = parents[v];
    *found = v;
}
ENTRY(sweep_climb)
