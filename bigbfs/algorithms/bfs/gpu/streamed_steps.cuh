// The steps of a level whose rows come from a file, over words [begin, end) of the bitmaps: all of them on one GPU,
// those of own vertices on one of several (hosts/streamed_ranks.cu).
#pragma once
#include "algorithms/bfs/gpu/streamed.cuh"

// Adds up over the vertices of `bits`: vertices, their edges, their rows that are in the file, the units of those.
// Clears `next` on the way.
DEVICE void survey_rows(const Adjacency& a, const Search& s, const u32* bits, u64 begin, u64 end) {
    u64 vertices = 0, edges = 0, rows = 0, units = 0;
    for (u64 base = begin + thread_id() / WARP * WARP; base < end; base += thread_count() / WARP * WARP) {
        const u64 w = base + lane_id();
        if (w < end) s.next[w] = 0;
        const SetBits set(w < end ? __ldg(bits + w) : 0);
        for (u32 k = lane_id(); k - lane_id() < set.total; k += WARP) {
            u32 owner, bit;
            set.find(k, owner, bit);
            if (k >= set.total) continue;
            const u64 v = (base + owner) * 32 + bit;
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
    }
    hand_in(s, VERTICES, vertices);
    hand_in(s, EDGES, edges);
    hand_in(s, ROWS, rows);
    hand_in(s, UNITS, units);
}

// Every unvisited vertex looks for a parent among its heads; who finds none is put down in `wanted`, unless its heads
// are its row.
DEVICE void sweep_heads(const Adjacency& a, const Search& s, u64 begin, u64 end) {
    u64 found = 0, rows = 0, units = 0;
    for (u64 base = begin + thread_id() / WARP * WARP; base < end; base += thread_count() / WARP * WARP) {
        const u64 w = base + lane_id();
        const u32 visited = w < end ? s.visited[w] : 0;
        const u32 open = w < end ? ~visited & __ldg(a.rows + w) : 0;
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
        if (w < end) s.wanted[w] = asked;
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

// Frontier vertices whose heads are their row are expanded, the others put down in `wanted`.
template <typename Work>
DEVICE void list_rows(const Adjacency& a, const Search& s, Work& work, u64 begin, u64 end) {
    for (u64 base = begin + thread_id() / WARP * WARP; base < end; base += thread_count() / WARP * WARP) {
        const u64 w = base + lane_id();
        const u32 bits = w < end ? __ldg(s.frontier + w) : 0;
        u32 asked = 0;
        for (u32 todo = __ballot_sync(ALL_LANES, bits != 0); todo; todo &= todo - 1) {
            const u32 k = (u32)__ffs((int)todo) - 1;
            const u64 v = (base + k) * 32 + lane_id();
            const bool active = (__shfl_sync(ALL_LANES, bits, k) >> lane_id()) & 1;
            const u64 ids = active ? degree(a, v) : 0;
            if (heads_are_all(a, ids)) {
                for (u32 i = 0; i < ids; ++i) work.read((vid)v, head(a, v, i));
            }
            const u32 in_file = __ballot_sync(ALL_LANES, is_in_file(a, ids));
            if (lane_id() == k) asked = in_file;
        }
        if (w < end) s.wanted[w] = asked;
    }
    hand_in(s, FOUND, work.found);
}

// Rows in device memory, in either direction. Every lane asks after a chunk, so that a thin level is soon through with
// them; neighbouring chunks are those of neighbouring warps, so that no warp has a hub for itself.
template <typename Work>
DEVICE void read_hot(const Adjacency& a, const Search& s, bool bottom_up, Work& work, u64 begin, u64 end) {
    const u64 warps = thread_count() / WARP;
    for (u64 first = thread_id() / WARP; first < a.chunks; first += warps * WARP) {
        const u64 own = first + lane_id() * warps;
        bool asked = false;
        if (own < a.chunks) {
            const vid v = a.hubs[__ldg(a.chunk_hub + own)];
            asked = word_of(v) >= begin && word_of(v) < end && degree(a, v) >= a.hot_from &&
                    (bottom_up || test_bit(s.frontier, v)) && work.wants(v);
        }
        for (u32 todo = __ballot_sync(ALL_LANES, asked); todo; todo &= todo - 1) {
            const u64 c = first + ((u32)__ffs((int)todo) - 1) * warps;
            const u32 hub = __ldg(a.chunk_hub + c);
            const vid v = a.hubs[hub];
            if (!__shfl_sync(ALL_LANES, work.wants(v), 0)) continue;
            read_ids<WARP>(a, work, v, chunk(a, c, hub), lane_id());
        }
    }
    hand_in(s, FOUND, work.found);
}
