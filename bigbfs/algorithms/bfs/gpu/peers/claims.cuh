// Claims: whoever a top-down level has found and belongs to another rank goes to its owner.
//
// DELIVER: a claim is a vertex and its parent, in an inbox that the owner has for each sender. For claims beyond its
// capacity there is another round. ACCEPT: the owner takes a claim if it has not visited the vertex. Frontier kind:
// queue. Atomics: one for each pile of entries that a warp appends, one on `visited` for each claim. Memory: a claim is
// two ids, once written over the link and once read. Source: ours; after Pan, Pearce, Owens (IPDPS'18) for the division
// of work.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// Most entries that a warp takes at once: a bit of a word for each that a lane has.
constexpr u64 PILE = 32 * WARP;

DEVICE u32 lanes_below() { return (1u << lane_id()) - 1; }

// Entries that a warp takes at once: few while there are few, so that all warps have some.
DEVICE u64 pile_of(u64 total) {
    u64 pile = WARP;
    while (pile < PILE && pile * team_warps() < total) pile *= 2;
    return pile;
}

// Claims that found no room: from the end of the other half downwards, which the next frontier never reaches, or where
// this level's finds were. One is read in a round while the other is written.
DEVICE u64 leftover_at(const Peers& p, const Team& t, u32 round, u64 i) {
    return round & 1 ? t.begin + t.count + i : other_half(p, t) + p.s.out.n - 1 - i;
}

// Entry i of what is delivered in this round: whoever the level has found, or what the round before has left.
DEVICE vid entry(const Peers& p, const Team& t, const Mates& m, u64 i) {
    return p.s.queue[m.round > 0 ? leftover_at(p, t, m.round - 1, i) : t.begin + t.count + i];
}

// Puts v into the next frontier; returns the edges of its row.
DEVICE u64 put_own(const Peers& p, const Team& t, u64 at, vid v) {
    p.s.queue[other_half(p, t) + at] = v;
    return degree(p.s.out, v);
}

// v to its owner, if there is room; returns whether there was.
DEVICE bool put_claim(const Peers& p, u64 owner, u64 at, vid v) {
    if (at >= p.capacity) return false;
    const u64 place = p.part.rank * p.capacity + at;
    in_rank<vid>(p, owner, p.claimed_at)[place] = v;
    in_rank<vid>(p, owner, p.claimers_at)[place] = p.s.parents ? p.s.parents[v] : (vid) ~(vid)0;
    return true;
}

// Entries of the pile [start, end) that belong to one of the 32 ranks from `first` on; returns the edges of own ones.
DEVICE u64 deliver_pile(const Peers& p, const Team& t, const Mates& m, u64 start, u64 end, u64 first) {
    const u64 rank = first + lane_id();
    u64 at = 0, edges = 0;  // at: how many are for `rank`, then where the next of them goes
    for (u64 i = start; i < end; i += WARP) {
        const u64 owner = i + lane_id() < end ? owner_of(p.part, entry(p, t, m, i + lane_id())) : ~0ull;
        for (u32 todo = __ballot_sync(ALL_LANES, owner - first < WARP); todo;) {
            const u64 next = __shfl_sync(ALL_LANES, owner, (u32)__ffs((int)todo) - 1);
            const u32 same = __ballot_sync(ALL_LANES, owner == next);
            if (rank == next) at += (u32)__popc(same);
            todo &= ~same;
        }
    }
    if (at) at = atomicAdd(rank == p.part.rank ? &p.s.slots[t.slot].found : p.sent + rank, at);
    for (u64 i = start; i < end; i += WARP) {
        const vid v = i + lane_id() < end ? entry(p, t, m, i + lane_id()) : 0;
        const u64 owner = i + lane_id() < end ? owner_of(p.part, v) : ~0ull;
        bool room = true;
        for (u32 todo = __ballot_sync(ALL_LANES, owner - first < WARP); todo;) {
            const u64 next = __shfl_sync(ALL_LANES, owner, (u32)__ffs((int)todo) - 1);
            const u32 same = __ballot_sync(ALL_LANES, owner == next);
            const u64 place = __shfl_sync(ALL_LANES, at, (u32)(next - first)) + (u32)__popc(same & lanes_below());
            if (owner == next && next == p.part.rank) edges += put_own(p, t, place, v);
            else if (owner == next) room = put_claim(p, next, place, v);
            if (rank == next) at += (u32)__popc(same);
            todo &= ~same;
        }
        const u32 left = __ballot_sync(ALL_LANES, !room);
        if (!left) continue;
        u64 behind = 0;
        if (lane_id() == 0) behind = atomicAdd(&p.joint->left[m.round & 1], (u64)__popc(left));
        behind = __shfl_sync(ALL_LANES, behind, 0) + (u32)__popc(left & lanes_below());
        if (!room) p.s.queue[leftover_at(p, t, m.round, behind)] = v;
    }
    return edges;
}

// Whoever the level has found, or what the round before has left, to the owners.
DEVICE void deliver(const Peers& p, Team& t, const Mates& m) {
    const u64 left = relaxed_load(&p.joint->left[(m.round + 1) & 1]);
    const u64 total = m.round > 0 ? left : relaxed_load(&p.s.slots[t.slot].queued);
    const u64 pile = pile_of(total);
    u64 edges = 0;
    for (u64 start = team_warp() * pile; start < total; start += team_warps() * pile) {
        const u64 end = start + pile < total ? start + pile : total;
        for (u64 first = 0; first < p.part.size; first += WARP) edges += deliver_pile(p, t, m, start, end, first);
    }
    hand_in(t, EDGES, edges);
}

// The claims [start, end) of rank r; returns the edges of those that are taken.
DEVICE u64 accept_pile(const Peers& p, const Team& t, u64 r, u64 start, u64 end) {
    const vid* const claimed = in_rank<vid>(p, p.part.rank, p.claimed_at) + r * p.capacity;
    const vid* const claimers = in_rank<vid>(p, p.part.rank, p.claimers_at) + r * p.capacity;
    u32 fresh = 0;  // of the lane's claims: a bit for each
    for (u64 i = start + lane_id(); i < end; i += WARP) {
        const vid v = relaxed_load(claimed + i);
        if (!claim_bit(p.s.visited, v)) continue;
        settle(p.s, v, relaxed_load(claimers + i), t.level + 1);
        fresh |= 1u << (i - start) / WARP;
    }
    __syncwarp();
    const u32 all = (u32)warp_sum((u64)__popc(fresh));
    if (all == 0) return 0;
    u64 at = 0, edges = 0;
    if (lane_id() == 0) at = atomicAdd(&p.s.slots[t.slot].found, (u64)all);
    at = __shfl_sync(ALL_LANES, at, 0);
    for (u32 k = 0; __any_sync(ALL_LANES, k < 32 && fresh >> k != 0); ++k) {
        const bool mine = fresh >> k & 1;
        const u32 takers = __ballot_sync(ALL_LANES, mine);
        const u64 place = at + (u32)__popc(takers & lanes_below());
        if (mine) edges += put_own(p, t, place, relaxed_load(claimed + start + k * WARP + lane_id()));
        at += (u32)__popc(takers);
    }
    return edges;
}

// What others have left in the inbox; counters of the next round begin at 0.
DEVICE void accept(const Peers& p, Team& t, const Mates& m) {
    u64 edges = 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        const u64 count = claims_from(p, m, r);
        const u64 pile = pile_of(count);
        for (u64 start = team_warp() * pile; start < count; start += team_warps() * pile) {
            edges += accept_pile(p, t, r, start, start + pile < count ? start + pile : count);
        }
    }
    hand_in(t, EDGES, edges);
    if (blockIdx.x != 0) return;
    for (u64 r = threadIdx.x; r < p.part.size; r += TEAM) p.sent[r] = 0;
    if (threadIdx.x == 0) relaxed_store(&p.joint->left[(m.round + 1) & 1], (u64)0);
}
