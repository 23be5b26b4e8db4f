// What placement derives from the rows of a graph once they can be read.
//
// place_rows: a warp owns 32 vertices at a time; degrees are read once. place_heads: a warp owns a row; every lane keeps the
// best LANE_BEST ids that it has read, then the warp takes the best of all lanes, one after the other: exact for rows of
// up to 128 ids, nearly so for longer ones. Of a hub only the first chunk is read. place_hot: a warp copies a chunk. Atomics: one for each hub; one for each
// id that is no vertex. Memory per edge: the id and, unless ids are ranks already, two words of indptr.
#include "chance.cuh"
#include "heads.cuh"

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

constexpr u32 LANE_BEST = 4;

// A lane's best ids, best first; key 0: none.
struct Best {
    u64 keys[LANE_BEST];
    vid ids[LANE_BEST];

    METHOD Best() {
#pragma unroll
        for (u32 i = 0; i < LANE_BEST; ++i) keys[i] = ids[i] = 0;
    }

    METHOD void insert(u64 key, vid id) {
#pragma unroll
        for (u32 i = 0; i < LANE_BEST; ++i) {
            if (key > keys[i]) {
                const u64 other_key = keys[i];
                const vid other = ids[i];
                keys[i] = key;
                ids[i] = id;
                key = other_key;
                id = other;
            }
        }
    }

    METHOD void drop_first() {
#pragma unroll
        for (u32 i = 0; i + 1 < LANE_BEST; ++i) {
            keys[i] = keys[i + 1];
            ids[i] = ids[i + 1];
        }
        keys[LANE_BEST - 1] = 0;
    }
};

// Key of a neighbour by its degree; of equal ones the first by chance, as cc_afforest.cu's first forest wants them: where
// degrees are alike, few vertices are then better than all of their neighbours.
DEVICE u64 strength(u64 ids, vid u) {
    const u64 most = 0xffffffffull;
    return ((ids < most ? ids + 1 : most) << 32) | (u32)~chance(u);
}

DEVICE u64 warp_max(u64 x) {
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        const u64 other = __shfl_xor_sync(ALL_LANES, x, step);
        if (other > x) x = other;
    }
    return x;
}

// Reads up to a chunk of the row of v, or its beginning where ids are ranks; all lanes call it.
DEVICE Best read_best(const Adjacency& a, u64 v, u64 ids, u32 ranked, u64* invalid) {
    const u64 wanted = a.head_groups * HEAD_GROUP;
    Best best;
    u64 seen = 0;
    const Segment part = ids > BLOCK_IDS ? chunk(a, a.hub_ptr[find_hub(a, (vid)v)], find_hub(a, (vid)v)) : row(a, v);
    Cursor<WARP> cursor(a, part, lane_id());
    while ((!ranked || seen < wanted) && cursor.load()) {
        u64 own = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) {
                const vid u = cursor.ids[j];
                own += 1;
                if (u >= a.n) atomicAdd(invalid, (u64)1);
                else if (u != (vid)v) best.insert(ranked ? a.n - u : strength(degree(a, u), u), u);
            }
        }
        seen += warp_sum(own);
    }
    return best;
}

// Fills the head table. ranked: vertices are stored by descending degree, so that a smaller id is a better head.
KERNEL void place_heads(Adjacency a, vid* heads, u32 ranked, u64* invalid) {
    const u32 wanted = (u32)a.head_groups * HEAD_GROUP;
    for (u64 v = thread_id() / WARP; v < a.n; v += thread_count() / WARP) {
        const u64 ids = degree(a, v);
        vid chosen = (vid)v;
        if (ids > 0) {
            Best best = read_best(a, v, ids, ranked, invalid);
            for (u32 i = 0; i < wanted; ++i) {
                const u64 top = warp_max(best.keys[0]);
                if (top == 0) break;
                const u32 from = (u32)__ffs((int)__ballot_sync(ALL_LANES, best.keys[0] == top)) - 1;
                const vid id = __shfl_sync(ALL_LANES, best.ids[0], from);
                if (lane_id() == i) chosen = id;
                if (lane_id() == from) best.drop_first();
            }
        }
        const u32 i = lane_id();
        if (i < wanted) heads[(i / HEAD_GROUP * a.n + v) * HEAD_GROUP + i % HEAD_GROUP] = chosen;
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
