// What placement derives from rows that are read from the file batch by batch: the head table, and the hot rows.
//
// A warp owns a piece. Of a hub only the piece with its first ids is asked for heads. Atomics: as in best.cuh. Memory
// per edge: as in best.cuh; of a hot row, the id is written too.
#include "kernels/placement/best.cuh"
#include "kernels/rows/piece.cuh"

struct Tables {
    vid* heads;          // null: no head table
    Unit* hot;           // null: no hot rows
    const u64* hot_ptr;
    u64 hot_from;        // ids of a row from which it is hot; `a` knows of no hot rows yet
    u64* invalid;
    u64 ranked;
};
static_assert(sizeof(Tables) == TABLES_BYTES, "Tables differs from its NumPy dtype");

// A row, or a part of one, that lies at `part` of the batch and at `begin` of `data`.
DEVICE void place_row(const Adjacency& a, const Tables& t, u64 v, u64 begin, const Segment& part) {
    if (t.hot && degree(a, v) >= t.hot_from) {
        Unit* const target = t.hot + t.hot_ptr[find_hub(a, (vid)v)] + (begin - row(a, v).begin);
        for (u64 i = lane_id(); i < part.end - part.begin; i += WARP) target[i] = ((const Unit*)a.data)[part.begin + i];
    }
    if (t.heads && begin == row(a, v).begin) {
        Best<LANE_BEST> best = read_best(a, a, v, part, (u32)t.ranked, t.invalid);
        write_heads(a, v, best, t.heads);
    }
}

KERNEL void streamed_place(Adjacency a, Tables t, const u32* asked, const Piece* pieces, u64 count) {
    for (u64 i = thread_id() / WARP; i < count; i += thread_count() / WARP) {
        // row by row, looking each time: what a piece says need not be kept in registers meanwhile
        for (u32 k = 0; k < pieces[i].vertices; ++k) {
            const u64 v = pieces[i].first + k;
            if (!test_bit(asked, v)) continue;
            const bool whole = pieces[i].vertices > 1;
            const u64 begin = whole ? row(a, v).begin : pieces[i].begin;
            place_row(a, t, v, begin, staged(pieces[i], begin, whole ? row(a, v).end : pieces[i].end));
        }
    }
}
ENTRY(streamed_place)
