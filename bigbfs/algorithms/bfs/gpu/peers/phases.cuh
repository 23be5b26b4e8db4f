// What a rank of a search over several GPUs does between two barriers, whoever says when: a kernel that goes through
// the whole search (bfs_peers.cu), or a host that launches one phase after another (hosts/host_steps.cu).
//
// Frontier kind, atomics, memory per edge: see the phases. Source: theirs.
#pragma once
#include "algorithms/bfs/gpu/peers/claims.cuh"
#include "algorithms/bfs/gpu/peers/marks.cuh"
#include "algorithms/bfs/gpu/peers/tell.cuh"

// Levels and parents of own vertices still hold the traversal before, whose source was `last`: whoever is reached
// overwrites them, and finish_own() those of all others.
DEVICE void reset_all(const Peers& p, u64 source, u64 last) {
    for (u64 w = thread_id(); w < words_for(p.s.out.n); w += thread_count()) {
        p.s.visited[w] = w == word_of(source) ? bit_of(source) : 0;
    }
    if (thread_id() != 0) return;
    p.s.queue[0] = (vid)source;
    settle(p.s, last, ~(vid)0, -1);
    settle(p.s, source, ~(vid)0, 0);
}

// Own vertices that were not reached say so; one that no edge leads to says so from the beginning.
DEVICE void finish_own(const Peers& p) {
    for (u64 base = team_warp() * WARP; base < 2 * p.part.words; base += team_warps() * WARP) {
        const u64 h = base + lane_id();
        const u64 w = h < 2 * p.part.words ? own_half(p.part, h) : words_for(p.s.out.n);
        const u32 reachable = w >= words_for(p.s.out.n) ? 0 : p.s.reachable ? p.s.reachable[w] : ALL_LANES;
        const u32 todo = reachable ? reachable & ~p.s.visited[w] : 0;
        for (u32 words = __ballot_sync(ALL_LANES, todo != 0); words; words &= words - 1) {
            const u32 from = (u32)__ffs((int)words) - 1;
            const u64 v = own_half(p.part, base + from) * 32 + lane_id();
            const u32 word = __shfl_sync(ALL_LANES, todo, from);
            if (v < p.s.out.n && word & bit_of(v)) settle(p.s, v, ~(vid)0, -1);
        }
    }
}

DEVICE void run_phase_of_ranks(const Peers& p, Team& t, const Mates& m) {
    const bool listed = t.phase == DOWN_CHUNKS || t.phase == UP_CHUNKS || t.phase == MARK_CHUNKS;
    const u64 chunks = listed ? p.s.slots[t.slot].chunks : 0;
    switch (t.phase) {
        case DOWN: expand_rows(p.s, t); break;
        case DOWN_CHUNKS: expand_chunks(p.s, t, chunks); break;
#if !WHOLE
        case DELIVER: deliver(p, t, m); break;
        case ACCEPT: accept(p, t, m); break;
#endif
        case FILL: fill_frontier(p, t); break;
        case SET: set_frontier(p, t); break;
        case COLLECT: collect(p, t); break;
        case PUBLISH: publish(p, published_at(p, t)); break;
        case MERGE: merge(p, published_at(p, t)); break;
        case UP: search_rows(p.s, t); break;
        case UP_OPEN: search_open(p.s, t); break;
        case UP_CHUNKS: search_chunks(p.s, t, chunks); break;
#if TELLS && !VARINT
        case BLANK: blank(p, t); break;
        case MARK:
        case MARK_CHUNKS: mark_frontier(p.s, t, listed, chunks); break;
        case TAKE: take_marked(p, t); break;
#endif
        default: break;
    }
}

// Thread 0 of a block: hands in what the block has counted in the phase.
DEVICE void hand_in_tallies(const Peers& p, Team& t) {
    Slot& slot = p.s.slots[t.slot];
    // who was found may belong to others, whose rows are not here: deliver() counts the edges of own ones
    if (!ALL_ROWS && (t.phase == DOWN || t.phase == DOWN_CHUNKS)) t.tally[EDGES] = 0;
    u64* const sums[TALLIES] = {&slot.edges, &slot.found, &slot.missed, &slot.open, &slot.probed};
#pragma unroll
    for (u32 i = 0; i < TALLIES; ++i) {
        if (t.tally[i]) atomicAdd(sums[i], t.tally[i]);
        t.tally[i] = 0;
    }
}

// Adds the edges of the rows of own vertices reached to *edges.
DEVICE void count_own_edges(const Peers& p, u64* edges) {
    u64 sum = 0;
    for (u64 h = thread_id() / WARP; h < 2 * p.part.words; h += thread_count() / WARP) {
        const u64 v = own_half(p.part, h) * 32 + lane_id();
        if (v < p.s.out.n && test_bit(p.s.visited, v)) sum += degree(p.s.out, v);
    }
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum) atomicAdd(edges, sum);
}
