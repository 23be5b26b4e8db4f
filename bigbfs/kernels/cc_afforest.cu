// Connected components by Afforest, exact: link with compare-and-swap on roots and retry.
//
// labels[v] is v's parent in a forest; a parent is never larger than its child, so a root is the smallest vertex of its
// tree. A thread owns a vertex (cc_init, cc_round, cc_compress), a warp 32 vertices or a chunk of a hub row (cc_finish_*).
// Frontier kind: none. Atomics: one compare-and-swap for each merge of two trees, more when it loses a race. Memory per
// edge: the id and the labels along two short paths. Source: Sutton, Ben-Nun, Barak, Optimizing Parallel Graph
// Connectivity Computation via Subgraph Sampling (IPDPS'18). Reports that link with one atomicMin on a root that may be
// stale lose links; a compare-and-swap that fails is tried again from what is there now.
#include "heads.cuh"

constexpr u32 THREAD_IDS = 8;  // a row of at most this many ids is read by one thread
constexpr u32 SAMPLE = 512;    // labels drawn to find the giant component
constexpr u32 OTHERS = 64;     // one vertex with edges in so many may be outside the giant where rounds are saved

DEVICE void link(vid* labels, vid u, vid v) {
    vid a = relaxed_load(labels + u);
    vid b = relaxed_load(labels + v);
    while (a != b) {
        const vid high = a > b ? a : b;
        const vid low = a > b ? b : a;
        const vid above = relaxed_load(labels + high);
        if (above == low) return;
        if (above == high && atomicCAS(labels + high, high, low) == high) return;
        a = relaxed_load(labels + relaxed_load(labels + high));
        b = relaxed_load(labels + low);
    }
}

// Links v to an id read from a row, which a corrupt file could make anything.
DEVICE void link_checked(vid* labels, u64 n, vid v, vid u, u64* invalid) {
    if (u < n) return link(labels, v, u);
    atomicAdd(invalid, (u64)1);
}

// The first forest: every vertex, or, where there is a head table, every vertex below its first head if that is smaller.
KERNEL void cc_init(Adjacency a, vid* labels) {
    for (u64 v = thread_id(); v < a.n; v += thread_count()) {
        vid label = (vid)v;
        if (a.head_groups && test_bit(a.rows, v)) {
            const vid first = head(a, v, 0);
            if (first < label) label = first;
        }
        labels[v] = label;
    }
}
ENTRY(cc_init)

// Links every vertex to its neighbour number `which`, unless *settled.
KERNEL void cc_round(Adjacency a, vid* labels, u32 which, const u32* settled, u64* invalid) {
    if (*settled) return;
    for (u64 v = thread_id(); v < a.n; v += thread_count()) {
        if (!test_bit(a.rows, v)) continue;
        if (a.head_groups) {
            const vid u = head(a, v, which);
            if (u > v || which > 0) link(labels, (vid)v, u);
            continue;
        }
        if (degree(a, v) <= which) continue;
        Cursor<1> cursor(a, row(a, v), 0);
        u32 left = which + 1;
        while (left > 0 && cursor.load()) {
#pragma unroll
            for (u32 j = 0; j < SLOTS; ++j) {
                if (cursor.has(j) && left > 0 && --left == 0) link_checked(labels, a.n, (vid)v, cursor.ids[j], invalid);
            }
        }
    }
}
ENTRY(cc_round)

// Makes every label a root, unless *settled: then they are.
KERNEL void cc_compress(u64 n, vid* labels, const u32* settled) {
    if (*settled) return;
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        const vid label = relaxed_load(labels + v);
        vid root = label;
        for (vid above = relaxed_load(labels + root); above != root; above = relaxed_load(labels + root)) root = above;
        if (root != label) relaxed_store(labels + v, root);
    }
}
ENTRY(cc_compress)

// One block: *giant = the most frequent of the labels of SAMPLE vertices drawn by a multiplicative hash. A wrong guess costs
// time, never the answer. *settled: nearly all vertices with edges are in it, so that more rounds would cost more than the
// rows of the others.
KERNEL void cc_giant(Adjacency a, const vid* labels, vid* giant, u32* settled) {
    __shared__ vid sample[SAMPLE];
    __shared__ u32 best, inside, outside;
    if (*settled) return;
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) sample[i] = a.n ? labels[(i + 1) * 0x9e3779b97f4a7c15ull % a.n] : 0;
    if (threadIdx.x == 0) best = inside = outside = 0;
    __syncthreads();
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) {
        u32 equal = 0;
        for (u32 k = 0; k < SAMPLE; ++k) equal += sample[k] == sample[i];
        atomicMax(&best, equal * SAMPLE + i);
    }
    __syncthreads();
    const vid most = sample[best % SAMPLE];
    for (u32 i = threadIdx.x; i < SAMPLE && a.n; i += blockDim.x) {
        if (test_bit(a.rows, (i + 1) * 0x9e3779b97f4a7c15ull % a.n)) atomicAdd(sample[i] == most ? &inside : &outside, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *giant = most;
        *settled = outside * OTHERS < inside;
    }
}
ENTRY(cc_giant)

template <u32 WIDTH>
DEVICE void finish(const Adjacency& a, vid* labels, vid v, const Segment& segment, u32 lane, u64* invalid) {
    Cursor<WIDTH> cursor(a, segment, lane);
    while (cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) link_checked(labels, a.n, v, cursor.ids[j], invalid);
        }
    }
}

// Links the vertices whose label is not *giant along all edges of their rows, except hubs.
KERNEL void cc_finish_rows(Adjacency a, vid* labels, const vid* giant, u64* invalid) {
    const vid skipped = *giant;
    for (u64 base = thread_id() / WARP * WARP; base < a.n; base += thread_count()) {
        const u64 v = base + lane_id();
        const bool mine = v < a.n && test_bit(a.rows, v) && relaxed_load(labels + v) != skipped;
        u64 ids = mine ? degree(a, v) : 0;
        if (ids > BLOCK_IDS) ids = 0;
        if (ids && heads_are_all(a, ids)) {
            for (u32 i = 0; i < ids; ++i) link(labels, (vid)v, head(a, v, i));
            ids = 0;
        }
        Segment segment = {0, 0, 0};
        if (ids) segment = row(a, v);
        for (u32 wide = __ballot_sync(ALL_LANES, ids > THREAD_IDS); wide; wide &= wide - 1) {
            const u32 from = (u32)__ffs((int)wide) - 1;
            finish<WARP>(a, labels, (vid)(base + from), broadcast(segment, from), lane_id(), invalid);
        }
        if (ids && ids <= THREAD_IDS) finish<1>(a, labels, (vid)v, segment, 0, invalid);
    }
}
ENTRY(cc_finish_rows)

// The same for the chunks of hub rows.
KERNEL void cc_finish_hubs(Adjacency a, vid* labels, const vid* giant, u64* invalid) {
    const vid skipped = *giant;
    const u64 warps = thread_count() / WARP;
    for (u64 start = thread_id() / WARP; start < a.chunks; start += warps * WARP) {
        const u64 c = start + lane_id() * warps;
        u32 hub = 0;
        bool active = false;
        if (c < a.chunks) {
            hub = __ldg(a.chunk_hub + c);
            active = relaxed_load(labels + a.hubs[hub]) != skipped;
        }
        for (u32 todo = __ballot_sync(ALL_LANES, active); todo; todo &= todo - 1) {
            const u32 from = (u32)__ffs((int)todo) - 1;
            const u32 which = __shfl_sync(ALL_LANES, hub, from);
            finish<WARP>(a, labels, a.hubs[which], chunk(a, start + from * warps, which), lane_id(), invalid);
        }
    }
}
ENTRY(cc_finish_hubs)
