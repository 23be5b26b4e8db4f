// THIN: the first block alone, level after level, while a frontier is no larger than the block; the others wait.
//
// While a frontier is so small that eight lanes are there for each vertex, and the heads hold its rows, a level is a
// chain of two trips to memory and two barriers of the block: heads and degrees, asked for together and fetched ahead
// since their vertex was found; then all ends are claimed at once. The frontier lies in shared memory. Other levels
// read it from the queue, as EXPAND does.
// Frontier kind: list in shared memory, or queue. Atomics: one atomicOr on `visited` for each edge (from the queue: for
// each whose end looks unvisited), one in shared memory for each vertex found. Memory per edge: the id and one word of
// `visited`. Source: ours; after Gupta et al. (InPar'12) for persistent kernels.
#pragma once
#include "algorithms/bfs/gpu/local.cuh"

// Vertices of a frontier that is kept in shared memory: what they lead to fits there, too.
constexpr u32 FEW_VERTICES = TEAM / LOCAL_IDS;

static_assert(FEW_VERTICES * LOCAL_IDS <= LOCAL_ROOM, "a list does not hold what the level before may lead to");

DEVICE bool goes_on_alone(const Bfs& s, const Team& t) {
    return t.count > 0 && t.count <= s.thin_to && (u64)t.level < s.max_depth && t.slot < s.slot_count;
}

// What levels of few vertices ask for, in shared memory: a function with registers of its own reads parameters from
// where they lie, and the kernel must not keep its own for it.
struct Few {
    Adjacency rows;
    u32* visited;
    vid* queue;
    i32* levels;
    vid* parents;
    Slot* slots;
    Progress* progress;
    u32 most;  // vertices of a frontier
    u32 last;  // levels to go
};

DEVICE void tell_few(const Bfs& s, const Team& t, Few& few) {
    few.rows.indptr = s.out.indptr;
    few.rows.degrees = s.out.degrees;
    few.rows.heads = s.out.heads;
    few.rows.head_groups = s.out.head_groups;
    few.rows.head_rows = s.out.head_rows;
    few.rows.n = s.out.n;
    few.visited = s.visited;
    few.queue = s.queue;
    few.levels = s.levels;
    few.parents = s.parents;
    few.slots = s.slots;
    few.progress = s.progress;
    few.most = s.thin_to < FEW_VERTICES ? (u32)s.thin_to : FEW_VERTICES;
    const u64 deep = s.max_depth - (u64)t.level, slots = s.slot_count - t.slot;
    few.last = (u32)(deep < slots ? deep : slots);
}

// As note_level() does it, with nothing read that may be far.
DEVICE void note_few(Slot& slot, u32 count) {
    slot.frontier = count;
    slot.direction = 1;
    slot.clock = (u64)clock64();
}

// All threads of the first block: levels from a queue of at most FEW_VERTICES on. The frontier of the first level that
// is not gone through so is in the queue at the end. Returns whether one of its rows is too long.
APART bool few_levels(const Few& few, Team& t) {
    const Adjacency& rows = few.rows;
    vid* now = t.buffer;
    vid* next = t.buffer + LOCAL_ROOM;
    const u32 part = threadIdx.x % LOCAL_IDS;
    const u64 behind = t.begin + t.count;  // where the queue goes on, for what is in it has been read then
    u32 count = (u32)t.count, before = 0, levels = 0;
    if (threadIdx.x < count) now[threadIdx.x] = few.queue[t.begin + threadIdx.x];
    __syncthreads();
    bool too_long = false;
    for (bool more = true; more;) {
        const bool mine = threadIdx.x < count * LOCAL_IDS;
        const vid v = mine ? now[threadIdx.x / LOCAL_IDS] : 0;
        const bool held = mine && part < rows.head_groups * HEAD_GROUP && v < rows.head_rows;
        const vid u = held ? head(rows, v, part) : v;
        const u64 ids = mine ? degree(rows, v) : 0;
        too_long = __syncthreads_or(ids > LOCAL_IDS || !heads_are_all(rows, ids));
        if (too_long) break;
        levels += 1;
        if (part < ids && u >= rows.n) atomicAdd(&few.progress->invalid, (u64)1);
        if (part < ids && u < rows.n && !(atomicOr(few.visited + word_of(u), bit_of(u)) & bit_of(u))) {
            next[atomicAdd(&t.tail, 1u) - before] = u;
            prefetch_degree(rows, u);
            prefetch_held(rows, u);
            if (few.levels) few.levels[u] = t.level + (i32)levels;
            if (few.parents) few.parents[u] = v;
        }
        if (threadIdx.x == 0) note_few(few.slots[t.slot + levels - 1], count);
        __syncthreads();
        count = t.tail - before;  // the next barrier is between this and the next claim
        before += count;
        vid* const filled = next;
        next = now;
        now = filled;
        more = count > 0 && count <= few.most && levels < few.last;
    }
    for (u32 i = threadIdx.x; levels && i < count; i += TEAM) few.queue[behind + i] = now[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        if (levels) t.begin = behind;
        t.count = count;
        t.reached += before;
        t.level += (i32)levels;
        t.slot += levels;
        t.tail = 0;
    }
    __syncthreads();
    return too_long;
}

// One level from the queue; returns false, with the level not begun, if it has rows that are too long or too many.
DEVICE bool thin_level(const Bfs& s, Team& t) {
    // neighbours in the queue go to different warps: a warp reads its long rows one after the other
    const u32 own = lane_id() * TEAM_WARPS + threadIdx.x / WARP;
    const bool mine = own < t.count;
    const vid v = mine ? s.queue[t.begin + own] : 0;
    const u64 ids = mine ? degree(s.out, v) : 0;
    if (__syncthreads_or(ids > THIN_IDS) || (u32)__syncthreads_count(ids > THREAD_IDS) > THIN_ROWS) return false;
    if (threadIdx.x == 0) note_level(s, t, 1);
    expand_batch<true>(s, t, v, ids);
    __syncthreads();
    if (threadIdx.x == 0) {
        t.begin += t.count;
        t.count = t.tail;
        t.reached += t.count;
        t.level += 1;
        t.slot += 1;
        t.tail = 0;
    }
    __syncthreads();
    return true;
}

// What the levels came to, for all blocks.
DEVICE void end_thin(const Bfs& s, Team& t, i32 first) {
    u64 edges = 0;
    for (u64 i = threadIdx.x; i < t.count; i += TEAM) edges += count_edges(s, t, s.queue[t.begin + i], 1);
    hand_in(t, EDGES, edges);
    __syncthreads();
    if (threadIdx.x == 0) {
        t.edges = t.tally[EDGES];
        t.hot = (u64)t.hot_chunks * BLOCK_IDS;
        t.tally[EDGES] = t.hot_chunks = 0;
        save_progress(s, t, false);
        // what every other block still believes, so that next_phase() sees the same everywhere
        t.slot -= (u32)(t.level - first);
        t.level = first;
    }
}

DEVICE void thin_levels(const Bfs& s, Team& t, Few& few) {
    const i32 first = t.level;
    // which rows are short is known of the first level alone, and of that in the mean
    i32 few_from = t.edges <= t.count * LOCAL_IDS ? first : first + LOCAL_PAUSE;
    for (bool more = true; more;) {
        if (s.out.head_groups && t.level >= few_from && t.count <= FEW_VERTICES) {
            if (threadIdx.x == 0) tell_few(s, t, few);
            __syncthreads();
            if (few_levels(few, t)) few_from = t.level + LOCAL_PAUSE;
            if (!goes_on_alone(s, t)) break;
        }
        more = thin_level(s, t) && goes_on_alone(s, t);
    }
    end_thin(s, t, first);
}
