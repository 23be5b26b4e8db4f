// What ranks tell one another, and what they make of it: phases between those that read rows.
//
// DELIVER, ACCEPT: after a top-down level whoever was found and belongs to another rank goes to its owner as a claim, a
// vertex and its parent, in an inbox that the owner has for each sender. For claims beyond its capacity there is
// another round. The owner takes a claim if it has not visited the vertex. FILL, SET, PUBLISH: the frontier as a
// bitmap, each rank's own words stored into all others' bitmaps. COLLECT: the frontier as a queue again, and own words
// of `visited` to all others, so that they claim nothing that is visited. Frontier kind: queue, bitmap. Atomics: one
// for each 32 entries that a warp appends, one on `visited` for each claim. Memory: a claim is two ids, once written
// over the link and once read; a bitmap is written once over the link for each other rank. Source: ours; after Pan,
// Pearce, Owens (IPDPS'18) for the division of work.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// The places of the lanes that ask for one behind *counter; all lanes call it.
DEVICE u64 append(u64* counter, bool asked) {
    const u32 all = __ballot_sync(ALL_LANES, asked);
    u64 at = 0;
    if (lane_id() == 0 && all) at = atomicAdd(counter, (u64)__popc(all));
    return __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(all & ((1u << lane_id()) - 1));
}

// Puts v into the next frontier, for the lanes that ask for it; returns the edges of its row. All lanes call it.
DEVICE u64 enqueue(const Peers& p, const Team& t, bool asked, vid v) {
    const u64 at = append(&p.s.slots[t.slot].found, asked);
    if (!asked) return 0;
    p.s.queue[other_half(p, t) + at] = v;
    return degree(p.s.out, v);
}

// Claims that found no room: from the end of the other half downwards, which the next frontier never reaches, or where
// this level's finds were. One is read in a round while the other is written.
DEVICE u64 leftover_at(const Peers& p, const Team& t, u32 round, u64 i) {
    return round & 1 ? t.begin + t.count + i : other_half(p, t) + p.s.out.n - 1 - i;
}

// Whoever the level has found, or what the round before has left, to the owners.
DEVICE void deliver(const Peers& p, Team& t, const Mates& m) {
    const bool again = m.round > 0;
    const u64 total = again ? relaxed_load(&p.joint->left[(m.round - 1) & 1]) : relaxed_load(&p.s.slots[t.slot].queued);
    u64 edges = 0;
    for (u64 start = team_warp() * WARP; start < total; start += team_warps() * WARP) {
        const u64 i = start + lane_id();
        const bool there = i < total;
        const vid v = there ? p.s.queue[again ? leftover_at(p, t, m.round - 1, i) : t.begin + t.count + i] : 0;
        const u64 owner = there ? owner_of(p.part, v) : p.part.size;
        edges += enqueue(p, t, owner == p.part.rank, v);
        bool room = !there || owner == p.part.rank;
        for (u32 todo = __ballot_sync(ALL_LANES, !room); todo;) {
            const u64 next = __shfl_sync(ALL_LANES, owner, (u32)__ffs((int)todo) - 1);
            const bool mine = !room && owner == next;
            const u64 at = append(p.sent + next, mine);
            if (mine && at < p.capacity) {
                const u64 place = p.part.rank * p.capacity + at;
                in_rank<vid>(p, next, p.claimed_at)[place] = v;
                in_rank<vid>(p, next, p.claimers_at)[place] = p.s.parents ? p.s.parents[v] : (vid) ~(vid)0;
                room = true;
            }
            todo &= ~__ballot_sync(ALL_LANES, mine);
        }
        const u64 at = append(&p.joint->left[m.round & 1], !room);
        if (!room) p.s.queue[leftover_at(p, t, m.round, at)] = v;
    }
    hand_in(t, EDGES, edges);
}

// What others have left in the inbox; counters of the next round begin at 0.
DEVICE void accept(const Peers& p, Team& t, const Mates& m) {
    const u64 turn = (m.meetings & 1) * p.part.size;
    u64 edges = 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        const u64 count = relaxed_load(&(in_rank<Letter>(p, p.part.rank, p.letters_at) + turn + r)->claims);
        for (u64 start = team_warp() * WARP; start < count; start += team_warps() * WARP) {
            const u64 place = r * p.capacity + start + lane_id();
            const bool there = start + lane_id() < count;
            const vid v = there ? relaxed_load(in_rank<vid>(p, p.part.rank, p.claimed_at) + place) : 0;
            const bool fresh = there && claim_bit(p.s.visited, v);
            if (fresh) settle(p.s, v, relaxed_load(in_rank<vid>(p, p.part.rank, p.claimers_at) + place), t.level + 1);
            edges += enqueue(p, t, fresh, v);
        }
    }
    hand_in(t, EDGES, edges);
    if (blockIdx.x != 0) return;
    for (u64 r = threadIdx.x; r < p.part.size; r += TEAM) p.sent[r] = 0;
    if (threadIdx.x == 0) relaxed_store(&p.joint->left[(m.round + 1) & 1], (u64)0);
}

DEVICE void fill_frontier(const Peers& p, const Team& t) {
    u32* const bits = frontier_bits(p.s, t);
    for (u64 h = thread_id(); h < 2 * p.part.words; h += thread_count()) bits[own_half(p.part, h)] = 0;
}

DEVICE void set_frontier(const Peers& p, const Team& t) {
    u32* const bits = frontier_bits(p.s, t);
    for (u64 i = thread_id(); i < t.count; i += thread_count()) {
        const vid v = p.s.queue[t.begin + i];
        atomicOr(bits + word_of(v), bit_of(v));
    }
}

// Own words of the bitmap at `at` to all other ranks.
DEVICE void publish(const Peers& p, u64 at) {
    const u64* const own = in_rank<u64>(p, p.part.rank, at);
    for (u64 i = thread_id(); i < p.part.words; i += thread_count()) {
        const u64 w = p.part.first + i * p.part.stride;
        const u64 word = own[w];
        for (u64 r = 0; r < p.part.size; ++r) {
            if (r != p.part.rank) in_rank<u64>(p, r, at)[w] = word;
        }
    }
}

// Own vertices of the frontier as a queue, ascending inside 1024 of a rank's vertices, the pieces nearly so.
DEVICE void collect(const Peers& p, const Team& t) {
    const u32* const frontier = frontier_bits(p.s, t);
    for (u64 base = team_warp() * WARP; base < 2 * p.part.words; base += team_warps() * WARP) {
        const u64 h = base + lane_id();
        const u32 word = h < 2 * p.part.words ? frontier[own_half(p.part, h)] : 0;
        if (!__any_sync(ALL_LANES, word != 0)) continue;
        const SetBits bits(word);
        u64 at = 0;
        if (lane_id() == 0) at = t.begin + atomicAdd(&p.s.slots[t.slot].gathered, (u64)bits.total);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u32 start = 0; start < bits.total; start += WARP) {
            u32 owner, bit;
            bits.find(start + lane_id(), owner, bit);
            if (start + lane_id() < bits.total) {
                p.s.queue[at + start + lane_id()] = (vid)(own_half(p.part, base + owner) * 32 + bit);
            }
        }
    }
}
