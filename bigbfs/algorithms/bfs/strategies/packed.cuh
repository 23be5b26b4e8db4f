// The edges of many rows laid end to end, so that neighbouring threads take neighbouring edges whatever the rows'
// lengths.
//
// A group (a warp or a block) takes as many entries as it has threads. Plain rows: thread k, k + SIZE, ... takes the
// edges of those numbers; whose they are a binary search in the sums of the degrees says. A varint row cannot be
// entered at any id: rows of at most SHORT ids are decoded by one thread each into shared memory, from which all take
// ids as above; longer ones are laid end to end in units (rows, chunks of hubs), and a warp decodes and takes a unit.
// So edges are shared out evenly, their decoding is not.
#pragma once
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/scan.cuh"
#include "algorithms/bfs/strategies/sink.cuh"

constexpr u32 SHORT = 16;

struct Packed {
    u64 sums[THREADS];  // of what each thread's row has, over the threads of the group before it
    vid vertices[THREADS];
    u64 words[WARPS];
#if VARINT
    vid ids[THREADS * SHORT];
#else
    const vid* rows[THREADS];
#endif
};

struct ByWarp {
    static constexpr u32 SIZE = WARP;
    static METHOD u32 rank() { return lane_id(); }
    static METHOD void sync() { __syncwarp(); }
    static METHOD u64 sum_before(u64 x, Packed&, u64& total) {
        u64 through = x;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) through = add_left(through, step);
        total = __shfl_sync(ALL_LANES, through, WARP - 1);
        return through - x;
    }
};

struct ByBlock {
    static constexpr u32 SIZE = THREADS;
    static METHOD u32 rank() { return threadIdx.x; }
    static METHOD void sync() { __syncthreads(); }
    static METHOD u64 sum_before(u64 x, Packed& p, u64& total) { return block_sum_before(x, p.words, total); }
};

// The last of SIZE sums that is no more than k: rows without edges have the sum of the one behind them.
template <u32 SIZE> DEVICE u32 owner_of(const u64* sums, u64 k) {
    u32 low = 0;
#pragma unroll
    for (u32 step = SIZE / 2; step > 0; step /= 2) {
        if (sums[low + step] <= k) low += step;
    }
    return low;
}

DEVICE void take_edge(const Search& s, vid v, vid u) {
    if (is_vertex(s, u) && claim_parent(s, v, u)) put(s, u);
}

#if VARINT

// The units of long rows: a warp of the group takes one after the other. Returns the ids that the lane has read.
template <typename Group> DEVICE u64 take_long(const Search& s, Packed& p, vid v, u64 ids) {
    const u32 first = threadIdx.x - Group::rank();
    u64 units = 0;
    if (ids > SHORT) {
        const Pieces pieces(s.out, v);
        units = pieces.end - pieces.next;
    }
    u64 total;
    p.sums[threadIdx.x] = Group::sum_before(units, p, total);
    p.vertices[threadIdx.x] = v;
    Group::sync();
    u64 read = 0;
    for (u64 k = Group::rank() / WARP; k < total; k += Group::SIZE / WARP) {
        const u32 owner = first + owner_of<Group::SIZE>(p.sums + first, k);
        const vid from = p.vertices[owner];
        Pieces pieces(s.out, from);
        pieces.next += k - p.sums[owner];
        read += read_segment(s, s.out, pieces.take(s.out, from), [&](bool valid, vid u) {
            if (valid && claim_parent(s, from, u)) put(s, u);
        });
    }
    Group::sync();
    return read;
}

// The short rows; `ids` is 0 for the others. A damaged row may hold fewer ids or more than it should.
template <typename Group> DEVICE u64 take_short(const Search& s, Packed& p, vid v, u64 ids) {
    const u32 first = threadIdx.x - Group::rank();
    u64 total;
    const u64 before = Group::sum_before(ids, p, total);
    p.sums[threadIdx.x] = before;
    vid* const own = p.ids + first * SHORT + before;
    u32 held = 0;
    Segment segment = {0, 0, 0, false};
    if (ids) segment = row(s.out, v);
    Cursor<1> cursor(s.out, segment, 0);
    while (held < ids && cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j) && held < ids) own[held++] = cursor.ids[j];
        }
    }
    for (; held < ids; ++held) own[held] = ~(vid)0;
    Group::sync();
    for (u64 k = Group::rank(); k < total; k += Group::SIZE) {
        take_edge(s, p.vertices[first + owner_of<Group::SIZE>(p.sums + first, k)], p.ids[first * SHORT + k]);
    }
    Group::sync();
    return ids;
}

template <typename Group> DEVICE u64 take_rows(const Search& s, Packed& p, vid v, u64 ids) {
    const u64 read = take_long<Group>(s, p, v, ids);
    return read + take_short<Group>(s, p, v, ids > SHORT ? 0 : ids);
}

#else

template <typename Group> DEVICE u64 take_rows(const Search& s, Packed& p, vid v, u64 ids) {
    const u32 first = threadIdx.x - Group::rank();
    u64 total;
    p.sums[threadIdx.x] = Group::sum_before(ids, p, total);
    p.vertices[threadIdx.x] = v;
    if (ids) {
        const Segment segment = row(s.out, v);
        p.rows[threadIdx.x] = (const vid*)memory_of(s.out, segment) + segment.begin;
    }
    Group::sync();
    for (u64 k = Group::rank(); k < total; k += Group::SIZE) {
        const u32 owner = first + owner_of<Group::SIZE>(p.sums + first, k);
        take_edge(s, p.vertices[owner], __ldg(p.rows[owner] + (k - p.sums[owner])));
    }
    Group::sync();
    return ids;
}

#endif

template <typename Group> DEVICE void expand_packed(const Search& s, Packed& p) {
    u64 checked = 0;
    for (u64 base = thread_id() - Group::rank(); base < here(s).size; base += thread_count()) {
        const bool mine = base + Group::rank() < here(s).size;
        const vid v = mine ? s.queue[base + Group::rank()] : 0;
        checked += take_rows<Group>(s, p, v, mine ? degree(s.out, v) : 0);
    }
    hand_in(s, checked);
}
