// How fast GPUs of one machine store into each other's memory and read it, and how long a word and a meeting take.
//
// store_units, fetch_units: a thread owns 16 bytes at a time, neighbours side by side, four in flight when they are
// read; the other GPU's memory is given by its address here. tell_peers: one warp on each GPU, `rounds` letters of one
// field from each to each, every one of which is waited for. meet_peers: `rounds` barriers of the grid at which all
// GPUs meet, by the code by which a search meets (meeting.cuh). Frontier kind: none. Atomics: one for each warp, on the
// sum that shows that everything was read; those of a barrier. Memory per edge: none. Source: ours.
#include "algorithms/bfs/gpu/peers/meeting.cuh"

constexpr u32 IN_FLIGHT = 4;

KERNEL void store_units(const uint4* from, u64 to, u64 units) {
    uint4* const target = (uint4*)to;
    for (u64 i = thread_id(); i < units; i += thread_count()) target[i] = from[i];
}
ENTRY(store_units)

KERNEL void fetch_units(u64 from, u64 units, u64* sum) {
    const uint4* const data = (const uint4*)from;
    const u64 step = thread_count();
    u64 own = 0;
    for (u64 i = thread_id(); i < units; i += step * IN_FLIGHT) {
        uint4 got[IN_FLIGHT];
#pragma unroll
        for (u32 j = 0; j < IN_FLIGHT; ++j) {
            const u64 at = i + j * step;
            got[j] = at < units ? data[at] : uint4{0, 0, 0, 0};
        }
#pragma unroll
        for (u32 j = 0; j < IN_FLIGHT; ++j) own += (u64)got[j].x + got[j].y + got[j].z + got[j].w;
    }
    own = warp_sum(own);
    if (lane_id() == 0 && own) atomicAdd(sum, own);
}
ENTRY(fetch_units)

// A warp, all lanes: a letter of one field from each rank to each; returns 1 + the rank whose did not come, or 0.
DEVICE u64 tell_all_once(const Peers& p, u64 number) {
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        system_fence();
        leave(letter_from(p, r, p.part.rank, number), 1, number, number);
    }
    const u64 start = (u64)clock64();
    for (u64 r = 0; r < p.part.size; ++r) {
        u64 word;
        if (r == p.part.rank) continue;
        while (!is_there(letter_from(p, p.part.rank, r, number), 1, number, word)) {
            spin();
            if (__shfl_sync(ALL_LANES, (u64)((u64)clock64() - start > p.patience), 0)) return r + 1;
        }
    }
    return 0;
}

KERNEL void tell_peers(Peers p, u64 rounds) {
    const u64 before = relaxed_load(&p.joint->meetings);
    u64 lost = relaxed_load(&p.joint->lost), round = 0;
    for (; round < rounds && !lost; ++round) lost = tell_all_once(p, before + round + 1);
    __syncwarp();
    if (lane_id() != 0) return;
    relaxed_store(&p.joint->meetings, before + round);
    relaxed_store(&p.joint->lost, lost);
}
ENTRY(tell_peers)

DEVICE bool always(const Peers&, const Team&, u64, u64) { return true; }

KERNEL void meet_peers(Peers p, u64 rounds) {
    __shared__ Team t;
    __shared__ Mates m;
    if (threadIdx.x == 0) {
        t.phase = HALT;
        t.slot = t.bottom_up = 0;
        m.round = 0;
        m.waited = m.told = 0;
        m.meetings = relaxed_load(&p.joint->meetings);
        m.barriers = relaxed_load(&p.joint->barriers);
        m.notice[LOST] = relaxed_load(&p.joint->lost);
        meet_other_blocks(p.s.meeting);  // all have read these, before the first block writes them
    }
    __syncthreads();
    for (u64 round = 0; round < rounds && !m.notice[LOST]; ++round) {
        __syncthreads();
        if (threadIdx.x < WARP) meet(p, t, m, always);
        __syncthreads();
    }
    if (thread_id() != 0) return;
    relaxed_store(&p.joint->meetings, m.meetings);
    relaxed_store(&p.joint->barriers, m.barriers);
    relaxed_store(&p.joint->lost, m.notice[LOST]);
}
ENTRY(meet_peers)
