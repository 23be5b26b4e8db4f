// Rows of many searches that come from the file: which ones a level needs, and what it does with a batch of them.
//
// The host runs the level (streamed.py). many_ask: of the vertices of a bitmap, those whose rows are in the file become
// the bitmap of what is read, with what they take; a warp takes 32 words, then the vertices of one at a time.
// many_push_pieces, many_pull_pieces: a batch, top-down or bottom-up; a warp takes a piece, of several rows a group of
// lanes a short one each. Frontier kind: bitmap. Atomics: top-down as push.cuh says; bottom-up one on each word that a
// part of a row brings something for, and one on the next frontier's bitmap for each piece that does. Memory per edge:
// as push.cuh and pull.cuh say. Source: ours; rows by pieces as in BFS.
#include "algorithms/many/gpu/pull_rows.cuh"
#include "algorithms/many/gpu/words.cuh"
#include "kernels/rows/piece.cuh"

// Of a multiprocessor; more would cost spilled registers.
constexpr u32 BLOCKS = sizeof(vid) == 4 ? 4 : 3;

// `bits` has words up to the last vertex that has an edge, `wanted` of all; found[0] counts rows, found[1] their units.
KERNEL void many_ask(Many s, u32 bottom_up, const u32* bits, u32* wanted, u64* found) {
    const Adjacency& a = bottom_up ? s.in : s.out;
    const u64 words = words_for(s.vertices), all = words_for(a.n);
    u64 rows = 0, units = 0, hub_ids = 0;
    for (u64 base = thread_id() / WARP * WARP; base < all; base += thread_count() / WARP * WARP) {
        const u64 w = base + lane_id();
        const u32 own = w < words ? __ldg(bits + w) : 0;
        u32 asked = 0;
        for (u32 todo = __ballot_sync(ALL_LANES, own != 0); todo; todo &= todo - 1) {
            const u32 k = (u32)__ffs((int)todo) - 1;
            const u64 v = (base + k) * 32 + lane_id();
            const u64 ids = (__shfl_sync(ALL_LANES, own, k) >> lane_id()) & 1 ? degree(a, v) : 0;
            const bool in_file = is_in_file(a, ids);
            if (in_file) {
                const Segment whole = row(a, v);
                units += whole.end - whole.begin;
                if (ids > BLOCK_IDS) hub_ids += ids;
            }
            const u32 found_here = __ballot_sync(ALL_LANES, in_file);
            if (lane_id() == k) asked = found_here;
        }
        if (w < all) wanted[w] = asked;
        rows += (u64)__popc(asked);
    }
    __syncwarp();
    tally(found, rows);
    tally(found + 1, units);
    // many_pull has counted the rows of others
    if (bottom_up) tally(&s.many_sums->left, hub_ids);
}
ENTRY(many_ask)

// Of the rows of a piece, by bits, those that are asked for and have more than `apart` ids, or no more; a part of a row
// is one of the longer ones.
DEVICE u32 rows_of(const Adjacency& a, const Piece& piece, const u32* wanted, u64 apart, bool longer) {
    if (piece.vertices == 1) return longer;
    const u64 v = piece.first + lane_id();
    const bool mine = lane_id() < piece.vertices && test_bit(wanted, v) && (degree(a, v) > apart) == longer;
    return __ballot_sync(ALL_LANES, mine);
}

// Where the row of number `k` lies in the batch. It is asked for anew: registers are scarce.
DEVICE Segment row_of(const Adjacency& a, const Piece& piece, u32 k) {
    if (piece.vertices == 1) return staged(piece, piece.begin, piece.end);
    const Segment whole = row(a, piece.first + k);
    return staged(piece, whole.begin, whole.end);
}

// Parts of rows, and the longer rows: the warp reads one at a time. A fourth block would cost spilled registers here.
KERNEL __launch_bounds__(TEAM_THREADS, 3) void many_push_pieces(
    Many s, const u32* wanted, const Piece* pieces, u64 count
);

KERNEL void many_push_pieces(Many s, const u32* wanted, const Piece* pieces, u64 count) {
    __shared__ Team t;
    __shared__ u64 words[TEAM_WARPS * MOST_WORDS];
    begin_part(s, t);
    for (u32 i = (u32)team_warp(); i < count; i += (u32)team_warps()) {
        const Piece& piece = pieces[i];
        for (u32 todo = rows_of(s.out, piece, wanted, THREAD_IDS, true); todo; todo &= todo - 1) {
            const u32 from = (u32)__ffs((int)todo) - 1;
            u64* const own = words + threadIdx.x / WARP * MOST_WORDS;
            expand_part(s, t, own, (vid)(piece.first + from), row_of(s.out, piece, from));
        }
    }
    end_part(s, t);
}
ENTRY(many_push_pieces)

// The shorter rows: each group reads one.
KERNEL __launch_bounds__(TEAM_THREADS, BLOCKS) void many_push_short(
    Many s, const u32* wanted, const Piece* pieces, u64 count
);

KERNEL void many_push_short(Many s, const u32* wanted, const Piece* pieces, u64 count) {
    __shared__ Team t;
    begin_part(s, t);
    for (u32 i = (u32)team_warp(); i < count; i += (u32)team_warps()) {
        const Piece& piece = pieces[i];
        const u32 todo = rows_of(s.out, piece, wanted, THREAD_IDS, false);
        for (u32 first = 0; first < (u32)__popc(todo); first += warp_groups(s)) {
            const u32 k = first + own_group(s);
            const bool active = k < (u32)__popc(todo);
            const u32 from = active ? nth_set_bit(todo, k) : 0;
            const Bits bits = active ? frontier_bits(s, t, piece.first + from) : no_bits();
            Cursor<1> cursor(s.out, row_of(s.out, piece, from), 0);
            for (bool more = active && cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {
#pragma unroll
                for (u32 j = 0; j < SLOTS; j += LOOKS) {
                    reach_together(s, t, cursor.ids + j, more ? cursor.valid >> j : 0, bits);
                }
                flush(s, t, false);
            }
        }
    }
    end_part(s, t);
}
ENTRY(many_push_short)

KERNEL __launch_bounds__(TEAM_THREADS, BLOCKS) void many_pull_pieces(
    Many s, const u32* wanted, const Piece* pieces, u64 count
);

KERNEL void many_pull_pieces(Many s, const u32* wanted, const Piece* pieces, u64 count) {
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    PullTally lane = {};
    for (u32 i = (u32)(thread_id() / WARP); i < count; i += (u32)(thread_count() / WARP)) {
        const Piece& piece = pieces[i];
        for (u32 todo = rows_of(s.in, piece, wanted, s.apart_ids, true); todo; todo &= todo - 1) {
            const u32 from = (u32)__ffs((int)todo) - 1;
            ask_part(s, next, (vid)(piece.first + from), row_of(s.in, piece, from), lane);
        }
    }
    __syncwarp();
    add_up(s, lane);
}
ENTRY(many_pull_pieces)

KERNEL __launch_bounds__(TEAM_THREADS, BLOCKS) void many_pull_short(
    Many s, const u32* wanted, const Piece* pieces, u64 count
);

KERNEL void many_pull_short(Many s, const u32* wanted, const Piece* pieces, u64 count) {
    PullTally lane = {};
    for (u32 i = (u32)(thread_id() / WARP); i < count; i += (u32)(thread_count() / WARP)) {
        const Piece& piece = pieces[i];
        const u32 todo = rows_of(s.in, piece, wanted, s.apart_ids, false);
        for (u32 first = 0; first < (u32)__popc(todo); first += warp_groups(s)) {
            const u32 k = first + own_group(s);
            const bool active = k < (u32)__popc(todo);
            const u32 from = active ? nth_set_bit(todo, k) : 0;
            const vid v = (vid)(piece.first + from);
            const bool fresh = ask_apart<false>(s, v, row_of(s.in, piece, from), active, lane);
            if (!fresh || !leads_group(s)) continue;
            atomicOr(claimed_by(s, s.many_stand->level + 1) + word_of(v), bit_of(v));
        }
    }
    __syncwarp();
    add_up(s, lane);
}
ENTRY(many_pull_short)
