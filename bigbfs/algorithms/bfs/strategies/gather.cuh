// How a block reads the rows of THREADS vertices, one to a thread: hubs by the block, rows of 32 ids and more by a warp, the
// others packed into shared memory and taken by all threads in order.
//
// An id has a number: that of the block's first, and its place among those of the tile, hubs and wide rows before the short
// ones. emit(there, v, u, number) is called by whole warps. Source: report 004, 4.1 (scan + warp + block gathering).
#pragma once
#include "algorithms/bfs/strategies/scan.cuh"

#ifndef GATHER_IDS
#define GATHER_IDS 1024
#endif
constexpr u32 NOBODY = ~0u;

struct Gather {
    u64 words[WARPS];
    u64 next;              // short rows: the first id that does not fit
    u64 at;                // the hub that the block reads
    vid vertex;
    u32 vying;
    u64 places[GATHER_IDS];  // varint: ids; plain: where they are
    u32 owners[GATHER_IDS];
    vid vertices[THREADS];
};

// A row that is longer or shorter than its degree says is damaged: too few ids are made up by one that is no vertex.
template <typename Emit>
DEVICE void gather_segment(const Search& s, const Segment& segment, u64 ids, vid v, u64 at, Emit emit) {
    u64 done = 0;
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (done < ids && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const u32 lanes = __ballot_sync(ALL_LANES, cursor.has(j));
            const u64 own = done + (u32)__popc(lanes & ((1u << lane_id()) - 1));
            emit(cursor.has(j) && own < ids, v, cursor.ids[j], at + own);
            done += (u32)__popc(lanes);
        }
    }
    for (; done < ids; done += WARP) emit(done + lane_id() < ids, v, ~(vid)0, at + done + lane_id());
}

// Threads with a hub vie for the block, by writing their number into one word; the chunks go to its warps.
template <typename Emit> DEVICE void gather_hubs(const Search& s, Gather& g, vid v, u64 ids, u64 at, Emit emit) {
    bool vies = ids > BLOCK_IDS;
    while (__syncthreads_or(vies)) {
        if (vies) relaxed_store(&g.vying, threadIdx.x);
        __syncthreads();
        if (relaxed_load(&g.vying) == threadIdx.x) {
            g.vertex = v;
            g.at = at;
            vies = false;
        }
        __syncthreads();
        const u64 all = degree(s.out, g.vertex);
        Pieces pieces(s.out, g.vertex);
        const u64 first = pieces.next;
        for (pieces.next += threadIdx.x / WARP; pieces.next < pieces.end; pieces.next += WARPS - 1) {
            const u64 before = (pieces.next - first) * BLOCK_IDS;
            const u64 own = all - before < BLOCK_IDS ? all - before : BLOCK_IDS;
            gather_segment(s, pieces.take(s.out, g.vertex), own, g.vertex, g.at + before, emit);
        }
    }
}

template <typename Emit> DEVICE void gather_wide(const Search& s, vid v, u64 ids, u64 at, Emit emit) {
    const bool wide = ids >= WARP && ids <= BLOCK_IDS;
    for (u32 todo = __ballot_sync(ALL_LANES, wide); todo; todo &= todo - 1) {
        const u32 from = (u32)__ffs((int)todo) - 1;
        const vid vertex = __shfl_sync(ALL_LANES, v, from);
        const u64 length = __shfl_sync(ALL_LANES, ids, from);
        gather_segment(s, row(s.out, vertex), length, vertex, __shfl_sync(ALL_LANES, at, from), emit);
    }
}

// Writes down where the ids of the lane's own row are.
DEVICE void lay_places(const Search& s, Gather& g, vid v, u64 ids, u32 at) {
    const Segment segment = row(s.out, v);
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

// Short rows, in rounds of as many whole ones as fit: `before` ids of theirs belong to threads before this one.
template <typename Emit>
DEVICE void gather_short(const Search& s, Gather& g, vid v, u64 ids, u64 before, u64 total, u64 at, Emit emit) {
    static_assert(GATHER_IDS >= WARP, "a short row fits");
    g.vertices[threadIdx.x] = v;
    for (u64 begin = 0; begin < total;) {
        if (threadIdx.x == 0) g.next = begin + GATHER_IDS < total ? begin + GATHER_IDS : total;
        __syncthreads();
        const u64 most = begin + GATHER_IDS;
        if (ids && before >= begin && before + ids <= most) lay_places(s, g, v, ids, (u32)(before - begin));
        if (ids && before < most && before + ids > most && before >= begin) g.next = before;
        __syncthreads();
        const u64 count = g.next - begin;
        for (u64 k = threadIdx.x; __any_sync(ALL_LANES, k < count); k += THREADS) {
            const bool there = k < count;
            const vid from = there ? g.vertices[g.owners[k]] : 0;
            emit(there, from, there ? id_at(g.places[k]) : 0, at + begin + k);
        }
        begin += count;
        __syncthreads();
    }
}

// The rows of the block's THREADS vertices (`ids` is 0 where a thread has none); reserve(total) gives the number of the first
// id. All threads call it.
template <typename Reserve, typename Emit>
DEVICE void gather_rows(const Search& s, Gather& g, vid v, u64 ids, Reserve reserve, Emit emit) {
    u64 coarse;
    u64 fine;
    const u64 wide_before = block_sum_before(ids >= WARP ? ids : 0, g.words, coarse);
    const u64 short_before = block_sum_before(ids < WARP ? ids : 0, g.words, fine);
    if (coarse + fine == 0) return;
    if (threadIdx.x == 0) g.next = reserve(coarse + fine);
    __syncthreads();
    const u64 first = g.next;
    __syncthreads();
    gather_hubs(s, g, v, ids, first + wide_before, emit);
    gather_wide(s, v, ids, first + wide_before, emit);
    gather_short(s, g, v, ids < WARP ? ids : 0, short_before, fine, first + coarse, emit);
}
