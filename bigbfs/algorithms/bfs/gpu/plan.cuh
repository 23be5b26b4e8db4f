// What comes next: one thread of every block works it out at each barrier, from what all of them see alike.
//
// A level goes in the direction that is predicted to cost less (struct Bfs has the unit costs). Top-down: its edges,
// what it finds, and lines of memory for rows that are not hot; or, wide (wide.cuh), two sweeps, its edges, such lines,
// those of held rows too, and parents where they are wanted. Bottom-up: two sweeps over bitmaps, the heads of every
// unvisited vertex, and lines for those whose heads do not decide: as many as in the level before, or, where that one
// was top-down, as a sample says (PROBE; not worth its barrier where top-down costs no more than looking at heads
// alone). Source: Beamer et al. (SC'12) for the two directions; the rule is ours.
#pragma once
#include "algorithms/bfs/gpu/local.cuh"

DEVICE void load_progress(const Bfs& s, Team& t) {
    const Progress& p = *s.progress;
    t.level = (i32)relaxed_load(&p.level);
    t.begin = relaxed_load(&p.begin);
    t.count = relaxed_load(&p.count);
    t.edges = relaxed_load(&p.edges);
    t.hot = relaxed_load(&p.hot);
    t.reached = relaxed_load(&p.reached);
    t.form = (u32)relaxed_load(&p.form);
    t.swapped = (u32)relaxed_load(&p.swapped);
    t.missed = relaxed_load(&p.missed);
}

DEVICE void save_progress(const Bfs& s, const Team& t, bool done) {
    Progress& p = *s.progress;
    relaxed_store(&p.level, (u64)t.level);
    relaxed_store(&p.begin, t.begin);
    relaxed_store(&p.count, t.count);
    relaxed_store(&p.edges, t.edges);
    relaxed_store(&p.hot, t.hot);
    relaxed_store(&p.reached, t.reached);
    relaxed_store(&p.form, (u64)t.form);
    relaxed_store(&p.swapped, (u64)t.swapped);
    relaxed_store(&p.missed, t.missed);
    relaxed_store(&p.done, (u64)done);
    relaxed_store(&p.clock, (u64)clock64());
}

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
DEVICE u64 bottomup_cost(const Bfs& s, const Team& t, u64 open) {
    const u64 lines = open * (may_be_wide(s, t) ? 4 : 2);
    return s.sweep_cost * (t.form == BITMAP ? 1 : 2) + unvisited(s, t) * s.vertex_cost + lines * s.line_cost;
}

DEVICE void go_down(const Bfs& s, Team& t) {
    t.bottom_up = 0;
    const bool sorts = t.form == QUEUE && t.count >= s.sort_from;
    t.wide = !sorts && better_wide(s, t);  // sorted first, by way of the frontier's bitmap; GATHER asks again
    note_level(s, t, 1);
    if (t.form == BITMAP) t.phase = GATHER;
    else if (t.wide) t.phase = t.clean ? WIDE : CLEAR;
    else t.phase = sorts ? CLEAR : EXPAND;
}

// `open` vertices are expected not to be decided by their heads.
DEVICE void go_up(const Bfs& s, Team& t, u64 open) {
    t.bottom_up = 1;
    t.defer = open >= s.defer_from;
    note_level(s, t, 2);
    t.phase = t.form == BITMAP ? SEARCH : CLEAR;
}

// The level is the last one to be expanded, or the records are full; returns true then.
DEVICE bool stops(const Bfs& s, Team& t) {
    const bool done = t.count == 0 || (u64)t.level >= s.max_depth;
    if (!done && t.slot < s.slot_count) return false;
    t.phase = STOP;
    t.done = done;
    if (blockIdx.x == 0) save_progress(s, t, done);
    return true;
}

// A level whose frontier has just been completed; `thin_refused`: the first block alone cannot do it.
DEVICE void begin_level(const Bfs& s, Team& t, bool thin_refused) {
    if (stops(s, t)) return;
    t.wide = 0;
    const u64 down = topdown_cost(s, t);
    if (t.form == QUEUE && t.count <= s.thin_to && t.edges <= TEAM * 8 && !thin_refused) {
        t.phase = THIN;
    } else if (fits_local(s, t)) {
        t.bottom_up = 0;
        t.phase = LOCAL;
    } else if (!s.bottom_up) {
        go_down(s, t);
    } else if (t.form == BITMAP && t.missed != UNKNOWN) {
        if (bottomup_cost(s, t, t.missed) < down) go_up(s, t, t.missed);
        else go_down(s, t);
    } else if (down > bottomup_cost(s, t, 0)) {
        note_level(s, t, 1);
        t.phase = PROBE;
    } else {
        go_down(s, t);
    }
}

DEVICE void end_level(const Bfs& s, Team& t) {
    const Slot& slot = s.slots[t.slot];
    if (t.bottom_up || t.wide) {
        t.count = relaxed_load(&slot.found);
        t.missed = t.wide ? UNKNOWN : relaxed_load(&slot.missed);
        t.clean = t.wide;
        t.swapped ^= 1;
        t.form = BITMAP;
    } else {
        t.begin += t.count;
        t.count = relaxed_load(&slot.queued);
        t.form = QUEUE;
    }
    t.edges = relaxed_load(&slot.edges);
    t.hot = relaxed_load(&slot.hot);
    t.reached += t.count;
    t.level += 1;
    t.slot += 1;
    begin_level(s, t, false);
}

DEVICE void after_probe(const Bfs& s, Team& t) {
    const u64 probed = relaxed_load(&s.slots[t.slot].probed);
    const u64 open = relaxed_load(&s.slots[t.slot].open);
    const u64 all = unvisited(s, t);
    // the sample is far smaller than 2^20
    const u64 estimate = probed ? (all * (open * 1024 / probed)) / 1024 : all;
    if (bottomup_cost(s, t, estimate) < topdown_cost(s, t)) go_up(s, t, estimate);
    else go_down(s, t);
}

// Rows have been expanded or searched: those put off come next, then the chunks of hubs, then what was found.
DEVICE void after_rows(const Bfs& s, Team& t) {
    const Slot& slot = s.slots[t.slot];
    const bool rows = t.phase == EXPAND || t.phase == WIDE || t.phase == SEARCH || t.phase == SEARCH_OPEN;
    const bool chunks = rows && relaxed_load(&slot.chunks) > 0;
    if (t.phase == SEARCH && t.defer && relaxed_load(&slot.missed) > 0) t.phase = SEARCH_OPEN;
    else if (chunks) t.phase = t.bottom_up ? SEARCH_CHUNKS : t.wide ? WIDE_CHUNKS : EXPAND_CHUNKS;
    else if (t.wide && t.phase != SETTLE) t.phase = SETTLE;
    else end_level(s, t);
}

// The phase before is over in every block.
DEVICE void next_phase(const Bfs& s, Team& t) {
    switch (t.phase) {
        case THIN:
            t.slot += (u32)(relaxed_load(&s.progress->level) - (u64)t.level);
            load_progress(s, t);
            begin_level(s, t, true);
            break;
        case LOCAL:
            if (t.count) t.phase = EXPAND;
            else end_level(s, t);
            break;
        case PROBE: after_probe(s, t); break;
        case CLEAR: t.phase = t.wide ? WIDE : SCATTER; break;
        case SCATTER:
            t.form = BITMAP;
            t.phase = t.bottom_up ? SEARCH : GATHER;
            break;
        case GATHER:
            t.form = QUEUE;
            t.wide = better_wide(s, t);
            t.phase = !t.wide ? EXPAND : t.clean ? WIDE : CLEAR;
            break;
        default: after_rows(s, t);
    }
}
