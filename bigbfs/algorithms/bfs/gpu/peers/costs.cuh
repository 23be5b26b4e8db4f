// What a level over several GPUs is predicted to cost in each direction.
//
// The directions are weighed as in plan.cuh, with what it takes to tell the others: claims after a top-down level, bits
// before a bottom-up one. How many heads will not decide nobody has probed: after a top-down level it is taken that
// each of them is in the frontier or above it as probably as an edge is. By degree, where heads are the strongest of
// all vertices, each counts twice (docs/results/distributed.md). Source: Beamer et al. (SC'12); the rule is ours.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"
#include "algorithms/bfs/gpu/plan.cuh"

DEVICE u64 not_visited(const Peers& p, const Team& t) {
    return p.s.in_vertices > t.reached ? p.s.in_vertices - t.reached : 0;
}

// Costs are those of all ranks together, so that nothing is divided: what one of them does in full counts for each. A
// thread of every block works them out at every level, while all wait.
struct LevelCosts {
    u64 claims;
    u64 marks;
    u64 up;
};

// Whether all ranks have the frontier's bitmap.
DEVICE bool is_known(const Team& t, const Mates& m) { return (m.same >> t.swapped & 1) != 0; }

// What it takes to read an id is one part of so many of what an edge takes that is marked.
constexpr u64 READ_SHARE = 4;

// `open` vertices read a line of their row, or two.
DEVICE LevelCosts costs_of(const Peers& p, const Team& t, const Mates& m, u64 open) {
    const u64 rest = not_visited(p, t), ranks = p.part.size;
    const u64 found = m.edges < rest ? m.edges : rest;  // at most
    const u64 lines = m.edges * sizeof(vid) / 128 + m.count;
    const bool bits = t.form == BITMAP;
    const u64 alike = ALL_ROWS ? ranks : 1;  // all do the work
    // smaller levels are left to claims: marks cost a sweep, and one more barrier
    const bool may_mark = (!ALL_ROWS || t.shared) && m.edges >= p.s.wide_from;
    LevelCosts costs;
    costs.claims = (m.edges * p.s.edge_cost + lines * p.s.far_rows / 1024 * p.s.line_cost) * alike;
    costs.claims += ALL_ROWS ? 0 : found * p.told_cost;
    costs.claims += (may_mark ? found * p.s.claim_cost * alike : 0) + (bits ? ranks * p.s.sweep_cost : 0);
    // with all rows a rank reads all ids, and goes on with those of own vertices
    costs.marks = m.edges * p.s.mark_cost * (ALL_ROWS ? READ_SHARE - 1 + ranks : READ_SHARE) / READ_SHARE;
    costs.marks += lines * p.s.line_cost * alike + (p.s.parents ? found * p.s.parent_cost : 0);
    costs.marks += 2 * ranks * (p.s.sweep_cost + p.publish_cost);
    costs.up = (rest * p.s.vertex_cost + 2 * open * p.s.line_cost) * (t.shared ? 1 : ranks);
    costs.up += ranks * ((bits ? 1 : 2) * p.s.sweep_cost + (ALL_ROWS || (bits && is_known(t, m)) ? 0 : p.publish_cost));
    if (!may_mark) costs.marks = ~(u64)0;
    if (!p.s.bottom_up) costs.up = ~(u64)0;
    return costs;
}

// So many of the vertices that are not visited, their heads are not expected to decide.
DEVICE u64 expected_open(const Peers& p, const Team& t, const Mates& m) {
    if (t.form == BITMAP && t.missed != UNKNOWN) return t.missed;
    const u64 all = p.edges_in_all ? p.edges_in_all : 1;
    const u64 left = m.explored < all ? all - m.explored : 0;
    // of edges that lead elsewhere, in 1024ths; there are fewer than 2^54 of anything
    const u32 share = (u32)(left * 1024 / all);
    u32 open = 1024;
    const u64 heads = p.s.in.head_groups * HEAD_GROUP + p.s.in.head_skip;  // that is 0 unless rows are by degree
    for (u64 i = 0; i < heads; ++i) open = open * share / 1024;
    return not_visited(p, t) * open / 1024;
}

// Whether a top-down level that begins as a bitmap has more claims than bits of what is visited cost twice. A claim of
// who is visited is in vain; of a few it is not worth a meeting.
DEVICE bool tells_visited(const Peers& p, const Mates& m) { return m.edges * p.told_cost > 2 * p.publish_cost; }
