// What comes next, on all ranks alike: each works it out from what the letters of a meeting add up to, and every block
// from the notice that its first one has left, or from the counters that it has read itself.
//
// Source: ours.
#pragma once
#include "algorithms/bfs/gpu/peers/costs.cuh"
#include "algorithms/bfs/gpu/peers/meeting.cuh"

// What a level is noted as: top-down; bottom-up; top-down, with what is visited told before; top-down, by marks;
// top-down by all ranks alike; bottom-up by all alike; bottom-up, then by marks.
constexpr u64 DOWNWARDS = 1, UPWARDS = 2, TURNED = 3, MARKED = 4, ALIKE = 5, ALIKE_UPWARDS = 6, MIXED = 7;

// Whether the other rows of a level, or the chunks of hubs, are still to come: `missed` vertices, so many chunks.
DEVICE bool rows_to_come(const Team& t, u64 missed, u64 chunks) {
    if (t.phase == UP && t.defer && missed > 0) return true;
    return t.phase != UP_CHUNKS && t.phase != MARK_CHUNKS && chunks > 0;
}

// Whether the phase searches rows bottom-up, or marks what they lead to.
DEVICE bool reads_rows(const Team& t) {
    return t.phase == UP || t.phase == UP_OPEN || t.phase == UP_CHUNKS || t.phase == MARK || t.phase == MARK_CHUNKS;
}

// Whether the first block tells the others of its GPU of other ranks at the end of the phase. Every block knows that
// before it has read a counter.
DEVICE bool ends_with_notice(const Team& t) {
    switch (t.phase) {
        case SET:  // who goes on writes what is visited into others' memory, where levels look for it
            return ALL_ROWS && t.shared;
        case DELIVER:
        case ACCEPT:
        case PUBLISH:
        case TAKE: return true;
        default: return t.shared && reads_rows(t);
    }
}

// Whether all ranks meet before the first block tells.
DEVICE bool ends_with_meeting(const Peers& p, const Team& t, u64 missed, u64 chunks) {
    return !reads_rows(t) || !rows_to_come(t, missed, chunks);
}

// What begins a top-down level whose frontier is a queue.
DEVICE u32 queue_phase(const Team& t, const Mates& m) {
    if (t.wide) return t.clean ? MARK : BLANK;
    return m.turns ? PUBLISH : DOWN;
}

// The first block writes down the level that begins. It reads nothing for it: all blocks would wait for the answer.
DEVICE void note(const Peers& p, const Team& t, const Mates& m) {
    if (blockIdx.x != 0) return;
    Slot& slot = p.s.slots[t.slot];
    slot.frontier = m.count;
    if (t.bottom_up) slot.direction = is_mixed(t) ? MIXED : t.shared ? UPWARDS : ALIKE_UPWARDS;
    else slot.direction = t.wide ? MARKED : ALL_ROWS ? ALIKE : m.turns ? TURNED : DOWNWARDS;
    slot.clock = (u64)clock64();
}

// What all ranks know alike, and who is lost, where a launch begins, or the first block has gone on alone.
DEVICE void load_sums(const Peers& p, Mates& m) {
    m.count = relaxed_load(&p.joint->count);
    m.edges = relaxed_load(&p.joint->edges);
    m.explored = relaxed_load(&p.joint->explored);
    m.meetings = relaxed_load(&p.joint->meetings);
    m.notice[LOST] = relaxed_load(&p.joint->lost);
}

DEVICE void save_sums(const Peers& p, const Mates& m) {
    relaxed_store(&p.joint->count, m.count);
    relaxed_store(&p.joint->edges, m.edges);
    relaxed_store(&p.joint->explored, m.explored);
    relaxed_store(&p.joint->meetings, m.meetings);
    relaxed_store(&p.joint->lost, m.notice[LOST]);
}

// Whether the first blocks can go through the level alone: no row is longer than a chunk, inboxes hold all claims. The
// edges of what was a bitmap are estimated, from one vertex in 32: only a level that begins as a queue is asked.
DEVICE bool are_few(const Peers& p, const Team& t, const Mates& m) {
    return t.form == QUEUE && m.count <= p.s.thin_to && m.edges <= BLOCK_IDS && (ALL_ROWS || p.capacity >= BLOCK_IDS);
}

// Thread 0 of every block, of every rank: a level whose frontier is complete.
APART void choose(const Peers& p, Team& t, Mates& m) {
    t.done = m.count == 0 || (u64)t.level >= p.s.max_depth;
    t.tail = 0;
    if (t.done || t.slot >= p.s.slot_count) {
        t.phase = HALT;
        if (blockIdx.x == 0) save_progress(p.s, t, t.done);
        return;
    }
    if (are_few(p, t, m)) {
        t.phase = FEW;
        t.bottom_up = t.wide = m.turns = 0;
        return;
    }
    if (ALL_ROWS && fits_local(p.s, t)) {
        t.phase = ALONE;
        t.bottom_up = t.wide = m.turns = 0;
        return;
    }
    // who is left gets fewer: no level is shared again once one is not, so that ranks need not meet between the two
    t.shared = !ALL_ROWS || not_visited(p, t) > p.alike_to;
    const u64 open = p.s.bottom_up ? expected_open(p, t, m) : 0;
    const LevelCosts costs = costs_of(p, t, m, open);
    t.bottom_up = costs.up < costs.claims && costs.up < costs.marks;
    t.wide = t.bottom_up ? ALL_ROWS && costs.mixed : costs.marks < costs.claims;
    t.defer = is_mixed(t) || (t.bottom_up && open >= (t.shared ? p.part.size : 1) * p.s.defer_from);
    t.told = t.bottom_up && t.shared && (m.same >> (t.swapped ^ 1) & 1);
    m.round = 0;
    // rows in host memory are read in order: by way of a bitmap the queue gets sorted
    const bool sorts = m.count >= p.s.sort_from;
    m.turns = !ALL_ROWS && !t.bottom_up && !t.wide && (t.form == BITMAP || sorts) && tells_visited(p, m);
    if (t.form == BITMAP && (t.bottom_up || ALL_ROWS) && !is_known(t, m)) t.phase = PUBLISH;
    else if (t.form == BITMAP) t.phase = t.bottom_up ? UP : COLLECT;
    else t.phase = !t.bottom_up && !sorts ? queue_phase(t, m) : m.blank ? SET : FILL;
    note(p, t, m);
}

// The level is over on all ranks, and the notice says what it has found.
DEVICE void advance(const Peers& p, Team& t, Mates& m) {
    if (t.bottom_up || t.wide) {
        t.swapped ^= 1;
        t.form = BITMAP;
        t.missed = t.wide ? UNKNOWN : m.notice[ALL_MISSED];
        t.clean = t.wide;
        m.blank = 0;
        // chunks of hubs have told nobody; marks are taken over word by word, and the other bitmap is emptied
        const bool known = !t.shared || m.notice[ALL_LEFT] == 0;
        m.same = t.wide ? 3 : (m.same & 1u << (t.swapped ^ 1)) | (u32)known << t.swapped;
    } else {
        t.begin = ALL_ROWS ? t.begin + t.count : other_half(p, t);
        t.form = QUEUE;
    }
    t.count = m.notice[OWN_FOUND];
    t.edges = m.notice[ALL_ROWS ? ALL_EDGES : OWN_EDGES];
    m.count = m.notice[ALL_FOUND];
    m.edges = m.notice[ALL_EDGES];
    m.explored += m.edges;
    t.reached += m.count;
    t.level += 1;
    t.slot += 1;
}

DEVICE void close_level(const Peers& p, Team& t, Mates& m) {
    advance(p, t, m);
    choose(p, t, m);
}

// Claims were accepted: those for which there was no room are delivered next.
DEVICE void after_accept(const Peers& p, Team& t, Mates& m) {
    if (m.notice[ALL_LEFT] == 0) return close_level(p, t, m);
    m.round += 1;
    t.phase = DELIVER;
    if (blockIdx.x == 0) p.joint->rounds += 1;
}

// Rows were searched bottom-up, or marks made from them.
DEVICE void after_rows_of_ranks(const Peers& p, Team& t, Mates& m) {
    if (t.wide) t.phase = m.notice[MEETS] ? TAKE : t.phase == UP ? MARK : MARK_CHUNKS;
    else if (!rows_to_come(t, m.notice[OWN_MISSED], m.notice[OWN_CHUNKS])) close_level(p, t, m);
    else if (t.phase == UP && t.defer && m.notice[OWN_MISSED] > 0) t.phase = UP_OPEN;
    else t.phase = UP_CHUNKS;
}

// The phase before is over in every block, and on every rank if it ended with a meeting.
DEVICE void next_phase_of_ranks(const Peers& p, Team& t, Mates& m) {
    switch (t.phase) {
        case DOWN:
        case DOWN_CHUNKS:
            if (t.phase == DOWN && m.notice[OWN_CHUNKS]) t.phase = DOWN_CHUNKS;
            else if (ALL_ROWS) close_level(p, t, m);
            else t.phase = DELIVER;
            break;
        case ALONE:
            if (t.count) t.phase = DOWN;
            else close_level(p, t, m);
            break;
        case DELIVER: t.phase = ACCEPT; break;
        case ACCEPT: after_accept(p, t, m); break;
        case FILL: t.phase = SET; break;
        case SET:
            t.form = BITMAP;
            m.blank = 0;
            m.same = (m.same & ~(1u << t.swapped)) | (u32)ALL_ROWS << t.swapped;
            t.phase = !t.bottom_up ? COLLECT : ALL_ROWS ? UP : PUBLISH;
            break;
        case COLLECT:
            t.count = m.notice[OWN_GATHERED];
            t.form = QUEUE;
            t.phase = queue_phase(t, m);
            break;
        case PUBLISH:
            if (t.bottom_up || ALL_ROWS) m.same |= 1u << t.swapped;
            t.phase = t.bottom_up ? UP : ALL_ROWS ? COLLECT : DOWN;
            break;
        case BLANK: t.phase = MARK; break;
        case TAKE: close_level(p, t, m); break;
        default: after_rows_of_ranks(p, t, m);
    }
}
