// The hubs of a wide frontier, top-down, by words: before a level that the host launches for itself (many_push), and
// before one bottom-up that spreads some sources (many_spread). Most edges of such frontiers are hubs'.
//
// A warp takes a chunk, in the order of the list: chunks that lie equally far along their rows one after the other,
// because they lead to the same vertices. Frontier kind: bitmap. Atomics and memory per edge: as push.cuh says. Source:
// ours.
#include "algorithms/many/gpu/words.cuh"

// With wide ids a fourth block would cost spilled registers.
KERNEL __launch_bounds__(TEAM_THREADS, sizeof(vid) == 4 ? 4 : 3) void many_push_chunks(Many s);

KERNEL void many_push_chunks(Many s) {
    __shared__ Team t;
    __shared__ u64 words[TEAM_WARPS * MOST_WORDS];
    begin_part(s, t);
    u64* const own = words + threadIdx.x / WARP * MOST_WORDS;
    for (u64 i = team_warp(); i < s.many_sums->listed; i += team_warps()) {
        const u32 c = s.chunk_list[i];
        const u32 hub = __ldg(s.out.chunk_hub + c);
        expand_part(s, t, own, s.out.hubs[hub], chunk(s.out, c, hub));
    }
    end_part(s, t);
}
ENTRY(many_push_chunks)
