// Rows that the host has read from the file into a batch, and how a kernel goes through them.
//
// A batch is one array in device memory: whatever stretches of `data` the host asked for, one behind the other. A
// piece says which rows lie where in it; a warp takes a piece. What is done with an id is a struct `Work`:
//
//   STOPS            whether a row may be left before its end
//   bool wants(v)    whether the row of v is of interest still
//   bool read(v, u)  the id u of the row of v was read; true: no more of this row
#pragma once
#include "kernels/rows/heads.cuh"

struct Piece {
    u64 first;     // vertex
    u64 vertices;  // 1: its row, or what of it lies in [begin, end); up to 32: the rows asked for among so many
    u64 begin;     // in the units of indptr
    u64 end;
    u64 moved;     // place in `data` less place in the batch
};
static_assert(sizeof(Piece) == PIECE_BYTES, "Piece differs from its NumPy dtype");

// True if a row of so many ids has to be read from the file: the head table does not hold it, nor is it hot.
DEVICE bool is_in_file(const Adjacency& a, u64 ids) { return !heads_are_all(a, ids) && ids < a.hot_from; }

// [begin, end) of `data` where it lies in the batch.
DEVICE Segment staged(const Piece& piece, u64 begin, u64 end) {
    Segment s;
    s.begin = begin - piece.moved;
    s.end = end - piece.moved;
    s.base = 0;
    s.hot = false;
    return s;
}

template <u32 WIDTH, typename Work>
DEVICE void read_ids(const Adjacency& a, Work& work, vid v, const Segment& segment, u32 lane) {
    Cursor<WIDTH> cursor(a, segment, lane);
    bool stop = false;
    while (!stop && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!stop && cursor.has(j)) stop = work.read(v, cursor.ids[j]);
        }
        if (Work::STOPS && WIDTH == WARP) stop = __any_sync(ALL_LANES, stop);
    }
}

// The rows of one piece; all lanes call it. `asked` has the bits of the rows to be read.
template <typename Work> DEVICE void read_piece(const Adjacency& a, Work& work, const Piece& piece, const u32* asked) {
    if (piece.vertices == 1) {
        const vid v = (vid)piece.first;
        // another warp may change the answer: all lanes take that of the first
        if (!__shfl_sync(ALL_LANES, work.wants(v), 0)) return;
        read_ids<WARP>(a, work, v, staged(piece, piece.begin, piece.end), lane_id());
        return;
    }
    const u64 v = piece.first + lane_id();
    const bool mine = lane_id() < piece.vertices && test_bit(asked, v) && work.wants((vid)v);
    const u64 ids = mine ? degree(a, v) : 0;
    Segment segment = {0, 0, 0, false};
    if (ids) {
        const Segment whole = row(a, v);
        segment = staged(piece, whole.begin, whole.end);
    }
    for (u32 todo = __ballot_sync(ALL_LANES, ids > THREAD_IDS); todo; todo &= todo - 1) {
        const u32 from = (u32)__ffs((int)todo) - 1;
        read_ids<WARP>(a, work, (vid)(piece.first + from), broadcast(segment, from), lane_id());
    }
    if (ids && ids <= THREAD_IDS) read_ids<1>(a, work, (vid)v, segment, 0);
}

template <typename Work>
DEVICE void read_pieces(const Adjacency& a, Work& work, const Piece* pieces, u64 count, const u32* asked) {
    for (u64 i = thread_id() / WARP; i < count; i += thread_count() / WARP) read_piece(a, work, pieces[i], asked);
}
