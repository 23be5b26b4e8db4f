// Are rounds longest paths? Edges: each leads to a later round; who is reached from the round before is marked.
// Vertices (one thread each): a round is not negative, and is 0 or marked. Atomics: a bit for each vertex, and one
// count for each fault. Memory per edge: the id, two rounds, and a word of the bitmap where the rounds are neighbours.
#include "kernels/verify/edges.cuh"

struct RoundRule {
    const i32* rounds;
    u32* follows;

    METHOD bool broken(u64 u, vid v) const {
        const i32 one = rounds[u];
        const i32 other = rounds[v];
        if (other == one + 1) claim_bit(follows, v);
        return other <= one;
    }
};

KERNEL void verify_round_edges(Adjacency a, const i32* rounds, u32* follows, u64* faults) {
    verify_edges(a, RoundRule{rounds, follows}, faults);
}
ENTRY(verify_round_edges)

KERNEL void verify_round_vertices(u64 n, const i32* rounds, const u32* follows, u64* faults) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        if (rounds[v] < 0 || (rounds[v] > 0 && !test_bit(follows, v))) atomicAdd(faults, (u64)1);
    }
}
ENTRY(verify_round_vertices)
