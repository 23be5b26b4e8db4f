// Connected components of a graph by degree, by one pass over its vertices: roots from the head table, without planting
// a forest and compressing it. loop.py says when.
//
// A lane owns four vertices (tops_plant), a stray (tops_rows, tops_finish); a warp a chunk of a hub that is outside
// (tops_hubs). Frontier kind: none. Atomics: one for each warp that puts vertices down, a compare-and-swap for each two
// trees united. Memory per vertex: a line of the head table for two, what is above (from the cache mostly), and its
// root is stored. Source: Sutton, Ben-Nun, Barak (IPDPS'18) for heads and sample; without a stored forest: ours.
#include "algorithms/components/gpu/operations.cuh"
#include "algorithms/components/gpu/tops.cuh"

struct All {
    u64 n;

    METHOD u64 halves() const { return words_for(n); }
    METHOD u64 vertex(u64 half) const { return half * WARP + lane_id(); }  // n or more where there is none
    METHOD void keep(vid*, vid) const {}
};

// One block: the giant of a sample. Where there is none this way is lost.
KERNEL void tops_giant(Adjacency a, Strays* strays, vid* giant, u32* settled) {
    __shared__ vid roots[SAMPLE];
    __shared__ Votes votes;
    bool deep = false;
    elect_top(a, roots, votes, giant, settled, deep);
    if (deep || (threadIdx.x == 0 && !*settled)) relaxed_store(&strays->lost, (u64)1);
}
ENTRY(tops_giant)

KERNEL void tops_plant(Adjacency a, const vid* giant, const u32* settled, vid* forest, vid* list, Strays* strays) {
    if (!*settled) return;
    if (plant_tops(a, All{a.n}, *giant, forest, list, strays)) relaxed_store(&strays->lost, (u64)1);
}
ENTRY(tops_plant)

// Links strays along their rows, except hubs.
KERNEL void tops_rows(
    Adjacency a, vid* forest, const vid* giant, const vid* list, const Strays* strays, Counts* counts
) {
    if (strays->lost) return;
    Link operation = {forest, *giant, 1, {0, 0, 0}};
    walk_strays(a, operation, list, strays->count, counts);
}
ENTRY(tops_rows)

// The same for the chunks of hubs, if one is outside.
KERNEL void tops_hubs(Adjacency a, vid* forest, const vid* giant, const Strays* strays, Counts* counts) {
    if (strays->lost || !strays->hubs) return;
    Link operation = {forest, *giant, 1, {0, 0, 0}};
    walk_hubs(a, operation, counts);
}
ENTRY(tops_hubs)

// Points strays at the roots that are left; all vertices if the giant's root is none any more.
KERNEL void tops_finish(u64 n, const vid* giant, vid* forest, const vid* list, const Strays* strays) {
    if (strays->lost || !n) return;
    const bool stays = relaxed_load(forest + *giant) == *giant;
    const u64 end = stays ? strays->count : n;
    for (u64 i = thread_id(); i < end; i += thread_count()) find_root(forest, stays ? list[i] : (vid)i);
}
ENTRY(tops_finish)
