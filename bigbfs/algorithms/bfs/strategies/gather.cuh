// How a block reads the rows of THREADS vertices, one to a thread: hubs by the block, rows of 32 ids and more by a
// warp, the others packed into shared memory and taken by all threads in order.
//
// An id has a number: that of the block's first, and its place among those of the tile, hubs and wide rows before the
// short ones. emit(there, v, u, number) is called by whole warps. Who wants some numbers alone says so by a Window: a
// row or chunk that has none of them, and a tile's short rows where all are outside, are not read. Source: report 004,
// 4.1 (scan + warp + block gathering).
#pragma once
#include "algorithms/bfs/strategies/scan.cuh"

#ifndef GATHER_IDS
#define GATHER_IDS 1024
#endif
constexpr u32 NOBODY = ~0u;

// What the threads' rows are lies in shared memory: registers are for what reads them.
struct Gather {
    u64 words[WARPS];
    u64 first;             // number of the tile's first id
    u64 lengths[THREADS];
    u64 numbers[THREADS];  // of a row's first id; of a short row's: counted from the first short one
    vid vertices[THREADS];
    u32 vying;
    u32 next;              // short rows: the first id that does not fit
    u64 places[GATHER_IDS];  // varint: ids; plain: where they are
    u32 owners[GATHER_IDS];
};

struct Everything {
    METHOD bool meets(u64, u64) const { return true; }
};

// Numbers [begin, end).
struct Window {
    u64 begin;
    u64 end;

    METHOD bool meets(u64 first, u64 ids) const { return first < end && first + ids > begin; }
};

// A row that is longer or shorter than its degree says is damaged: too few ids are made up by one that is no vertex.
template <typename Emit>
DEVICE void gather_segment(const Search& s, const Segment& segment, u32 ids, vid v, u64 at, Emit emit) {
    u32 done = 0;
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (done < ids && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const u32 lanes = __ballot_sync(ALL_LANES, cursor.has(j));
            const u32 own = done + (u32)__popc(lanes & ((1u << lane_id()) - 1));
            emit(cursor.has(j) && own < ids, v, cursor.ids[j], at + own);
            done += (u32)__popc(lanes);
        }
    }
    for (; done < ids; done += WARP) emit(done + lane_id() < ids, v, ~(vid)0, at + done + lane_id());
}

// Threads with a hub vie for the block, by writing their number into one word; the chunks go to its warps.
template <typename Part, typename Emit> DEVICE void gather_hubs(const Search& s, Gather& g, Part part, Emit emit) {
    bool vies = g.lengths[threadIdx.x] > BLOCK_IDS;
    vies = vies && part.meets(g.numbers[threadIdx.x], g.lengths[threadIdx.x]);
    while (__syncthreads_or(vies)) {
        if (vies) relaxed_store(&g.vying, threadIdx.x);
        __syncthreads();
        const u32 winner = relaxed_load(&g.vying);
        if (winner == threadIdx.x) vies = false;
        const vid v = g.vertices[winner];
        const u32 hub = find_hub(s.out, v);
        const u32 chunks = (u32)((g.lengths[winner] + BLOCK_IDS - 1) / BLOCK_IDS);
        for (u32 k = threadIdx.x / WARP; k < chunks; k += WARPS) {
            const u64 before = (u64)k * BLOCK_IDS;
            const u64 left = g.lengths[winner] - before;
            if (!part.meets(g.numbers[winner] + before, BLOCK_IDS)) continue;
            const Segment segment = chunk(s.out, s.out.hub_ptr[hub] + k, hub);
            gather_segment(s, segment, left < BLOCK_IDS ? (u32)left : BLOCK_IDS, v, g.numbers[winner] + before, emit);
        }
    }
}

template <typename Part, typename Emit> DEVICE void gather_wide(const Search& s, Gather& g, Part part, Emit emit) {
    const u64 length = part.meets(g.numbers[threadIdx.x], g.lengths[threadIdx.x]) ? g.lengths[threadIdx.x] : 0;
    for (u32 todo = __ballot_sync(ALL_LANES, length >= WARP && length <= BLOCK_IDS); todo; todo &= todo - 1) {
        const u32 from = threadIdx.x / WARP * WARP + (u32)__ffs((int)todo) - 1;
        const vid v = g.vertices[from];
        gather_segment(s, row(s.out, v), (u32)g.lengths[from], v, g.numbers[from], emit);
    }
}

// Writes down where the ids of the lane's own row are.
DEVICE void lay_places(const Search& s, Gather& g, u32 ids, u32 at) {
    const Segment segment = row(s.out, g.vertices[threadIdx.x]);
#if VARINT
    u32 k = 0;
    Cursor<1> cursor(s.out, segment, 0);
    while (k < ids && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j) && k < ids) g.places[at + k++] = cursor.ids[j];
        }
    }
    for (; k < ids; ++k) g.places[at + k] = ~(vid)0;
#else
    const vid* const first = (const vid*)memory_of(s.out, segment) + segment.begin;
    for (u32 k = 0; k < ids; ++k) g.places[at + k] = (u64)(first + k);
#endif
    for (u32 k = 0; k < ids; ++k) g.owners[at + k] = threadIdx.x;
}

DEVICE vid id_at(u64 place) {
#if VARINT
    return (vid)place;
#else
    return __ldg((const vid*)place);
#endif
}

// The `total` ids of short rows, in rounds of as many whole rows as fit.
template <typename Emit> DEVICE void gather_short(const Search& s, Gather& g, u32 total, u64 number, Emit emit) {
    static_assert(GATHER_IDS >= WARP, "a row of 31 ids fits");
    for (u32 begin = 0; begin < total;) {
        const u32 most = begin + GATHER_IDS;
        if (threadIdx.x == 0) g.next = most < total ? most : total;
        __syncthreads();
        const u32 ids = g.lengths[threadIdx.x] < WARP ? (u32)g.lengths[threadIdx.x] : 0;
        const u32 before = (u32)g.numbers[threadIdx.x];
        if (ids && before >= begin && before < most) {
            if (before + ids <= most) lay_places(s, g, ids, before - begin);
            else g.next = before;
        }
        __syncthreads();
        const u32 count = g.next - begin;
        for (u32 k = threadIdx.x; __any_sync(ALL_LANES, k < count); k += THREADS) {
            const bool there = k < count;
            const vid v = there ? g.vertices[g.owners[k]] : 0;
            emit(there, v, there ? id_at(g.places[k]) : 0, number + begin + k);
        }
        begin += count;
        __syncthreads();
    }
}

// The rows of the block's THREADS vertices (`ids` is 0 where a thread has none); reserve(total) gives the number of
// the first id. All threads call it.
template <typename Part, typename Reserve, typename Emit>
DEVICE void gather_part(const Search& s, Gather& g, vid v, u64 ids, Part part, Reserve reserve, Emit emit) {
    u64 coarse;
    u64 fine;
    const u64 wide_before = block_sum_before(ids >= WARP ? ids : 0, g.words, coarse);
    const u64 short_before = block_sum_before(ids < WARP ? ids : 0, g.words, fine);
    if (coarse + fine == 0) return;
    if (threadIdx.x == 0) g.first = reserve(coarse + fine);
    __syncthreads();
    g.vertices[threadIdx.x] = v;
    g.lengths[threadIdx.x] = ids;
    g.numbers[threadIdx.x] = ids < WARP ? short_before : g.first + wide_before;
    __syncthreads();
    gather_hubs(s, g, part, emit);
    gather_wide(s, g, part, emit);
    if (part.meets(g.first + coarse, fine)) gather_short(s, g, (u32)fine, g.first + coarse, emit);
    __syncthreads();
}

template <typename Reserve, typename Emit>
DEVICE void gather_rows(const Search& s, Gather& g, vid v, u64 ids, Reserve reserve, Emit emit) {
    gather_part(s, g, v, ids, Everything(), reserve, emit);
}
