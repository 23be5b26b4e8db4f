// The rows of a graph, whichever way they are encoded (-D VARINT=0|1). Algorithms use only what this page declares.
//
//   u64 degree(a, v)                 ids in the row of v; prefetch_degree(a, v) asks for it ahead of time
//   Segment row(a, v)                the row of v (of a hub: its first BLOCK_IDS ids can be read from it)
//   Segment chunk(a, c, hub)         chunk c of the hub rows, hub = a.chunk_hub[c]
//   Segment share_of(s, which, of)   what one of `of` lanes reads that share a segment, each alone
//   Cursor<WIDTH>(a, segment, lane)  WIDTH neighbouring lanes (1 or 32) read a segment together:
//       while (cursor.load()) for (u32 j = 0; j < SLOTS; ++j) if (cursor.has(j)) ... cursor.ids[j] ...
//     load() gives the same answer to all WIDTH lanes, which call it together; who has enough stops asking.
//     Ids come in no particular order among lanes and slots; each id of the segment exactly once.
//     load() is read(), which leaves ids as the file has them where cursor.in_file(), and cursor.number(asked), which
//     makes numbers of ids[j] for the bits j of `asked` (numbers.cuh): who needs few of them calls these.
//   Segment cursor.rest()            (WIDTH 1) what load() has not given yet
//
// A hub is a row of more than BLOCK_IDS ids. Hub rows are cut into chunks of BLOCK_IDS and all chunks of all hubs are
// numbered through, so that no piece of work is longer than BLOCK_IDS. `rows` has the bits of the vertices with edges.
// The rows of hubs of `hot_from` ids and more lie in device memory too, wherever the others are: chunk() leads there;
// and so may a range of other rows (`near`), to which a cursor finds its way by itself. heads.cuh holds the head
// table: a few neighbours of each vertex that are always in device memory.
#pragma once
#include "kernels/base/bitmap.cuh"
#include "kernels/base/warp.cuh"

constexpr u32 BLOCK_IDS = 1024;

// Longest row that one thread reads alone.
constexpr u32 THREAD_IDS = 8;

// Ids that one load() of a cursor gives a lane at most.
constexpr u32 SLOTS = 4;

struct Adjacency {
    const u64* indptr;       // n + 1: first id (plain) or byte (varint) of each row in data
    const vid* degrees;      // varint: ids in each row
    const void* data;        // ids (plain) or LEB128 differences (varint); in device or in host memory
    const vid* hubs;         // vertices of more than BLOCK_IDS ids, ascending
    const u64* hub_ptr;      // hubs + 1: first chunk of each hub
    const u64* block_ptr;    // varint: first byte of each chunk
    const u32* chunk_hub;    // chunks: index in hubs
    const u32* rows;         // bitmap: 0 < degree
    const vid* heads;        // head_groups x head_rows x HEAD_GROUP: see heads.cuh
    const void* hot;         // the rows of the hot hubs, in device memory, encoded as in data
    const u64* hot_ptr;      // hubs: first id or byte of each hot hub in hot
    u64 n;
    u64 chunks;
    u64 data_bytes;
    u64 hub_count;
    u64 head_groups;         // 0: there is no head table
    u64 hot_from;            // ids of a row from which it is hot; all ones: there are no hot rows
    u64 hot_bytes;
    const void* near;        // what data holds in [near_begin, near_end), in device memory: near + i has data + i
    u64 near_begin;
    u64 near_end;
    u64 head_rows;           // vertices up to the last that has an edge
    u64 head_skip;           // so many first ids of a plain row are its heads; 0: they may be any
    const u64* numbers;      // where vertices have numbers of their own: see numbers.cuh
    u64 file_n;              // vertices as the file numbers them
};
static_assert(sizeof(Adjacency) == ADJACENCY_BYTES, "Adjacency differs from its NumPy dtype");

// Part of one row: ids or bytes [begin, end) of data; base is added to every id (varint: the id before begin).
struct Segment {
    u64 begin;
    u64 end;
    vid base;
    bool hot;  // of `hot` instead of `data`: some chunks, never row() or rest()
};

// Where the ids or bytes of a segment lie, and (varint) the end of what may be read there.
DEVICE bool is_near(const Adjacency& a, const Segment& s) { return s.begin >= a.near_begin && s.end <= a.near_end; }
DEVICE bool is_outside(const Adjacency& a, const Segment& s) { return !s.hot && !is_near(a, s); }
DEVICE const void* memory_of(const Adjacency& a, const Segment& s) {
    return s.hot ? a.hot : is_near(a, s) ? a.near : a.data;
}
DEVICE u64 memory_end(const Adjacency& a, const Segment& s) {
    return s.hot ? a.hot_bytes : is_near(a, s) ? a.near_end : a.data_bytes;
}

// What the lane `lane` has got from row() or rest().
DEVICE Segment broadcast(const Segment& s, u32 lane) {
    Segment same;
    same.begin = __shfl_sync(ALL_LANES, s.begin, lane);
    same.end = __shfl_sync(ALL_LANES, s.end, lane);
    same.base = __shfl_sync(ALL_LANES, s.base, lane);
    same.hot = false;
    return same;
}

// A plain segment of up to BLOCK_IDS ids is cut into 2 to the power of `cuts` parts, each of lines that a warp reads
// at once: part number `which`, which counts on from one segment to the next.
DEVICE Segment cut_of(Segment s, u32 which, u32 cuts) {
    if (!cuts) return s;
    const u32 last = (1u << cuts) - 1;
    const u64 from = (s.begin & ~(u64)(WARP - 1)) + (which & last) * (BLOCK_IDS >> cuts);
    const u64 to = from + (BLOCK_IDS >> cuts);
    if (s.begin < from) s.begin = from;
    if (s.end > to && (which & last) != last) s.end = to;
    return s;
}

#include "kernels/rows/numbers.cuh"
#if VARINT
#include "kernels/rows/varint.cuh"
#else
#include "kernels/rows/plain.cuh"
#endif

// Index in a.hubs of a hub.
DEVICE u32 find_hub(const Adjacency& a, vid v) {
    u64 low = 0;
    u64 high = a.hub_count - 1;
    while (low < high) {
        const u64 middle = (low + high) / 2;
        if (a.hubs[middle] < v) low = middle + 1;
        else high = middle;
    }
    return (u32)low;
}

// The same by the whole warp, for a v that all lanes have: four trips to memory for a million hubs, where one lane
// alone makes twenty.
DEVICE u32 find_hub_together(const Adjacency& a, vid v) {
    u32 low = 0;
    for (u32 count = (u32)a.hub_count; count > 1;) {
        const u32 step = (count + WARP - 1) / WARP;
        const u32 at = lane_id() * step;
        const u32 before = __ballot_sync(ALL_LANES, at < count && a.hubs[low + at] <= v);
        const u32 first = (31 - (u32)__clz((int)(before | 1))) * step;
        low += first;
        count = count - first < step ? count - first : step;
    }
    return low;
}
