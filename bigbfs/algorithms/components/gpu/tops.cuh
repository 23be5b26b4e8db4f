// The first forest by id without a stored one: who is above a vertex follows from the head table alone.
//
// A vertex with edges is below its first head if that has a smaller id (cc_plant). Where vertices are by degree, nearly
// all are two or three such steps below the first hubs, whose heads are in the cache: the way up is shorter than a pass
// over a forest that was stored before. One pass stores the root of each vertex, and puts down strays: vertices with
// edges whose root is not the giant's, which a sample names before. In a graph whose ways are long somebody else has to
// find the roots.
#pragma once
#include "algorithms/components/gpu/giant.cuh"
#include "kernels/passes/passes.cuh"

// Steps up, at most.
constexpr u32 STEPS_UP = 24;

// Vertices that a lane asks for before it waits for one.
constexpr u32 CLIMBERS = 4;

struct Strays {
    u64 count;
    u64 hubs;  // how many of them are hubs
    u64 lost;  // this way finds no labels; of several GPUs the same on all, behind whole_touch
};
static_assert(sizeof(Strays) == STRAYS_BYTES, "Strays differs from its NumPy dtype");

// The vertex above `at`, which has edges; `at` itself if it is a root.
DEVICE vid above_by_id(const Adjacency& a, vid at) {
    const vid first = head(a, at, 0);
    return first < at ? first : at;
}

// The root of `at`, whose parent is `above`; who is below `giant` needs no look to be there. Sets `deep` if it is
// farther away.
DEVICE vid top(const Adjacency& a, vid at, vid above, vid giant, bool& deep) {
    u32 steps = 0;
    while (above != at && above != giant) {
        if (++steps > STEPS_UP) {
            deep = true;
            break;
        }
        at = above;
        above = above_by_id(a, at);
    }
    return above;
}

// One block: the giant, by the roots of a sample of all vertices; `roots` and `votes` are shared.
DEVICE void elect_top(const Adjacency& a, vid* roots, Votes& votes, vid* giant, u32* settled, bool& deep) {
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) {
        const vid v = a.n ? (vid)sampled(i, a.n) : (vid)0;
        roots[i] = a.n && degree(a, v) ? top(a, v, above_by_id(a, v), v, deep) : v;
    }
    elect(roots, votes, [&](u32 i) { return a.n && degree(a, sampled(i, a.n)) > 0; }, giant, settled);
}

// All lanes: puts down those vertices that are `outside`.
template <typename Mine>
DEVICE void put_down(
    const Adjacency& a, const Mine& mine, vid* forest, vid* list, Strays* strays, vid v, vid root, bool outside
) {
    const u32 all = __ballot_sync(ALL_LANES, outside);
    if (!all) return;
    u64 at = 0;
    if (lane_id() == 0) at = atomicAdd(&strays->count, (u64)__popc(all));
    at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(all & ((1u << lane_id()) - 1));
    if (!outside) return;
    list[at] = v;
    mine.keep(forest, root);
    if (degree(a, v) > BLOCK_IDS) atomicAdd(&strays->hubs, (u64)1);
}

// All warps together: the roots of the vertices that are `mine`: 32 in each of halves(); vertex(half) is a lane's, a.n
// or more where there is none. keep(forest, root) has a stray's root in the forest. Returns whether a way is too long.
template <typename Mine>
DEVICE bool plant_tops(const Adjacency& a, const Mine& mine, vid giant, vid* forest, vid* list, Strays* strays) {
    bool deep = false;
    const u64 step = CLIMBERS * (thread_count() / WARP);
    for (u64 h = CLIMBERS * (thread_id() / WARP); h < mine.halves(); h += step) {
        u64 v[CLIMBERS];
        vid parent[CLIMBERS], above[CLIMBERS];
        u32 edged = 0;
#pragma unroll
        for (u32 j = 0; j < CLIMBERS; ++j) {
            v[j] = h + j < mine.halves() ? mine.vertex(h + j) : a.n;
            const bool has_row = v[j] < a.n && test_bit(a.rows, v[j]);
            edged |= (u32)has_row << j;
            parent[j] = has_row ? head(a, v[j], 0) : (vid)v[j];
        }
#pragma unroll
        for (u32 j = 0; j < CLIMBERS; ++j) {
            if (parent[j] > (vid)v[j]) parent[j] = (vid)v[j];
            const bool known = parent[j] == (vid)v[j] || parent[j] == giant;
            above[j] = known ? parent[j] : above_by_id(a, parent[j]);
        }
#pragma unroll
        for (u32 j = 0; j < CLIMBERS; ++j) {
            const vid root = top(a, parent[j], above[j], giant, deep);
            if (v[j] < a.n) forest[v[j]] = root;
            put_down(a, mine, forest, list, strays, (vid)v[j], root, (edged >> j & 1) && root != giant);
        }
    }
    return deep;
}

// The rows of strays, except hubs'.
template <typename Operation>
DEVICE void walk_strays(const Adjacency& a, Operation& operation, const vid* list, u64 end, Counts* counts) {
    for (u64 base = thread_id() / WARP * WARP; base < end; base += thread_count()) {
        const bool there = base + lane_id() < end;
        const vid v = there ? list[base + lane_id()] : (vid)0;
        u64 ids = there ? degree(a, v) : 0;
        if (ids > BLOCK_IDS) ids = 0;
        Segment segment = {0, 0, 0};
        if (ids) segment = row(a, v);
        for (u32 wide = __ballot_sync(ALL_LANES, ids > THREAD_IDS); wide; wide &= wide - 1) {
            const u32 from = (u32)__ffs((int)wide) - 1;
            const vid its = __shfl_sync(ALL_LANES, v, from);
            walk<WARP>(a, operation, its, broadcast(segment, from), lane_id(), counts);
        }
        if (ids && ids <= THREAD_IDS) walk<1>(a, operation, v, segment, 0, counts);
    }
    __syncwarp();
    add_up(operation.tally, counts);
}
