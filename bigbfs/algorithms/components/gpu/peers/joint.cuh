// Components over several GPUs of one machine: what each of them knows of the others.
//
// Every GPU ("rank") has the rows of its own vertices and a parent for every vertex of the graph. What others read
// (and, of labels and samples, write) lies in one allocation on each rank, laid out alike: an array of another rank is
// its base and an offset. loop.py says why the labels are right.
#pragma once
#include "algorithms/components/gpu/forest.cuh"
#include "algorithms/components/gpu/giant.cuh"
#include "kernels/base/part.cuh"
#include "kernels/rows/heads.cuh"

struct Ranks {
    Part part;
    const u64* bases;  // ranks: where the memory of each begins
    u64 n;
    u64 forest_at;  // bytes from a base: n ids, parents; own vertices are below who is above them on any rank
    u64 labels_at;  // n ids: the smallest vertex of a root's tree
    u64 below_at;  // bitmap: vertices that were no roots when links began, as far as this rank knows
    u64 sample_at;  // SAMPLE ids: roots of the sample's vertices, left by the owners of these
    u64 edged_at;  // SAMPLE words: whether they have edges
    u64 told_at;  // pairs of ids that are to be linked
    u64 count_at;  // how many pairs
    u64 meetings_at;  // by rank: to how many meetings it has come
};

// What a rank remembers of meetings.
struct Waits {
    u64 lost;  // 1 + a rank that did not come to one; 0: all came
    u64 cycles;  // of waiting for others
};
static_assert(sizeof(Waits) == WAITS_BYTES, "Waits differs from its NumPy dtype");
static_assert(sizeof(Ranks) == RANKS_BYTES, "Ranks differs from its NumPy dtype");

template <typename T> DEVICE T* in_rank(const Ranks& r, u64 rank, u64 at) { return (T*)(r.bases[rank] + at); }

// What a warp goes through: own vertices, 32 at a time.
DEVICE u64 first_half() { return thread_id() / WARP; }
DEVICE u64 next_half() { return thread_count() / WARP; }
DEVICE u64 halves(const Ranks& r) { return 2 * r.part.words; }
DEVICE u64 own_lane(const Ranks& r, u64 h) { return own_half(r.part, h) * 32 + lane_id(); }

// The lane's vertex of half h and of those that are the warp's after it; r.n where there is none.
DEVICE void own_lanes(const Ranks& r, u64 h, u64* v) {
#pragma unroll
    for (u32 j = 0; j < POINTED; ++j) {
        v[j] = h + j * next_half() < halves(r) ? own_lane(r, h + j * next_half()) : r.n;
    }
}

// All warps together: f(v) for each vertex of a bitmap, by the lanes of a warp for a word. Words of none are passed by
// 32 at once, which lie far from each other: where vertices are by degree the first words have nearly all bits. A bit
// that is set meanwhile may be met or not.
template <typename Each> DEVICE void each_bit(const u32* bitmap, u64 n, const Each& f) {
    const u64 words = words_for(n);
    const u64 warps = thread_count() / WARP;
    for (u64 base = thread_id() / WARP; base < words; base += warps * WARP) {
        const u64 mine = base + lane_id() * warps;
        const u32 own = mine < words ? relaxed_load(bitmap + mine) : 0u;
        for (u32 left = __ballot_sync(ALL_LANES, own != 0); left; left &= left - 1) {
            const u32 which = (u32)__ffs((int)left) - 1;
            const u32 bits = __shfl_sync(ALL_LANES, own, which);
            if (bits >> lane_id() & 1) f((base + which * warps) * 32 + lane_id());
        }
    }
}

// All lanes of all warps, at the end of a kernel: bytes that have crossed the link.
DEVICE void add_moved(u64 bytes, u64* moved) {
    __syncwarp();
    bytes = warp_sum(bytes);
    if (lane_id() == 0 && bytes) atomicAdd(moved, bytes);
}

// The name by which all ranks know z, which was a root on this one when its links began.
DEVICE vid name_of(const Ranks& r, const u32* asked, vid z) {
    const u64 owner = owner_of(r.part, z);
    if (owner == r.part.rank || test_bit(asked, z)) return z;
    const u32 below = in_rank<u32>(r, owner, r.below_at)[word_of(z)];
    return below & bit_of(z) ? in_rank<vid>(r, owner, r.forest_at)[z] : z;
}

// Roots that a lane looks at before it waits for one.
constexpr u32 LOOKED_AT = 4;

// Which of the roots of 1,024 vertices from `base` on, a word of them in each lane, were hung; all lanes call it.
DEVICE u32 hung_of(const vid* forest, u64 base, u32 roots) {
    u32 hung = 0;
    for (u32 k = 0; k < WARP; k += LOOKED_AT) {
        vid above[LOOKED_AT];
#pragma unroll
        for (u32 j = 0; j < LOOKED_AT; ++j) {
            const u64 v = base + (k + j) * WARP + lane_id();
            const u32 word = __shfl_sync(ALL_LANES, roots, k + j);
            above[j] = word >> lane_id() & 1 ? forest[v] : (vid)v;
        }
#pragma unroll
        for (u32 j = 0; j < LOOKED_AT; ++j) {
            const u32 all = __ballot_sync(ALL_LANES, above[j] != (vid)(base + (k + j) * WARP + lane_id()));
            if (lane_id() == k + j) hung = all;
        }
    }
    return hung;
}
