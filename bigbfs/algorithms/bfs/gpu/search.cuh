// How a vertex looks for a parent in the frontier: among its heads, then in its row, alone and with the help of the
// warp; where ids are looked up, as rows come over the link then, by the warp at once.
//
// All is for bottom-up phases (bottomup.cuh). Frontier kind: bitmap. Atomics: none, but the list of chunks. Memory per
// vertex: 16 bytes of heads and the words of the frontier that they ask for, then whole lines of its row. Source: Min
// et al. (EMOGI, VLDB'20) for whole aligned lines; lines of several rows at once are ours.
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"

// Groups of ids (four, or the values that end in four bytes) that a lane reads before the warp helps.
constexpr u32 LANE_LOADS = 8;

DEVICE bool has_bit(const u32* bitmap, u64 v) { return (bitmap[word_of(v)] & bit_of(v)) != 0; }

// Is the neighbour u in the frontier?
DEVICE bool in_frontier(const Bfs& s, const u32* frontier, u64 u) {
    if (u < s.in.n) return has_bit(frontier, u);
    count_invalid(s);
    return false;
}

// True if a head of v in `group` is in the frontier: `parent`. `more`: none is, and the row may go on behind the group,
// which a head that is v itself denies: nobody need ask for the row's length. LOOKS: heads whose words of the frontier
// are asked for at once, a trip to the cache for all of them, and at worst so many less one in vain.
template <u32 LOOKS>
DEVICE bool search_group(const Bfs& s, const u32* frontier, u64 v, u64 group, vid& parent, bool& more) {
    const HeadGroup heads(s.in, v, group);
    bool hit = false;
    more = true;
    // no return in here: leaving an unrolled loop makes compilers keep ids in memory instead of registers
#pragma unroll
    for (u32 first = 0; first < HEAD_GROUP; first += LOOKS) {
        if (more) {
            u32 words[LOOKS];
#pragma unroll
            for (u32 j = 0; j < LOOKS; ++j) words[j] = frontier[word_of(heads.ids[first + j])];
#pragma unroll
            for (u32 j = LOOKS; j-- > 0;) {
                if (words[j] & bit_of(heads.ids[first + j])) {
                    hit = true;
                    parent = heads.ids[first + j];
                }
            }
            more = !hit && heads.ids[first + LOOKS - 1] != (vid)v;
        }
    }
    return hit;
}

// True if some id of the lane's own row is in the frontier; `rest` is what it has not read.
DEVICE bool search_alone(const Bfs& s, const u32* frontier, const Segment& segment, vid& parent, Segment& rest) {
    Cursor<1> cursor(s.in, segment, 0);
    bool hit = false;
    for (u32 loads = 0; !hit && loads < LANE_LOADS && cursor.load(); ++loads) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!hit && cursor.has(j) && in_frontier(s, frontier, cursor.ids[j])) {
                parent = cursor.ids[j];
                hit = true;
            }
        }
    }
    rest = cursor.rest();
    return hit;
}

// The same by the whole warp, with the same answer in every lane.
DEVICE bool search_together(const Bfs& s, const u32* frontier, const Segment& segment, vid& parent) {
    Cursor<WARP> cursor(s.in, segment, lane_id());
    u32 hits = 0;
    vid own = 0;
    while (!hits && cursor.load()) {
        bool hit = false;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!hit && cursor.has(j) && in_frontier(s, frontier, cursor.ids[j])) {
                own = cursor.ids[j];
                hit = true;
            }
        }
        hits = __ballot_sync(ALL_LANES, hit);
    }
    if (!hits) return false;
    parent = __shfl_sync(ALL_LANES, own, (u32)__ffs((int)hits) - 1);
    return true;
}

#if RENUMBERED

// The lane whose row has line number `line` of all, where lanes say which line of these is their row's first: the last
// that has no more before it, since an empty row has the number of the next.
DEVICE u32 owner_of(u32 first, u32 line) { return 31 - (u32)__clz((int)__ballot_sync(ALL_LANES, first <= line)); }

// The rows of the lanes, some of them empty: the whole lines in which they lie, one behind the other, SLOTS at once,
// whichever lanes they are of. Over the link a line is one trip and one translation of its address, where a lane alone
// makes eight for its first 32 ids, and most rows that heads have not decided are read to their end. All lanes call it.
DEVICE bool search_lines(const Bfs& s, const u32* frontier, const Segment& own, vid& parent) {
    const u32 skipped = (u32)own.begin & (WARP - 1);
    const u32 ids_from_line = own.begin < own.end ? (u32)(own.end - own.begin) + skipped : 0;
    const u32 through = warp_inclusive_sum((ids_from_line + WARP - 1) / WARP);
    const u32 lines = __shfl_sync(ALL_LANES, through, WARP - 1);
    // where in all lines the row begins and ends, where the first id of all would lie if it were this row's, and in the
    // last bit of that whether it is outside
    const u32 before = (through - (ids_from_line + WARP - 1) / WARP) * WARP;
    const u32 begin = before + skipped;
    const u32 end = before + ids_from_line;
    const u64 origin = (u64)memory_of(s.in, own) + (own.begin - begin) * sizeof(vid) + is_outside(s.in, own);
    u32 decided = 0;
    for (u32 line = 0; line < lines;) {
        vid ids[SLOTS];
        u32 outside = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            // past an end the row's first or last id again, past the last line that line
            const u32 this_line = line + j < lines ? line + j : lines - 1;
            const u32 owner = owner_of(begin / WARP, this_line);
            const u32 first = __shfl_sync(ALL_LANES, begin, owner);
            const u32 last = __shfl_sync(ALL_LANES, end, owner) - 1;
            const u32 at = max(first, min(last, this_line * WARP + lane_id()));
            const u64 id_at = __shfl_sync(ALL_LANES, origin, owner) + at * sizeof(vid);
            ids[j] = __ldg((const vid*)(id_at & ~(u64)1));
            outside |= (u32)(id_at & 1) << j;
        }
        to_numbers<SLOTS>(s.in, ids, outside);
        u32 words[SLOTS];
        u32 invalid = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const bool inside = ids[j] < s.in.n;
            words[j] = inside ? frontier[word_of(ids[j])] : 0;
            invalid += !inside;
        }
        for (; invalid > 0; --invalid) count_invalid(s);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const u32 found = __ballot_sync(ALL_LANES, words[j] & bit_of(ids[j]));
            if (!found) continue;
            const vid id = __shfl_sync(ALL_LANES, ids[j], (u32)__ffs((int)found) - 1);
            const u32 owner = owner_of(begin / WARP, line + j < lines ? line + j : lines - 1);
            if (lane_id() == owner) parent = id;
            decided |= bit_of(owner);
        }
        line += SLOTS;
        const u32 next = owner_of(begin / WARP, line);
        const u32 behind = (__shfl_sync(ALL_LANES, end, next) + WARP - 1) / WARP;
        if (decided & bit_of(next) && line < behind) line = behind;
    }
    return decided & bit_of(lane_id());
}

#endif

// The rows of the lanes whose heads did not decide; all lanes call it.
DEVICE bool search_row(const Bfs& s, Team& t, const u32* frontier, u64 v, bool open, vid& parent) {
    const u64 ids = open ? degree(s.in, v) : 0;
    list_chunks<false>(s, t, s.in, ids > BLOCK_IDS, v);
    const bool mine = ids <= BLOCK_IDS && !heads_are_all(s.in, ids);
    Segment rest = {0, 0, 0};
#if RENUMBERED
    if (mine) {
        rest = row(s.in, v);
        rest.begin += s.in.head_skip;
    }
    return search_lines(s, frontier, rest, parent);
#else
    bool hit = false;
    if (mine) {
        Segment whole = row(s.in, v);
        whole.begin += s.in.head_skip;
        hit = search_alone(s, frontier, whole, parent, rest);
    }
    for (u32 todo = __ballot_sync(ALL_LANES, mine && !hit && rest.begin < rest.end); todo; todo &= todo - 1) {
        const u32 from = (u32)__ffs((int)todo) - 1;
        vid candidate = 0;
        const bool any = search_together(s, frontier, broadcast(rest, from), candidate);
        if (any && lane_id() == from) {
            hit = true;
            parent = candidate;
        }
    }
    return hit;
#endif
}
