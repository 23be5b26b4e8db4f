// BFS whose rows come from a file, level by level: what a level can do without the file, and what it does with a
// batch.
//
// The host runs the levels (gpu/streamed/bfs.py). streamed_survey: what a set of vertices would cost to read.
// streamed_heads: every unvisited vertex looks for a parent among its heads; who finds none is put down in `wanted`,
// unless its heads are its row. streamed_list: frontier vertices whose heads are their row are expanded, the others
// put down. streamed_hot: rows in device memory, in either direction. streamed_expand, streamed_search: a batch,
// top-down or bottom-up. A warp owns 32 words of a bitmap, a chunk of a hot row, or a piece. Frontier kind: bitmap.
// Atomics: an atomicOr on `visited`, whose winner writes, and one on `next`, for each vertex found other than by
// heads. Memory per edge: the id and a word of a bitmap. Source: Beamer et al. (SC'12); the order of a file after
// Zheng et al. (FlashGraph, FAST'15).
#include "algorithms/bfs/gpu/streamed.cuh"

KERNEL void streamed_reset(Search s, u64 n, u64 source) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        if (s.levels) s.levels[v] = v == source ? 0 : -1;
        if (s.parents) s.parents[v] = ~(vid)0;
    }
    for (u64 w = thread_id(); w < words_for(n); w += thread_count()) {
        s.visited[w] = s.frontier[w] = w == word_of(source) ? bit_of(source) : 0;
    }
}
ENTRY(streamed_reset)

// Adds up over the frontier, or over all that is reached: vertices, their edges, their rows that are in the file, the
// units of those. Clears `next` on the way.
KERNEL void streamed_survey(Adjacency a, Search s, u32 all) {
    const u32* const bits = all ? s.visited : s.frontier;
    for (u64 w = thread_id(); w < words_for(a.n); w += thread_count()) s.next[w] = 0;
    u64 vertices = 0, edges = 0, rows = 0, units = 0;
    const u64 end = words_for(a.n) * WARP;
    for (u64 v = thread_id(); v < end; v += thread_count()) {
        if (v >= a.n || !test_bit(bits, v)) continue;
        const u64 ids = degree(a, v);
        vertices += 1;
        edges += ids;
        if (is_in_file(a, ids)) {
            const Segment whole = row(a, v);
            rows += 1;
            units += whole.end - whole.begin;
        }
    }
    __syncwarp();
    hand_in(s, VERTICES, vertices);
    hand_in(s, EDGES, edges);
    hand_in(s, ROWS, rows);
    hand_in(s, UNITS, units);
}
ENTRY(streamed_survey)

KERNEL void streamed_heads(Adjacency a, Search s) {
    const u64 words = words_for(a.n);
    u64 found = 0, rows = 0, units = 0;
    for (u64 base = thread_id() / WARP * WARP; base < words; base += thread_count() / WARP * WARP) {
        const u64 w = base + lane_id();
        const u32 visited = w < words ? s.visited[w] : 0;
        const u32 open = w < words ? ~visited & __ldg(a.rows + w) : 0;
        u32 fresh = 0, asked = 0;
        for (u32 todo = __ballot_sync(ALL_LANES, open != 0); todo; todo &= todo - 1) {
            const u32 k = (u32)__ffs((int)todo) - 1;
            const u64 v = (base + k) * 32 + lane_id();
            const bool active = (__shfl_sync(ALL_LANES, open, k) >> lane_id()) & 1;
            vid parent = 0;
            const bool hit = active && parent_among_heads(a, s.frontier, v, parent);
            const bool missed = active && !hit && is_in_file(a, degree(a, v));
            if (hit) settle(s, v, parent);
            if (missed) {
                const Segment whole = row(a, v);
                units += whole.end - whole.begin;
            }
            const u32 hits = __ballot_sync(ALL_LANES, hit);
            const u32 misses = __ballot_sync(ALL_LANES, missed);
            if (lane_id() == k) {
                fresh = hits;
                asked = misses;
            }
        }
        if (w < words) s.wanted[w] = asked;
        if (fresh) {
            s.visited[w] = visited | fresh;
            s.next[w] = fresh;
        }
        found += (u64)__popc(fresh);
        rows += (u64)__popc(asked);
    }
    hand_in(s, FOUND, found);
    hand_in(s, ROWS, rows);
    hand_in(s, UNITS, units);
}
ENTRY(streamed_heads)

KERNEL void streamed_list(Adjacency a, Search s) {
    const u64 words = words_for(a.n);
    Expand expand(s, a.n);
    for (u64 base = thread_id() / WARP * WARP; base < words; base += thread_count() / WARP * WARP) {
        const u64 w = base + lane_id();
        const u32 bits = w < words ? __ldg(s.frontier + w) : 0;
        u32 asked = 0;
        for (u32 todo = __ballot_sync(ALL_LANES, bits != 0); todo; todo &= todo - 1) {
            const u32 k = (u32)__ffs((int)todo) - 1;
            const u64 v = (base + k) * 32 + lane_id();
            const bool active = (__shfl_sync(ALL_LANES, bits, k) >> lane_id()) & 1;
            const u64 ids = active ? degree(a, v) : 0;
            if (heads_are_all(a, ids)) {
                for (u32 i = 0; i < ids; ++i) expand.read((vid)v, head(a, v, i));
            }
            const u32 in_file = __ballot_sync(ALL_LANES, is_in_file(a, ids));
            if (lane_id() == k) asked = in_file;
        }
        if (w < words) s.wanted[w] = asked;
    }
    hand_in(s, FOUND, expand.found);
}
ENTRY(streamed_list)

template <typename Work> DEVICE void read_hot(const Adjacency& a, const Search& s, bool bottom_up, Work& work) {
    for (u64 c = thread_id() / WARP; c < a.chunks; c += thread_count() / WARP) {
        const u32 hub = __ldg(a.chunk_hub + c);
        const vid v = a.hubs[hub];
        if (degree(a, v) < a.hot_from || (!bottom_up && !test_bit(s.frontier, v))) continue;
        if (!__shfl_sync(ALL_LANES, work.wants(v), 0)) continue;
        read_ids<WARP>(a, work, v, chunk(a, c, hub), lane_id());
    }
    hand_in(s, FOUND, work.found);
}

KERNEL void streamed_hot(Adjacency a, Search s, u32 bottom_up) {
    if (bottom_up) {
        Seek seek(s, a.n);
        read_hot(a, s, true, seek);
    } else {
        Expand expand(s, a.n);
        read_hot(a, s, false, expand);
    }
}
ENTRY(streamed_hot)

KERNEL void streamed_expand(Adjacency a, Search s, const Piece* pieces, u64 count) {
    Expand expand(s, a.n);
    read_pieces(a, expand, pieces, count, s.wanted);
    hand_in(s, FOUND, expand.found);
}
ENTRY(streamed_expand)

KERNEL void streamed_search(Adjacency a, Search s, const Piece* pieces, u64 count) {
    Seek seek(s, a.n);
    read_pieces(a, seek, pieces, count, s.wanted);
    hand_in(s, FOUND, seek.found);
}
ENTRY(streamed_search)
