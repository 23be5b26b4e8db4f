// The rules of edges.cuh for the rows of one of several GPUs. A warp takes an own row, or a chunk of an own hub's.
#pragma once
#include "kernels/base/part.cuh"
#include "kernels/verify/edges.cuh"

template <typename Rule> DEVICE void verify_own_edges(
    const Adjacency& a, const Part& part, const Rule& rule, u64* faults
) {
    const u64 warp = thread_id() / WARP;
    const u64 warps = thread_count() / WARP;
    u64 found = 0;
    for (u64 i = warp; i < 64 * part.words; i += warps) {
        const u64 u = own_half(part, i / 32) * 32 + i % 32;
        const u64 ids = u < a.n ? degree(a, u) : 0;
        if (ids > 0 && ids <= BLOCK_IDS) found += faults_of(a, rule, u, row(a, u));
    }
    for (u64 c = warp; c < a.chunks; c += warps) {
        const u32 hub = a.chunk_hub[c];
        if (is_own(part, a.hubs[hub])) found += faults_of(a, rule, a.hubs[hub], chunk(a, c, hub));
    }
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(faults, found);
}
