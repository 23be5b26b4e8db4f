// Connected components whose rows come from a file: the passes over rows (cc_afforest.cu and cc_simple.cu have the
// rest).
//
// streamed_outside, streamed_active: a thread owns a vertex, and puts down in `wanted` whose row a pass has to read.
// The others: a warp owns a piece of a batch. Atomics: as in operations.cuh; one for each id that is no vertex. Memory
// per edge: the id, and what the operation looks at.
#include "algorithms/components/gpu/operations.cuh"
#include "kernels/rows/piece.cuh"

// The `Work` of piece.cuh that an operation of passes.cuh is.
template <typename Operation> struct Walk {
    static constexpr bool STOPS = false;
    Operation& operation;
    u64 n;
    Counts* counts;

    METHOD bool wants(vid v) const { return operation.wants(v); }

    METHOD bool read(vid v, vid u) {
        operation.tally.read += 1;
        if (u < n) operation.edge(v, u);
        else atomicAdd(&counts->invalid, (u64)1);
        return false;
    }
};

template <typename Operation>
DEVICE void walk_pieces(
    const Adjacency& a, Operation& operation, const u32* wanted, const Piece* pieces, u64 count, Counts* counts
) {
    Walk<Operation> work = {operation, a.n, counts};
    read_pieces(a, work, pieces, count, wanted);
    __syncwarp();
    add_up(operation.tally, counts);
}

// Puts down the lanes that `asked`; *rows += how many there are.
DEVICE void put_down(u64 v, bool asked, u32* wanted, u64& rows) {
    const u32 bits = __ballot_sync(ALL_LANES, asked);
    if (lane_id() == 0) wanted[v / WARP] = bits;
    rows += asked;
}

DEVICE void hand_in_rows(u64 asked, u64* rows) {
    asked = warp_sum(asked);
    if (lane_id() == 0 && asked) atomicAdd(rows, asked);
}

// The vertices whose root is not *giant; with heads_too those whose heads are their row are linked to them at once.
KERNEL void streamed_outside(
    Adjacency a, vid* forest, u32 by_id, const vid* giant, u32 heads_too, u32* wanted, u64* rows, Counts* counts
) {
    Link operation = {forest, *giant, by_id, {0, 0, 0}};
    const u64 end = words_for(a.n) * WARP;
    u64 asked = 0;
    for (u64 v = thread_id(); v < end; v += thread_count()) {
        const bool outside = v < a.n && test_bit(a.rows, v) && operation.wants(v);
        const u64 ids = outside ? degree(a, v) : 0;
        const bool at_once = heads_too && heads_are_all(a, ids);
        if (at_once) {
            for (u32 i = 0; i < ids; ++i) operation.edge((vid)v, head(a, v, i));
        }
        put_down(v, ids && !at_once, wanted, asked);
    }
    hand_in_rows(asked, rows);
    add_up(operation.tally, counts);
}
ENTRY(streamed_outside)

// The vertices with edges among those of `active`.
KERNEL void streamed_active(Adjacency a, const u32* active, u32* wanted, u64* rows) {
    const u64 end = words_for(a.n) * WARP;
    u64 asked = 0;
    for (u64 v = thread_id(); v < end; v += thread_count()) {
        put_down(v, v < a.n && test_bit(a.rows, v) && test_bit(active, v), wanted, asked);
    }
    hand_in_rows(asked, rows);
}
ENTRY(streamed_active)

KERNEL void streamed_link(
    Adjacency a, vid* forest, u32 by_id, const vid* giant, const u32* wanted, const Piece* pieces, u64 count,
    Counts* counts
) {
    Link operation = {forest, *giant, by_id, {0, 0, 0}};
    walk_pieces(a, operation, wanted, pieces, count, counts);
}
ENTRY(streamed_link)

KERNEL void streamed_hook(
    Adjacency a, vid* forest, u32 by_id, const vid* giant, const u32* wanted, const Piece* pieces, u64 count,
    Counts* counts
) {
    Hook operation = {forest, *giant, by_id, {0, 0, 0}};
    walk_pieces(a, operation, wanted, pieces, count, counts);
}
ENTRY(streamed_hook)

KERNEL void streamed_spread(
    Adjacency a, vid* labels, const u32* active, u32* following, const u32* wanted, const Piece* pieces, u64 count,
    Counts* counts
) {
    Spread operation = {labels, active, following, {0, 0, 0}};
    walk_pieces(a, operation, wanted, pieces, count, counts);
}
ENTRY(streamed_spread)
