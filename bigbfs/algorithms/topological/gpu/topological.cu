// Topological order in rounds (Kahn): who has lost the last edge that leads to it is in the next round.
//
// topo_lengths, topo_count_*: in-degrees, a thread to a vertex, or a pass over all rows. topo_begin: round 0. topo_rounds:
// all rounds in one cooperative launch; one of few vertices and edges is run by the first block alone (alone.cuh), any
// other by the whole grid: a warp takes up to 32 entries of the queue; rows of at most THREAD_IDS ids are read by a thread
// each, longer ones by the warp, hubs are listed and then read chunk by chunk by all warps. It comes back to the host where
// the CPU would be quicker with the rest. Frontier kind: queue. Atomics: one subtraction for each edge; one for each buffer
// that a warp appends. Memory per edge: the id and one word of `left`. Source: Kahn (Comm. ACM 5, 1962); report 002, 3.2.
#include "algorithms/topological/gpu/alone.cuh"

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

// Appends the warp's buffer to the queue if it may not hold what comes next, or to its last id; all lanes call it.
DEVICE void flush(const Kahn& s, Team& t, bool all) {
    const u32 warp = threadIdx.x / WARP;
    __syncwarp();
    const u32 held = t.held[warp];
    __syncwarp();
    if (held == 0 || (!all && held + STEP_IDS <= BUFFER_IDS)) return;
    u64 at = 0;
    if (lane_id() == 0) {
        at = atomicAdd(&s.round_sums[t.turn].freed, (u64)held);
        t.held[warp] = 0;
    }
    at = t.now.begin + t.now.count + __shfl_sync(ALL_LANES, at, 0);
    u64 edges = 0;
    for (u32 i = lane_id(); i < held; i += WARP) {
        const vid v = t.buffer[warp * BUFFER_IDS + i];
        if (at + i < s.out.n) s.queue[at + i] = v;
        s.rounds[v] = (i32)(t.now.number + 1);
        edges += degree(s.out, v);
    }
    edges = warp_sum(edges);
    if (lane_id() == 0 && edges) atomicAdd(&s.round_sums[t.turn].edges, edges);
    __syncwarp();
}

// The whole warp reads a segment.
DEVICE void expand_together(const Kahn& s, Team& t, const Segment& segment) {
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        take_off<false>(s, t, cursor.ids, cursor.valid, nullptr);
        flush(s, t, false);
    }
}

// Each lane reads a short row of its own; the lanes whose `ids` is 0 none.
DEVICE void expand_apart(const Kahn& s, Team& t, vid v, u64 ids) {
    Segment segment = {0, 0, 0, false};
    if (ids) segment = row(s.out, v);
    Cursor<1> cursor(s.out, segment, 0);
    for (bool more = cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {
        take_off<false>(s, t, cursor.ids, more ? cursor.valid : 0, nullptr);
        flush(s, t, false);
    }
}

// Lists the chunks of the hubs of the lanes that ask for it; all lanes call it.
DEVICE void list_chunks(const Kahn& s, const Team& t, bool asked, vid v) {
    for (u32 todo = __ballot_sync(ALL_LANES, asked); todo; todo &= todo - 1) {
        const u32 hub = find_hub(s.out, __shfl_sync(ALL_LANES, v, (u32)__ffs((int)todo) - 1));
        const u64 first = s.out.hub_ptr[hub];
        const u64 count = s.out.hub_ptr[hub + 1] - first;
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(&s.round_sums[t.turn].chunks, count);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u64 i = lane_id(); i < count; i += WARP) s.chunk_list[at + i] = (u32)(first + i);
    }
}

DEVICE void expand_rows(const Kahn& s, Team& t) {
    // Long rows are spread over all warps; short ones fill warps, so that few of them touch the queue's counter.
    u64 share = (t.now.count + team_warps() - 1) / team_warps();
    if (share > WARP || t.now.edges <= t.now.count * THREAD_IDS) share = WARP;
    u64 taken = 0;
    for (u64 start = team_warp() * share; start < t.now.count; start += team_warps() * share) {
        const bool mine = lane_id() < share && start + lane_id() < t.now.count;
        const vid v = mine ? s.queue[t.now.begin + start + lane_id()] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        taken += ids;
        list_chunks(s, t, ids > BLOCK_IDS, v);
        Segment segment = {0, 0, 0, false};
        const bool wide = ids > THREAD_IDS && ids <= BLOCK_IDS;
        if (wide) segment = row(s.out, v);
        for (u32 todo = __ballot_sync(ALL_LANES, wide); todo; todo &= todo - 1) {
            expand_together(s, t, broadcast(segment, (u32)__ffs((int)todo) - 1));
        }
        if (__any_sync(ALL_LANES, ids > 0 && ids <= THREAD_IDS)) expand_apart(s, t, v, ids <= THREAD_IDS ? ids : 0);
    }
    flush(s, t, true);
    taken = warp_sum(taken);
    if (lane_id() == 0 && taken) atomicAdd(&s.round_sums[t.turn].taken, taken);
}

DEVICE void expand_chunks(const Kahn& s, Team& t, u64 chunks) {
    for (u64 i = team_warp(); i < chunks; i += team_warps()) {
        const u32 c = s.chunk_list[i];
        expand_together(s, t, chunk(s.out, c, __ldg(s.out.chunk_hub + c)));
    }
    flush(s, t, true);
}

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
