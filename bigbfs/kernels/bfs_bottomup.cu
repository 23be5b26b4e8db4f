// Bottom-up search: every unvisited vertex looks for a parent in the frontier and stops at the first.
//
// bfs_search_rows: a warp owns 32 words of `visited` (1024 vertices) at a time and gives its unvisited vertices to its
// lanes, 32 at once; a lane reads LANE_LOADS groups of its row alone, what is still without a parent then is finished by
// the whole warp. bfs_search_hubs: a warp takes chunks of the unvisited hub rows. Frontier kind: bitmap. Atomics: on
// shared memory only (the found bits of the warp's words); for hubs an atomicOr on `visited`, whose winner writes.
// Memory per edge: the id and one word of `frontier`. Source: Beamer et al., Direction-optimizing BFS (SC'12).
#include "bfs.cuh"

// Groups of ids (four, or the values that end in four bytes) that a lane reads before the warp helps.
constexpr u32 LANE_LOADS = 8;

// True if some id of the lane's own row is in the frontier; `rest` is what it has not read.
DEVICE bool search_alone(const Bfs& s, const Segment& segment, vid& parent, Segment& rest) {
    Cursor<1> cursor(s.in, segment, 0);
    bool hit = false;
    for (u32 loads = 0; !hit && loads < LANE_LOADS && cursor.load(); ++loads) {
        // no return in here: leaving an unrolled loop makes compilers keep ids in memory instead of registers
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!hit && cursor.has(j) && in_frontier(s, cursor.ids[j])) {
                parent = cursor.ids[j];
                hit = true;
            }
        }
    }
    rest = cursor.rest();
    return hit;
}

// The same by the whole warp, with the same answer in every lane.
DEVICE bool search_together(const Bfs& s, const Segment& segment, vid& parent) {
    Cursor<WARP> cursor(s.in, segment, lane_id());
    u32 hits = 0;
    vid own = 0;
    while (!hits && cursor.load()) {
        bool hit = false;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!hit && cursor.has(j) && in_frontier(s, cursor.ids[j])) {
                own = cursor.ids[j];
                hit = true;
            }
        }
        hits = __ballot_sync(ALL_LANES, hit);
    }
    if (!hits) return false;
    parent = __shfl_sync(ALL_LANES, own, (u32)__ffs((int)hits) - 1);
    return true;
}

KERNEL void bfs_search_rows(Bfs s, i32 level) {
    __shared__ u32 found_bits[BLOCK];
    u32* const found = found_bits + threadIdx.x / WARP * WARP;
    const u64 words = words_for(s.in.n);
    for (u64 base = thread_id() / WARP * WARP; base < words; base += thread_count()) {
        const u64 w = base + lane_id();
        const u32 visited = w < words ? s.visited[w] : 0;
        const u32 todo = w < words ? ~visited & __ldg(s.in.rows + w) : 0;
        if (!__any_sync(ALL_LANES, todo != 0)) continue;
        found[lane_id()] = 0;
        __syncwarp();
        const SetBits bits(todo);
        for (u32 start = 0; start < bits.total; start += WARP) {
            u32 owner, bit;
            bits.find(start + lane_id(), owner, bit);
            const u64 v = (base + owner) * 32 + bit;
            const bool mine = start + lane_id() < bits.total;
            Segment rest = {0, 0, 0};
            vid parent = 0;
            bool hit = mine && search_alone(s, row(s.in, v), parent, rest);
            for (u32 open = __ballot_sync(ALL_LANES, mine && !hit && rest.begin < rest.end); open; open &= open - 1) {
                const u32 from = (u32)__ffs((int)open) - 1;
                vid candidate = 0;
                const bool any = search_together(s, broadcast(rest, from), candidate);
                if (any && lane_id() == from) {
                    hit = true;
                    parent = candidate;
                }
            }
            if (hit) {
                settle(s, v, parent, level);
                atomicOr(found + owner, 1u << bit);
            }
        }
        __syncwarp();
        if (found[lane_id()]) s.visited[w] = visited | found[lane_id()];
        __syncwarp();
    }
}
ENTRY(bfs_search_rows)

KERNEL void bfs_search_hubs(Bfs s, i32 level) {
    const u64 warps = thread_count() / WARP;
    for (u64 start = thread_id() / WARP; start < s.in.chunks; start += warps * WARP) {
        const u64 c = start + lane_id() * warps;
        u32 hub = 0;
        bool active = false;
        if (c < s.in.chunks) {
            hub = __ldg(s.in.chunk_hub + c);
            const vid v = s.in.hubs[hub];
            active = !(relaxed_load(s.visited + word_of(v)) & bit_of(v));
        }
        for (u32 todo = __ballot_sync(ALL_LANES, active); todo; todo &= todo - 1) {
            const u32 from = (u32)__ffs((int)todo) - 1;
            const u32 which = __shfl_sync(ALL_LANES, hub, from);
            const vid v = s.in.hubs[which];
            // Another chunk may have found a parent meanwhile; lanes could read that word at different moments.
            const u32 word = __shfl_sync(ALL_LANES, relaxed_load(s.visited + word_of(v)), 0);
            vid parent = 0;
            if (word & bit_of(v)) continue;
            if (!search_together(s, chunk(s.in, start + from * warps, which), parent)) continue;
            if (lane_id() == 0 && claim_bit(s.visited, v)) settle(s, v, parent, level);
        }
    }
}
ENTRY(bfs_search_hubs)
