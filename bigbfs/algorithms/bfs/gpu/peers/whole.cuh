// Searches over several GPUs that each have all rows: what one of them can do as fast alone, each does for itself.
//
// Top-down levels of few edges are those of one GPU, the same on every rank: nobody meets, nothing is told, and who is
// visited all ranks know alike. Larger ones, of hubs, are shared by whom their edges lead to: each rank reads all of
// them, marks its own vertices, and tells whom it has found (marks.cuh), alone or behind heads. A bottom-up level is
// shared as ever: a rank searches its own words and tells whom it finds, here also that they are visited; whom chunks
// of hubs have found is told, and that they are visited, when the frontier is published: a word of `visited` is written
// by its owner, or by the rank whose memory it is, never by both at once.
// Where few are left to be found, or the graph is so small that words are dealt and not lines, a bottom-up level goes
// as on one GPU, too. A level of few edges costs less than a meeting, and hubs of the first levels wait for no owner.
// Where levels are many and thin none is shared at all (ALONE). Levels and parents that a rank has written for vertices
// of others are nobody's: each vertex is fetched from its owner. While the first block goes through a search's first
// levels, the others empty the bitmap that the first bottom-up level wants. Frontier kind: queue of all vertices,
// bitmap. Atomics, memory per edge: as on one GPU. Source: ours.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// Words of 32 vertices that a rank goes through, and the one of number h.
DEVICE u64 swept(const Peers& p) { return ALL_ROWS ? words_for(p.s.out.n) : 2 * p.part.words; }
DEVICE u64 swept_word(const Peers& p, u64 h) { return ALL_ROWS ? h : own_half(p.part, h); }

// Whether all blocks but the first empty the frontier's bitmap while that goes on alone. In later levels they would not
// have done in time.
DEVICE bool blanks(const Peers& p, const Team& t) { return ALL_ROWS && p.s.bottom_up && t.level == 0 && gridDim.x > 1; }

// Not the first block.
DEVICE void blank_meanwhile(const Peers& p, const Team& t) {
    u32* const bits = frontier_bits(p.s, t);
    const u64 threads = (u64)(gridDim.x - 1) * TEAM;
    for (u64 w = (u64)(blockIdx.x - 1) * TEAM + threadIdx.x; w < words_for(p.s.out.n); w += threads) bits[w] = 0;
}
