// The rows of hubs, in chunks: which of them a level reads, and in what parts; part of bfs.cuh.
//
// Atomics: one for each hub. Memory: where the hub stands among the hubs, and a chunk's number for each chunk.

// Into how many parts a chunk may be cut, as a power of 2: what a warp reads at once.
constexpr u32 MOST_CUTS = 3;
static_assert(BLOCK_IDS >> MOST_CUTS == WARP * SLOTS, "a part is what a warp reads at once");

// Appends the chunks of hub v to the list, for the lanes that ask for it; all lanes call it. TOGETHER: the warp looks
// for the hub, which wants registers.
template <bool TOGETHER> DEVICE void list_chunks(const Bfs& s, const Team& t, const Adjacency& a, bool asked, u64 v) {
    for (u32 todo = __ballot_sync(ALL_LANES, asked); todo; todo &= todo - 1) {
        const vid asking = (vid)__shfl_sync(ALL_LANES, v, (u32)__ffs((int)todo) - 1);
        const u32 hub = TOGETHER ? find_hub_together(a, asking) : find_hub(a, asking);
        const u64 first = a.hub_ptr[hub];
        const u64 count = a.hub_ptr[hub + 1] - first;
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(&s.slots[t.slot].chunks, count);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u64 i = lane_id(); i < count; i += WARP) s.chunk_list[at + i] = (u32)(first + i);
    }
}

// How often `chunks` chunks are cut in two, so that a level of few hubs has work for all warps; varint ones cannot be.
DEVICE u32 cuts_of(u64 chunks) { return !VARINT && chunks << MOST_CUTS <= team_warps() ? MOST_CUTS : 0; }
