// Components over several GPUs of one machine that each have all rows: vertices that are not in the giant, and what is
// told of them. whole.py says why the labels are right.
#pragma once
#include "algorithms/components/gpu/peers/joint.cuh"
#include "algorithms/components/gpu/tops.cuh"

// More pairs than there can be, told by who has met a long way up. Threads look before they add: no sum overflows.
constexpr u64 TOO_DEEP = 1ull << 40;

DEVICE void say_deep(u64* count) {
    if (relaxed_load(count) < TOO_DEEP) atomicAdd(count, TOO_DEEP);
}

// Own vertices, as tops.cuh goes through them.
struct Own {
    const Ranks& r;

    METHOD u64 halves() const { return ::halves(r); }
    METHOD u64 vertex(u64 half) const { return own_lane(r, half); }
    METHOD void keep(vid* forest, vid root) const {
        if (!is_own(r.part, root)) relaxed_store(forest + root, root);
    }
};

// Puts down the roots of both ends of an edge where they differ.
struct TellRoots {
    Adjacency a;
    u64 room;  // pairs
    const vid* forest;
    vid giant;
    vid* told;
    u64* count;
    PassTally tally;

    METHOD bool wants(u64 v) const { return forest[v] != giant; }

    METHOD void edge(vid v, vid u) {
        bool deep = false;
        const vid own = forest[v], other = u == giant ? u : top(a, u, above_by_id(a, u), giant, deep);
        if (deep) say_deep(count);
        if (deep || own == other) return;
        const u64 at = atomicAdd(count, (u64)1);
        tally.merged += 1;
        if (at >= room) return;
        told[2 * at] = own;
        told[2 * at + 1] = other;
    }
};
