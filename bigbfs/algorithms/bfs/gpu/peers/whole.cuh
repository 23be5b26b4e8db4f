// Searches over several GPUs that each have all rows: what one of them can do as fast alone, each does for itself.
//
// Top-down levels are those of one GPU, the same on every rank: nobody meets, nothing is told, and who is visited all
// ranks know alike. A bottom-up level is shared as ever: a rank searches its own words and tells whom it finds, here
// also that they are visited; whom chunks of hubs have found is told, and that they are visited, when the frontier is
// published: a word of `visited` is written by its owner, or by the rank whose memory it is, never by both at once. A
// level of few edges costs less than a meeting, and hubs of the first levels wait for no owner. Where levels are many
// and thin none is shared at all (ALONE). Levels and parents that a rank has written for vertices of others are
// nobody's: each vertex is fetched from its owner. Frontier kind: queue of all vertices, bitmap. Atomics, memory per
// edge: as on one GPU. Source: ours.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// Words of 32 vertices that a rank goes through, and the one of number h.
DEVICE u64 swept(const Peers& p) { return p.whole ? words_for(p.s.out.n) : 2 * p.part.words; }
DEVICE u64 swept_word(const Peers& p, u64 h) { return p.whole ? h : own_half(p.part, h); }
