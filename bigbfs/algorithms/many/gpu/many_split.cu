// A level in which the host splits the sources: those with narrow frontiers are spread top-down, before all others are
// asked for bottom-up (many_pull.cu).
//
// A source that few edges lead on from is found by few neighbours: who asks for it reads to the end of its row. Spread
// from its frontier it costs these edges. many_weigh, many_try: how many of a sample of vertices, drawn by their edges,
// are in the frontier of each source, and in that of any source of a mask; a group of lanes takes a vertex. many_pick:
// who has one of the sources to be spread becomes a queue, and a bitmap (`open`), and who has none of the others, in
// the words of a lane, is in a bitmap for that lane (`parts`); a warp takes 32 vertices, a group one of them.
// many_parts: the same bitmaps by ids of the file, a thread to each word. many_spread: the rows of the queue but the
// hubs', as push.cuh says, by the whole grid. Frontier kind: bitmap, then queue. Atomics: on shared
// memory one for each bit of a vertex of the sample; one for each warp on the queue; those of push.cuh. Memory per
// vertex of the frontier: its bits twice. Source: ours.
#include "algorithms/many/gpu/push.cuh"

// The lane's part of the sources that have reached v last; nobody changes them while the kernel runs.
DEVICE Bits new_bits(const Many& s, u64 v) { return without(load_bits(s, s.seen, v), load_bits(s, s.other, v)); }

// Counts the sources of the lane's words.
DEVICE void add_counts(const Many& s, u32* counts, const Bits& bits) {
    for (u32 k = 0; k < PART; ++k) {
        for (u64 word = bits.w[k]; word; word &= word - 1) {
            atomicAdd(counts + (own_word(s) + k) * 64 + (u32)__ffsll((i64)word) - 1, 1u);
        }
    }
}

// weights[b] counts the vertices that are in the frontier of source b, weights[MOST_BITS + b] those that it has not
// reached, unless its search is over.
KERNEL void many_weigh(Many s, const vid* sample, u64 count, u64* weights) {
    __shared__ u32 counts[2 * MOST_BITS];
    for (u32 i = threadIdx.x; i < 2 * MOST_BITS; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    const u64 groups = thread_count() >> s.group_bits;
    for (u64 i = thread_id() >> s.group_bits; i < count; i += groups) {
        if (is_behind(s, sample[i])) continue;
        add_counts(s, counts, new_bits(s, sample[i]));
        add_counts(s, counts + MOST_BITS, without(active_bits(s), load_bits(s, s.seen, sample[i])));
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < 64 * vertex_words(s); i += blockDim.x) {
        if (counts[i]) atomicAdd(weights + i, (u64)counts[i]);
        if (counts[MOST_BITS + i]) atomicAdd(weights + MOST_BITS + i, (u64)counts[MOST_BITS + i]);
    }
}
ENTRY(many_weigh)

// Masks of MOST_WORDS words each; found[2 * i] counts the vertices that mask i hits, found[2 * i + 1] those from number
// `cold` on.
KERNEL void many_try(Many s, const vid* sample, u64 count, u64 cold, const u64* masks, u64 mask_count, u64* found) {
    const u64 groups = thread_count() >> s.group_bits;
    const u64 first = (thread_id() / WARP * WARP) >> s.group_bits;
    for (u64 base = first; base < count; base += groups) {
        const u64 i = base + own_group(s);
        const Bits fresh = i < count && !is_behind(s, sample[i]) ? new_bits(s, sample[i]) : no_bits();
        for (u64 m = 0; m < mask_count; ++m) {
            const bool hit = any_in_group(s, any(common(fresh, own_bits(s, masks + m * MOST_WORDS)))) && leads_group(s);
            const u32 all = (u32)__popc(__ballot_sync(ALL_LANES, hit));
            const u32 far = (u32)__popc(__ballot_sync(ALL_LANES, hit && i >= cold));
            if (lane_id() == 0 && all) atomicAdd(found + 2 * m, (u64)all);
            if (lane_id() == 0 && far) atomicAdd(found + 2 * m + 1, (u64)far);
        }
    }
}
ENTRY(many_try)

// The sources to be spread: those that search still and are not asked for.
DEVICE Bits spread_bits(const Many& s) { return without(active_bits(s), asked_bits(s)); }

KERNEL void many_pick(Many s) {
    const u32* const claimed = claimed_by(s, s.many_stand->level);
    vid* const queue = queue_of(s, s.many_stand->level);
    const u64 words = words_for(s.vertices);
    u64 edges = 0;
    for (u64 w = thread_id() / WARP; w < words; w += thread_count() / WARP) {
        const u32 todo = claimed[w];
        const u32 count = (u32)__popc(todo);
        u32 chosen = 0, brings = 0;
        for (u32 first = 0; first < count; first += warp_groups(s)) {
            const u32 k = first + own_group(s);
            const u32 bit = k < count ? nth_set_bit(todo, k) : 0;
            const Bits fresh = k < count ? new_bits(s, w * 32 + bit) : no_bits();
            const bool hit = any_in_group(s, any(common(fresh, spread_bits(s))));
            chosen |= (u32)hit << bit;
            brings |= (u32)any(common(fresh, asked_bits(s))) << bit;
        }
        for (u32 step = group_lanes(s); count && step < WARP; step *= 2) {
            brings |= __shfl_xor_sync(ALL_LANES, brings, step);
        }
        if (lane_id() < group_lanes(s)) bitmap_of_part(s, own_part(s))[w] = ~brings;
        for (u32 step = WARP / 2; count && step > 0; step /= 2) chosen |= __shfl_xor_sync(ALL_LANES, chosen, step);
        if (lane_id() == 0) s.open[w] = chosen;
        if (!chosen) continue;
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(&s.many_stand->picked, (u64)__popc(chosen));
        at = __shfl_sync(ALL_LANES, at, 0);
        if (!((chosen >> lane_id()) & 1)) continue;
        queue[at + (u32)__popc(chosen & (bit_of(lane_id()) - 1))] = (vid)(w * 32 + lane_id());
        edges += degree(s.out, w * 32 + lane_id());
    }
    __syncwarp();
    tally(&s.counts->read, edges);
}
ENTRY(many_pick)

// Vertices without edges are in no bitmap: an id of one is looked up, and found to be wrong.
KERNEL void many_parts(Many s) {
    const u64 words = words_for(s.in.file_n);
    for (u64 i = thread_id(); i < words * group_lanes(s); i += thread_count()) {
        const u32 part = (u32)(i / words);
        const u64 w = i % words;
        const u64 numbers = __ldg(s.in.numbers + w);
        const u64 first = numbers >> 32;
        const u32* const own = bitmap_of_part(s, part) + word_of(first);
        const u32 count = (u32)__popc((u32)numbers), before = (u32)(first % 32);
        u32 bits = count ? own[0] >> before : 0;
        if (before + count > 32) bits |= own[1] << (32 - before);
        u32 found = 0;
        for (u32 left = (u32)numbers; left; left &= left - 1, bits >>= 1) found |= bits & 1 ? left & (0 - left) : 0;
        file_bitmap_of_part(s, part)[w] = found;
    }
}
ENTRY(many_parts)

KERNEL __launch_bounds__(TEAM_THREADS, 1) void many_spread(Many s);

KERNEL void many_spread(Many s) {
    __shared__ Team t;
    begin_team(s, t);
    if (threadIdx.x == 0) {
        t.spreads = true;
        t.now.count = t.now.picked;
        for (u32 i = 0; i < MOST_WORDS; ++i) t.going[i] = t.now.active[i] & ~t.now.asked[i];
    }
    __syncthreads();
    expand_rows(s, t);
    __syncthreads();
    if (threadIdx.x > 0) return;
    if (t.invalid) atomicAdd(&s.counts->invalid, (u64)t.invalid);
}
ENTRY(many_spread)
