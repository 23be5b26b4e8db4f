// The family of report 004: queues of vertices and of edges, rows gathered by scan + warp + block, ends culled.
//
// expand_contract: vertex queue to vertex queue. expand: vertex queue to edge queue; contract: edge queue to vertex
// queue. contract_expand: edge queue to edge queue. An edge queue has a limit: ids whose number is beyond are neither
// read nor stored, and come in a later window of the same level (expand), or the next level begins with a sweep over
// the labels that finds its vertices (sweep_labels, expand_swept, contract_swept, expand_found). Frontier kind: queues
// of vertices (id) or edges (end and origin). Atomics: one on the counter of a queue for a tile of THREADS or a warp.
// Memory per edge: the id, twice more through the edge queue, a word of the bitmask, a label. Source: report 004.
#include "algorithms/bfs/strategies/culling.cuh"
#include "algorithms/bfs/strategies/gather.cuh"

// Of a multiprocessor with 65,536 registers, so that a thread has 64: the filter stands where each kind of row is read.
constexpr u32 BLOCKS = 1024 / THREADS;

// The ids of a tile, by one of its threads: a sum of its own would take registers from all.
DEVICE void count_read(const Search& s, u64 ids) { atomicAdd(&here(s).checked, ids); }

// A vertex may be found twice: what does not fit is left to a sweep over the labels.
DEVICE void put_found(const Search& s, u64& count, bool found, vid u) {
    const u32 finders = __ballot_sync(ALL_LANES, found);
    if (!finders) return;
    u64 at = 0;
    if (lane_id() == 0) at = atomicAdd(&count, (u64)__popc(finders));
    at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(finders & ((1u << lane_id()) - 1));
    if (found && at < s.capacity) s.next_queue[at] = u;
}

#if EDGE_QUEUES == 0

KERNEL __launch_bounds__(THREADS, BLOCKS) void expand_contract(Search s);

KERNEL void expand_contract(Search s) {
    __shared__ Gather g;
    __shared__ Culling c;
    forget(c);
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const bool mine = base + threadIdx.x < here(s).size;
        const vid v = mine ? s.queue[base + threadIdx.x] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        gather_rows(
            s, g, v, ids,
            [&](u64 wanted) {
                count_read(s, wanted);
                return (u64)0;
            },
            [&](bool there, vid from, vid u, u64) { put_found(s, beyond(s).size, cull(s, c, there, from, u), u); }
        );
    }
}
ENTRY(expand_contract)

#else

// Of a tile's ids, whose first has the number `first`, those that an edge queue holds.
DEVICE u64 fitting(const Search& s, u64 first, u64 ids) {
    const u64 room = first < s.edge_capacity ? s.edge_capacity - first : 0;
    return ids < room ? ids : room;
}

// The edges of the queue's `count` vertices into an edge queue: those with numbers from s.window on. `total` counts
// all. Each tile's numbers, from and to, are kept in s.bases for later windows (KEEPS), which read no other tiles: a
// level's rows are read once, but for those at the seam of two windows.
template <bool KEEPS>
DEVICE void expand_queue(const Search& s, const vid* queue, u64 count, vid* ends, vid* origins, u64& total) {
    __shared__ Gather g;
    const Window window = {s.window, s.window + s.edge_capacity};
    for (u64 base = (u64)blockIdx.x * THREADS; base < count; base += thread_count()) {
        u64* const numbers = KEEPS ? s.bases + base / THREADS * 2 : nullptr;
        if (KEEPS && s.window > 0 && !window.meets(numbers[0], numbers[1] - numbers[0])) continue;
        const bool mine = base + threadIdx.x < count;
        const vid v = mine ? queue[base + threadIdx.x] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        const auto reserve = [&](u64 wanted) {
            if (KEEPS && s.window > 0) return numbers[0];
            const u64 first = atomicAdd(&total, wanted);
            count_read(s, KEEPS ? wanted : fitting(s, first, wanted));
            if (KEEPS) {
                numbers[0] = first;
                numbers[1] = first + wanted;
            }
            return first;
        };
        gather_part(s, g, v, ids, window, reserve, [&](bool there, vid from, vid u, u64 number) {
            const u64 slot = number - s.window;  // of earlier windows: more than any capacity
            if (!there || slot >= s.edge_capacity) return;
            ends[slot] = u;
            origins[slot] = from;
        });
    }
}

// The ends of `count` edges: new vertices into the next queue.
DEVICE void contract_edges(const Search& s, u64 count, u64& found) {
    __shared__ Culling c;
    forget(c);
    count = count > s.window ? count - s.window : 0;
    if (count > s.edge_capacity) count = s.edge_capacity;
    for (u64 base = (u64)blockIdx.x * THREADS; base < count; base += thread_count()) {
        const u64 i = base + threadIdx.x;
        const vid u = i < count ? s.edges[i] : 0;
        const vid v = i < count ? s.origins[i] : 0;
        put_found(s, found, cull(s, c, i < count, v, u), u);
    }
}

#if EDGE_QUEUES == 1

KERNEL __launch_bounds__(THREADS, BLOCKS) void expand(Search s);

KERNEL void expand(Search s) { expand_queue<true>(s, s.queue, here(s).size, s.edges, s.origins, here(s).edges); }
ENTRY(expand)

KERNEL void contract(Search s) { contract_edges(s, here(s).edges, beyond(s).size); }
ENTRY(contract)

#else

// The size of a level is that of its edge queue, found by the level before.
KERNEL __launch_bounds__(THREADS, BLOCKS) void contract_expand(Search s);

KERNEL void contract_expand(Search s) {
    __shared__ Gather g;
    __shared__ Culling c;
    forget(c);
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const u64 i = base + threadIdx.x;
        const bool mine = i < here(s).size;
        const vid v = mine ? s.edges[i] : 0;
        const bool found = cull(s, c, mine, mine ? s.origins[i] : 0, v);
        const u64 ids = found ? degree(s.out, v) : 0;
        const auto reserve = [&](u64 wanted) {
            const u64 first = atomicAdd(&beyond(s).size, wanted);
            count_read(s, fitting(s, first, wanted));
            return first;
        };
        gather_part(s, g, v, ids, Window{0, s.edge_capacity}, reserve, [&](bool there, vid from, vid u, u64 number) {
            if (!there || number >= s.edge_capacity) return;
            s.next_edges[number] = u;
            s.next_origins[number] = from;
        });
    }
}
ENTRY(contract_expand)

// A level whose edges are all in the queue.
KERNEL void contract(Search s) { contract_edges(s, here(s).size, beyond(s).vertices); }
ENTRY(contract)

// Then the rows of what it has found; where that is more than the queue holds, nothing, and the next level is swept.
KERNEL __launch_bounds__(THREADS, BLOCKS) void expand_found(Search s);

KERNEL void expand_found(Search s) {
    const u64 count = beyond(s).vertices;
    if (count > s.capacity) {
        if (thread_id() == 0) atomicAdd(&beyond(s).size, s.edge_capacity + 1);
        return;
    }
    expand_queue<false>(s, s.next_queue, count, s.next_edges, s.next_origins, beyond(s).size);
}
ENTRY(expand_found)

// A level whose edges are not: its vertices by a sweep over the labels, each once.
KERNEL void sweep_labels(Search s) {
    for (u64 base = thread_id() / WARP * WARP; base < s.out.n; base += thread_count()) {
        const u64 v = base + lane_id();
        const bool found = v < s.out.n && s.levels[v] == (i32)s.level;
        const u32 finders = __ballot_sync(ALL_LANES, found);
        u64 at = 0;
        if (lane_id() == 0 && finders) at = atomicAdd(&here(s).taken, (u64)__popc(finders));
        at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(finders & ((1u << lane_id()) - 1));
        if (found) s.queue[at] = (vid)v;
    }
}
ENTRY(sweep_labels)

KERNEL __launch_bounds__(THREADS, BLOCKS) void expand_swept(Search s);

KERNEL void expand_swept(Search s) { expand_queue<true>(s, s.queue, here(s).taken, s.edges, s.origins, here(s).edges); }
ENTRY(expand_swept)

KERNEL void contract_swept(Search s) { contract_edges(s, here(s).edges, beyond(s).vertices); }
ENTRY(contract_swept)

#endif

#endif

#if EDGE_QUEUES < 2

// The vertices of the next level by a sweep over the labels, each once: more were found than its queue holds. The host
// has set its size to 0.
KERNEL void rebuild_queue(Search s) {
    for (u64 base = thread_id() / WARP * WARP; base < s.out.n; base += thread_count()) {
        const u64 v = base + lane_id();
        put_found(s, beyond(s).size, v < s.out.n && s.levels[v] == (i32)s.level + 1, (vid)v);
    }
}
ENTRY(rebuild_queue)

#endif
