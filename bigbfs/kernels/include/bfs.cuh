// What the kernels of a BFS share: its state, and what happens to a vertex that is reached.
//
// A level is expanded by kernels that only set bits of `visited` (and give the new vertices level and parent); then
// bfs_advance makes the bits that are new the next frontier. So a vertex is in exactly one frontier, by construction.
#pragma once
#include "adjacency.cuh"

struct Bfs {
    Adjacency out;   // rows that top-down expands
    Adjacency in;    // rows that bottom-up searches: in-neighbours
    u32* visited;    // bitmap: reached
    u32* seen;       // bitmap: reached before the level in progress
    u32* frontier;   // bitmap: to expand
    vid* queue;      // n: vertices of the frontier that are in out.rows, nearly ascending
    i32* levels;     // n: -1 unreached
    vid* parents;    // n, or null if not wanted; all ones: none
    u64* counters;   // COUNTERS, see below; they only grow during a traversal
};
static_assert(sizeof(Bfs) == BFS_BYTES, "Bfs differs from its NumPy dtype");

enum Counter { REACHED = 0, EDGES = 1, QUEUED = 2, INVALID = 3 };

// Threads of a block; every kernel here is launched with it.
constexpr u32 BLOCK = BLOCK_THREADS;

// Records an id that is no vertex: the file is corrupt, and the host says so.
DEVICE void count_invalid(u64* counters) { atomicAdd(counters + INVALID, (u64)1); }

DEVICE void settle(const Bfs& s, u64 v, vid parent, i32 level) {
    s.levels[v] = level;
    if (s.parents) s.parents[v] = parent;
}

// Top-down: the edge parent -> v was read.
DEVICE void reach(const Bfs& s, vid v, vid parent, i32 level) {
    if (v >= s.out.n) return count_invalid(s.counters);
    if (claim_bit(s.visited, v)) settle(s, v, parent, level);
}

// Bottom-up: is the neighbour u in the frontier?
DEVICE bool in_frontier(const Bfs& s, vid u) {
    if (u < s.in.n) return test_bit(s.frontier, u);
    count_invalid(s.counters);
    return false;
}
