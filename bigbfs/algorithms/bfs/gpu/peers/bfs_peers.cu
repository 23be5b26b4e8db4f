// A whole BFS over several GPUs of one machine, one cooperative launch on each: no word to a host between two levels.
//
// All ranks run the same phases: those of one GPU (topdown.cuh, bottomup.cuh) over their own rows, and those in which
// they tell one another (tell.cuh); barriers of a GPU and meetings of all (meeting.cuh) lie between them, behind which
// every rank decides alike on the next (agree.cuh). Frontier kind: a queue of own vertices for top-down levels, a
// bitmap of all for bottom-up ones. Atomics and memory per edge: see the phases; other ranks' memory is only written,
// by plain stores, and never by atomics. Source: Beamer et al. (SC'12); Pan, Pearce, Owens (IPDPS'18).
#include "algorithms/bfs/gpu/peers/agree.cuh"
#include "algorithms/bfs/gpu/peers/claims.cuh"
#include "algorithms/bfs/gpu/peers/tell.cuh"

// Levels and parents of own vertices still hold the traversal before, whose source was `last`: whoever is reached
// overwrites them, and finish_own() those of all others.
DEVICE void reset_all(const Peers& p, u64 source, u64 last) {
    for (u64 w = thread_id(); w < words_for(p.s.out.n); w += thread_count()) {
        p.s.visited[w] = w == word_of(source) ? bit_of(source) : 0;
    }
    if (thread_id() != 0) return;
    p.s.queue[0] = (vid)source;
    settle(p.s, last, ~(vid)0, -1);
    settle(p.s, source, ~(vid)0, 0);
}

// Own vertices that were not reached say so; one that no edge leads to says so from the beginning.
DEVICE void finish_own(const Peers& p) {
    for (u64 base = team_warp() * WARP; base < 2 * p.part.words; base += team_warps() * WARP) {
        const u64 h = base + lane_id();
        const u64 w = h < 2 * p.part.words ? own_half(p.part, h) : words_for(p.s.out.n);
        const u32 reachable = w >= words_for(p.s.out.n) ? 0 : p.s.reachable ? p.s.reachable[w] : ALL_LANES;
        const u32 todo = reachable ? reachable & ~p.s.visited[w] : 0;
        for (u32 words = __ballot_sync(ALL_LANES, todo != 0); words; words &= words - 1) {
            const u32 from = (u32)__ffs((int)words) - 1;
            const u64 v = own_half(p.part, base + from) * 32 + lane_id();
            const u32 word = __shfl_sync(ALL_LANES, todo, from);
            if (v < p.s.out.n && word & bit_of(v)) settle(p.s, v, ~(vid)0, -1);
        }
    }
}

DEVICE void run_phase_of_ranks(const Peers& p, Team& t, const Mates& m) {
    const u64 chunks = t.phase == DOWN_CHUNKS || t.phase == UP_CHUNKS ? p.s.slots[t.slot].chunks : 0;
    switch (t.phase) {
        case DOWN: expand_rows(p.s, t); break;
        case DOWN_CHUNKS: expand_chunks(p.s, t, chunks); break;
        case DELIVER: deliver(p, t, m); break;
        case ACCEPT: accept(p, t, m); break;
        case FILL: fill_frontier(p, t); break;
        case SET: set_frontier(p, t); break;
        case COLLECT: collect(p, t); break;
        case PUBLISH: publish(p, published_at(p, t)); break;
        case MERGE: merge(p, published_at(p, t)); break;
        case UP: search_rows(p.s, t); break;
        case UP_OPEN: search_open(p.s, t); break;
        default: search_chunks(p.s, t, chunks);
    }
}

// Hands in the block's sums, waits for the other blocks, or for all of all ranks, and chooses what comes next.
DEVICE void finish_phase_of_ranks(const Peers& p, Team& t, Mates& m) {
    __syncthreads();
    if (threadIdx.x == 0) {
        Slot& slot = p.s.slots[t.slot];
        // who was found may belong to others, whose rows are not here: deliver() counts the edges of own ones
        if (t.phase == DOWN || t.phase == DOWN_CHUNKS) t.tally[EDGES] = 0;
        u64* const sums[TALLIES] = {&slot.edges, &slot.found, &slot.missed, &slot.open, &slot.probed};
#pragma unroll
        for (u32 i = 0; i < TALLIES; ++i) {
            if (t.tally[i]) atomicAdd(sums[i], t.tally[i]);
            t.tally[i] = 0;
        }
        t.hot_chunks = 0;
        if (blockIdx.x == 0) slot.rounds += 1;
    }
    meet(p, t, m, ends_with_meeting);
    __syncthreads();
    if (threadIdx.x == 0) {
        m.meetings += m.meets;
        if (m.meets && relaxed_load(&p.joint->lost)) {
            t.phase = HALT;
            t.done = 0;
        } else {
            next_phase_of_ranks(p, t, m);
        }
        if (blockIdx.x == 0) relaxed_store(&p.joint->meetings, m.meetings);
    }
    __syncthreads();
}

// last: source of the traversal before (of the first one: any vertex). resume: go on where the launch before stopped
// because its slots were full. All ranks are launched with the same.
KERNEL __launch_bounds__(TEAM_THREADS, 1) void bfs_peers(Peers p, u64 source, u64 last, u32 resume);

KERNEL void bfs_peers(Peers p, u64 source, u64 last, u32 resume) {
    __shared__ Team t;
    __shared__ Mates m;
    if (!resume) reset_all(p, source, last);
    if (threadIdx.x < TEAM_WARPS) t.held[threadIdx.x] = 0;
    if (threadIdx.x < TALLIES) t.tally[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        t.slot = t.tail = t.hot_chunks = t.local_from = 0;
        m.meets = m.round = 0;
        load_progress(p.s, t);
        m.count = relaxed_load(&p.joint->count);
        m.edges = relaxed_load(&p.joint->edges);
        m.explored = relaxed_load(&p.joint->explored);
        m.meetings = relaxed_load(&p.joint->meetings);
        meet_other_blocks(p.s.meeting);
        choose(p, t, m);
        if (relaxed_load(&p.joint->lost)) t.phase = HALT;  // a rank has not even begun
    }
    __syncthreads();
    while (t.phase != HALT) {
        __syncwarp();  // so that compilers keep nothing in registers from phase to phase: there is none to spare
        run_phase_of_ranks(p, t, m);
        finish_phase_of_ranks(p, t, m);
    }
    if (t.done) finish_own(p);
}
ENTRY(bfs_peers)

// Cycles from the meeting of all ranks to the search: a tenth of a millisecond, in which every host can launch it, so
// that it follows on all of them at the same time.
constexpr u64 HEAD_START = 200000;

// One warp: waits until this kernel runs on all ranks, so that their clocks begin together. What a host is late by is
// nobody's search.
KERNEL void peers_begin(Peers p) {
    __shared__ Team t;
    __shared__ Mates m;
    if (threadIdx.x == 0) {
        t.phase = HALT;
        m.meetings = relaxed_load(&p.joint->meetings);
    }
    __syncwarp();
    const u64 told = p.joint->told;
    __syncwarp();
    meet_other_ranks(p, t, m, Letter{0, 0, 0, 0, 0});
    __syncwarp();
    if (threadIdx.x != 0) return;
    const u64 met = (u64)clock64();
    while (p.part.size > 1 && (u64)clock64() - met < HEAD_START) spin();
    relaxed_store(&p.joint->meetings, m.meetings + 1);
    p.joint->told = told;
    p.joint->waited = 0;
}
ENTRY(peers_begin)

// Adds the edges of the rows of own vertices reached to *edges.
KERNEL void peers_count(Peers p, u64* edges) {
    u64 sum = 0;
    for (u64 h = thread_id() / WARP; h < 2 * p.part.words; h += thread_count() / WARP) {
        const u64 v = own_half(p.part, h) * 32 + lane_id();
        if (v < p.s.out.n && test_bit(p.s.visited, v)) sum += degree(p.s.out, v);
    }
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum) atomicAdd(edges, sum);
}
ENTRY(peers_count)
