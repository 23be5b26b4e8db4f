// Levels top-down (push.cuh, settle.cuh) in one cooperative launch, until one is so wide that the host chooses its
// direction.
//
// All blocks go from phase to phase together, with a barrier of the grid after each, and know the same of the level.
// Where rows are streamed, a launch ends before it settles a level whose rows are not all in heads; the next one begins
// with that, when the host has had them read (many_streamed.cu).
// Frontier kind: queue. Atomics and memory per edge: as push.cuh says. Source: Then et al. (VLDB 2014); one launch for
// thin levels: as in BFS.
#include "algorithms/many/gpu/settle.cuh"

// Thread 0 of every block: all know the same, and choose alike. The first level is never searched bottom-up: that would
// leave a source alone which no edge leads to.
DEVICE void choose(const Many& s, Team& t) {
    if (!t.now.count || t.now.level >= s.max_depth) t.now.ending = DONE;
    else if (t.now.level - s.base + 1 >= s.span) t.now.ending = FULL;
    else if (t.now.edges >= s.pull_from && t.now.level > 0) t.now.ending = WIDE;
    t.phase = t.now.ending != MORE || t.now.level >= t.limit ? STOP : EXPAND;
}

// Thread 0 of every block, after the barrier.
DEVICE void next_phase(const Many& s, Team& t) {
    const ManySums& sums = sums_of(s, t);
    if (t.phase == EXPAND && relaxed_load(&sums.chunks)) {
#if MANY_STREAMED
        t.now.ending = ROWS;
        t.phase = STOP;
#else
        t.phase = EXPAND_CHUNKS;
#endif
    } else if (t.phase != SETTLE) {
        t.phase = SETTLE;
    } else {
        t.read += t.now.edges;
        t.now.level += 1;
        point(s, t);
        t.now.pushed += 1;
        t.now.count = relaxed_load(&sums.freed);
        t.now.edges = relaxed_load(&sums.edges);
        for (u32 i = 0; i < MOST_WORDS; ++i) t.now.active[i] = relaxed_load(sums.active + i);
        t.turn = (t.turn + 1) % TURNS;
        choose(s, t);
    }
}

DEVICE void run_phase(const Many& s, Team& t) {
    ManySums& sums = sums_of(s, t);
#if !MANY_STREAMED
    if (t.phase == EXPAND_CHUNKS) return expand_chunks(s, t, relaxed_load(&sums.chunks));
#endif
    if (t.phase == EXPAND) {
        // nobody reads the next level's sums any more, which are those of two levels ago, and nobody adds to them yet
        if (thread_id() < sizeof(ManySums) / sizeof(u64)) {
            relaxed_store((u64*)(s.many_sums + (t.turn + 1) % TURNS) + thread_id(), (u64)0);
        }
        return expand_rows(s, t);
    }
    settle(s, t, relaxed_load(&sums.freed));
    hand_in(s, t.found, sums, t.now.level + 1);
}

// One thread: a level of which rows are missing goes on with the first sums, and the next ones are clear.
DEVICE void keep_sums(const Many& s, const Team& t) {
    const u64* const from = (const u64*)(s.many_sums + t.turn);
    for (u32 i = 0; i < sizeof(ManySums) / sizeof(u64); ++i) {
        const u64 word = relaxed_load(from + i);
        relaxed_store((u64*)s.many_sums + i, word);
        relaxed_store((u64*)(s.many_sums + 1) + i, (u64)0);
    }
}

KERNEL __launch_bounds__(TEAM_THREADS, 1) void many_push(Many s);

KERNEL void many_push(Many s) {
    __shared__ Team t;
    clear(t.found);
    begin_team(s, t);
    if (threadIdx.x < MOST_WORDS) t.going[threadIdx.x] = ~(u64)0;
    if (threadIdx.x == 0) {
        const bool resumes = MANY_STREAMED && relaxed_load(&s.many_stand->ending) == ROWS;
        t.spreads = false;
        t.limit = t.now.level + s.most_levels;
        meet_other_blocks(s.meeting);
        if (resumes) t.phase = SETTLE;
        else choose(s, t);
    }
    __syncthreads();
    while (t.phase != STOP) {
        run_phase(s, t);
        __syncthreads();
        if (threadIdx.x == 0) {
            meet_other_blocks(s.meeting);
            next_phase(s, t);
        }
        __syncthreads();
    }
    if (threadIdx.x > 0) return;
    if (t.invalid) atomicAdd(&s.counts->invalid, (u64)t.invalid);
    // nobody reads the sums any more that are about to be moved
    if (MANY_STREAMED && t.now.ending == ROWS) meet_other_blocks(s.meeting);
    if (blockIdx.x > 0) return;
    if (MANY_STREAMED && t.now.ending == ROWS) keep_sums(s, t);
    atomicAdd(&s.counts->read, t.read);
    constexpr u32 fields = sizeof(ManyStand) / sizeof(u64);
    for (u32 i = 0; i < fields; ++i) relaxed_store((u64*)s.many_stand + i, ((const u64*)&t.now)[i]);
}
ENTRY(many_push)
