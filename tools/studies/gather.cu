// How fast a device reads the rows of a frontier, by who reads a row; the ids are added up, and nothing is written.
//
// serial: a thread for each row; warp: a warp; block: a block; scan: the rows of a block laid end to end by their
// owners, then taken in order, as report 004 does it; scan_warp: so the rows of less than 32 ids, a warp for the
// others; all: hubs by the block as well (gather.cuh). look_up, put_ends, fused: the same frontiers with the status of
// each end looked up, from a queue of ends or as it is read. Atomics: two for a warp or block, at its end. Memory per
// edge: the id; with a look-up a word of the bitmask and, where its bit is not set, a level; through the queue the id
// twice more. Plain rows alone. Source: report 004, 4.1 and its figures 5, 6 and 9.
#include "algorithms/bfs/strategies/gather.cuh"

#if VARINT
#error "the study of gathering is of plain rows"
#endif

DEVICE void hand_in_sum(const Search& s, u64 sum, u64 read) {
    hand_in(s, read);
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum) atomicAdd(&here(s).edges, sum);
}

DEVICE const vid* first_of(const Search& s, vid v) {
    const Segment segment = row(s.out, v);
    return (const vid*)memory_of(s.out, segment) + segment.begin;
}

KERNEL void gather_serial(Search s) {
    u64 sum = 0;
    u64 read = 0;
    for (u64 i = thread_id(); i < here(s).size; i += thread_count()) {
        read += read_alone(s, s.out, s.queue[i], [&](vid u) {
            sum += u;
            return false;
        });
    }
    hand_in_sum(s, sum, read);
}
ENTRY(gather_serial)

KERNEL void gather_warp(Search s) {
    u64 sum = 0;
    u64 read = 0;
    for (u64 i = thread_id() / WARP; i < here(s).size; i += thread_count() / WARP) {
        read += read_together(s, s.out, s.queue[i], [&](bool valid, vid u) { sum += valid ? u : 0; });
    }
    hand_in_sum(s, sum, read);
}
ENTRY(gather_warp)

KERNEL void gather_block(Search s) {
    u64 sum = 0;
    u64 read = 0;
    for (u64 i = blockIdx.x; i < here(s).size; i += gridDim.x) {
        const vid v = s.queue[i];
        const u64 ids = degree(s.out, v);
        if (ids == 0) continue;
        const vid* const first = first_of(s, v);
        for (u64 k = threadIdx.x; k < ids; k += THREADS, ++read) sum += __ldg(first + k);
    }
    hand_in_sum(s, sum, read);
}
ENTRY(gather_block)

// The rows of the block's threads, `ids` of them long, laid end to end in rounds; returns the sum of the ids taken.
DEVICE u64 take_by_scan(const Search& s, Gather& g, vid v, u64 ids, u64& read) {
    u64 total;
    const u64 before = block_sum_before(ids, g.words, total);
    const vid* const first = ids ? first_of(s, v) : nullptr;
    u64 sum = 0;
    u64 laid = 0;
    for (u64 begin = 0; begin < total; begin += GATHER_IDS) {
        for (; laid < ids && before + laid < begin + GATHER_IDS; ++laid) {
            g.places[before + laid - begin] = (u64)(first + laid);
        }
        __syncthreads();
        const u64 left = total - begin;
        for (u32 k = threadIdx.x; k < (left < GATHER_IDS ? left : GATHER_IDS); k += THREADS, ++read) {
            sum += __ldg((const vid*)g.places[k]);
        }
        __syncthreads();
    }
    return sum;
}

KERNEL void gather_scan(Search s) {
    __shared__ Gather g;
    u64 sum = 0;
    u64 read = 0;
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const bool mine = base + threadIdx.x < here(s).size;
        const vid v = mine ? s.queue[base + threadIdx.x] : 0;
        sum += take_by_scan(s, g, v, mine ? degree(s.out, v) : 0, read);
    }
    hand_in_sum(s, sum, read);
}
ENTRY(gather_scan)

KERNEL void gather_scan_warp(Search s) {
    __shared__ Gather g;
    u64 sum = 0;
    u64 read = 0;
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const bool mine = base + threadIdx.x < here(s).size;
        const vid v = mine ? s.queue[base + threadIdx.x] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        for (u32 todo = __ballot_sync(ALL_LANES, ids >= WARP); todo; todo &= todo - 1) {
            const vid wide = __shfl_sync(ALL_LANES, v, __ffs((int)todo) - 1);
            read += read_together(s, s.out, wide, [&](bool valid, vid u) { sum += valid ? u : 0; });
        }
        sum += take_by_scan(s, g, v, ids < WARP ? ids : 0, read);
    }
    hand_in_sum(s, sum, read);
}
ENTRY(gather_scan_warp)

// emit(there, u, number) for every edge of the frontier, by scan + warp + block.
template <typename Emit> DEVICE void gather_frontier(const Search& s, Gather& g, Emit emit) {
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const bool mine = base + threadIdx.x < here(s).size;
        const vid v = mine ? s.queue[base + threadIdx.x] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        const auto reserve = [&](u64 wanted) { return atomicAdd(&here(s).taken, wanted); };
        gather_rows(s, g, v, ids, reserve, [&](bool there, vid, vid u, u64 number) { emit(there, u, number); });
    }
}

KERNEL void gather_all(Search s) {
    __shared__ Gather g;
    u64 sum = 0;
    u64 read = 0;
    gather_frontier(s, g, [&](bool there, vid u, u64) {
        sum += there ? u : 0;
        read += there;
    });
    hand_in_sum(s, sum, read);
}
ENTRY(gather_all)

KERNEL void put_ends(Search s) {
    __shared__ Gather g;
    gather_frontier(s, g, [&](bool there, vid u, u64 number) {
        if (there && number < s.edge_capacity) s.edges[number] = u;
    });
}
ENTRY(put_ends)

DEVICE bool is_new(const Search& s, vid u) {
    return !(stale_load(s.bitmask + word_of(u)) & bit_of(u)) && relaxed_load(s.levels + u) == -1;
}

KERNEL void look_up(Search s) {
    u64 found = 0;
    u64 read = 0;
    for (u64 i = thread_id(); i < here(s).taken; i += thread_count(), ++read) found += is_new(s, s.edges[i]);
    hand_in_sum(s, found, read);
}
ENTRY(look_up)

KERNEL void fused(Search s) {
    __shared__ Gather g;
    u64 found = 0;
    u64 read = 0;
    gather_frontier(s, g, [&](bool there, vid u, u64) {
        found += there && is_new(s, u);
        read += there;
    });
    hand_in_sum(s, found, read);
}
ENTRY(fused)
