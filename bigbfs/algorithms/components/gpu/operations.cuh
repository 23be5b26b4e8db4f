// What a pass over rows does with an edge, for passes.cuh and for rows that are streamed (streamed_cc.cu).
#pragma once
#include "algorithms/components/gpu/forest.cuh"
#include "kernels/passes/passes.cuh"

// Exact: the trees of both ends become one. Vertices whose root is `skipped` are left out; who has come to be below it
// since may be met in vain.
struct Link {
    vid* forest;
    vid skipped;
    u32 by_id;
    PassTally tally;

    METHOD bool wants(u64 v) const { return stale_load(forest + v) != skipped; }
    METHOD void edge(vid v, vid u) { tally.merged += link(forest, v, u, by_id); }
};

// Tried once, as Shiloach and Vishkin do.
struct Hook {
    vid* forest;
    vid skipped;
    u32 by_id;
    PassTally tally;

    METHOD bool wants(u64 v) const { return stale_load(forest + v) != skipped; }
    METHOD void edge(vid v, vid u) { tally.merged += hook(forest, v, u, by_id, tally.open); }
};

// Label propagation: the smaller label goes to the other end.
struct Spread {
    vid* labels;
    const u32* active;
    u32* following;
    PassTally tally;

    METHOD bool wants(u64 v) const { return test_bit(active, v); }

    METHOD void lower(vid v, vid label) {
        if (atomicMin(labels + v, label) <= label) return;
        tally.merged += 1;
        if (!(relaxed_load(following + word_of(v)) & bit_of(v))) atomicOr(following + word_of(v), bit_of(v));
    }

    METHOD void edge(vid v, vid u) {
        const vid own = relaxed_load(labels + v);
        const vid its = relaxed_load(labels + u);
        if (own < its) lower(u, own);
        else if (its < own) lower(v, its);
    }
};
