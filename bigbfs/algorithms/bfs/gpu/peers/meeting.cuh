// Barriers: of the blocks of one GPU, and through these of all GPUs.
//
// At a meeting every rank leaves a letter in the memory of every other; those of the others come into its own memory,
// where it waits for them. Each word of a letter has the number of the meeting beside half of what is told, so that
// whoever sees the one has the other, and no fence stands between the words of a letter. One for the whole system
// stands between what a rank has stored into others' memory, or read in its own, and its letter, and another between a
// letter seen and what comes after it. Letters take turns in two places: who leaves that of meeting k + 2 has seen all
// come to k + 1, behind their reading of k. A rank that waits for longer than its patience gives up: the other has
// died. Atomics: one for each block. Memory: a letter for each pair of ranks.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// Whether the phase has stored into the memory of others. A fence for the whole system costs microseconds, far more
// than the barrier that it belongs to; where a block has told nobody anything, one for its own GPU will do.
DEVICE bool tells(const Team& t) { return t.phase == DELIVER || t.phase == PUBLISH; }

DEVICE void fence_before_meeting(const Team& t) {
    if (tells(t)) system_fence();
    else gpu_fence();
}

DEVICE void leave(u64* letter, u32 field, u64 value, u64 number) {
    relaxed_store(letter + 2 * field + 1, number << 32 | value >> 32);
    relaxed_store(letter + 2 * field, number << 32 | (u32)value);
}

// Whether all of the letter of meeting `number` is there.
DEVICE bool has_come(const u64* letter, u64 number) {
    bool all = true;
#pragma unroll
    for (u32 i = 0; i < LETTER_WORDS; ++i) all = (u32)(relaxed_load(letter + i) >> 32) == (u32)number && all;
    return all;
}

// The first block's warp, all lanes: tells all ranks, waits for all, and adds up what they have told.
DEVICE void meet_other_ranks(const Peers& p, const Team& t, const Mates& m, const Letter& own) {
    const u64 number = m.meetings + 1;
    u64 told = 0;  // claims
    for (u64 r = lane_id(); r < p.part.size; r += WARP) {
        if (r == p.part.rank) continue;
        u64* const letter = letter_from(p, r, p.part.rank, number);
        u64 claims = relaxed_load(p.sent + r);
        claims = claims < p.capacity ? claims : p.capacity;
        told += claims;
        system_fence();
        leave(letter, CLAIMS_FIELD, claims, number);
        leave(letter, LEFT_FIELD, own.left, number);
        leave(letter, MISSED_FIELD, own.missed, number);
        leave(letter, EDGES_FIELD, own.edges, number);
        leave(letter, FOUND_FIELD, own.found, number);
    }
    const u64 start = (u64)clock64();
    u64 found = 0, edges = 0, missed = 0, left = 0, lost = 0;
    for (u64 r = lane_id(); r < p.part.size; r += WARP) {
        if (r == p.part.rank) continue;
        const u64* const letter = letter_from(p, p.part.rank, r, number);
        while (!has_come(letter, number) && !lost) {
            spin();
            if ((u64)clock64() - start > p.patience) lost = r + 1;
        }
        system_fence();
        found += told_in(letter, FOUND_FIELD);
        edges += told_in(letter, EDGES_FIELD);
        missed += told_in(letter, MISSED_FIELD);
        left += told_in(letter, LEFT_FIELD);
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
    p.joint->told += told * 2 * sizeof(vid) + (p.part.size - 1) * (LETTER_WORDS + words) * sizeof(u64);
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

// The blocks of this rank, and all ranks if `meets(p, t)` says so once all blocks are here. What it says must follow
// from what no block changes any more. Same word as meet_other_blocks(); the first block comes last.
template <typename Meets> DEVICE void meet(const Peers& p, const Team& t, Mates& m, const Meets& meets) {
    if (threadIdx.x >= (blockIdx.x == 0 ? WARP : 1u)) return;
    u32* const word = p.s.meeting;
    if (blockIdx.x != 0) {
        fence_before_meeting(t);
        const u32 before = atomicAdd(word, 1u);
        while (((before ^ relaxed_load(word)) & 0x80000000u) == 0) spin();
        gpu_fence();
        m.meets = meets(p, t);
        return;
    }
    if (lane_id() == 0) {
        fence_before_meeting(t);
        while ((relaxed_load(word) & 0x7fffffffu) != gridDim.x - 1) spin();
        gpu_fence();
        m.meets = meets(p, t);
    }
    __syncwarp();
    if (m.meets) meet_other_ranks(p, t, m, own_letter(p, t, m));
    __syncwarp();
    if (lane_id() == 0) {
        gpu_fence();
        atomicAdd(word, 0x80000000u - (gridDim.x - 1));
    }
}
