// Barriers: of the blocks of one GPU, and through these of all GPUs.
//
// At a meeting every rank leaves a letter in the memory of every other and then its number in a flag there; the flags
// of the others lie in its own memory, where it waits for them. A fence for the whole system stands between what a
// rank has stored into others' memory and its flags, and between a flag seen and what is read after it, so that what
// anybody stored before a meeting is seen by all after it. Letters take turns in two places: who leaves that of meeting
// k + 2 has seen all come to k + 1, behind their reading of k. A rank that waits for longer than its patience gives up:
// the other has died. Atomics: one for each block. Memory: a letter and a flag for each pair of ranks.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// The first block's warp, all lanes: tells all ranks, waits for all, and adds up what they have told.
DEVICE void meet_other_ranks(const Peers& p, const Team& t, const Mates& m, const Letter& own) {
    const u64 number = m.meetings + 1;
    const u64 turn = (number & 1) * p.part.size;
    u64 told = 0;  // claims
    for (u64 r = lane_id(); r < p.part.size; r += WARP) {
        if (r == p.part.rank) continue;
        Letter* const letter = in_rank<Letter>(p, r, p.letters_at) + turn + p.part.rank;
        u64 claims = relaxed_load(p.sent + r);
        relaxed_store(&letter->found, own.found);
        relaxed_store(&letter->edges, own.edges);
        relaxed_store(&letter->missed, own.missed);
        relaxed_store(&letter->left, own.left);
        claims = claims < p.capacity ? claims : p.capacity;
        relaxed_store(&letter->claims, claims);
        told += claims;
        __threadfence_system();
        relaxed_store(in_rank<u64>(p, r, p.flags_at) + p.part.rank, number);
    }
    const u64 start = (u64)clock64();
    u64 found = 0, edges = 0, missed = 0, left = 0, lost = 0;
    for (u64 r = lane_id(); r < p.part.size; r += WARP) {
        if (r == p.part.rank) continue;
        const u64* const flag = in_rank<u64>(p, p.part.rank, p.flags_at) + r;
        while (relaxed_load(flag) < number && !lost) {
            spin();
            if ((u64)clock64() - start > p.patience) lost = r + 1;
        }
        __threadfence_system();
        const Letter* const letter = in_rank<Letter>(p, p.part.rank, p.letters_at) + turn + r;
        found += relaxed_load(&letter->found);
        edges += relaxed_load(&letter->edges);
        missed += relaxed_load(&letter->missed);
        left += relaxed_load(&letter->left);
    }
    found = warp_sum(found);
    edges = warp_sum(edges);
    missed = warp_sum(missed);
    left = warp_sum(left);
    lost = warp_max(lost);
    told = warp_sum(told);
    if (lane_id() > 0) return;
    Letter& sums = p.joint->sums;
    relaxed_store(&sums.found, found + own.found);
    relaxed_store(&sums.edges, edges + own.edges);
    relaxed_store(&sums.missed, missed + own.missed);
    relaxed_store(&sums.left, left + own.left);
    relaxed_store(&p.joint->lost, lost);
    p.joint->waited += (u64)clock64() - start;
    const u64 words = t.phase == PUBLISH ? p.part.words : 0;
    p.joint->told += told * 2 * sizeof(vid) + (p.part.size - 1) * (sizeof(Letter) + (1 + words) * sizeof(u64));
}

// What this rank has done so far in the level.
DEVICE Letter own_letter(const Peers& p, const Team& t, const Mates& m) {
    const Slot& slot = p.s.slots[t.slot];
    Letter own;
    own.found = relaxed_load(&slot.found);
    own.edges = relaxed_load(&slot.edges);
    own.missed = relaxed_load(&slot.missed);
    own.left = relaxed_load(&p.joint->left[m.round & 1]);
    own.claims = 0;
    return own;
}

// Whether the phase has stored into the memory of others. A fence for the whole system costs microseconds, far more
// than the barrier that it belongs to; where a block has told nobody anything, one for its own GPU will do.
DEVICE bool tells(const Team& t) { return t.phase == DELIVER || t.phase == PUBLISH; }

DEVICE void fence_before_meeting(const Team& t) {
    if (tells(t)) __threadfence_system();
    else __threadfence();
}

// The blocks of this rank, and all ranks if `meets(p, t)` says so once all blocks are here. What it says must follow
// from what no block changes any more. Same word as meet_other_blocks(); the first block comes last.
template <typename Meets> DEVICE void meet(const Peers& p, const Team& t, Mates& m, const Meets& meets) {
    if (threadIdx.x >= (blockIdx.x == 0 ? WARP : 1u)) return;
    u32* const word = p.s.meeting;
    if (blockIdx.x != 0) {
        fence_before_meeting(t);
        const u32 before = atomicAdd(word, 1u);
        while (((before ^ relaxed_load(word)) & 0x80000000u) == 0) spin();
        __threadfence();
        m.meets = meets(p, t);
        return;
    }
    if (lane_id() == 0) {
        fence_before_meeting(t);
        while ((relaxed_load(word) & 0x7fffffffu) != gridDim.x - 1) spin();
        __threadfence();
        m.meets = meets(p, t);
    }
    __syncwarp();
    if (m.meets) meet_other_ranks(p, t, m, own_letter(p, t, m));
    __syncwarp();
    if (lane_id() == 0) {
        __threadfence();
        atomicAdd(word, 0x80000000u - (gridDim.x - 1));
    }
}
