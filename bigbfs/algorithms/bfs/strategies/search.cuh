// A search whose levels the host launches (algorithms/bfs/gpu/levels.py), as every strategy sees it: its arrays, what
// the level counts, and how a thread or a warp reads a whole row.
//
// The arrays of struct Search are those that the strategy's entry declares (-D SEARCH_ARRAYS). A level reads its
// record and adds to the next one's; the host launches the next level when it has read that back. Every thread stays
// to the end of its kernel: hand_in() and the sinks of whole warps are for all lanes.
#pragma once
#include "kernels/rows/adjacency.cuh"

constexpr u32 THREADS = LEVEL_THREADS;  // of a block
constexpr u32 WARPS = THREADS / WARP;

struct Record {
    u64 size;      // entries of the level's queue; where there is none: not 0 while the search goes on
    u64 checked;   // ids read from rows
    u64 invalid;   // of them, those that are no vertices
    u64 taken;     // entries of the queue that somebody has fetched, or that a sweep has made
    u64 edges;     // ids that the level's rows have, where they go through an edge queue
    u64 vertices;  // entries of the vertex queue beside the edge queue
    u64 small;     // entries of the queue by the length of their rows
    u64 medium;
    u64 large;
};
static_assert(sizeof(Record) == RECORD_BYTES, "Record differs from its NumPy dtype");

struct Search {
    Adjacency out;
    Adjacency in;  // the rows that bottom-up levels read
    SEARCH_ARRAYS
    u64 slot;      // of the level's record
    u64 level;     // of the vertices to be expanded
    u64 source;
    u64 capacity;  // ids that a vertex queue holds
    u64 edge_capacity;
    u64 window;    // number of the first edge of the level that the edge queue holds
};
static_assert(sizeof(Search) == SEARCH_BYTES, "Search differs from its NumPy dtype");

DEVICE Record& here(const Search& s) { return ((Record*)s.records)[s.slot]; }
DEVICE Record& beyond(const Search& s) { return ((Record*)s.records)[s.slot + 1]; }

// Records an id that is no vertex: the file is corrupt, and the host says so.
DEVICE bool is_vertex(const Search& s, vid u) {
    if (u < s.out.n) return true;
    atomicAdd(&here(s).invalid, (u64)1);
    return false;
}

// Adds up the ids that the lanes have read; all of them call it.
DEVICE void hand_in(const Search& s, u64 checked) {
    checked = warp_sum(checked);
    if (lane_id() == 0 && checked) atomicAdd(&here(s).checked, checked);
}

// The row of v in segments that a cursor may be given: itself, or the chunks of a hub.
struct Pieces {
    u64 next;
    u64 end;
    u32 hub;
    bool whole;

    METHOD Pieces(const Adjacency& a, vid v) : next(0), end(1), hub(0), whole(degree(a, v) <= BLOCK_IDS) {
        if (whole) return;
        hub = find_hub(a, v);
        next = a.hub_ptr[hub];
        end = a.hub_ptr[hub + 1];
    }

    METHOD Segment take(const Adjacency& a, vid v) {
        const Segment s = whole ? row(a, v) : chunk(a, next, hub);
        ++next;
        return s;
    }
};

// edge(u) for every vertex in the row of v, until one answers that it has seen enough. Returns the ids read.
template <typename Edge> DEVICE u64 read_alone(const Search& s, const Adjacency& a, vid v, Edge edge) {
    u64 read = 0;
    bool enough = false;
    for (Pieces pieces(a, v); !enough && pieces.next < pieces.end;) {
        Cursor<1> cursor(a, pieces.take(a, v), 0);
        while (!enough && cursor.load()) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; ++j) {
                if (enough || !cursor.has(j)) continue;
                ++read;
                enough = is_vertex(s, cursor.ids[j]) && edge(cursor.ids[j]);
            }
        }
    }
    return read;
}

// edges(valid, u) for the ids of a segment, up to 32 at a time, one to a lane; all lanes of a warp call it with the
// same segment, and all are called. Returns the ids that the lane has read.
template <typename Edges>
DEVICE u64 read_segment(const Search& s, const Adjacency& a, const Segment& segment, Edges edges) {
    u64 read = 0;
    Cursor<WARP> cursor(a, segment, lane_id());
    while (cursor.load()) {
        read += (u32)__popc(cursor.valid);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) edges(cursor.has(j) && is_vertex(s, cursor.ids[j]), cursor.ids[j]);
    }
    return read;
}

// The same for the whole row of v.
template <typename Edges> DEVICE u64 read_together(const Search& s, const Adjacency& a, vid v, Edges edges) {
    u64 read = 0;
    for (Pieces pieces(a, v); pieces.next < pieces.end;) read += read_segment(s, a, pieces.take(a, v), edges);
    return read;
}
