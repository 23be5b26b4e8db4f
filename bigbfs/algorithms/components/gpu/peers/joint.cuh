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
};
static_assert(sizeof(Ranks) == RANKS_BYTES, "Ranks differs from its NumPy dtype");

template <typename T> DEVICE T* in_rank(const Ranks& r, u64 rank, u64 at) { return (T*)(r.bases[rank] + at); }

// What a warp goes through: own vertices, 32 at a time.
DEVICE u64 first_half() { return thread_id() / WARP; }
DEVICE u64 next_half() { return thread_count() / WARP; }
DEVICE u64 halves(const Ranks& r) { return 2 * r.part.words; }
DEVICE u64 own_lane(const Ranks& r, u64 h) { return own_half(r.part, h) * 32 + lane_id(); }

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
