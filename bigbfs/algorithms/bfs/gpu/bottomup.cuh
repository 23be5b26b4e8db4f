// Bottom-up phases: every unvisited vertex looks for a parent in the frontier and stops at the first.
//
// SEARCH: a warp owns 32 words of `visited` (1024 vertices) at a time and gives their unvisited vertices to its lanes,
// 32 at once, for each group of heads anew (pieces.cuh). Of those that no head decides a lane looks through LANE_LOADS
// groups of the row; the warp reads the rest, or all of rows whose ids are looked up. Hubs among them are listed.
// SEARCH_OPEN: where many rows are expected to be read, SEARCH puts them all off, so that no lane waits for another's
// row and so that few enough warps read neighbouring rows in order for the link's full rate. SEARCH_CHUNKS: a warp
// takes chunks of the hubs listed. Frontier kind: bitmap. Atomics: on shared memory only; for chunks an atomicOr on
// `visited`, whose winner writes. Memory per vertex: 16 bytes of heads and one or two words of the frontier. Source:
// Beamer et al., Direction-optimizing BFS (SC'12).
#pragma once
#include "algorithms/bfs/gpu/pieces.cuh"

// Writes a word of what the level has found, where `before` lies from another level; one of several GPUs tells the
// others, unless it is the same word.
#ifndef FOUND_WORD
#define WORD_BEFORE(t, next, w) 0
#define FOUND_WORD(s, t, next, w, before, word) ((next)[w] = (word))
#endif

DEVICE void hand_in_sums(Team& t, const Sums& sums) {
    hand_in(t, FOUND, (u64)sums.found);
    hand_in(t, MISSED, (u64)sums.missed);
    hand_in(t, EDGES, sums.edges);
}

// Asks for the words of a piece that is to come.
DEVICE void prefetch_words(const Bfs& s, u64 w, u64 words) {
    if (lane_id() != 0 || w >= words) return;
    prefetch(s.visited + w);
    prefetch(s.in.rows + w);
}

DEVICE void search_rows(const Bfs& s, Team& t) {
    u32* const next = next_bits(s, t);
    const u64 words = words_for(s.in.n);
    Sums sums = {0, 0, 0};
    for (u64 base = team_warp() * WARP; base < searched_end(s, t, words); base += team_warps() * WARP) {
        prefetch_words(s, searched_word(s, t, base + team_warps() * WARP), words);
        const u64 w = searched_word(s, t, base + lane_id());
        [[maybe_unused]] const u32 before = w < words ? WORD_BEFORE(t, next, w) : 0;
        const u32 todo = w < words ? ~s.visited[w] & __ldg(s.in.rows + w) : 0;
        if (__any_sync(ALL_LANES, todo != 0)) search_piece(s, t, searched_word(s, t, base), todo, sums);
        const u32 fresh = todo ? found_words(t)[lane_id()] : 0;
        if (w < words) {
            FOUND_WORD(s, t, next, w, before, fresh);
            if (t.defer) s.open[w] = todo ? open_words(t)[lane_id()] : 0;
        }
        if (fresh) s.visited[w] |= fresh;
        sums.found += (u32)__popc(fresh);
    }
    hand_in_sums(t, sums);
}

DEVICE void search_open(const Bfs& s, Team& t) {
    u32* const next = next_bits(s, t);
    const u64 words = words_for(s.in.n);
    const u64 warps = warps_in_window(s, searched_span(s, t, WARP));
    Sums sums = {0, 0, 0};
    for (u64 base = team_warp() * WARP; base < searched_end(s, t, words) && team_warp() < warps; base += warps * WARP) {
        const u64 w = searched_word(s, t, base + lane_id());
        const u32 todo = w < words ? s.open[w] : 0;
        if (!__any_sync(ALL_LANES, todo != 0)) continue;
        found_words(t)[lane_id()] = 0;
        open_words(t)[lane_id()] = todo;
        __syncwarp();
        search_bits<ROWS>(s, t, searched_word(s, t, base), 0, sums);
        const u32 fresh = found_words(t)[lane_id()];
        if (!fresh) continue;
        FOUND_WORD(s, t, next, w, next[w], next[w] | fresh);
        s.visited[w] |= fresh;
        sums.found += (u32)__popc(fresh);
    }
    hand_in_sums(t, sums);
}

DEVICE void search_chunks(const Bfs& s, Team& t, u64 chunks) {
    const u32* const frontier = frontier_bits(s, t);
    u64 found = 0, edges = 0;
    for (u64 i = team_warp(); i < chunks; i += team_warps()) {
        const u32 c = s.chunk_list[i];
        const u32 hub = __ldg(s.in.chunk_hub + c);
        const vid v = s.in.hubs[hub];
        // Another chunk may have found a parent meanwhile; lanes could read that word at different moments.
        const u32 word = __shfl_sync(ALL_LANES, relaxed_load(s.visited + word_of(v)), 0);
        vid parent = 0;
        if (word & bit_of(v)) continue;
        if (!search_together(s, frontier, chunk(s.in, c, hub), parent)) continue;
        if (lane_id() == 0 && claim_bit(s.visited, v)) {
            settle(s, v, parent, t.level + 1);
            atomicOr(next_bits(s, t) + word_of(v), bit_of(v));
            found += 1;
            edges += count_edges(s, t, v, 1);
        }
    }
    hand_in(t, FOUND, found);
    hand_in(t, EDGES, edges);
}
