// A whole BFS over several GPUs of one machine, one cooperative launch on each: no word to a host between two levels.
//
// All ranks run the same phases: those of one GPU (topdown.cuh, bottomup.cuh) over their own rows, and those in which
// they tell one another (tell.cuh); barriers of a GPU and meetings of all (meeting.cuh) lie between them, behind which
// every rank decides alike on the next (agree.cuh). Frontier kind: a queue of own vertices for top-down levels, a
// bitmap of all for bottom-up ones. Atomics and memory per edge: see the phases; other ranks' memory is only written,
// by plain stores, and never by atomics. Source: Beamer et al. (SC'12); Pan, Pearce, Owens (IPDPS'18).
#include "algorithms/bfs/gpu/peers/few.cuh"
#include "algorithms/bfs/gpu/peers/phases.cuh"
#include "kernels/base/wake.cuh"

// Hands in the block's sums, waits for the other blocks, or for all of all ranks, and chooses what comes next. near: p
// in shared memory. A function that is APART reads parameters from memory, whose caches every barrier empties.
DEVICE void finish_phase_of_ranks(const Peers& p, const Peers& near, Team& t, Mates& m) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        if (threadIdx.x == 0) {
            hand_in_tallies(p, t);
            t.hot_chunks = 0;
            if (blockIdx.x == 0) atomicAdd(&p.s.slots[t.slot].rounds, (u64)1);
        }
        __syncwarp();
        if (ends_with_notice(t)) meet(p, t, m, ends_with_meeting);
        else meet_own(p, t, m);
        if (threadIdx.x == 0) {
            if (t.phase == FEW) go_on_after_few(near, t, m);  // which loads whether a rank was lost meanwhile
            else if (!m.notice[LOST]) next_phase_of_ranks(near, t, m);
            if (m.notice[LOST]) {
                t.phase = HALT;
                t.done = 0;
                if (blockIdx.x == 0) save_progress(near.s, t, false);
            }
        }
    }
    __syncthreads();
}

// Where all ranks have all rows, and levels are so many and thin that nothing is shared: each for itself, by lists of
// its blocks. How far that goes is up to who finds whom first, so no level may be one for which ranks meet.
APART void levels_alone(const Peers& p, Team& t) { local_levels(p.s, t, ALIKE); }

// Thread 0 of a block, before the first phase.
DEVICE void begin_launch(const Peers& p, Team& t, Mates& m) {
    t.slot = t.tail = t.hot_chunks = t.local_from = t.longer = t.wide = t.clean = t.told = 0;
    t.shared = 1;
    m.round = m.same = m.blank = 0;
    m.waited = m.told = 0;
    load_progress(p.s, t);
    load_sums(p, m);
    m.barriers = relaxed_load(&p.joint->barriers);
    meet_other_blocks(p.s.meeting);
    choose(p, t, m);
    if (m.notice[LOST]) t.phase = HALT;  // a rank has not even begun
}

// The first block's first thread: what the host reads, and the next launch goes on from.
DEVICE void end_launch(const Peers& p, const Mates& m) {
    save_sums(p, m);
    relaxed_store(&p.joint->barriers, m.barriers);
    p.joint->waited += m.waited;
    p.joint->told += m.told;
}

// last: source of the traversal before (of the first one: any vertex). resume: go on where the launch before stopped
// because its slots were full. All ranks are launched with the same.
KERNEL __launch_bounds__(TEAM_THREADS, 1) void bfs_peers(IN_PLACE Peers p, u64 source, u64 last, u32 resume);

KERNEL void bfs_peers(IN_PLACE Peers p, u64 source, u64 last, u32 resume) {
    __shared__ Team t;
    __shared__ Mates m;
    __shared__ Peers near;
    for (u32 i = threadIdx.x; i < sizeof(Peers) / sizeof(u64); i += blockDim.x) ((u64*)&near)[i] = ((const u64*)&p)[i];
    if (!resume) reset_all(p, source, last);
    if (threadIdx.x < TEAM_WARPS) t.held[threadIdx.x] = 0;
    if (threadIdx.x < TALLIES) t.tally[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) begin_launch(near, t, m);
    __syncthreads();
    while (t.phase != HALT) {
        __syncwarp();  // so that compilers keep nothing in registers from phase to phase: there is none to spare
        if (ALL_ROWS && t.phase == ALONE) levels_alone(near, t);
        else if (t.phase != FEW) run_phase_of_ranks(p, t, m);
        else if (blockIdx.x == 0) levels_of_few(p, t, m);
        else if (blanks(p, t)) blank_meanwhile(p, t);
        finish_phase_of_ranks(p, near, t, m);
    }
    if (t.done) finish_own(p);
    if (thread_id() == 0) end_launch(p, m);
}
ENTRY(bfs_peers)

// Nanoseconds from the meeting of all ranks to the search, in which every host can launch it, so that it follows on all
// of them at the same time. No cycles: those of one GPU are longer than those of another.
constexpr u64 HEAD_START = 400000;

// One warp for each block. The first waits until this kernel runs on all ranks, so that their clocks begin together:
// what a host is late by is nobody's search. The others wake the links meanwhile, by what only hosts carry (told_at).
KERNEL void peers_begin(Peers p) {
    __shared__ Team t;
    __shared__ Mates m;
    if (blockIdx.x != 0) {
        const u64 told_at = p.told_at + p.part.rank * p.most_words * sizeof(u64);
        wake_links(p.part, p.bases, told_at, p.most_words, (blockIdx.x - 1) * WARP + lane_id());
        return;
    }
    if (threadIdx.x == 0) {
        t.phase = HALT;
        m.meetings = relaxed_load(&p.joint->meetings);
        m.waited = m.told = 0;
    }
    __syncwarp();
    const u64 lost = __shfl_sync(ALL_LANES, meet_other_ranks(p, t, m, 0), LOST);
    if (threadIdx.x != 0) return;
    const u64 met = nanoseconds();
    while (p.part.size > 1 && nanoseconds() - met < HEAD_START) spin();
    relaxed_store(&p.joint->meetings, m.meetings + 1);
    relaxed_store(&p.joint->lost, lost);
}
ENTRY(peers_begin)

KERNEL void peers_count(Peers p, u64* edges) { count_own_edges(p, edges); }
ENTRY(peers_count)
