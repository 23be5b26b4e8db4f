// What the phases of a BFS share: the state in device memory, what a block knows, and what happens to a new vertex.
//
// A traversal is one cooperative launch. It is a sequence of phases with a barrier of the whole grid after each; at
// the barrier one thread of every block works out the next phase (plan.cuh) from the counters of the level, all alike.
#pragma once
#include "kernels/base/grid.cuh"
#include "kernels/rows/heads.cuh"

// What one level did; one for each level of a launch, zero at its start.
struct Slot {
    u64 frontier;   // vertices expanded
    u64 direction;  // 1 top-down, 2 bottom-up
    u64 edges;      // edges of the vertices found (bottom-up: estimated)
    u64 queued;     // top-down: vertices found
    u64 found;      // bottom-up: vertices found
    u64 chunks;     // chunks of hub rows listed
    u64 missed;     // bottom-up: vertices whose heads did not decide
    u64 gathered;   // vertices put into the queue from the bitmap
    u64 probed;     // sampled vertices, before a level whose direction is open
    u64 open;       // those of them whose heads do not decide
    u64 hot;        // of `edges`, those in rows that lie in device memory for being hot
    u64 local;      // what the blocks say at its end while levels are local (local.cuh)
    u64 clock;      // cycles at its beginning
    u64 rounds;     // phases
};
static_assert(sizeof(Slot) == SLOT_BYTES, "Slot differs from its NumPy dtype");

// Where a traversal stands between launches and when it is over.
struct Progress {
    u64 level;    // of the frontier
    u64 begin;    // of the frontier in the queue
    u64 count;    // vertices of the frontier
    u64 edges;    // of their rows
    u64 hot;      // of those, the ones in hot rows
    u64 reached;
    u64 form;     // 0 the frontier is queue[begin, begin + count), 1 it is a bitmap
    u64 swapped;  // 1: `next` and `frontier` have changed places
    u64 done;
    u64 missed;   // bottom-up: of the level before
    u64 invalid;  // ids read that are no vertices
    u64 clock;    // cycles at the end of the launch
};
static_assert(sizeof(Progress) == PROGRESS_BYTES, "Progress differs from its NumPy dtype");

struct Bfs {
    Adjacency out;       // rows that top-down expands
    Adjacency in;        // rows that bottom-up searches: in-neighbours
    const u32* reachable;  // bitmap: an edge leads there; null: may be any vertex
    // visited, frontier, next, open, queue, chunk_list, levels, parents, slots, progress, meeting: as arguments.py says
    // (levels: -1 unreached; parents: all ones none; either may be null, where it is not wanted)
    BFS_ARRAYS
    u64 slot_count;
    u64 max_depth;
    u64 bottom_up;  // whether levels may search
    u64 in_vertices;  // vertices with in-edges
    u64 sort_from;  // frontiers of so many vertices are expanded in vertex order
    u64 defer_from;  // so many vertices that their heads are not expected to decide are put off
    u64 window;  // so many neighbouring vertices' rows in host memory are read at the full rate
    u64 held_to;  // rows of up to so many ids are read from the head table rather than where they lie
    u64 far_rows;  // of 1024 rows that top-down reads, those that are not, if rows are met as often as edges
    u64 thin_to;  // frontiers of up to so many vertices are left to the first block; at most TEAM
    u64 local;  // whether levels may be local (local.cuh): 1, if the heads hold their rows; 2, other rows too
    u64 wide_from;  // top-down levels of so many edges may be wide (wide.cuh)
    u64 asks;  // whether an edge of one asks whether its end is found before it says so
    u64 sweep_cost;  // of looking through the bitmaps, and the others of one vertex, edge, line: picoseconds
    u64 vertex_cost;
    u64 edge_cost;
    u64 line_cost;
    u64 claim_cost;  // of a vertex found by EXPAND, beside the edge that leads there
    u64 mark_cost;  // of an edge of a wide level
    u64 parent_cost;  // of a vertex found by one, where parents are wanted
    u64 look_cost;  // of an edge that mostly leads to who has been found; 0: levels are not mixed
};
static_assert(sizeof(Bfs) == BFS_BYTES, "Bfs differs from its NumPy dtype");

enum Tally { EDGES = 0, FOUND = 1, MISSED = 2, OPEN = 3, PROBED = 4, TALLIES = 5 };

enum Phase {
    THIN,
    LOCAL,
    PROBE,
    CLEAR,
    SCATTER,
    GATHER,
    JOIN,
    WIDE,
    WIDE_CHUNKS,
    SETTLE,
    EXPAND,
    EXPAND_CHUNKS,
    SEARCH,
    SEARCH_OPEN,
    SEARCH_CHUNKS,
    STOP
};

enum Form { QUEUE = 0, BITMAP = 1 };

constexpr u32 BUFFER_IDS = 1024 / sizeof(vid);  // that a warp collects before it appends them to the queue

constexpr u32 LEAST_WARPS = 4;  // of a multiprocessor that work

// What one lane finds at most between two looks at the buffer.
constexpr u32 STEP_IDS = WARP * SLOTS;

// What a block knows, in shared memory; the same in every block after a barrier.
struct Team {
    u32 phase;
    u32 form;
    u32 swapped;
    u32 slot;
    i32 level;
    u32 bottom_up;  // of the level in progress
    u32 defer;  // rows are put off until all heads have been looked at
    u32 done;  // when the launch ends: the traversal does too
    u32 wide;  // the level in progress is a wide top-down one
    u32 listed;  // it is bottom-up, and its frontier in the queue, too
    u32 mixed;  // its heads have been looked at, and the rest goes top-down
    u32 clean;  // the bitmap of what is found is empty
    u32 told;  // one of several GPUs: the others have what that bitmap holds of own words
    u32 shared;  // one of several GPUs: each searches own words in the level
    u64 begin;
    u64 count;
    u64 edges;
    u64 hot;
    u64 reached;
    u64 missed;
    u64 tally[TALLIES];
    u32 hot_chunks;  // of the hot rows found, in units of BLOCK_IDS ids: shared memory adds 32 bits at once
    u32 tail;  // thin and local levels: vertices found
    i32 local_from;  // level from which on levels may be local
    u32 own;  // local levels: the block's part of the frontier
    u32 longer;  // rows may be long: some were
    u32 taken;  // ids for which the list has room
    u32 local_most;  // vertices of a level up to which it stays local
    u32 aside_count;
    u32 go_on;
    u64 counts;  // what all blocks say
    u64 left_at;  // where the block puts into the queue what it left aside, and what it found
    u64 found_at;
    u32 held[TEAM_WARPS];
    vid buffer[TEAM_WARPS * BUFFER_IDS];
    vid aside[TEAM_WARPS * BUFFER_IDS / 16];
    u32 found[TEAM];
    u32 open[TEAM];
};

// How many warps may work at a time, each on the rows of `span` neighbouring vertices: few enough that what they read
// of host memory lies in one window, whose addresses the link translates at the full rate, and enough to keep it busy.
DEVICE u64 warps_in_window(const Bfs& s, u64 span) {
    const u64 fit = s.window / span;
    const u64 least = (u64)gridDim.x * LEAST_WARPS;
    return fit >= team_warps() ? team_warps() : fit > least ? fit : least < team_warps() ? least : team_warps();
}

DEVICE u32* frontier_bits(const Bfs& s, const Team& t) { return t.swapped ? s.next : s.frontier; }
DEVICE u32* next_bits(const Bfs& s, const Team& t) { return t.swapped ? s.frontier : s.next; }

// Records an id that is no vertex: the file is corrupt, and the host says so.
DEVICE void count_invalid(const Bfs& s) { atomicAdd(&s.progress->invalid, (u64)1); }

// Adds up over the warp and hands in; all lanes call it.
DEVICE void hand_in(Team& t, Tally which, u64 x) {
    x = warp_sum(x);
    if (lane_id() == 0 && x) atomicAdd(t.tally + which, x);
}

// The edges of the row of v, which stands for `weight` vertices of the next frontier. Hot rows are so few that each of
// them is counted on its own.
DEVICE u64 count_edges(const Bfs& s, Team& t, u64 v, u64 weight) {
    const u64 ids = degree(s.out, v);
    if (ids >= s.out.hot_from) atomicAdd(&t.hot_chunks, (u32)(ids / BLOCK_IDS * weight));
    return ids * weight;
}

DEVICE void settle(const Bfs& s, u64 v, vid parent, i32 level) {
    if (s.levels) s.levels[v] = level;
    if (s.parents) s.parents[v] = parent;
}

// The first block writes down the level that begins, or the direction of one that began with a probe.
DEVICE void note_level(const Bfs& s, const Team& t, u64 direction) {
    if (blockIdx.x != 0) return;
    Slot& slot = s.slots[t.slot];
    slot.frontier = t.count;
    slot.direction = direction;
    if (!slot.clock) slot.clock = (u64)clock64();
}

#include "algorithms/bfs/gpu/hubs.cuh"
