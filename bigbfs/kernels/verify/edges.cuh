// Does every edge keep a rule? Verifies a result where it lies.
//
// A rule has `bool broken(u64 u, vid v) const` for the edge u -> v. A warp takes a row, or a chunk of a hub row; of
// streamed rows, the pieces of a batch. Atomics: one count for each fault. Memory per edge: the id, and what the rule
// reads.
#pragma once
#include "kernels/rows/piece.cuh"

template <typename Rule> DEVICE u64 faults_of(const Adjacency& a, const Rule& rule, u64 u, const Segment& segment) {
    u64 faults = 0;
    Cursor<WARP> cursor(a, segment, lane_id());
    while (cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) faults += cursor.ids[j] >= a.n || rule.broken(u, cursor.ids[j]);
        }
    }
    return faults;
}

template <typename Rule> DEVICE void verify_edges(const Adjacency& a, const Rule& rule, u64* faults) {
    const u64 warp = thread_id() / WARP;
    const u64 warps = thread_count() / WARP;
    u64 found = 0;
    for (u64 u = warp; u < a.n; u += warps) {
        const u64 ids = degree(a, u);
        if (ids > 0 && ids <= BLOCK_IDS) found += faults_of(a, rule, u, row(a, u));
    }
    for (u64 c = warp; c < a.chunks; c += warps) {
        const u32 hub = a.chunk_hub[c];
        found += faults_of(a, rule, a.hubs[hub], chunk(a, c, hub));
    }
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(faults, found);
}

// The rows of a batch: the rule for every id that piece.cuh reads.
template <typename Rule> struct Verify {
    static constexpr bool STOPS = false;
    const Rule& rule;
    u64 n;
    u64 faults;

    METHOD bool wants(vid) const { return true; }

    METHOD bool read(vid v, vid u) {
        faults += u >= n || rule.broken(v, u);
        return false;
    }
};

template <typename Rule>
DEVICE void verify_pieces(const Adjacency& a, const Rule& rule, const Piece* pieces, u64 count, u64* faults) {
    Verify<Rule> work = {rule, a.n, 0};
    read_pieces(a, work, pieces, count, a.rows);
    const u64 found = warp_sum(work.faults);
    if (lane_id() == 0 && found) atomicAdd(faults, found);
}
