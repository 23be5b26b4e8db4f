// BFS whose rows come from a file, level by level: what a level can do without the file, and what it does with a
// batch.
//
// The host runs the levels (gpu/streamed/bfs.py). streamed_survey: what a set of vertices would cost to read.
// streamed_heads: every unvisited vertex looks for a parent among its heads; who finds none is put down in `wanted`,
// unless its heads are its row. streamed_list: frontier vertices whose heads are their row are expanded, the others
// put down. streamed_hot: rows in device memory, in either direction. streamed_expand, streamed_search: a batch,
// top-down or bottom-up. A warp owns 32 words of a bitmap, a chunk of a hot row, or a piece. Frontier kind: bitmap.
// Atomics: an atomicOr on `visited`, whose winner writes, and one on `next`, for each vertex found other than by
// heads. Memory per edge: the id and a word of a bitmap. Source: Beamer et al. (SC'12); the order of a file after
// Zheng et al. (FlashGraph, FAST'15).
#include "algorithms/bfs/gpu/streamed_steps.cuh"

KERNEL void streamed_reset(Search s, u64 n, u64 source) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        if (s.levels) s.levels[v] = v == source ? 0 : -1;
        if (s.parents) s.parents[v] = ~(vid)0;
    }
    for (u64 w = thread_id(); w < words_for(n); w += thread_count()) {
        s.visited[w] = s.frontier[w] = w == word_of(source) ? bit_of(source) : 0;
    }
}
ENTRY(streamed_reset)

// Over the frontier, or over all that is reached.
KERNEL void streamed_survey(Adjacency a, Search s, u32 all) {
    survey_rows(a, s, all ? s.visited : s.frontier, 0, words_for(a.n));
}
ENTRY(streamed_survey)

KERNEL void streamed_heads(Adjacency a, Search s) { sweep_heads(a, s, 0, words_for(a.n)); }
ENTRY(streamed_heads)

KERNEL void streamed_list(Adjacency a, Search s) {
    Expand expand(s, a.n);
    list_rows(a, s, expand, 0, words_for(a.n));
}
ENTRY(streamed_list)

KERNEL void streamed_hot(Adjacency a, Search s, u32 bottom_up) {
    if (bottom_up) {
        Seek seek(s, a.n);
        read_hot(a, s, true, seek, 0, words_for(a.n));
    } else {
        Expand expand(s, a.n);
        read_hot(a, s, false, expand, 0, words_for(a.n));
    }
}
ENTRY(streamed_hot)

KERNEL void streamed_expand(Adjacency a, Search s, const Piece* pieces, u64 count) {
    Expand expand(s, a.n);
    read_pieces(a, expand, pieces, count, s.wanted);
    hand_in(s, FOUND, expand.found);
}
ENTRY(streamed_expand)

KERNEL void streamed_search(Adjacency a, Search s, const Piece* pieces, u64 count) {
    Seek seek(s, a.n);
    read_pieces(a, seek, pieces, count, s.wanted);
    hand_in(s, FOUND, seek.found);
}
ENTRY(streamed_search)
