// Every level looks at all vertices: whoever lies in it expands its row, alone or as a warp.
//
// quadratic_expand: a thread for each vertex; quadratic_expand_together: a warp for each. Frontier kind: none, the
// labels are it. Atomics: none; labels and parents are stored as they come, several threads may store one, all of them
// right. Memory: the label of every vertex in every level; per edge the id and the label of its end. Source: report
// 000, 2.1; report 004, 2.2.
#include "algorithms/bfs/strategies/filter.cuh"

DEVICE bool is_in_frontier(const Search& s, u64 v) { return relaxed_load(s.levels + v) == (i32)s.level; }

// Says that there is a next level; all lanes call it.
DEVICE void go_on(const Search& s, bool found) {
    if (__any_sync(ALL_LANES, found) && lane_id() == 0) relaxed_store(&beyond(s).size, (u64)1);
}

KERNEL void quadratic_expand(Search s) {
    u64 checked = 0;
    bool found = false;
    for (u64 v = thread_id(); v < s.out.n; v += thread_count()) {
        if (!is_in_frontier(s, v)) continue;
        checked += read_alone(s, s.out, (vid)v, [&](vid u) {
            if (store_label(s, (vid)v, u)) found = true;
            return false;
        });
    }
    go_on(s, found);
    hand_in(s, checked);
}
ENTRY(quadratic_expand)

KERNEL void quadratic_expand_together(Search s) {
    u64 checked = 0;
    bool found = false;
    for (u64 v = thread_id() / WARP; v < s.out.n; v += thread_count() / WARP) {
        if (!is_in_frontier(s, v)) continue;
        checked += read_together(s, s.out, (vid)v, [&](bool valid, vid u) {
            if (valid && store_label(s, (vid)v, u)) found = true;
        });
    }
    go_on(s, found);
    hand_in(s, checked);
}
ENTRY(quadratic_expand_together)
