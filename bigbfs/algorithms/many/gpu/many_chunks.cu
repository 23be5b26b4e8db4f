// The hubs of a wide frontier, top-down, by words: before a level that the host launches for itself (many_push), and
// before one bottom-up that spreads some sources (many_spread). Most edges of such frontiers are hubs', and bring few
// sources each, so that a lane takes a neighbour alone.
//
// A warp takes a chunk, in the order of the list: chunks that lie equally far along their rows one after the other,
// because they lead to the same vertices. Of the words of its vertex each lane asks four neighbours of its own at a
// time, or with many words a group of lanes all words of a neighbour. Frontier kind: bitmap. Atomics and memory per
// edge: as push.cuh says. Source: ours.
#include "algorithms/many/gpu/push.cuh"

// Leaves what a vertex hands on in shared memory, whose words the lanes have in groups, and returns which words are not
// empty, by bits; all lanes call it.
DEVICE u32 leave_words(const Many& s, u64* words, const Bits& bits) {
    u32 found = 0;
    __syncwarp();
#pragma unroll
    for (u32 i = 0; i < PART; ++i) {
        const u32 lanes = __ballot_sync(ALL_LANES, bits.w[i] != 0);
        for (u32 k = 0; k < group_lanes(s); ++k) found |= ((lanes >> k) & 1) << (k * PART + i);
        if (lane_id() < group_lanes(s)) words[own_word(s) + i] = bits.w[i];
    }
    __syncwarp();
    return found;
}

// The whole warp reads a segment of the row of a vertex that hands on those of `words` that `some` says, one after the
// other.
DEVICE void expand_by_words(const Many& s, Team& t, const Segment& segment, const u64* words, u32 some) {
    Cursor<WARP> cursor(s.out, segment, lane_id());
    while (cursor.load()) {
        const u32 asked = vertices_of<SLOTS>(s, t, cursor.ids, cursor.valid);
#pragma unroll 1
        for (u32 todo = some; todo; todo &= todo - 1) {
            const u32 i = (u32)__ffs((int)todo) - 1;
            reach<SLOTS>(s, t, cursor.ids, asked, i, words[i]);
        }
        flush(s, t, false);
    }
}

// With wide ids a fourth block would cost spilled registers.
KERNEL __launch_bounds__(TEAM_THREADS, sizeof(vid) == 4 ? 4 : 3) void many_push_chunks(Many s);

KERNEL void many_push_chunks(Many s) {
    __shared__ Team t;
    __shared__ u64 words[TEAM_WARPS * MOST_WORDS];
    begin_team(s, t);
    if (threadIdx.x < MOST_WORDS) {
        const ManyStand& now = *s.many_stand;
        t.going[threadIdx.x] = s.spread ? now.active[threadIdx.x] & ~now.asked[threadIdx.x] : ~(u64)0;
    }
    if (threadIdx.x == 0) t.spreads = s.spread;
    __syncthreads();
    u64* const own = words + threadIdx.x / WARP * MOST_WORDS;
    for (u64 i = team_warp(); i < s.many_sums->listed; i += team_warps()) {
        const u32 c = s.chunk_list[i];
        const u32 hub = __ldg(s.out.chunk_hub + c);
        const vid v = s.out.hubs[hub];
        const u32 some = leave_words(s, own, frontier_bits(s, t, v));
        if ((u32)__popc(some) > s.few_words) expand_together(s, t, v, chunk(s.out, c, hub));
        else if (some) expand_by_words(s, t, chunk(s.out, c, hub), own, some);
    }
    flush(s, t, true);
    __syncthreads();
    if (threadIdx.x == 0 && t.invalid) atomicAdd(&s.counts->invalid, (u64)t.invalid);
}
ENTRY(many_push_chunks)
