// What the kernels of topological order share: the state in device memory, what a block knows, and taking edges off.
//
// The queue is the order: a round is queue[begin, begin + count), and who loses the last edge into it is appended,
// once.
#pragma once
#include "kernels/base/grid.cuh"
#include "kernels/passes/passes.cuh"
#include "kernels/rows/slices.cuh"

enum Ending { MORE = 0, DONE = 1, DEEP = 2 };

// Where a run stands between launches, and between rounds of one block.
struct Stand {
    u64 begin;  // of the round in the queue
    u64 count;  // its vertices
    u64 edges;  // of their rows; all ones: too many for one block, or not known
    u64 taken;  // edges taken off by the rounds before
    u64 number;  // of the round
    u64 alone;  // rounds that one block has run
    u64 wide;  // and the whole grid
    u64 ending;
};
static_assert(sizeof(Stand) == STAND_BYTES, "Stand differs from its NumPy dtype");

// What the blocks add up in a round of the grid. Three of them in turn: one to add to, one that is being read, one
// cleared.
struct Sums {
    u64 freed;  // vertices appended
    u64 edges;  // of their rows
    u64 taken;  // edges of the round
    u64 chunks;  // chunks of hub rows listed
};
static_assert(sizeof(Sums) == SUMS_BYTES, "Sums differs from its NumPy dtype");
constexpr u32 TURNS = 3;

struct Kahn {
    Adjacency out;
    KAHN_ARRAYS  // left, queue, rounds, chunk_list, sums, stand, meeting, counts
        u64 edges;  // of the graph
    u64 most_rounds;  // of one launch
    u64 thin_edges;  // rounds of up to so many edges and TEAM vertices are left to the first block
    u64 thin_slices;  // and then up to so many slices of rows that are no thread's
    u64 window;  // rounds of one block after which it is asked whether the CPU would be quicker; 0: never
    u64 deep_width;  // mean width from which on it is not
    u64 round_cost;  // ps: of a round of one block; the others: of an edge there, of one on the CPU, of getting there
    u64 edge_cost;
    u64 cpu_edge_cost;
    u64 cpu_cost;
};
static_assert(sizeof(Kahn) == KAHN_BYTES, "Kahn differs from its NumPy dtype");

enum Phase { ALONE, EXPAND, EXPAND_CHUNKS, STOP };

// Ids that a warp collects before it appends them to the queue, and what one step finds at most.
constexpr u32 BUFFER_IDS = 1024 / sizeof(vid);
constexpr u32 STEP_IDS = WARP * SLOTS;

// Vertices of a round that one block keeps in shared memory.
constexpr u32 LIST_IDS = TEAM_WARPS * BUFFER_IDS / 2;
static_assert(LIST_IDS >= TEAM, "a round of one block has up to TEAM vertices");

// What a block knows, in shared memory; the same in every block after a barrier of the grid.
struct Team {
    Stand now;
    u64 limit;  // round before which the launch ends
    u64 window_begin;  // of the queue, when the window of rounds of one block began
    u32 window_rounds;
    u32 phase;
    u32 turn;
    u32 tail;  // one block: vertices freed
    u64 taken;  // one block: edges of the round
    u32 total[TEAM_WARPS];
    u32 before[TEAM];  // one block: slices of the vertices before each
    u32 held[TEAM_WARPS];
    vid buffer[TEAM_WARPS * BUFFER_IDS];
};

DEVICE void load_stand(const Kahn& s, Team& t) {
    for (u32 i = 0; i < sizeof(Stand) / sizeof(u64); ++i) ((u64*)&t.now)[i] = relaxed_load((const u64*)s.stand + i);
}

DEVICE void save_stand(const Kahn& s, const Team& t) {
    for (u32 i = 0; i < sizeof(Stand) / sizeof(u64); ++i) relaxed_store((u64*)s.stand + i, ((const u64*)&t.now)[i]);
}

// The edges that lead to ids[j] are taken off, for the bits j of `asked`. All are under way before the first answer
// is looked at. Who takes off the last one appends the vertex: to the warp's buffer, or, ALONE, to the queue and the
// list `next`.
template <bool ALONE> DEVICE void take_off(const Kahn& s, Team& t, const vid* ids, u32 asked, vid* next) {
    vid had[SLOTS];
    u32 freed = 0;
    u32 invalid = 0;
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        const bool wanted = (asked >> j) & 1;
        const bool inside = ids[j] < s.out.n;
        invalid += wanted && !inside;
        had[j] = wanted && inside ? atomicAdd(s.left + ids[j], ~(vid)0) : 0;
    }
    if (invalid) atomicAdd(&s.counts->invalid, (u64)invalid);
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) freed |= (u32)(had[j] == 1) << j;
    if (!freed) return;
    u32 at = atomicAdd(ALONE ? &t.tail : t.held + threadIdx.x / WARP, (u32)__popc(freed));
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (!(freed >> j & 1)) continue;
        if (ALONE) {
            const u64 place = t.now.begin + t.now.count + at;
            if (at < LIST_IDS) next[at] = ids[j];
            if (place < s.out.n) s.queue[place] = ids[j];
            s.rounds[ids[j]] = (i32)(t.now.number + 1);
        } else {
            t.buffer[threadIdx.x / WARP * BUFFER_IDS + at] = ids[j];
        }
        ++at;
    }
}
