// BFS over GPUs that cannot write into one another's memory: a launch for each phase, what lies between hosts say.
//
// The phases are those of the search over the GPUs of one machine (peers/phases.cuh), on the same state. Memory that
// others would write is this rank's own: what it has for them lies in an outbox, laid out like their inboxes, and what
// they have sent is put into its inbox by whoever carries it (engines/gpu/ranks/transport.py). Frontier kind: a queue
// of own vertices for top-down levels, a bitmap of all for bottom-up ones. Atomics and memory per edge: see the phases.
// Source: Beamer et al. (SC'12); Pan, Pearce, Owens (IPDPS'18).
#define TELLS 0
#include "algorithms/bfs/gpu/peers/phases.cuh"

// A phase: what the kernel over one machine keeps from barrier to barrier.
struct Step {
    u64 phase;  // PeerPhase
    u64 level;  // of the frontier
    u64 begin;  // of the frontier in the queue
    u64 count;  // own vertices of it
    u64 edges;  // in their rows
    u64 swapped;  // `next` and `frontier` have changed places
    u64 bottom_up;  // direction of the level
    u64 defer;  // rows are put off until all heads have been looked at
    u64 round;  // of delivering the claims of a level
};
static_assert(sizeof(Step) == STEP_BYTES, "Step differs from its NumPy dtype");

// Levels and parents of own vertices hold the search before, whose source was `last`.
KERNEL void host_reset(Peers p, u64 source, u64 last) { reset_all(p, source, last); }
ENTRY(host_reset)

KERNEL __launch_bounds__(TEAM_THREADS, 1) void host_step(Peers p, Step step);

KERNEL void host_step(Peers p, Step step) {
    __shared__ Team t;
    __shared__ Mates m;
    if (threadIdx.x < TEAM_WARPS) t.held[threadIdx.x] = 0;
    if (threadIdx.x < TALLIES) t.tally[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        t.phase = (u32)step.phase;
        t.level = (i32)step.level;
        t.begin = step.begin;
        t.count = step.count;
        t.edges = step.edges;
        t.swapped = (u32)step.swapped;
        t.bottom_up = (u32)step.bottom_up;
        t.defer = (u32)step.defer;
        t.slot = t.tail = t.hot_chunks = t.told = 0;
        t.shared = 1;
        m.round = (u32)step.round;
        m.meetings = 0;  // of which the letters say what is in the inbox
    }
    __syncthreads();
    run_phase_of_ranks(p, t, m);
    __syncthreads();
    if (threadIdx.x == 0) hand_in_tallies(p, t);
}
ENTRY(host_step)

KERNEL void host_finish(Peers p) { finish_own(p); }
ENTRY(host_finish)

KERNEL void host_count(Peers p, u64* edges) { count_own_edges(p, edges); }
ENTRY(host_count)
