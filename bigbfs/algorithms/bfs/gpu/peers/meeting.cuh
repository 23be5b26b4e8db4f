// Barriers: of the blocks of one GPU, and through these of all GPUs.
//
// Behind a phase after which ranks may meet, the first block waits for the others of its GPU, reads what all of them
// have counted, meets the other ranks if the phase ends so, and tells its GPU's blocks in a notice what
// next_phase_of_ranks() goes by: it alone knows. Behind any other phase a plain barrier is shorter, and each block
// reads what it goes by. At a meeting every rank leaves a letter in the memory of every other; those of the others come
// into its own memory, where it waits for them. Each word of a letter, or of a notice, has the number of the meeting,
// or of the barrier, beside half of what is told, so that whoever sees the one has the other, and no fence stands
// between the words. The first block's fence for the whole system stands between what a rank has stored into others'
// memory, or read in its own, and its letter; what other blocks have stored is before it by their own fences for the
// GPU, which the first block has waited for. Who waits for a letter, or a notice, reads it by loads that acquire.
// Letters take turns in two places: who leaves that of meeting k + 2 has seen all come to k + 1, behind their reading
// of k. A notice needs one place: the blocks have read it when they come to the next barrier. A rank that waits for
// longer than its patience gives up: the other has died. Atomics: one for each block. Memory: a letter for each pair of
// ranks, and a notice.
#pragma once
#include "algorithms/bfs/gpu/peers/peers.cuh"

// A warp, all lanes: writes a letter, or a notice, of so many fields; lane f has the value of field f.
DEVICE void leave(u64* letter, u32 fields, u64 value, u64 number) {
    const u64 whole = __shfl_sync(ALL_LANES, value, lane_id() / 2);
    const u64 half = lane_id() & 1 ? whole >> 32 : (u32)whole;
    if (lane_id() < 2 * fields) relaxed_store(letter + lane_id(), number << 32 | half);
}

// A warp, all lanes: whether all words of that of meeting, or barrier, `number` are there; lane l has word l then, and
// what was written before it is seen after.
DEVICE bool is_there(const u64* letter, u32 fields, u64 number, u64& word) {
    word = lane_id() < 2 * fields ? acquire_load(letter + lane_id()) : number << 32;
    return __all_sync(ALL_LANES, (u32)(word >> 32) == (u32)number);
}

// A warp, all lanes: lane f gets field f of a letter of which lane l has word l.
DEVICE u64 field_of(u64 word) {
    const u64 low = (u32)__shfl_sync(ALL_LANES, word, 2 * lane_id() % WARP);
    return low | __shfl_sync(ALL_LANES, word, (2 * lane_id() + 1) % WARP) << 32;
}

// The first block's warp, all lanes: tells all ranks, waits for all, and adds up what they have told. Lane f has field
// f of the own letter, which is the same for all ranks but for its claims, and gets the sum of it; in the lane of LOST
// 1 + the rank that did not come.
DEVICE u64 meet_other_ranks(const Peers& p, const Team& t, Mates& m, u64 own) {
    const u64 number = m.meetings + 1;
    u64 sent = 0, told = 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        // where all ranks have all rows none has claims for another
        if (!ALL_ROWS && r % WARP == 0) sent = r + lane_id() < p.part.size ? relaxed_load(p.sent + r + lane_id()) : 0;
        u64 claims = __shfl_sync(ALL_LANES, sent, (u32)(r % WARP));
        claims = claims < p.capacity ? claims : p.capacity;
        if (r == p.part.rank) continue;
        told += claims;
        system_fence();
        leave(letter_from(p, r, p.part.rank, number), LETTER_FIELDS, lane_id() == CLAIMS_FIELD ? claims : own, number);
    }
    const u64 start = (u64)clock64();
    u64 sum = own, lost = 0, word;
    for (u64 r = 0; r < p.part.size && !lost; ++r) {
        if (r == p.part.rank) continue;
        const u64* const letter = letter_from(p, p.part.rank, r, number);
        while (!is_there(letter, LETTER_FIELDS, number, word)) {
            spin();
            lost = __shfl_sync(ALL_LANES, (u64)clock64() - start > p.patience ? r + 1 : 0, 0);
            if (lost) break;
        }
        if (!lost) sum += field_of(word);
    }
    if (lane_id() == 0) {
        m.waited += (u64)clock64() - start;
        const bool bits = t.phase == PUBLISH || t.phase == UP || t.phase == TAKE;
        const u64 words = LETTER_WORDS + (bits ? p.part.words : 0);
        m.told += told * 2 * sizeof(vid) + (p.part.size - 1) * words * sizeof(u64);
    }
    return lane_id() == LOST ? lost : sum;
}

// The first warp of a block: what this rank has done so far in the level; lane f has field f of a notice.
DEVICE u64 own_counters(const Peers& p, const Team& t, const Mates& m) {
    const Slot& slot = p.s.slots[t.slot];
    const u64* from = nullptr;
    switch (lane_id()) {
        case ALL_LEFT: from = t.bottom_up ? &slot.chunks : &p.joint->left[m.round & 1]; break;
        case ALL_FOUND:
        case OWN_FOUND: from = ALL_ROWS && !t.bottom_up && !t.wide ? &slot.queued : &slot.found; break;
        case ALL_EDGES:
        case OWN_EDGES: from = &slot.edges; break;
        case ALL_MISSED:
        case OWN_MISSED: from = &slot.missed; break;
        case OWN_GATHERED: from = &slot.gathered; break;
        case OWN_CHUNKS: from = &slot.chunks; break;
        default: break;
    }
    __syncwarp();
    return from ? relaxed_load(from) : 0;
}

// The first warp of every block, all lanes: the blocks of this rank alone. Each reads the counters that it goes by,
// while a quicker block may be in the next phase, which must not change what this one is judged by: DOWN and UP_OPEN by
// their chunks, UP that puts rows off by who is missed alone, COLLECT by who is gathered; a level that ends by all
// counters, and what follows it counts in another slot.
DEVICE void meet_own(const Peers& p, const Team& t, Mates& m) {
    if (lane_id() == 0) meet_other_blocks(p.s.meeting);
    __syncwarp();
    const u64 value = own_counters(p, t, m);  // 0 in the lane of MEETS
    if (lane_id() < NOTICE_FIELDS) m.notice[lane_id()] = value;
    __syncwarp();
}

// The same behind a phase of which the first block has something to tell: all ranks meet, too, if `meets(p, t, missed,
// chunks)` says so of the own counters, which it alone reads.
template <typename Meets> DEVICE void meet(const Peers& p, const Team& t, Mates& m, const Meets& meets) {
    u32* const word = p.s.meeting;
    const u64 number = m.barriers + 1;
    u64 value = 0;
    if (lane_id() == 0) gpu_fence();
    if (blockIdx.x != 0) {
        if (lane_id() == 0) atomicAdd(word, 1u);
        u64 word;
        while (!is_there(p.joint->notice, NOTICE_FIELDS, number, word)) spin();
        value = field_of(word);
    } else {
        if (lane_id() == 0) {
            while ((relaxed_load(word) & 0x7fffffffu) != gridDim.x - 1) spin();
            gpu_fence();
            atomicAdd(word, 0u - (gridDim.x - 1));
        }
        __syncwarp();
        value = own_counters(p, t, m);
        const u64 missed = __shfl_sync(ALL_LANES, value, OWN_MISSED),
                  chunks = __shfl_sync(ALL_LANES, value, OWN_CHUNKS);
        const bool together = meets(p, t, missed, chunks);
        if (together) {
            const u64 sums = meet_other_ranks(p, t, m, value);
            if (lane_id() <= LOST) value = sums;
        }
        if (lane_id() == MEETS) value = together;
        gpu_fence();
        leave(p.joint->notice, NOTICE_FIELDS, value, number);
    }
    if (lane_id() < NOTICE_FIELDS) m.notice[lane_id()] = value;
    __syncwarp();
    if (lane_id() != 0) return;
    m.barriers = number;
    m.meetings += m.notice[MEETS];
}
