// What bottom-up would cost: the heads of a sample of the unvisited vertices.
//
// PROBE: a warp looks at one word of `visited`, its lanes at the vertices; the words lie evenly spread over the graph.
// The frontier may still be a queue, but an unvisited vertex can have no visited head outside it: earlier levels were
// expanded whole. Atomics: none. Memory per vertex: its heads, and a word of `visited` for each.
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"

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
            for (u32 j = 0; j < HEAD_GROUP; ++j) hit = hit || (s.visited[word_of(heads.ids[j])] & bit_of(heads.ids[j]));
        }
        open = !hit && !heads_are_all(s.in, degree(s.in, v));
    }
    hand_in(t, PROBED, probed);
    hand_in(t, OPEN, open);
}
