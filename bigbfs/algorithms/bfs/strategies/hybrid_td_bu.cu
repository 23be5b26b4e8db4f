// Small frontiers are expanded by warps (cooperative.cuh); in large ones every unreached vertex looks for a parent.
//
// scatter_queue: a thread for each entry makes a bitmap of the queue. search_parents: a thread for each vertex without
// a level reads its row until a bit of that bitmap is set; nobody else writes its label. Frontier kind: vertex queue,
// as a bitmap for the way up. Atomics: one for each entry scattered, one on the counter of the next queue for a warp's
// vertices. Memory per edge: the id and a word of the bitmap. Source: report 001, 2.4 (version 3).
#include "algorithms/bfs/strategies/cooperative.cuh"

KERNEL void cooperative_expand(Search s) {
    __shared__ vid stage[WARPS * STAGED];
    expand_entries(s, stage);
}
ENTRY(cooperative_expand)

KERNEL void scatter_queue(Search s) {
    for (u64 i = thread_id(); i < here(s).size; i += thread_count()) {
        atomicOr(s.frontier + word_of(s.queue[i]), bit_of(s.queue[i]));
    }
}
ENTRY(scatter_queue)

KERNEL void search_parents(Search s) {
    u64 checked = 0;
    for (u64 base = thread_id() / WARP * WARP; base < s.in.n; base += thread_count()) {
        const u64 v = base + lane_id();
        bool found = false;
        if (v < s.in.n && test_bit(s.in.rows, v) && s.levels[v] == -1) {
            checked += read_alone(s, s.in, (vid)v, [&](vid u) {
                if (!test_bit(s.frontier, u)) return false;
                s.levels[v] = (i32)s.level + 1;
                set_parent(s, (vid)v, u);
                found = true;
                return true;
            });
        }
        put_together(s, found, (vid)v);
    }
    hand_in(s, checked);
}
ENTRY(search_parents)
