// What bottom-up would cost: the heads of a sample of the unvisited vertices.
//
// PROBE: a warp looks at one word of `visited`, its lanes at the vertices; the words lie evenly spread over the graph. The
// frontier is told by its level, because it may still be a queue. Atomics: none. Memory per vertex: its heads, a bit and a level
// for each.
#pragma once
#include "bfs.cuh"

// Is v in the frontier? Levels of the traversal before may still be there.
DEVICE bool in_queue(const Bfs& s, const Team& t, u64 v) {
    return (s.visited[word_of(v)] & bit_of(v)) && s.levels[v] == t.level;
}

DEVICE void probe_heads(const Bfs& s, Team& t) {
    const u64 words = words_for(s.in.n);
    const u64 w = words <= team_warps() ? team_warp() : team_warp() * (words / team_warps());
    u64 probed = 0, open = 0;
    const u64 v = w * 32 + lane_id();
    if (w < words && v < s.in.n && (__ldg(s.in.rows + w) & ~s.visited[w]) & bit_of(v)) {
        probed = 1;
        bool hit = false;
        for (u64 group = 0; !hit && group < s.in.head_groups; ++group) {
            const HeadGroup heads(s.in, v, group);
#pragma unroll
            for (u32 j = 0; j < HEAD_GROUP; ++j) hit = hit || in_queue(s, t, heads.ids[j]);
        }
        open = !hit && !heads_are_all(s.in, degree(s.in, v));
    }
    hand_in(t, PROBED, probed);
    hand_in(t, OPEN, open);
}
