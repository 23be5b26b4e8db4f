// Connected components over several GPUs of one machine that each have all rows, of vertices by degree: one pass over
// own vertices, and what few of them are outside of the giant. whole.py has the order, and why the labels are right.
//
// A lane owns four own vertices (whole_plant), one of those outside (whole_tell, whole_finish), a pair (whole_touch,
// whole_link); a warp a chunk of a hub outside (whole_hubs). Frontier kind: none. Atomics: one for each warp that puts
// vertices down, one for each pair, a compare-and-swap for each two trees united. Others' pairs are read. Memory per
// vertex: a line of the head table for two, what is above (from the cache mostly), and its root is stored. Source:
// Sutton, Ben-Nun, Barak (IPDPS'18) for heads and sample; without a stored forest: ours.
#include "algorithms/components/gpu/peers/whole.cuh"

// One block: the giant, by the first roots of a sample of all vertices, the same on all ranks.
KERNEL void whole_giant(Adjacency a, u64* count, vid* giant, u32* settled) {
    __shared__ vid roots[SAMPLE];
    __shared__ Votes votes;
    bool deep = false;
    elect_top(a, roots, votes, giant, settled, deep);
    if (deep) say_deep(count);
}
ENTRY(whole_giant)

// The first roots of own vertices, and who is outside of the giant; nothing where no giant was found.
KERNEL void whole_plant(
    Adjacency a, Ranks r, const vid* giant, const u32* settled, vid* forest, vid* list, Strays* strays, u64* count
) {
    if (!*settled) return;
    if (plant_tops(a, Own{r}, *giant, forest, list, strays)) say_deep(count);
}
ENTRY(whole_plant)

// What edges of own vertices outside unite, except hubs'.
KERNEL void whole_tell(
    Adjacency a, const vid* forest, const vid* giant, const vid* list, const Strays* strays, vid* told, u64* count,
    Counts* counts
) {
    TellRoots operation = {a, a.n, forest, *giant, told, count, {0, 0, 0}};
    walk_strays(a, operation, list, strays->count, counts);
}
ENTRY(whole_tell)

// The same for the chunks of hubs, if one is outside.
KERNEL void whole_hubs(
    Adjacency a, const vid* forest, const vid* giant, const Strays* strays, vid* told, u64* count, Counts* counts
) {
    if (!strays->hubs) return;
    TellRoots operation = {a, a.n, forest, *giant, told, count, {0, 0, 0}};
    walk_hubs(a, operation, counts);
}
ENTRY(whole_hubs)

// The pairs that all ranks have told are of roots, of which those of others are stored here now. Says whether any rank
// found this way to be none.
KERNEL void whole_touch(Ranks r, const vid* giant, const u32* settled, vid* forest, Strays* strays, u64* moved) {
    u64 bytes = 0;
    for (u64 k = 0; k < r.part.size; ++k) {
        const u64 count = relaxed_load(in_rank<u64>(r, k, r.count_at));
        const vid* const pairs = in_rank<vid>(r, k, r.told_at);
        if (count > r.n || !*settled) {
            if (thread_id() == 0) strays->lost = 1;
            continue;
        }
        for (u64 i = thread_id(); i < 2 * count; i += thread_count()) {
            const vid root = pairs[i];
            if (!is_own(r.part, root)) relaxed_store(forest + root, root);
            if (k != r.part.rank) bytes += 2 * sizeof(vid);  // here, and when it is linked
        }
    }
    if (thread_id() == 0 && r.part.size && *settled && !is_own(r.part, *giant)) {
        relaxed_store(forest + *giant, *giant);
    }
    add_moved(bytes, moved);
}
ENTRY(whole_touch)

// Links the pairs of all ranks.
KERNEL void whole_link(Ranks r, vid* forest, const Strays* strays) {
    if (strays->lost) return;
    for (u64 k = 0; k < r.part.size; ++k) {
        const u64 count = relaxed_load(in_rank<u64>(r, k, r.count_at));
        const vid* const pairs = in_rank<vid>(r, k, r.told_at);
        for (u64 i = thread_id(); i < count; i += thread_count()) link(forest, pairs[2 * i], pairs[2 * i + 1], 1);
    }
}
ENTRY(whole_link)

// Points own vertices at the roots that are left: those outside, or all if the giant's root is none any more.
KERNEL void whole_finish(Ranks r, const vid* giant, vid* forest, const vid* list, const Strays* strays) {
    if (strays->lost || !r.part.size) return;
    if (relaxed_load(forest + *giant) == *giant) {
        for (u64 i = thread_id(); i < strays->count; i += thread_count()) find_root(forest, list[i]);
        return;
    }
    for (u64 h = first_half(); h < halves(r); h += next_half()) {
        const u64 v = own_lane(r, h);
        if (v < r.n) find_root(forest, (vid)v);
    }
}
ENTRY(whole_finish)
