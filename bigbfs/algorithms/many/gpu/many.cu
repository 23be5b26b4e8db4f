// Many searches at once, level by level: which sources reach a vertex is a word of bits. What is not of one direction.
//
// many_rank: how far a source's first steps lead. many_begin: the sources, a thread to each in both. many_list: the
// chunks of the hubs that a bitmap has, a thread to each. many_collect, many_close: what the rows of a level that ran
// bottom-up have found, and its end. many_gather: a frontier that is a bitmap becomes a queue, or a queue is put into
// the order of vertices: a thread takes a word. many_catch_up: a group of lanes takes a full vertex.
// Frontier kind: queue and bitmap. Atomics: one for each source, for each block what the collector hands in, for each
// warp one on the queue. Memory per vertex of the frontier: its bits twice, its degree. Source: Then et al., The more
// the merrier (VLDB 2014).
#include "algorithms/many/gpu/collect.cuh"

// The edges of a source's strongest neighbour, as far as heads tell; else its own.
KERNEL void many_rank(Many s, const u64* sources, u64 count, u64* ranks) {
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const u64 v = sources[i];
        const u64 own = v < s.vertices ? degree(s.out, v) : 0;
        const u64 best = own && s.out.head_groups ? head(s.out, v, 0) : v;
        ranks[i] = best < s.vertices ? degree(s.out, best) : own;
    }
}
ENTRY(many_rank)

// Puts the sources into the frontier of level 0; all else is zero, and the stand says which bits there are.
KERNEL void many_begin(Many s, const u64* sources, u64 count) {
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const u64 v = sources[i];
        s.far[i] = v;
        s.depth[i] = 0;
        // a vertex without a number of its own is behind all that have one
        if (s.levels && v < s.out.n) s.levels[v * s.kept + s.many_places[i]] = 0;
        if (v >= s.vertices) continue;
        atomicOr(s.seen + v * vertex_words(s) + i / 64, (u64)1 << (i % 64));
        if (!claim_bit(claimed_by(s, 0), v)) continue;
        s.queues[atomicAdd(&s.many_stand->count, (u64)1)] = (vid)v;
        atomicAdd(&s.many_stand->edges, degree(s.out, v));
    }
}
ENTRY(many_begin)

// Appends the chunks of hubs that `marks` has to the list, in the order of `order`, but for what warps do at once.
KERNEL void many_list(Many s, const u32* order, u64 chunks, const u32* chunk_hub, const vid* hubs, const u32* marks) {
    for (u64 base = thread_id() / WARP * WARP; base < chunks; base += thread_count()) {
        const u64 i = base + lane_id();
        const u32 c = i < chunks ? order[i] : 0;
        const u32 found = __ballot_sync(ALL_LANES, i < chunks && test_bit(marks, hubs[chunk_hub[c]]));
        u64 at = 0;
        if (lane_id() == 0 && found) at = atomicAdd(&s.many_sums->listed, (u64)__popc(found));
        at = __shfl_sync(ALL_LANES, at, 0);
        if (found & bit_of(lane_id())) s.chunk_list[at + (u32)__popc(found & (bit_of(lane_id()) - 1))] = c;
    }
}
ENTRY(many_list)

// What rows have found for the vertices `todo` of word w: a group takes one of them.
DEVICE void collect_word(const Many& s, Collector& c, u32 w, u32 todo, u64& found, u64& edges, u64& full) {
    const u64 level = s.many_stand->level + 1;
    for (u32 first = 0; first < (u32)__popc(todo); first += warp_groups(s)) {
        const u32 k = first + own_group(s);
        const bool active = k < (u32)__popc(todo);
        const u64 v = (u64)w * 32 + (active ? nth_set_bit(todo, k) : 0);
        const Bits have = active ? load_bits(s, s.other, v) : no_bits();
        const Bits fresh = active ? without(have, load_bits(s, s.seen, v)) : no_bits();
        if (!any_in_group(s, any(without(active_bits(s), have))) && active && leads_group(s)) {
            atomicOr(s.done + w, bit_of(v));
            full += 1;
        }
        const u32 pairs = collect(s, c, v, fresh, level);
        if (leads_group(s)) found += pairs;
        if (leads_group(s) && active) edges += degree(s.out, v);
    }
}

// Counts what rows have found; many_pull has counted the rest.
KERNEL __launch_bounds__(256, 4) void many_collect(Many s);

KERNEL void many_collect(Many s) {
    __shared__ Collector c;
    clear(c);
    __syncthreads();
    const u32* const next = claimed_by(s, s.many_stand->level + 1);
    u64 found = 0, freed = 0, edges = 0, full = 0;
    for (u32 base = (u32)(thread_id() / WARP); base < dealt_words(s); base += (u32)thread_count()) {
        const u32 own = load_dealt(s, next, base) & load_dealt(s, s.open, base);
        freed += (u64)__popc(own);
        for (u32 some = __ballot_sync(ALL_LANES, own != 0); some; some &= some - 1) {
            const u32 from = (u32)__ffs((int)some) - 1;
            collect_word(s, c, dealt_word(base, from), __shfl_sync(ALL_LANES, own, from), found, edges, full);
        }
    }
    tally(&c.found, found);
    tally(&c.edges, edges);
    tally(&c.freed, freed);
    tally(&s.many_sums->full, full);
    hand_in(s, c, *s.many_sums, s.many_stand->level + 1);
}
ENTRY(many_collect)

// One block: the level that ran bottom-up is over; the sums are cleared.
KERNEL void many_close(Many s) {
    ManyStand& now = *s.many_stand;
    ManySums& sums = *s.many_sums;
    if (threadIdx.x == 0) {
        now.level += 1;
        now.count = sums.freed;
        now.edges = sums.edges;
        now.full += sums.full;
        now.left = sums.left + sums.listed * BLOCK_IDS;
        now.ending = !now.count || now.level >= s.max_depth ? DONE : WIDE;
    }
    if (threadIdx.x < MOST_WORDS) now.active[threadIdx.x] = sums.active[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < sizeof(ManySums) / sizeof(u64)) ((u64*)s.many_sums)[threadIdx.x] = 0;
}
ENTRY(many_close)

// Full vertices whose bits are behind in one array, and right in the other, get them in both.
KERNEL void many_catch_up(Many s) {
    for (u32 base = (u32)(thread_id() / WARP); base < dealt_words(s); base += (u32)thread_count()) {
        const u32 mine = dealt_word(base, lane_id());
        const u32 own = mine < dealt_words(s) ? s.full[mine] & ~claimed_by(s, s.many_stand->level)[mine] : 0;
        for (u32 some = __ballot_sync(ALL_LANES, own != 0); some; some &= some - 1) {
            const u32 from = (u32)__ffs((int)some) - 1;
            const u32 todo = __shfl_sync(ALL_LANES, own, from);
            for (u32 k = own_group(s); k < (u32)__popc(todo); k += warp_groups(s)) {
                const u64 v = (u64)dealt_word(base, from) * 32 + nth_set_bit(todo, k);
                Bits all = load_bits(s, s.seen, v);
                add(all, load_bits(s, s.other, v));
                store_bits(s, s.seen, v, all);
                store_bits(s, s.other, v, all);
            }
        }
    }
}
ENTRY(many_catch_up)

// Fills the queue of the frontier from its bitmap, in order but for what warps do at once; the other bitmap is cleared.
KERNEL void many_gather(Many s) {
    const u64 level = s.many_stand->level;
    const u64 words = words_for(s.vertices);
    for (u64 base = thread_id() / WARP * WARP; base < words; base += thread_count()) {
        const u64 w = base + lane_id();
        u32 word = w < words ? claimed_by(s, level)[w] : 0;
        if (w < words) claimed_by(s, level + 1)[w] = 0;
        const u32 count = (u32)__popc(word);
        const u32 through = warp_inclusive_sum(count);
        u64 at = 0;
        if (lane_id() == WARP - 1 && through) at = atomicAdd(&s.many_sums->freed, (u64)through);
        at = __shfl_sync(ALL_LANES, at, WARP - 1) + through - count;
        for (; word; word &= word - 1) queue_of(s, level)[at++] = (vid)(w * 32 + (u32)__ffs((int)word) - 1);
    }
}
ENTRY(many_gather)
