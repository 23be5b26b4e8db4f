// A warp takes an entry of the queue: its lanes lay the ids of the row side by side in shared memory, then take one
// each, claim it, and append what they have won by a ballot.
#pragma once
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/sink.cuh"

constexpr u32 STAGED = SLOTS * WARP;  // ids that one load of a warp may give

// The ids of one load, side by side. Returns how many; all lanes call it.
DEVICE u32 lay_out(const Cursor<WARP>& cursor, vid* own) {
    const u32 count = (u32)__popc(cursor.valid);
    const u32 through = warp_inclusive_sum(count);
    u32 at = through - count;
#pragma unroll
    for (u32 j = 0; j < SLOTS; ++j) {
        if (cursor.has(j)) own[at++] = cursor.ids[j];
    }
    __syncwarp();
    return __shfl_sync(ALL_LANES, through, WARP - 1);
}

// stage: STAGED ids for each warp of the block.
DEVICE void expand_entries(const Search& s, vid* stage) {
    u64 checked = 0;
    vid* const own = stage + threadIdx.x / WARP * STAGED;
    for (u64 i = thread_id() / WARP; i < here(s).size; i += thread_count() / WARP) {
        const vid v = s.queue[i];
        for (Pieces pieces(s.out, v); pieces.next < pieces.end;) {
            Cursor<WARP> cursor(s.out, pieces.take(s.out, v), lane_id());
            while (cursor.load()) {
                const u32 count = lay_out(cursor, own);
                for (u32 k = lane_id(); __any_sync(ALL_LANES, k < count); k += WARP) {
                    const vid u = k < count ? own[k] : 0;
                    checked += k < count;
                    put_together(s, k < count && is_vertex(s, u) && swap_label(s, v, u), u);
                }
                __syncwarp();
            }
        }
    }
    hand_in(s, checked);
}
