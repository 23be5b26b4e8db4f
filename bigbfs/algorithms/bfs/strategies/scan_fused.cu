// A block takes THREADS entries of the queue, a row to a thread; in rounds of ROUND ids the block adds up what its
// threads have won, reserves slots for all by one atomic, and reads the same ids again to store them.
//
// The report keeps what a thread wins in an array of 32: what a vertex finds beyond is lost, and an array is memory. A
// bit for each id and a second reading, out of the cache, need neither. Frontier kind: vertex queues. Atomics: one on
// the parent of each end that looks unreached, one a round of a block on the counter. Memory per edge: the id twice,
// the parent of its end. Source: report 000, 2.4.
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/scan.cuh"

constexpr u32 ROUND_LOADS = 32 / SLOTS;

// Bit number load * SLOTS + j says that id j of that load is won.
DEVICE u32 win_round(const Search& s, vid v, Segment& rest, u64& checked) {
    u32 won = 0;
    Cursor<1> cursor(s.out, rest, 0);
    for (u32 load = 0; load < ROUND_LOADS && cursor.load(); ++load) {
        checked += (u32)__popc(cursor.valid);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const bool mine = cursor.has(j) && is_vertex(s, cursor.ids[j]) && claim_parent(s, v, cursor.ids[j]);
            won |= (u32)mine << (load * SLOTS + j);
        }
    }
    const bool hot = rest.hot;
    rest = cursor.rest();
    rest.hot = hot;
    return won;
}

DEVICE void store_round(const Search& s, const Segment& round, u32 won, u64 at) {
    Cursor<1> cursor(s.out, round, 0);
    for (; won && cursor.load(); won >>= SLOTS) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (won >> j & 1) s.next_queue[at++] = cursor.ids[j];
        }
    }
}

KERNEL void scan_fused_expand(Search s) {
    __shared__ u64 words[WARPS];
    __shared__ u64 first;
    u64 checked = 0;
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        bool more = base + threadIdx.x < here(s).size;
        const vid v = more ? s.queue[base + threadIdx.x] : 0;
        Pieces pieces(s.out, v);
        Segment rest = {0, 0, 0, false};
        while (__syncthreads_or(more)) {
            if (more && rest.begin >= rest.end) rest = pieces.take(s.out, v);
            const Segment round = rest;
            const u32 won = more ? win_round(s, v, rest, checked) : 0;
            u64 total;
            const u64 before = block_sum_before((u32)__popc(won), words, total);
            if (threadIdx.x == 0) first = atomicAdd(&beyond(s).size, total);
            __syncthreads();
            store_round(s, round, won, first + before);
            more = more && (rest.begin < rest.end || pieces.next < pieces.end);
        }
    }
    hand_in(s, checked);
}
ENTRY(scan_fused_expand)
