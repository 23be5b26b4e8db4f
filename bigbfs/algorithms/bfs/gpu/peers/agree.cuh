// What comes next, on all ranks alike: each works it out from what the letters of a meeting add up to.
//
// The directions are weighed as in plan.cuh, by the work of one rank, with what it takes to tell the others: claims
// after a top-down level, bits before a bottom-up one. How many heads will not decide nobody has probed: after a
// top-down level it is taken that each of them is in the frontier or above it as probably as an edge is, which is too
// careful, since heads are neighbours of high degree. Source: Beamer et al. (SC'12); the rule is ours.
#pragma once
#include "algorithms/bfs/gpu/plan.cuh"
#include "algorithms/bfs/gpu/peers/meeting.cuh"

// What a level is noted as: top-down; bottom-up; top-down, with what is visited told before.
constexpr u64 DOWNWARDS = 1, UPWARDS = 2, TURNED = 3;

// Whether the other rows of a bottom-up level, or the chunks of hubs, are still to come.
DEVICE bool rows_to_come(const Peers& p, const Team& t) {
    const Slot& slot = p.s.slots[t.slot];
    if (t.phase == UP && t.defer && relaxed_load(&slot.missed) > 0) return true;
    return t.phase != UP_CHUNKS && relaxed_load(&slot.chunks) > 0;
}

// Whether all ranks meet at the end of the phase.
DEVICE bool ends_with_meeting(const Peers& p, const Team& t) {
    switch (t.phase) {
        case DELIVER:
        case ACCEPT:
        case PUBLISH: return true;
        case UP:
        case UP_OPEN:
        case UP_CHUNKS: return !rows_to_come(p, t);
        default: return false;
    }
}

DEVICE u64 not_visited(const Peers& p, const Team& t) {
    return p.s.in_vertices > t.reached ? p.s.in_vertices - t.reached : 0;
}

DEVICE u64 down_cost(const Peers& p, const Team& t, const Mates& m) {
    const u64 lines = (m.edges * sizeof(vid) / 128 + m.count) * p.s.far_rows / 1024;
    const u64 rest = not_visited(p, t);
    const u64 told = (m.edges < rest ? m.edges : rest) / p.part.size * (p.part.size - 1);
    const u64 work = m.edges * p.s.edge_cost + lines * p.s.line_cost + told * p.claim_cost;
    return work / p.part.size + (t.form == BITMAP ? p.s.sweep_cost : 0);
}

// `open` vertices read a line of their row, or two.
DEVICE u64 up_cost(const Peers& p, const Team& t, u64 open) {
    const u64 work = not_visited(p, t) * p.s.vertex_cost + 2 * open * p.s.line_cost;
    return work / p.part.size + p.s.sweep_cost * (t.form == BITMAP ? 1 : 2) + p.publish_cost;
}

// So many of the vertices that are not visited, their heads are not expected to decide.
DEVICE u64 expected_open(const Peers& p, const Team& t, const Mates& m) {
    if (t.form == BITMAP) return t.missed;
    const u64 all = p.edges_in_all ? p.edges_in_all : 1;
    const u64 left = m.explored < all ? all - m.explored : 0;
    // of edges that lead elsewhere, in 1024ths; there are fewer than 2^54 of anything
    const u32 share = (u32)(left * 1024 / all);
    u32 open = 1024;
    for (u64 i = 0; i < p.s.in.head_groups * HEAD_GROUP; ++i) open = open * share / 1024;
    return not_visited(p, t) * open / 1024;
}

// Whether a top-down level that begins as a bitmap has more claims than bits of what is visited cost twice. A claim of
// who is visited is in vain; of a few it is not worth a meeting.
DEVICE bool tells_visited(const Peers& p, const Mates& m) {
    return m.edges / p.part.size * (p.part.size - 1) * p.claim_cost > 2 * p.publish_cost;
}

// Thread 0 of every block, of every rank: a level whose frontier is complete.
DEVICE void choose(const Peers& p, Team& t, Mates& m) {
    t.done = m.count == 0 || (u64)t.level >= p.s.max_depth;
    if (t.done || t.slot >= p.s.slot_count) {
        t.phase = HALT;
        if (blockIdx.x != 0) return;
        save_progress(p.s, t, t.done);
        relaxed_store(&p.joint->count, m.count);
        relaxed_store(&p.joint->edges, m.edges);
        relaxed_store(&p.joint->explored, m.explored);
        return;
    }
    const u64 open = p.s.bottom_up ? expected_open(p, t, m) : 0;
    t.bottom_up = p.s.bottom_up && up_cost(p, t, open) < down_cost(p, t, m);
    t.defer = t.bottom_up && open / p.part.size >= p.s.defer_from;
    m.round = 0;
    // rows in host memory are read in order: by way of a bitmap the queue gets sorted
    const bool sorts = m.count >= p.s.sort_from;
    if (t.form == BITMAP) t.phase = t.bottom_up ? PUBLISH : COLLECT;
    else t.phase = t.bottom_up || sorts ? FILL : DOWN;
    m.turns = !t.bottom_up && t.phase != DOWN && tells_visited(p, m);
    note_level(p.s, t, t.bottom_up ? UPWARDS : m.turns ? TURNED : DOWNWARDS);
    if (blockIdx.x == 0) p.s.slots[t.slot].frontier = m.count;
}

DEVICE void close_level(const Peers& p, Team& t, Mates& m) {
    const Slot& slot = p.s.slots[t.slot];
    const Letter& sums = p.joint->sums;
    if (t.bottom_up) {
        t.swapped ^= 1;
        t.form = BITMAP;
        t.missed = relaxed_load(&sums.missed);
    } else {
        t.begin = other_half(p, t);
        t.form = QUEUE;
    }
    t.count = relaxed_load(&slot.found);
    t.edges = relaxed_load(&slot.edges);
    m.count = relaxed_load(&sums.found);
    m.edges = relaxed_load(&sums.edges);
    m.explored += m.edges;
    t.reached += m.count;
    t.level += 1;
    t.slot += 1;
    choose(p, t, m);
}

// Claims were accepted: those for which there was no room are delivered next.
DEVICE void after_accept(const Peers& p, Team& t, Mates& m) {
    if (relaxed_load(&p.joint->sums.left) == 0) return close_level(p, t, m);
    m.round += 1;
    t.phase = DELIVER;
    if (blockIdx.x == 0) p.joint->rounds += 1;
}

// The phase before is over in every block, and on every rank if it ended with a meeting.
DEVICE void next_phase_of_ranks(const Peers& p, Team& t, Mates& m) {
    const Slot& slot = p.s.slots[t.slot];
    switch (t.phase) {
        case DOWN: t.phase = relaxed_load(&slot.chunks) ? DOWN_CHUNKS : DELIVER; break;
        case DOWN_CHUNKS: t.phase = DELIVER; break;
        case DELIVER: t.phase = ACCEPT; break;
        case ACCEPT: after_accept(p, t, m); break;
        case FILL: t.phase = SET; break;
        case SET:
            t.form = BITMAP;
            t.phase = t.bottom_up ? PUBLISH : COLLECT;
            break;
        case COLLECT:
            t.count = relaxed_load(&slot.gathered);
            t.form = QUEUE;
            t.phase = m.turns ? PUBLISH : DOWN;
            break;
        case PUBLISH:
            if (is_dealt(p)) t.phase = MERGE;
            else t.phase = t.bottom_up ? UP : DOWN;
            break;
        case MERGE: t.phase = t.bottom_up ? UP : DOWN; break;
        default:
            if (m.meets) close_level(p, t, m);
            else if (t.phase == UP && t.defer && relaxed_load(&slot.missed) > 0) t.phase = UP_OPEN;
            else t.phase = UP_CHUNKS;
    }
}
