// A whole BFS in one cooperative launch: one block of TEAM threads for each multiprocessor, one phase after the other
// (topdown.cuh, wide.cuh, bottomup.cuh), a barrier of the grid after each, where plan.cuh decides on the next. Frontier
// kind: queue top-down, bitmap bottom-up and for what wide levels find; a large queue whose rows lie in host memory is
// put in order by the bitmap: ascending reads use the link's full rate. Atomics and memory per edge: see the phases.
// Source: Beamer et al. (SC'12), Merrill et al. (PPoPP'12); persistent kernel after Gupta et al. (InPar'12).
#include "algorithms/bfs/gpu/bottomup.cuh"
#include "algorithms/bfs/gpu/forms.cuh"
#include "algorithms/bfs/gpu/plan.cuh"
#include "algorithms/bfs/gpu/probe.cuh"
#include "algorithms/bfs/gpu/thin.cuh"
#include "algorithms/bfs/gpu/topdown.cuh"
#include "algorithms/bfs/gpu/wide.cuh"

// Levels and parents still hold the traversal before: whoever is reached overwrites them, finish() those of all others.
DEVICE void reset(const Bfs& s, u64 source, u64 last) {
    for (u64 w = thread_id(); w < words_for(s.out.n); w += thread_count()) {
        s.visited[w] = w == word_of(source) ? bit_of(source) : 0;
    }
    if (thread_id() != 0) return;
    s.queue[0] = (vid)source;
    settle(s, last, ~(vid)0, -1);
    settle(s, source, ~(vid)0, 0);
}

// Who was not reached says so. A vertex without edges to it says so from the beginning, unless it was the last source.
DEVICE void finish(const Bfs& s) {
    for (u64 base = thread_id() / WARP * WARP; base < words_for(s.out.n); base += thread_count()) {
        const u64 w = base + lane_id();
        const u32 reachable = w >= words_for(s.out.n) ? 0 : s.reachable ? s.reachable[w] : ALL_LANES;
        const u32 todo = reachable ? reachable & ~s.visited[w] : 0;
        for (u32 words = __ballot_sync(ALL_LANES, todo != 0); words; words &= words - 1) {
            const u32 from = (u32)__ffs((int)words) - 1;
            const u64 v = (base + from) * 32 + lane_id();
            const u32 word = __shfl_sync(ALL_LANES, todo, from);
            if (v < s.out.n && word & bit_of(v)) settle(s, v, ~(vid)0, -1);
        }
    }
}

DEVICE void run_phase(const Bfs& s, Team& t, Few& few) {
    const bool hubs = t.phase == EXPAND_CHUNKS || t.phase == WIDE_CHUNKS || t.phase == SEARCH_CHUNKS;
    const u64 chunks = hubs ? s.slots[t.slot].chunks : 0;
    switch (t.phase) {
        case THIN:
            if (blockIdx.x == 0) thin_levels(s, t, few);
            break;
        case LOCAL: local_levels(s, t, 1); break;
        case PROBE: probe_heads(s, t); break;
        case CLEAR: clear_bits(s, t); break;
        case SCATTER:
        case JOIN: scatter_queue(s, t); break;
        case GATHER: gather_queue(s, t); break;
        case EXPAND: expand_rows(s, t); break;
        case EXPAND_CHUNKS: expand_chunks(s, t, chunks); break;
#if !VARINT
        case WIDE:
        case WIDE_CHUNKS: mark_frontier(s, t, hubs, chunks); break;
        case SETTLE: settle_found(s, t); break;
#endif
        case SEARCH: search_rows(s, t); break;
        case SEARCH_OPEN: search_open(s, t); break;
        default: search_chunks(s, t, chunks);
    }
}

// Hands in the block's sums, waits for the other blocks and chooses what comes next.
DEVICE void finish_phase(const Bfs& s, Team& t) {
    __syncthreads();
    if (threadIdx.x == 0) {
        Slot& slot = s.slots[t.slot < s.slot_count ? t.slot : 0];
        u64* const sums[TALLIES] = {&slot.edges, &slot.found, &slot.missed, &slot.open, &slot.probed};
#pragma unroll
        for (u32 i = 0; i < TALLIES; ++i) {
            if (t.tally[i]) atomicAdd(sums[i], t.tally[i]);
            t.tally[i] = 0;
        }
        if (t.hot_chunks) atomicAdd(&slot.hot, (u64)t.hot_chunks * BLOCK_IDS);
        t.hot_chunks = 0;
        if (blockIdx.x == 0) slot.rounds += 1;
        meet_other_blocks(s.meeting);
        next_phase(s, t);
    }
    __syncthreads();
}

// last: source of the traversal before, or any vertex. resume: go on where the launch before stopped, its slots full.
KERNEL __launch_bounds__(TEAM_THREADS, 1) void bfs_traverse(Bfs s, u64 source, u64 last, u32 resume);
KERNEL void bfs_traverse(Bfs s, u64 source, u64 last, u32 resume) {
    __shared__ Team t;
    __shared__ Few few;
    if (!resume) reset(s, source, last);
    if (threadIdx.x < TEAM_WARPS) t.held[threadIdx.x] = 0;
    if (threadIdx.x < TALLIES) t.tally[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        t.slot = 0;
        t.tail = t.hot_chunks = 0;
        t.local_from = 0;
        t.longer = 0;
        t.wide = t.clean = t.mixed = 0;
        load_progress(s, t);
        meet_other_blocks(s.meeting);  // not before: behind it the first block may write what comes after thin levels
        begin_level(s, t, false);
    }
    __syncthreads();
    while (t.phase != STOP) {
        run_phase(s, t, few);
        finish_phase(s, t);
    }
    if (t.done) finish(s);
}
ENTRY(bfs_traverse)

// Adds the edges of the rows of all reached vertices to *edges.
KERNEL void bfs_count(Bfs s, u64* edges) {
    u64 sum = 0;
    for (u64 base = thread_id() / WARP * WARP; base < s.out.n; base += thread_count()) {
        const u64 v = base + lane_id();
        if (v < s.out.n && test_bit(s.visited, v)) sum += degree(s.out, v);
    }
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum) atomicAdd(edges, sum);
}
ENTRY(bfs_count)
