// A level bottom-up (pull.cuh): heads, then the rows that they do not decide, then the chunks of hubs.
//
// A warp takes 32 vertices, a group of its lanes one of them. Frontier kind: bitmap. Atomics and memory per vertex: as
// pull.cuh says. Source: Beamer et al. (SC'12), Then et al. (VLDB 2014).
#include "algorithms/many/gpu/pull_rows.cuh"

// Of a warp's 32 vertices those that are in the next frontier, full, and open.
struct Marks {
    u32 fresh;
    u32 full;
    u32 open;
};

// Asks the heads of the vertices `todo` of word w; `marks` is the warp's.
DEVICE void pull_word(const Many& s, Collector& c, Marks& marks, u32 w, u32 todo, PullTally& lane) {
    if (lane_id() == 0) marks.fresh = marks.full = marks.open = 0;
    __syncwarp();
    for (u32 first = 0; first < (u32)__popc(todo); first += warp_groups(s)) {
        const u32 k = first + own_group(s);
        const bool active = k < (u32)__popc(todo);
        const u32 bit = active ? nth_set_bit(todo, k) : 0;
        const u32 found = ask_heads(s, c, (u64)w * 32 + bit, active, lane);
        if (!leads_group(s)) continue;
        if (found & 1) atomicOr(&marks.fresh, 1u << bit);
        if (found & 2) atomicOr(&marks.full, 1u << bit);
        if (found & 4) atomicOr(&marks.open, 1u << bit);
    }
    __syncwarp();
    if (lane_id() > 0) return;
    claimed_by(s, s.many_stand->level + 1)[w] = marks.fresh;
    s.open[w] = marks.open;
    const u32 before = s.full[w];
    s.done[w] = before | marks.full;
    lane.full += (u32)__popc(marks.full & ~before);
}

// A warp takes 32 vertices; a group asks the heads of one at a time.
KERNEL __launch_bounds__(256, 4) void many_pull(Many s);

KERNEL void many_pull(Many s) {
    __shared__ Collector c;
    __shared__ Marks marks[256 / WARP];
    clear(c);
    __syncthreads();
    PullTally lane = {};
    for (u32 base = (u32)(thread_id() / WARP); base < dealt_words(s); base += (u32)thread_count()) {
        const u32 mine = dealt_word(base, lane_id());
        const u32 own = mine < dealt_words(s) ? s.in.rows[mine] & ~left_alone(s, mine) : 0;
        if (mine < dealt_words(s) && !own) {
            claimed_by(s, s.many_stand->level + 1)[mine] = s.open[mine] = 0;
            s.done[mine] = s.full[mine];
        }
        for (u32 some = __ballot_sync(ALL_LANES, own != 0); some;) {
            const u32 from = (u32)__ffs((int)some) - 1;
            some &= some - 1;
            const u32 then = some ? (u32)__ffs((int)some) - 1 : from;
            const u32 ahead = __shfl_sync(ALL_LANES, own, then);
            if (some && (ahead >> lane_id()) & 1) fetch_ahead(s, (u64)dealt_word(base, then) * 32 + lane_id());
            const u32 todo = __shfl_sync(ALL_LANES, own, from);
            pull_word(s, c, marks[threadIdx.x / WARP], dealt_word(base, from), todo, lane);
        }
    }
    __syncwarp();
    add_up(s, lane);
    tally(&c.found, lane.found);
    tally(&c.edges, lane.edges);
    tally(&c.freed, lane.freed);
    tally(&s.many_sums->full, lane.full);
    hand_in(s, c, *s.many_sums, s.many_stand->level + 1);
}
ENTRY(many_pull)

// Rows of more than apart_ids ids, but the hubs'.
DEVICE bool is_long(const Many& s, u64 v) {
    const u64 ids = degree(s.in, v);
    return ids > s.apart_ids && ids <= BLOCK_IDS;
}

// The row of v behind its heads, which have been asked.
DEVICE Segment behind_heads(const Adjacency& a, u64 v) {
    Segment rest = row(a, v);
    rest.begin += a.head_skip;
    return rest;
}

// Blocks that read rows side by side: a fourth would cost spilled registers with wide ids (sm_100), and before sm_90.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr u32 ROW_BLOCKS = sizeof(vid) == 4 ? 3 : 2;
#else
constexpr u32 ROW_BLOCKS = sizeof(vid) == 4 ? 4 : 3;
#endif

// The longer rows that were put off, in order.
KERNEL __launch_bounds__(256, ROW_BLOCKS) void many_pull_rows(Many s);

KERNEL void many_pull_rows(Many s) {
    u32* const next = claimed_by(s, s.many_stand->level + 1);
    PullTally lane = {};
    for (u32 base = (u32)(thread_id() / WARP); base < dealt_words(s); base += (u32)thread_count()) {
        for (u32 some = __ballot_sync(ALL_LANES, load_dealt(s, s.open, base) != 0); some; some &= some - 1) {
            const u32 w = dealt_word(base, (u32)__ffs((int)some) - 1);
            const bool asked = ((s.open[w] >> lane_id()) & 1) && is_long(s, (u64)w * 32 + lane_id());
            u32 fresh = 0;
            for (u32 todo = __ballot_sync(ALL_LANES, asked); todo; todo &= todo - 1) {
                const u32 bit = (u32)__ffs((int)todo) - 1;
                const vid v = (vid)w * 32 + bit;
                fresh |= (u32)ask_row(s, v, behind_heads(s.in, v), lane) << bit;
            }
            if (lane_id() == 0 && fresh) next[w] |= fresh;
        }
    }
    add_up(s, lane);
}
ENTRY(many_pull_rows)

// The rows of the vertices `todo` of word w, a group to each.
DEVICE void pull_apart(const Many& s, u32 w, u32 todo, PullTally& lane) {
    for (u32 first = 0; first < (u32)__popc(todo); first += warp_groups(s)) {
        const u32 k = first + own_group(s);
        const bool active = k < (u32)__popc(todo);
        const vid v = (vid)w * 32 + (active ? nth_set_bit(todo, k) : 0);
        Segment segment = {0, 0, 0, false};
        if (active) segment = behind_heads(s.in, v);
        const bool fresh = ask_apart<true>(s, v, segment, active, lane);
        if (fresh && leads_group(s)) atomicOr(claimed_by(s, s.many_stand->level + 1) + w, bit_of(v));
    }
}

// The shorter ones, a group to a row.
KERNEL __launch_bounds__(256, ROW_BLOCKS) void many_pull_apart(Many s);

KERNEL void many_pull_apart(Many s) {
    PullTally lane = {};
    for (u32 base = (u32)(thread_id() / WARP); base < dealt_words(s); base += (u32)thread_count()) {
        for (u32 some = __ballot_sync(ALL_LANES, load_dealt(s, s.open, base) != 0); some; some &= some - 1) {
            const u32 w = dealt_word(base, (u32)__ffs((int)some) - 1);
            const bool asked = ((s.open[w] >> lane_id()) & 1) && degree(s.in, (u64)w * 32 + lane_id()) <= s.apart_ids;
            pull_apart(s, w, __ballot_sync(ALL_LANES, asked), lane);
        }
    }
    add_up(s, lane);
}
ENTRY(many_pull_apart)

// The chunks of hubs. A fourth block would cost spilled registers with wide ids (sm_100).
KERNEL __launch_bounds__(256, sizeof(vid) == 4 ? 4 : 3) void many_pull_chunks(Many s);

KERNEL void many_pull_chunks(Many s) {
    PullTally lane = {};
    ask_chunks(s, s.many_sums->listed, lane);
    add_up(s, lane);
}
ENTRY(many_pull_chunks)
