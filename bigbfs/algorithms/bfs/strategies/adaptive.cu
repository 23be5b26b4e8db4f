// Entries of the queue are sorted into three queues by the length of their rows: for a thread, a warp or a block each.
//
// adaptive_classify: a thread for each entry; ranks by ballots, then counters of the block, then one atomic a block
// and class. adaptive_small, _medium, _large: a thread, a warp, a block for each row of less than 32 ids, less than
// 1024, more. Frontier kind: vertex queue and three queues of classes. Atomics: one on the label of each end that
// looks unreached, one on the counter for a warp's vertices. Memory per edge: the id and the label of its end. Source:
// report 003, 2.2 and 2.3 (V4).
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/sink.cuh"

constexpr u64 SMALL = WARP;
constexpr u64 MEDIUM = BLOCK_IDS;

DEVICE void enter(bool mine, vid v, vid* queue, u64* count, u32& in_block, u64& first) {
    const u32 lanes = __ballot_sync(ALL_LANES, mine);
    u32 at = 0;
    if (lane_id() == 0 && lanes) at = atomicAdd(&in_block, (u32)__popc(lanes));
    at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(lanes & ((1u << lane_id()) - 1));
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, (u64)in_block);
    __syncthreads();
    if (mine) queue[first + at] = v;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
}

KERNEL void adaptive_classify(Search s) {
    __shared__ u32 in_block;
    __shared__ u64 first;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const bool there = base + threadIdx.x < here(s).size;
        const vid v = there ? s.queue[base + threadIdx.x] : 0;
        const u64 ids = there ? degree(s.out, v) : 0;
        enter(there && ids < SMALL, v, s.small_queue, &here(s).small, in_block, first);
        enter(there && ids >= SMALL && ids < MEDIUM, v, s.medium_queue, &here(s).medium, in_block, first);
        enter(there && ids >= MEDIUM, v, s.large_queue, &here(s).large, in_block, first);
    }
}
ENTRY(adaptive_classify)

// Rows end in different rounds: a lane whose own has ended still takes part in the ballots of the others.
KERNEL void adaptive_small(Search s) {
    u64 checked = 0;
    for (u64 base = thread_id() / WARP * WARP; base < here(s).small; base += thread_count()) {
        const bool there = base + lane_id() < here(s).small;
        const vid v = there ? s.small_queue[base + lane_id()] : 0;
        Segment segment = {0, 0, 0, false};
        if (there) segment = row(s.out, v);
        Cursor<1> cursor(s.out, segment, 0);
        for (bool more = cursor.load(); __any_sync(ALL_LANES, more); more = more && cursor.load()) {
            if (more) checked += (u32)__popc(cursor.valid);
#pragma unroll
            for (u32 j = 0; j < SLOTS; ++j) {
                const bool valid = more && cursor.has(j) && is_vertex(s, cursor.ids[j]);
                put_together(s, valid && swap_label(s, v, cursor.ids[j]), cursor.ids[j]);
            }
        }
    }
    hand_in(s, checked);
}
ENTRY(adaptive_small)

KERNEL void adaptive_medium(Search s) {
    u64 checked = 0;
    for (u64 i = thread_id() / WARP; i < here(s).medium; i += thread_count() / WARP) {
        const vid v = s.medium_queue[i];
        checked +=
            read_together(s, s.out, v, [&](bool valid, vid u) { put_together(s, valid && swap_label(s, v, u), u); });
    }
    hand_in(s, checked);
}
ENTRY(adaptive_medium)

// The chunks of a row over the warps of the block.
KERNEL void adaptive_large(Search s) {
    u64 checked = 0;
    for (u64 i = blockIdx.x; i < here(s).large; i += gridDim.x) {
        const vid v = s.large_queue[i];
        Pieces pieces(s.out, v);
        for (pieces.next += threadIdx.x / WARP; pieces.next < pieces.end; pieces.next += WARPS - 1) {
            checked += read_segment(s, s.out, pieces.take(s.out, v), [&](bool valid, vid u) {
                put_together(s, valid && swap_label(s, v, u), u);
            });
        }
    }
    hand_in(s, checked);
}
ENTRY(adaptive_large)
