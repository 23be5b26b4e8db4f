// A pass over the rows of a graph: an operation meets every edge of the vertices that it wants, in two kernels.
//
// walk_rows: a warp owns 32 vertices; a row of at most THREAD_IDS ids is read by one thread, a longer one by the warp,
// a hub not at all. walk_hubs: a warp takes a chunk of a hub row. An operation has
//   bool wants(v)         asked for each row (or chunk) of a vertex with a bit in a.rows, and in vain for vertex 0
//   void edge(v, u)       u < n is a neighbour of v; HEADS_TOO: also from a head table that holds the whole row
// and a PassTally of what it did, which add_up() hands in at the end: all threads of a warp together.
#pragma once
#include "kernels/base/turns.cuh"
#include "kernels/rows/heads.cuh"

// What passes add to.
struct Counts {
    u64 invalid;  // ids read that are no vertices
    u64 read;     // ids read from rows
    u64 merged;   // trees hooked, or labels lowered
    u64 open;     // links tried once whose ends differed
};
static_assert(sizeof(Counts) == COUNTS_BYTES, "Counts differs from its NumPy dtype");

struct PassTally {
    u32 read;
    u32 merged;
    u32 open;
};

DEVICE void add_up(const PassTally& tally, Counts* counts) {
    const u64 read = warp_sum(tally.read);
    const u64 merged = warp_sum(tally.merged);
    const u64 open = warp_sum(tally.open);
    if (lane_id() > 0) return;
    if (read) atomicAdd(&counts->read, read);
    if (merged) atomicAdd(&counts->merged, merged);
    if (open) atomicAdd(&counts->open, open);
}

// One segment of the row of v, read by WIDTH lanes; an id of a corrupt file could be anything.
template <u32 WIDTH, typename Operation>
DEVICE void walk(const Adjacency& a, Operation& operation, vid v, const Segment& segment, u32 lane, Counts* counts) {
    Cursor<WIDTH> cursor(a, segment, lane);
    while (cursor.load()) {
        operation.tally.read += (u32)__popc(cursor.valid);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!cursor.has(j)) continue;
            if (cursor.ids[j] < a.n) operation.edge(v, cursor.ids[j]);
            else atomicAdd(&counts->invalid, (u64)1);
        }
    }
}

// The rows of the 32 vertices from `base` on, those of the lanes that are `asked`; all lanes call it.
template <bool HEADS_TOO, typename Operation>
DEVICE void walk_word(const Adjacency& a, Operation& operation, u64 base, bool asked, Counts* counts) {
    const u64 v = base + lane_id();
    u64 ids = asked ? degree(a, v) : 0;
    if (ids > BLOCK_IDS) ids = 0;
    if (HEADS_TOO && ids && heads_are_all(a, ids)) {
        for (u32 i = 0; i < ids; ++i) operation.edge((vid)v, head(a, v, i));
        ids = 0;
    }
    Segment segment = {0, 0, 0};
    if (ids) segment = row(a, v);
    for (u32 wide = __ballot_sync(ALL_LANES, ids > THREAD_IDS); wide; wide &= wide - 1) {
        const u32 from = (u32)__ffs((int)wide) - 1;
        walk<WARP>(a, operation, (vid)(base + from), broadcast(segment, from), lane_id(), counts);
    }
    if (ids && ids <= THREAD_IDS) walk<1>(a, operation, (vid)v, segment, 0, counts);
}

// Where hardly any vertex is wanted, the answers that are waited for are the time.
template <bool HEADS_TOO, typename Operation>
DEVICE void walk_rows(const Adjacency& a, Operation& operation, Counts* counts) {
    for (Turns turns; turns.begin * WARP < a.n; turns.go_on()) {
        u32 asked = 0, some = 0;
#pragma unroll
        for (u32 j = 0; j < AT_ONCE; ++j) {
            const u64 v = turns.word(j) * WARP + lane_id();
            const bool has_row = v < a.n && test_bit(a.rows, v);
            asked |= (u32)(operation.wants(has_row ? v : 0) && has_row) << j;
        }
#pragma unroll
        for (u32 j = 0; j < AT_ONCE; ++j) some |= (u32)(__any_sync(ALL_LANES, (asked >> j) & 1) != 0) << j;
#pragma unroll 1
        for (; some; some &= some - 1) {
            const u32 j = (u32)__ffs((int)some) - 1;
            walk_word<HEADS_TOO>(a, operation, turns.word(j) * WARP, (asked >> j) & 1, counts);
        }
    }
    add_up(operation.tally, counts);
}

template <typename Operation> DEVICE void walk_hubs(const Adjacency& a, Operation& operation, Counts* counts) {
    const u64 warps = thread_count() / WARP;
    for (u64 start = thread_id() / WARP; start < a.chunks; start += warps * WARP) {
        const u64 c = start + lane_id() * warps;
        u32 hub = 0;
        bool active = false;
        if (c < a.chunks) {
            hub = __ldg(a.chunk_hub + c);
            active = test_bit(a.rows, a.hubs[hub]) && operation.wants(a.hubs[hub]);  // of several GPUs' hubs, own ones
        }
        for (u32 todo = __ballot_sync(ALL_LANES, active); todo; todo &= todo - 1) {
            const u32 from = (u32)__ffs((int)todo) - 1;
            const u32 which = __shfl_sync(ALL_LANES, hub, from);
            walk<WARP>(a, operation, a.hubs[which], chunk(a, start + from * warps, which), lane_id(), counts);
        }
    }
    add_up(operation.tally, counts);
}
