// What a level over several GPUs is predicted to cost in each direction.
//
// The directions are weighed as in plan.cuh, with what it takes to tell the others: claims after a top-down level, bits
// before a bottom-up one. How many heads will not decide nobody has probed: after a top-down level it is taken that
// each of them is in the frontier or above it as probably as an edge is. By degree, where heads are the strongest of
// all vertices, each counts twice or more (docs/results/distributed.md). Source: Beamer et al. (SC'12); the rule is
// ours.
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
    bool mixed;  // bottom-up: the frontier's edges follow on heads
};

// Whether all ranks have the frontier's bitmap.
DEVICE bool is_known(const Team& t, const Mates& m) { return (m.same >> t.swapped & 1) != 0; }

// Whether the frontier's edges follow on heads in the level, as marks, rather than rows.
DEVICE bool is_mixed(const Team& t) { return ALL_ROWS && t.bottom_up && t.wide; }

#if WHOLE
// What it takes to read an id is one part of so many of what an edge takes that is marked.
constexpr u64 READ_SHARE = 4;

// All ranks read all ids, and go on with those of own vertices, of which every second is visited or marked already.
DEVICE u64 marks_cost(const Peers& p, const Mates& m, u64 rest, u64 lines) {
    const u64 ranks = p.part.size, found = m.edges / 2 < rest ? m.edges / 2 : rest;
    const u64 edges = m.edges * p.s.mark_cost * (READ_SHARE - 1 + ranks) / READ_SHARE;
    const u64 parents = p.s.parents ? found * p.s.parent_cost : 0;
    return edges + lines * p.s.line_cost * ranks + parents + 3 * ranks * (p.s.sweep_cost + p.publish_cost);
}

// The same behind heads, of which `open` vertices were left over: most edges lead to who has been found (costs.cuh of
// one GPU).
DEVICE u64 late_marks_cost(const Peers& p, const Mates& m, u64 open, u64 lines) {
    const u64 ranks = p.part.size, found = (m.edges < open ? m.edges : open) / FOUND_LATE;
    const u64 sweeps = 2 * ranks * (p.s.sweep_cost + p.publish_cost);
    return (m.edges * p.s.look_cost + lines * p.s.line_cost) * ranks + found * p.s.claim_cost + sweeps;
}
#else
// A rank marks whom its rows lead to, whoever owns them.
DEVICE u64 marks_cost(const Peers& p, const Mates& m, u64 rest, u64 lines) {
    const u64 found = m.edges < rest ? m.edges : rest;
    const u64 parents = p.s.parents ? found * p.s.parent_cost : 0;
    const u64 sweeps = 2 * p.part.size * (p.s.sweep_cost + p.publish_cost);
    return m.edges * p.s.mark_cost + lines * p.s.line_cost + parents + sweeps;
}
#endif

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
    costs.marks = may_mark ? marks_cost(p, m, rest, lines) : ~(u64)0;
    u64 behind_heads = 2 * open * p.s.line_cost;
#if WHOLE
    const bool queued = t.form == QUEUE && m.count < p.s.sort_from;  // the frontier is there, in no order
    const u64 late = late_marks_cost(p, m, open, lines);
    costs.mixed = queued && t.shared && p.s.look_cost && p.s.in.head_groups && late < behind_heads;
    if (costs.mixed) behind_heads = late;
#endif
    costs.up = (rest * p.s.vertex_cost + behind_heads) * (t.shared ? 1 : ranks);
    costs.up += ranks * ((bits ? 1 : 2) * p.s.sweep_cost + (ALL_ROWS || (bits && is_known(t, m)) ? 0 : p.publish_cost));
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
    // that is 0 unless rows are by degree; with all rows, and at a few hundredths of all edges, where marks are the
    // other way, heads decide as if each counted three and a half times (R-MAT 26 and 29)
    const u64 first = p.s.in.head_skip;
    const u64 heads = p.s.in.head_groups * HEAD_GROUP + (ALL_ROWS ? first * 5 / 2 : first);
    for (u64 i = 0; i < heads; ++i) open = open * share / 1024;
    return not_visited(p, t) * open / 1024;
}

// Whether a top-down level that begins as a bitmap has more claims than bits of what is visited cost twice. A claim of
// who is visited is in vain; of a few it is not worth a meeting.
DEVICE bool tells_visited(const Peers& p, const Mates& m) { return m.edges * p.told_cost > 2 * p.publish_cost; }
