// Topological order in rounds (Kahn): who has lost the last edge that leads to it is in the next round.
//
// topo_lengths, topo_count_*: in-degrees, a thread to a vertex, or a pass over all rows. topo_begin: round 0.
// topo_rounds: all rounds in one cooperative launch; one of few vertices and edges is run by the first block alone
// (alone.cuh), any other by the whole grid (wide.cuh). It comes back to the host where the CPU would be quicker with
// the rest. Frontier kind: queue. Atomics: one subtraction for each edge; one for each buffer that a warp appends.
// Memory per edge: the id and one word of `left`. Source: Kahn (Comm. ACM 5, 1962); report 002, 3.2.
#include "algorithms/topological/gpu/alone.cuh"
#include "algorithms/topological/gpu/wide.cuh"

// Counts edges by the vertex that they lead to.
struct CountEdges {
    vid* left;
    PassTally tally;

    METHOD bool wants(u64) const { return true; }
    METHOD void edge(vid, vid u) { atomicAdd(left + u, (vid)1); }
};

// From the lengths of the rows of in-neighbours.
KERNEL void topo_lengths(Adjacency in, vid* left) {
    for (u64 v = thread_id(); v < in.n; v += thread_count()) left[v] = (vid)degree(in, v);
}
ENTRY(topo_lengths)

// By a pass over all rows, except hubs; `left` is zero.
KERNEL void topo_count_rows(Adjacency out, vid* left, Counts* counts) {
    CountEdges operation = {left, {0, 0, 0}};
    walk_rows<false>(out, operation, counts);
}
ENTRY(topo_count_rows)

// The same for the chunks of hub rows.
KERNEL void topo_count_hubs(Adjacency out, vid* left, Counts* counts) {
    CountEdges operation = {left, {0, 0, 0}};
    walk_hubs(out, operation, counts);
}
ENTRY(topo_count_hubs)

// Puts the vertices that no edge leads to into the queue, as round 0; all others have none.
KERNEL void topo_begin(Kahn s) {
    const u64 end = words_for(s.out.n) * WARP;
    u64 edges = 0;
    for (u64 v = thread_id(); v < end; v += thread_count()) {
        const bool inside = v < s.out.n;
        const bool source = inside && s.left[v] == 0;
        if (inside) s.rounds[v] = source ? 0 : -1;
        const u32 sources = __ballot_sync(ALL_LANES, source);
        if (!sources) continue;
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(&s.stand->count, (u64)__popc(sources));
        at = __shfl_sync(ALL_LANES, at, 0) + (u64)__popc(sources & ((1u << lane_id()) - 1));
        if (!source) continue;
        s.queue[at] = (vid)v;
        edges += degree(s.out, v);
    }
    edges = warp_sum(edges);
    if (lane_id() == 0 && edges) atomicAdd(&s.stand->edges, edges);
}
ENTRY(topo_begin)

// Thread 0 of every block: all know the same, and choose alike.
DEVICE void choose(const Kahn& s, Team& t) {
    if (!t.now.count) t.now.ending = DONE;
    if (t.now.ending != MORE || t.now.number >= t.limit) t.phase = STOP;
    else t.phase = t.now.count <= TEAM && t.now.edges <= s.thin_edges ? ALONE : EXPAND;
}

// Thread 0 of every block, after the barrier.
DEVICE void next_phase(const Kahn& s, Team& t) {
    if (t.phase == ALONE) {
        load_stand(s, t);
        return choose(s, t);
    }
    const Sums& sums = s.round_sums[t.turn];
    if (t.phase == EXPAND && relaxed_load(&sums.chunks)) {
        t.phase = EXPAND_CHUNKS;
        return;
    }
    t.now.begin += t.now.count;
    t.now.count = relaxed_load(&sums.freed);
    t.now.edges = relaxed_load(&sums.edges);
    t.now.taken += relaxed_load(&sums.taken);
    t.now.number += 1;
    t.now.wide += 1;
    t.turn = (t.turn + 1) % TURNS;
    choose(s, t);
}

DEVICE void run_phase(const Kahn& s, Team& t) {
    if (t.phase == EXPAND_CHUNKS) return expand_chunks(s, t, relaxed_load(&s.round_sums[t.turn].chunks));
    if (t.phase == EXPAND) {
        // nobody reads the next round's sums any more, which are those of two rounds ago, and nobody adds to them yet
        if (thread_id() < sizeof(Sums) / sizeof(u64)) {
            relaxed_store((u64*)(s.round_sums + (t.turn + 1) % TURNS) + thread_id(), (u64)0);
        }
        return expand_rows(s, t);
    }
    if (blockIdx.x == 0) rounds_alone(s, t);
}

KERNEL __launch_bounds__(TEAM_THREADS, 1) void topo_rounds(Kahn s);

KERNEL void topo_rounds(Kahn s) {
    __shared__ Team t;
    if (threadIdx.x < TEAM_WARPS) t.held[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        t.turn = 0;
        // before the meeting: behind it the first block may already be writing what comes after rounds of its own
        load_stand(s, t);
        t.limit = t.now.number + s.most_rounds;
        meet_other_blocks(s.meeting);
        choose(s, t);
    }
    __syncthreads();
    while (t.phase != STOP) {
        const u32 phase = t.phase;
        run_phase(s, t);
        __syncthreads();
        if (threadIdx.x == 0) {
            t.phase = phase;
            meet_other_blocks(s.meeting);
            next_phase(s, t);
        }
        __syncthreads();
    }
    if (thread_id() == 0) save_stand(s, t);
}
ENTRY(topo_rounds)

// Adds to counts->open the vertices that not all edges, or too many, were taken off: 0 after a complete run.
KERNEL void topo_left(u64 n, const vid* left, Counts* counts) {
    u64 open = 0;
    for (u64 base = thread_id() / WARP * WARP; base < n; base += thread_count()) {
        const u64 v = base + lane_id();
        open += v < n && left[v] != 0;
    }
    open = warp_sum(open);
    if (lane_id() == 0 && open) atomicAdd(&counts->open, open);
}
ENTRY(topo_left)
