// Bottom-up: the rows of vertices whose heads do not decide (pull.cuh).
//
// A group of lanes reads a short row, the warp a longer one. While several lanes of a group lack something, each asks
// the same neighbours for its own words. Once one alone does, which is soon where sources that are late have
// neighbouring bits, every lane asks other neighbours for the words of that one. Frontier kind: bitmap. Atomics: for
// chunks one on each word of `other`. Memory per id: the id, and 16 bytes of its bits or more. Source: ours.
#pragma once
#include "algorithms/many/gpu/pull.cuh"

DEVICE bool is_one(u32 lanes) { return lanes && !(lanes & (lanes - 1)); }

// Of the ids that a cursor has read, for the bits j of `some`, those that may bring something in the words of lane
// `part`; they are numbers now. The sources that a row is read for are late: few vertices have them yet, whose bits a
// cache holds, and the others' it does not. Who is full and in no frontier has told its neighbours all before. An id of
// no vertex is among them, for others to find.
template <u32 WIDTH> DEVICE u32 with_part(const Many& s, Cursor<WIDTH>& cursor, u32 some, u32 part, bool alone) {
    if (alone && s.spread) {
        const u32* const bitmap = cursor.in_file() ? file_bitmap_of_part(s, part) : bitmap_of_part(s, part);
        u32 known = 0, nothing = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            known |= (u32)((some >> j) & 1 && cursor.ids[j] < (cursor.in_file() ? s.in.file_n : s.vertices)) << j;
        }
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if ((known >> j) & 1) nothing |= (u32)((bitmap[word_of(cursor.ids[j])] & bit_of(cursor.ids[j])) != 0) << j;
        }
        some &= ~nothing;
    }
    cursor.number(some);
    return some;
}

// Each group of whose lanes one alone lacks something, `lacking`, reads what is left of its row: every lane a share of
// it, for that one's words. All lanes call it.
DEVICE void ask_shared(const Many& s, const Segment& rest, u32 lacking, Bits& have, PullTally& lane) {
    bool open = is_one(lacking);
    const u32 part = open ? (u32)__ffs((int)lacking) - 1 : own_part(s);
    Cursor<1> cursor(s.in, share_of(rest, own_part(s), group_lanes(s)), 0);
    for (bool more = true;;) {
        more = open && more && cursor.read();
        if (!__any_sync(ALL_LANES, more)) return;
        u32 some = with_part(s, cursor, more ? cursor.valid : 0, part, true);
        some = worth<SLOTS>(s, cursor.ids, some, lane, true);
        if (more) lane.read += (u32)__popc(cursor.valid);
        Bits found = no_bits();
#pragma unroll
        for (u32 j = 0; j < SLOTS; j += LOOKS) ask_for<LOOKS>(s, cursor.ids + j, some >> j, part, found);
        found = join_lanes(found, 1, group_lanes(s));
        if (own_part(s) == part) add(have, found);
        if (any_in_group(s, (some & ALL_ASKED) != 0)) add(have, asked_bits(s));
        open = any_in_group(s, open && any(without(asked_bits(s), have)));
    }
}

// Each group whose vertex is `active` reads its row; whether the vertex is in the next frontier. All lanes call it.
// SHARES: not where it would cost spilled registers.
template <bool SHARES>
DEVICE bool ask_apart(const Many& s, vid v, const Segment& segment, bool active, PullTally& lane) {
    Bits have = active ? load_bits(s, s.other, v) : no_bits();
    Cursor<1> cursor(s.in, segment, 0);
    u32 lacking = lanes_in_group(s, active && any(without(asked_bits(s), have)));
    bool open = lacking && !(SHARES && s.shares_rows && is_one(lacking));
    for (open = open && cursor.load(); __any_sync(ALL_LANES, open); open = open && cursor.load()) {
        const bool lacks = (lacking >> own_part(s)) & 1;
#pragma unroll
        for (u32 j = 0; j < SLOTS; j += LOOKS) {
            const u32 some = worth<LOOKS>(s, cursor.ids + j, open ? cursor.valid >> j : 0, lane, leads_group(s));
            ask<LOOKS>(s, cursor.ids + j, lacks ? some : 0, have);
            add_all(s, some, have);
        }
        if (open && leads_group(s)) lane.read += (u32)__popc(cursor.valid);
        lacking = lanes_in_group(s, active && any(without(asked_bits(s), have)));
        open = open && lacking && !(SHARES && s.shares_rows && is_one(lacking));
    }
    if (SHARES && s.shares_rows && __any_sync(ALL_LANES, is_one(lacking))) {
        Segment rest = cursor.rest();
        rest.hot = segment.hot;
        ask_shared(s, rest, lacking, have, lane);
    }
    const bool fresh = active && any(without(have, load_bits(s, s.other, v)));
    if (fresh) store_bits(s, s.other, v, have);
    return any_in_group(s, fresh);
}

// Every group asks for one after the other of the ids that the warp's lanes have, and that are worth a look.
DEVICE void ask_listed(const Many& s, const vid* ids, u32 some, bool lacks, Bits& have) {
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        const u32 todo = __ballot_sync(ALL_LANES, (some >> j) & 1);
        const u32 count = (u32)__popc(todo);
        for (u32 first = own_group(s); first - own_group(s) < count; first += LOOKS * warp_groups(s)) {
            vid each[LOOKS];
            u32 asked = 0;
#pragma unroll
            for (u32 i = 0; i < LOOKS; ++i) {
                const u32 k = first + i * warp_groups(s);
                each[i] = __shfl_sync(ALL_LANES, ids[j], k < count ? nth_set_bit(todo, k) : 0);
                asked |= (u32)(k < count && lacks) << i;
            }
            ask<LOOKS>(s, each, asked, have);
        }
    }
}

// Every lane asks for its own ids, in the words of lane `part` of a group, which alone lack something.
DEVICE void ask_alone(const Many& s, const vid* ids, u32 some, u32 part, Bits& have) {
    Bits found = no_bits();
#pragma unroll
    for (u32 j = 0; j < SLOTS; j += LOOKS) ask_for<LOOKS>(s, ids + j, some >> j, part, found);
    found = join_lanes(found, 1, WARP);
    if (own_part(s) == part) add(have, found);
}

// The whole warp reads a segment for a vertex; all lanes that have the same words have the same bits, here and after.
DEVICE void ask_together(const Many& s, const Segment& segment, Bits& have, PullTally& lane) {
    Cursor<WARP> cursor(s.in, segment, lane_id());
    bool lacks = any(without(asked_bits(s), have));
    while (__any_sync(ALL_LANES, lacks) && cursor.read()) {
        lane.read += (u32)__popc(cursor.valid);
        const u32 lacking = lanes_in_group(s, lacks);
        const bool alone = s.shares_rows && is_one(lacking);
        u32 some = with_part(s, cursor, cursor.valid, (u32)__ffs((int)lacking) - 1, alone);
        some = worth<SLOTS>(s, cursor.ids, some, lane, true);
        if (__any_sync(ALL_LANES, (some & ALL_ASKED) != 0)) return add(have, asked_bits(s));
        if (alone) ask_alone(s, cursor.ids, some, (u32)__ffs((int)lacking) - 1, have);
        else if (s.sparse) ask_listed(s, cursor.ids, some, lacks, have);
        for (u32 part = 0; part < group_lanes(s) && !s.sparse && !alone; ++part) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; j += LOOKS) {
                vid ids[LOOKS];
                const u32 asked = hand_out(s, cursor.ids + j, some >> j, part, ids);
                ask<LOOKS>(s, ids, lacks ? asked : 0, have);
            }
        }
        have = join_groups(s, have);
        lacks = any(without(asked_bits(s), have));
    }
}

// The whole warp reads the row of v, which nobody else writes to; whether v is in the next frontier.
DEVICE bool ask_row(const Many& s, vid v, const Segment& segment, PullTally& lane) {
    Bits have = load_bits(s, s.other, v);
    ask_together(s, segment, have, lane);
    const bool fresh = any(without(have, load_bits(s, s.other, v)));
    __syncwarp();
    if (fresh && lane_id() < group_lanes(s)) store_bits(s, s.other, v, have);
    return __any_sync(ALL_LANES, fresh);
}

// The whole warp reads a part of the row of v, which may have got from another part what it lacks; `next` is the bitmap
// of the next frontier.
DEVICE void ask_part(const Many& s, u32* next, vid v, const Segment& segment, PullTally& lane) {
    // lanes could read these words at different moments: those of the first group count for all
    Bits have = relaxed_bits(s, s.other, v);
    for (u32 k = 0; k < PART; ++k) have.w[k] = __shfl_sync(ALL_LANES, have.w[k], lane_id() & (group_lanes(s) - 1));
    if (!__any_sync(ALL_LANES, any(without(asked_bits(s), have)))) return;
    ask_together(s, segment, have, lane);
    const Bits fresh = without(have, relaxed_bits(s, s.other, v));
    if (lane_id() >= group_lanes(s) || !any(fresh)) return;
    for (u32 k = 0; k < PART; ++k) {
        if (fresh.w[k]) atomicOr(words_of(s, s.other, v) + k, fresh.w[k]);
    }
    atomicOr(next + word_of(v), bit_of(v));
}

// Reads the chunks listed.
DEVICE void ask_chunks(const Many& s, u64 chunks, PullTally& lane) {
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    for (u64 i = thread_id() / WARP; i < chunks; i += thread_count() / WARP) {
        const u32 c = s.chunk_list[i];
        const u32 hub = __ldg(s.in.chunk_hub + c);
        ask_part(s, next, s.in.hubs[hub], chunk(s.in, c, hub), lane);
    }
}
