// Every level looks at the bits of all vertices: whoever is in the frontier expands its row, alone or as a warp.
//
// bitmap_expand: a thread for each vertex; bitmap_expand_together: a warp for each. Frontier kind: bitmaps, the next
// one cleared before each level. Atomics: one on the label of each end that looks unreached, one on the word of the
// next bitmap for each vertex found. Memory: a bit of every vertex in every level; per edge the id and the label of
// its end. Source: report 002, 1.3.2 and 1.3.3.
#include "algorithms/bfs/strategies/filter.cuh"

DEVICE bool found_by(const Search& s, vid v, vid u) {
    if (!swap_label(s, v, u)) return false;
    atomicOr(s.next_frontier + word_of(u), bit_of(u));
    return true;
}

// Adds up what the lanes have found and read; all of them call it.
DEVICE void finish(const Search& s, u64 found, u64 checked) {
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(&beyond(s).size, found);
    hand_in(s, checked);
}

KERNEL void bitmap_expand(Search s) {
    u64 found = 0;
    u64 checked = 0;
    for (u64 v = thread_id(); v < s.out.n; v += thread_count()) {
        if (!test_bit(s.frontier, v)) continue;
        checked += read_alone(s, s.out, (vid)v, [&](vid u) {
            found += found_by(s, (vid)v, u);
            return false;
        });
    }
    finish(s, found, checked);
}
ENTRY(bitmap_expand)

KERNEL void bitmap_expand_together(Search s) {
    u64 found = 0;
    u64 checked = 0;
    for (u64 v = thread_id() / WARP; v < s.out.n; v += thread_count() / WARP) {
        if (!test_bit(s.frontier, v)) continue;
        checked +=
            read_together(s, s.out, (vid)v, [&](bool valid, vid u) { found += valid && found_by(s, (vid)v, u); });
    }
    finish(s, found, checked);
}
ENTRY(bitmap_expand_together)
