// What comes next: one thread of every block works it out at each barrier, from what all of them see alike.
//
// A level goes in the direction that is predicted to cost less (costs.cuh). How many vertices their heads do not decide
// is what the level before says, or, where that one was top-down, a sample (PROBE; not worth its barrier where top-down
// costs no more than looking at heads alone). Where rows are put off until all heads have been looked at, it is known
// then, and the rest of the level may be the edges of the frontier instead. Source: Beamer et al. (SC'12) for the two
// directions; the rule is ours.
#pragma once
#include "algorithms/bfs/gpu/costs.cuh"
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
    t.listed = may_be_mixed(s, t);
    t.defer = open >= s.defer_from || (t.listed && late_edges_cost(s, t, open) < rows_cost(s, t, open));
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
    t.wide = t.mixed = 0;
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
        const u64 queued = t.mixed ? relaxed_load(&slot.queued) : 0;
        if (t.mixed) t.begin += t.count;  // of the queue, where the next frontier is not
        t.count = relaxed_load(&slot.found) + queued;
        t.missed = t.wide ? UNKNOWN : relaxed_load(&slot.missed) - queued;
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
    const bool up = bottomup_cost(s, t, estimate) < topdown_cost(s, t) || better_mixed(s, t, estimate);
    if (up) go_up(s, t, estimate);
    else go_down(s, t);
}

// All heads have been looked at, and rows are to come: those of the frontier, where they cost less.
DEVICE void go_on_after_heads(const Bfs& s, Team& t, u64 missed) {
    t.mixed = t.listed && late_edges_cost(s, t, missed) < rows_cost(s, t, missed);
    t.phase = t.mixed ? EXPAND : SEARCH_OPEN;
}

DEVICE u32 chunks_phase(const Team& t) {
    if (t.wide) return WIDE_CHUNKS;
    return t.bottom_up && !t.mixed ? SEARCH_CHUNKS : EXPAND_CHUNKS;
}

// Rows have been expanded or searched: those put off come next, then the chunks of hubs, then what was found.
DEVICE void after_rows(const Bfs& s, Team& t) {
    const Slot& slot = s.slots[t.slot];
    const bool rows = t.phase == EXPAND || t.phase == WIDE || t.phase == SEARCH || t.phase == SEARCH_OPEN;
    const bool chunks = rows && relaxed_load(&slot.chunks) > 0;
    const u64 missed = t.phase == SEARCH && t.defer ? relaxed_load(&slot.missed) : 0;
    if (missed > 0) go_on_after_heads(s, t, missed);
    else if (chunks) t.phase = chunks_phase(t);
    else if (t.mixed && t.phase != JOIN) t.phase = JOIN;
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
