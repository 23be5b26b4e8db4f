// Which component is the giant, by a sample. A wrong guess costs time, never the answer.
#pragma once
#include "kernels/base/platform.cuh"

constexpr u32 SAMPLE = 512;  // vertices drawn
constexpr u32 OTHERS = 64;   // one vertex with edges in so many may be outside the giant where rounds are saved

// Vertex i of the sample, of n vertices: a multiplicative hash.
DEVICE u64 sampled(u32 i, u64 n) { return (i + 1) * 0x9e3779b97f4a7c15ull % n; }

// What a block counts.
struct Votes {
    u32 best;
    u32 inside;
    u32 outside;
};

// One block, whose threads have just written `roots`, those of the sample: *giant = the most frequent of them.
// *settled: nearly all vertices with edges are in it, so that more rounds would cost more than the rows of the others.
template <typename HasEdges>
DEVICE void elect(const vid* roots, Votes& votes, const HasEdges& has_edges, vid* giant, u32* settled) {
    if (threadIdx.x == 0) votes.best = votes.inside = votes.outside = 0;
    __syncthreads();
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) {
        u32 equal = 0;
        for (u32 k = 0; k < SAMPLE; ++k) equal += roots[k] == roots[i];
        atomicMax(&votes.best, equal * SAMPLE + i);
    }
    __syncthreads();
    const vid most = roots[votes.best % SAMPLE];
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) {
        if (has_edges(i)) atomicAdd(roots[i] == most ? &votes.inside : &votes.outside, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *giant = most;
        *settled = votes.outside * OTHERS < votes.inside;
    }
}
