// What placement derives from the rows of a graph once they can be read.
//
// place_rows: a warp owns 32 vertices at a time; degrees are read once. place_heads: a warp owns a row (best.cuh); of a hub
// only the first chunk is read. place_hot: a warp copies a chunk. Atomics: one for each hub; one for each id that is no
// vertex. Memory per edge: as in best.cuh.
#include "best.cuh"

// Writes the bitmap of the vertices with edges and counts them in counts[1]; appends the hubs (in any order) to `hubs`,
// which has room for `capacity`; counts[0] is how many there are.
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

// Fills the head table. ranked: vertices are stored by descending degree, so that a smaller id is a better head.
KERNEL void place_heads(Adjacency a, vid* heads, u32 ranked, u64* invalid) {
    for (u64 v = thread_id() / WARP; v < a.n; v += thread_count() / WARP) {
        const u64 ids = degree(a, v);
        Best best;
        if (ids > BLOCK_IDS) {
            const u32 hub = find_hub(a, (vid)v);
            best = read_best(a, v, chunk(a, a.hub_ptr[hub], hub), ranked, invalid);
        } else if (ids > 0) {
            best = read_best(a, v, row(a, v), ranked, invalid);
        }
        write_heads(a, v, best, heads);
    }
}
ENTRY(place_heads)

// Copies the rows of the hubs of `from` ids and more to `hot`, where hot_ptr says; `a` knows of no hot rows yet.
KERNEL void place_hot(Adjacency a, u64 from, const u64* hot_ptr, Unit* hot) {
    for (u64 c = thread_id() / WARP; c < a.chunks; c += thread_count() / WARP) {
        const u32 hub = a.chunk_hub[c];
        const u64 v = a.hubs[hub];
        if (degree(a, v) < from) continue;
        const Segment part = chunk(a, c, hub);
        Unit* const row_at = hot + hot_ptr[hub];
        const u64 row_begin = a.indptr[v];
        for (u64 i = part.begin + lane_id(); i < part.end; i += WARP) row_at[i - row_begin] = ((const Unit*)a.data)[i];
    }
}
ENTRY(place_hot)
