// Levels of few edges over several GPUs: the first block of each goes on alone, level after level.
//
// What DOWN, DELIVER and ACCEPT do, with barriers of a block in place of the GPU's; the other blocks wait at theirs.
// All ranks see alike whether a level is such a one, by what the letters add up to. Frontier kind: queue, a thread for
// each own vertex. Atomics: one on `visited` for each edge whose end looks unvisited, and for each claim; one on shared
// memory or on a counter of claims for each vertex found. Memory: as for the three phases. Source: as for
// topdown.cuh's THIN.
#pragma once
#include "algorithms/bfs/gpu/peers/agree.cuh"
#include "algorithms/bfs/gpu/peers/claims.cuh"
#include "algorithms/bfs/gpu/peers/whole.cuh"

// Own vertices of the frontier; whoever is found lies behind them in the queue, t.tail of them.
DEVICE void expand_few(const Peers& p, Team& t) {
    // neighbours in the queue go to different warps: a warp reads its long rows one after the other
    const u32 own = lane_id() * TEAM_WARPS + threadIdx.x / WARP;
    const bool mine = own < t.count;
    const vid v = mine ? p.s.queue[t.begin + own] : 0;
    expand_batch<true>(p.s, t, v, mine ? degree(p.s.out, v) : 0);
    __syncthreads();
}

// Those found go into the next frontier, or to their owners.
DEVICE void deliver_few(const Peers& p, Team& t) {
    u64 edges = 0;
    for (u32 i = threadIdx.x; i < t.tail; i += TEAM) {
        const vid v = p.s.queue[t.begin + t.count + i];
        const u64 owner = owner_of(p.part, v);
        if (owner == p.part.rank) edges += put_own(p, t, atomicAdd(t.tally + FOUND, (u64)1), v);
        else put_claim(p, owner, atomicAdd(p.sent + owner, (u64)1), v);
    }
    __syncwarp();
    hand_in(t, EDGES, edges);
}

DEVICE void accept_few(const Peers& p, Team& t, const Mates& m) {
    u64 edges = 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        const vid* const claimed = in_rank<vid>(p, p.part.rank, p.claimed_at) + r * p.capacity;
        const vid* const claimers = in_rank<vid>(p, p.part.rank, p.claimers_at) + r * p.capacity;
        const u64 count = claims_from(p, m, r);
        for (u64 i = threadIdx.x; i < count; i += TEAM) {
            const vid v = relaxed_load(claimed + i), parent = relaxed_load(claimers + i);
            if (!claim_bit(p.s.visited, v)) continue;
            settle(p.s, v, parent, t.level + 1);
            edges += put_own(p, t, atomicAdd(t.tally + FOUND, (u64)1), v);
        }
    }
    __syncwarp();
    hand_in(t, EDGES, edges);
    for (u64 r = threadIdx.x; r < p.part.size; r += TEAM) p.sent[r] = 0;
}

// Where all ranks have all rows each does so for itself: whoever is found is in the queue already.
DEVICE void settle_few(const Peers& p, Team& t, Mates& m) {
    u64 edges = 0;
    for (u32 i = threadIdx.x; i < t.tail; i += TEAM) edges += degree(p.s.out, p.s.queue[t.begin + t.count + i]);
    __syncwarp();
    hand_in(t, EDGES, edges);
    __syncthreads();
    if (threadIdx.x != 0) return;
    m.notice[ALL_FOUND] = t.tally[FOUND] = t.tail;
    m.notice[ALL_EDGES] = t.tally[EDGES];
}

// All ranks meet, by their first blocks alone; the notice has what they have found.
DEVICE void meet_by_few(const Peers& p, Team& t, Mates& m) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        u64 own = 0;
        if (lane_id() == ALL_FOUND) own = t.tally[FOUND];
        if (lane_id() == ALL_EDGES) own = t.tally[EDGES];
        const u64 sums = meet_other_ranks(p, t, m, own);
        if (lane_id() <= LOST) m.notice[lane_id()] = sums;
        __syncwarp();
        if (lane_id() == 0) m.meetings += 1;
    }
    __syncthreads();
}

// Thread 0, when the level is over on all ranks: whether the next is one of few edges, too.
DEVICE bool next_of_few(const Peers& p, Team& t, Mates& m) {
    if (m.notice[LOST]) return false;
    Slot& slot = p.s.slots[t.slot];
    m.notice[OWN_FOUND] = slot.found = t.tally[FOUND];
    m.notice[OWN_EDGES] = slot.edges = t.tally[EDGES];
    t.tally[FOUND] = t.tally[EDGES] = 0;
    t.tail = 0;
    advance(p, t, m);
    const bool last = m.count == 0 || (u64)t.level >= p.s.max_depth || t.slot >= p.s.slot_count;
    return !last && are_few(p, t, m);
}

// The first block, all threads.
#if WHOLE
#define FEW_LEVELS DEVICE  // there are registers for it, and parameters are nearer to hand
#else
#define FEW_LEVELS APART
#endif
FEW_LEVELS void levels_of_few(const Peers& p, Team& t, Mates& m) {
    const i32 first_level = t.level;
    const u32 first_slot = t.slot;
    bool more = true;
    while (more) {
        if (threadIdx.x == 0) note(p, t, m);
        expand_few(p, t);
        if (ALL_ROWS) {
            settle_few(p, t, m);
        } else {
            deliver_few(p, t);
            meet_by_few(p, t, m);
            if (!m.notice[LOST]) {
                accept_few(p, t, m);
                meet_by_few(p, t, m);
            }
        }
        if (threadIdx.x == 0) t.go_on = next_of_few(p, t, m);
        __syncthreads();
        more = t.go_on != 0;
    }
    if (threadIdx.x != 0) return;
    save_progress(p.s, t, false);
    save_sums(p, m);
    // what every other block still believes, so that all of them go on alike
    t.slot = first_slot;
    t.level = first_level;
}

// Thread 0 of every block, behind them.
DEVICE void go_on_after_few(const Peers& p, Team& t, Mates& m) {
    m.blank |= blanks(p, t);
    t.slot += (u32)(relaxed_load(&p.s.progress->level) - (u64)t.level);
    load_progress(p.s, t);
    load_sums(p, m);
    choose(p, t, m);
}
