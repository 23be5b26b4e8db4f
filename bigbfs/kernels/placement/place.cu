// What placement derives from the rows of a graph once they can be read.
//
// place_rows, place_heads: a warp owns 32 vertices at a time; heads as in best.cuh, of a hub from the first chunk
// alone. place_hot: a warp copies a chunk. place_numbers: a thread takes
// an id. Atomics: one for each hub; one for each id that is no vertex. Memory per
// edge: as in best.cuh.
#include "kernels/placement/best.cuh"

DEVICE Segment first_chunk(const Adjacency& a, u64 v) {
    const u32 hub = find_hub(a, (vid)v);
    return chunk(a, a.hub_ptr[hub], hub);
}

// Writes the bitmap of the vertices with edges and counts them in counts[1]; appends the hubs (in any order) to
// `hubs`, which has room for `capacity`; counts[0] is how many there are.
KERNEL void place_rows(Adjacency a, u32* rows, vid* hubs, u64 capacity, u64* counts) {
    const u64 warps_end = words_for(a.n) * WARP;
    u64 with_edges = 0;
    for (u64 v = thread_id(); v < warps_end; v += thread_count()) {
        const u64 ids = v < a.n ? degree(a, v) : 0;
        const u32 bits = __ballot_sync(ALL_LANES, ids > 0);
        if (lane_id() == 0) rows[v / WARP] = bits;
        with_edges += ids > 0;
        if (ids > BLOCK_IDS) {
            const u64 at = atomicAdd(counts, (u64)1);
            if (at < capacity) hubs[at] = (vid)v;
        }
    }
    with_edges = warp_sum(with_edges);
    if (lane_id() == 0 && with_edges) atomicAdd(counts + 1, with_edges);
}
ENTRY(place_rows)

// Fills the head table. ranked: vertices are stored by descending degree, so that a smaller id is a better head. A
// warp looks at 32 vertices: each lane takes its own if the row is short, then all of them together take the others in
// turn. Only vertices from `first`, a multiple of 32, to `last` - 1: the rows of the others may not be there yet.
KERNEL void place_heads(Adjacency a, vid* heads, u32 ranked, u64 first, u64 last, u64* invalid) {
    const u64 warps_end = words_for(last) * WARP;
    for (u64 own = first + thread_id(); own < warps_end; own += thread_count()) {
        const u64 ids = own < last ? degree(a, own) : 0;
        if (own < last && own < a.head_rows && ids <= SHORT_ROW) short_heads(a, a, own, ranked, heads, invalid);
        for (u32 left = __ballot_sync(ALL_LANES, ids > SHORT_ROW); left; left &= left - 1) {
            const u64 v = own - lane_id() + (u32)__ffs((int)left) - 1;
            const Segment part = degree(a, v) > BLOCK_IDS ? first_chunk(a, v) : row(a, v);
            Best<LANE_BEST> best = read_best(a, a, v, part, ranked, invalid);
            write_heads(a, v, best, heads);
        }
    }
}
ENTRY(place_heads)

// Writes ids in device memory anew: of the file's, the numbers.
KERNEL void place_numbers(vid* ids, u64 count, const u64* numbers, u64 file_n) {
    for (u64 i = thread_id(); i < count; i += thread_count()) ids[i] = number_in(numbers, file_n, ids[i]);
}
ENTRY(place_numbers)

#if RENUMBERED
DEVICE Unit unit_at(const Adjacency& a, u64 i) { return number_in(a.numbers, a.file_n, ((const Unit*)a.data)[i]); }
#else
DEVICE Unit unit_at(const Adjacency& a, u64 i) { return ((const Unit*)a.data)[i]; }
#endif

// Copies those of the chunks `first` to `last` - 1 that belong to hubs of `from` ids and more to `hot`, where hot_ptr
// says; `a` knows of no hot rows yet.
KERNEL void place_hot(Adjacency a, u64 from, const u64* hot_ptr, Unit* hot, u64 first, u64 last) {
    for (u64 c = first + thread_id() / WARP; c < last; c += thread_count() / WARP) {
        const u32 hub = a.chunk_hub[c];
        const u64 v = a.hubs[hub];
        if (degree(a, v) < from) continue;
        const Segment part = chunk(a, c, hub);
        Unit* const row_at = hot + hot_ptr[hub];
        const u64 row_begin = a.indptr[v];
        for (u64 i = part.begin + lane_id(); i < part.end; i += WARP) row_at[i - row_begin] = unit_at(a, i);
    }
}
ENTRY(place_hot)
