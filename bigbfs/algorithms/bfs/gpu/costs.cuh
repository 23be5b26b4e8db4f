// What a level is predicted to cost in each direction, in picoseconds; struct Bfs has the unit costs.
//
// Top-down: its edges, what it finds, and lines of memory for rows that are not hot; or, wide (wide.cuh), two sweeps,
// its edges, such lines, those of held rows too, and parents where they are wanted. Bottom-up: two sweeps over bitmaps,
// the heads of every unvisited vertex, and lines for those whose heads do not decide. Mixed: the heads of every
// unvisited vertex, then the frontier's edges, which find few any more. Source: Beamer et al. (SC'12) for the two
// directions; the rest is ours.
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"

DEVICE u64 unvisited(const Bfs& s, const Team& t) { return s.in_vertices > t.reached ? s.in_vertices - t.reached : 0; }

constexpr u64 UNKNOWN = ~0ull;  // what `missed` is after a wide level

// Smaller levels are left to the rule for narrow ones: they cost barriers, and what they find is not known.
DEVICE bool may_be_wide(const Bfs& s, const Team& t) { return t.edges >= s.wide_from; }

// Vertices that a top-down level finds at most.
DEVICE u64 found_at_most(const Bfs& s, const Team& t) {
    const u64 left = unvisited(s, t);
    return t.edges < left ? t.edges : left;
}

// Lines of memory that the frontier's rows take, but for hot ones.
DEVICE u64 far_lines(const Bfs& s, const Team& t) {
    const u64 away = t.edges > t.hot ? t.edges - t.hot : 0;
    return away * sizeof(vid) / 128 + t.count;
}

DEVICE u64 wide_cost(const Bfs& s, const Team& t) {
    const u64 parents = s.parents ? found_at_most(s, t) * s.parent_cost : 0;
    return 2 * s.sweep_cost + t.edges * s.mark_cost + far_lines(s, t) * s.line_cost + parents;
}

DEVICE u64 narrow_cost(const Bfs& s, const Team& t) {
    const u64 lines = far_lines(s, t) * s.far_rows / 1024;
    const u64 claims = may_be_wide(s, t) ? found_at_most(s, t) * s.claim_cost : 0;
    return t.edges * s.edge_cost + claims + lines * s.line_cost + (t.form == BITMAP ? s.sweep_cost : 0);
}

DEVICE bool better_wide(const Bfs& s, const Team& t) {
    return may_be_wide(s, t) && wide_cost(s, t) < narrow_cost(s, t);
}

DEVICE u64 topdown_cost(const Bfs& s, const Team& t) { return better_wide(s, t) ? wide_cost(s, t) : narrow_cost(s, t); }

// `open` vertices read a line of their row, or two; beside a wide level twice as much, as they lie far from each other.
DEVICE u64 rows_cost(const Bfs& s, const Team& t, u64 open) { return open * (may_be_wide(s, t) ? 4 : 2) * s.line_cost; }

DEVICE u64 bottomup_cost(const Bfs& s, const Team& t, u64 open) {
    return s.sweep_cost * (t.form == BITMAP ? 1 : 2) + unvisited(s, t) * s.vertex_cost + rows_cost(s, t, open);
}

// Whether the rest of a level, of which heads have decided all but some, may be the edges of a frontier that is in the
// queue, in no order.
DEVICE bool may_be_mixed(const Bfs& s, const Team& t) {
    return s.look_cost && s.in.head_groups && t.form == QUEUE && t.count < s.sort_from;
}

// Of `open` vertices that heads have not decided the frontier's edges find one in so many: R-MAT 26 one in 12 to 16.
constexpr u64 FOUND_LATE = 8;

// The edges of a frontier, most of which lead to who has been found.
DEVICE u64 late_edges_cost(const Bfs& s, const Team& t, u64 open) {
    const u64 claims = (t.edges < open ? t.edges : open) / FOUND_LATE * s.claim_cost;
    return s.sweep_cost + t.edges * s.look_cost + far_lines(s, t) * s.far_rows / 1024 * s.line_cost + claims;
}

// A level that heads begin and the edges of the frontier end. A wide one is as quick where it is the other choice.
DEVICE bool better_mixed(const Bfs& s, const Team& t, u64 open) {
    if (!may_be_mixed(s, t) || better_wide(s, t)) return false;
    return bottomup_cost(s, t, 0) + late_edges_cost(s, t, open) < narrow_cost(s, t);
}
