// The rows of a bitmap, where they are few: pieces for kernels and stretches for the host, made where the offsets lie.
//
// A thread owns a row, or a chunk of a hub's row: each is a piece of its own. A warp takes places for 32 of them at
// once, so that they follow one another nearly as they do in the file. Atomics: an add for every warp's 32 pieces.
// Memory per row: two offsets, and 64 bytes written.
#include "kernels/rows/piece.cuh"

// Bytes to which rows lie aligned in the batch.
constexpr u64 ALIGN = 16;
constexpr u32 COUNT_AT = 36;

// What lies at the beginning of a stage: the number of pieces, times 2^COUNT_AT, plus the bytes of their rows, divided
// by ALIGN; a word that is not used; then stretches (first byte of the edges, bytes, first byte of all rows listed) and
// pieces, `capacity` of each.
struct PieceList {
    u64* words;
    u64 capacity;
    u64 begin;  // words of the bitmap in which rows are asked for
    u64 end;
};
static_assert(sizeof(PieceList) == PIECE_LIST_BYTES, "PieceList differs from its NumPy dtype");

// Gives the segment of a lane that has one its place; all lanes call it.
DEVICE void list_segment(const PieceList& list, u64 v, const Segment& s, bool mine) {
    const u64 bytes = (s.end - s.begin) * sizeof(Unit);
    // where offsets descend: the host finds that there is no room for it
    const bool sound = s.end >= s.begin;
    const u64 own = mine ? ((u64)1 << COUNT_AT) + (sound ? (bytes + ALIGN - 1) / ALIGN : 0) : 0;
    u64 through = own;
    for (u32 step = 1; step < WARP; step *= 2) {
        const u64 left = __shfl_up_sync(ALL_LANES, through, step);
        if (lane_id() >= step) through += left;
    }
    u64 before = 0;
    if (lane_id() == WARP - 1 && through) before = atomicAdd(list.words, through);
    before = __shfl_sync(ALL_LANES, before, WARP - 1) + through - own;
    const u64 i = before >> COUNT_AT;
    if (!mine || i >= list.capacity) return;
    const u64 at = (before & (((u64)1 << COUNT_AT) - 1)) * ALIGN;
    u64* const stretch = list.words + 2 + 3 * i;
    stretch[0] = s.begin * sizeof(Unit);
    stretch[1] = sound ? bytes : ~(u64)0 >> 2;
    stretch[2] = at;
    Piece& piece = ((Piece*)(list.words + 2 + 3 * list.capacity))[i];
    piece.first = v;
    piece.vertices = 1;
    piece.begin = s.begin;
    piece.end = s.end;
    piece.moved = s.begin - at / sizeof(Unit);
}

// `a` says that no row is hot: chunks are those in the file.
KERNEL void streamed_pieces(Adjacency a, const u32* wanted, PieceList list) {
    const u64 warp = thread_id() / WARP, warps = thread_count() / WARP;
    for (u64 base = list.begin + warp * WARP; base < list.end; base += warps * WARP) {
        const u64 w = base + lane_id();
        const SetBits bits(w < list.end ? __ldg(wanted + w) : 0);
        for (u32 k = lane_id(); k - lane_id() < bits.total; k += WARP) {
            u32 owner, bit;
            bits.find(k, owner, bit);
            const bool there = k < bits.total;
            const u64 v = there ? (base + owner) * 32 + bit : 0;
            const bool mine = there && degree(a, v) <= BLOCK_IDS;
            Segment s = {0, 0, 0, false};
            if (mine) s = row(a, v);
            list_segment(list, v, s, mine);
        }
    }
    for (u64 base = warp * WARP; base < a.chunks; base += warps * WARP) {
        const u64 c = base + lane_id();
        const u32 hub = c < a.chunks ? __ldg(a.chunk_hub + c) : 0;
        const u64 v = c < a.chunks ? a.hubs[hub] : 0;
        const bool mine = c < a.chunks && word_of(v) >= list.begin && word_of(v) < list.end && test_bit(wanted, v);
        if (!__any_sync(ALL_LANES, mine)) continue;
        Segment s = {0, 0, 0, false};
        if (mine) s = chunk(a, c, hub);
        list_segment(list, v, s, mine);
    }
}
ENTRY(streamed_pieces)
