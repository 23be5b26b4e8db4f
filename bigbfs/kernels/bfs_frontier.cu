// The frontier of a BFS as bitmap and as queue.
//
// A warp owns 32 words of a bitmap (1024 vertices) at a time, strided over the grid, and walks their set bits 32 at once.
// Frontier kind: bitmap (bfs_advance), queue in nearly ascending order (bfs_gather: ascending inside 1024 vertices, the
// pieces in the order in which warps arrive, which is the order of the grid; reads of host memory stay local).
// Atomics: one counter update per warp. Memory: five bitmap words for every 32 vertices, two indptr entries for every
// vertex of the frontier. Source: bitmap frontiers after Beamer et al. (SC'12); the queue is rebuilt from the bitmap
// because expansion in vertex order reads host memory at the full rate of the link.
#include "bfs.cuh"

KERNEL void bfs_start(Bfs s, u64 source) {
    if (thread_id() != 0 || source >= s.out.n) return;
    s.visited[word_of(source)] |= bit_of(source);
    s.levels[source] = 0;
}
ENTRY(bfs_start)

// frontier = visited and not seen; counts its vertices and the edges of their rows.
KERNEL void bfs_advance(Bfs s) {
    const u64 words = words_for(s.out.n);
    u64 vertices = 0;
    u64 edges = 0;
    for (u64 base = thread_id() / WARP * WARP; base < words; base += thread_count()) {
        const u64 w = base + lane_id();
        u32 fresh = 0;
        if (w < words) {
            const u32 visited = s.visited[w];
            fresh = visited & ~s.seen[w];
            s.frontier[w] = fresh;
            if (fresh) s.seen[w] = visited;
        }
        if (!__any_sync(ALL_LANES, fresh != 0)) continue;
        const SetBits bits(fresh);
        for (u32 start = 0; start < bits.total; start += WARP) {
            u32 owner, bit;
            bits.find(start + lane_id(), owner, bit);
            if (start + lane_id() < bits.total) {
                vertices += 1;
                edges += degree(s.out, (base + owner) * 32 + bit);
            }
        }
    }
    vertices = warp_sum(vertices);
    edges = warp_sum(edges);
    if (lane_id() == 0 && vertices) {
        atomicAdd(s.counters + REACHED, vertices);
        atomicAdd(s.counters + EDGES, edges);
    }
}
ENTRY(bfs_advance)

// Appends the frontier's vertices that are in out.rows to the queue; hubs are found by their chunks instead.
KERNEL void bfs_gather(Bfs s, u64 queued_before) {
    const u64 words = words_for(s.out.n);
    for (u64 base = thread_id() / WARP * WARP; base < words; base += thread_count()) {
        const u64 w = base + lane_id();
        const u32 word = w < words ? s.frontier[w] & __ldg(s.out.rows + w) : 0;
        if (!__any_sync(ALL_LANES, word != 0)) continue;
        const SetBits bits(word);
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(s.counters + QUEUED, (u64)bits.total) - queued_before;
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u32 start = 0; start < bits.total; start += WARP) {
            u32 owner, bit;
            bits.find(start + lane_id(), owner, bit);
            if (start + lane_id() < bits.total) {
                s.queue[at + start + lane_id()] = (vid)((base + owner) * 32 + bit);
            }
        }
    }
}
ENTRY(bfs_gather)
