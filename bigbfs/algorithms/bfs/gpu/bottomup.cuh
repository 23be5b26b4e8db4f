// Bottom-up phases: every unvisited vertex looks for a parent in the frontier and stops at the first.
//
// SEARCH: a warp owns 32 words of `visited` (1024 vertices) at a time and gives their unvisited vertices to its lanes,
// 32 at once. A lane looks through the heads of its vertex; without success it reads LANE_LOADS groups of the row, and
// what is still without a parent is finished by the whole warp. Hubs that are not decided by their heads are listed.
// SEARCH_OPEN: where many rows are expected to be read, SEARCH puts them all off, so that no lane waits for another's
// row and so that few enough warps read neighbouring rows in order for the link's full rate. SEARCH_CHUNKS: a warp
// takes chunks of the hubs listed. Frontier kind: bitmap. Atomics: on shared memory only; for chunks an atomicOr on
// `visited`, whose winner writes. Memory per vertex: 16 bytes of heads and one or two words of the frontier. Source:
// Beamer et al., Direction-optimizing BFS (SC'12).
#pragma once
#include "algorithms/bfs/gpu/search.cuh"

// A piece of 1024 vertices with more of them unvisited is walked word by word.
constexpr u32 DENSE = 768;

// Words whose heads are asked for before those of the present one have come.
constexpr u32 AHEAD = 2;

// One word in so many has its vertices asked for their degrees: a whole word, so that few warps wait; not the first,
// since by degree the first vertices of all are no sample of the others.
constexpr u32 DEGREE_SAMPLE = 32;
DEVICE bool is_sampled(u64 v) { return word_of(v) % DEGREE_SAMPLE == DEGREE_SAMPLE / 2; }

// The words that are searched: those of all vertices, unless one of several GPUs has said which are its own
// (peers/peers.cuh). Past the end a word is `words` at least. A piece's `first` word is its first lane's.
#ifndef SEARCHED_VERTEX
DEVICE u64 searched_end(const Bfs&, u64 words) { return words; }
DEVICE u64 searched_word(const Bfs&, u64 i) { return i; }
// no function: with one, a compiler spills registers of varint kernels
#define SEARCHED_VERTEX(s, first, place) ((first) * 32 + (place))
DEVICE u64 searched_span(const Bfs&, u64 words) { return words * 32; }
#endif

// Writes a word of what the level has found, where `before` lies from another level; one of several GPUs tells the
// others, unless it is the same word.
#ifndef FOUND_WORD
#define WORD_BEFORE(t, next, w) 0
#define FOUND_WORD(s, t, next, w, before, word) ((next)[w] = (word))
#endif

// What a lane has counted.
struct Sums {
    u64 found;
    u64 missed;
    u64 edges;
};

// A vertex for each lane that is `active`; true where it has found a parent, among its heads (HEADS) or in its row.
// `open`: its heads do not decide and its row is put off. All lanes call it.
template <bool HEADS>
DEVICE bool search_batch(const Bfs& s, Team& t, const u32* frontier, u64 v, bool active, bool& open, Sums& sums) {
    vid parent = ~(vid)0;
    bool hit = HEADS && active && search_heads(s, frontier, v, parent);
    open = active && !hit && parent != (vid)v;
    if (__any_sync(ALL_LANES, open)) {
        open = open && !heads_are_all(s.in, degree(s.in, v));  // a full table may hold the whole row, too
        sums.missed += HEADS && open;
        if (!HEADS || !t.defer) {
            const bool found = search_row(s, t, frontier, v, open, parent);
            hit = hit || found;
            open = false;
        }
    }
    if (hit) {
        settle(s, v, parent, t.level + 1);
        if (is_sampled(v)) sums.edges += count_edges(s, t, v, DEGREE_SAMPLE);
    }
    return hit;
}

// The vertices of the warp's 32 words `todo`, 32 at a time however they are spread: sets the bits of the lane's word
// of those that have found a parent, and of those put off. All lanes call it.
template <bool HEADS>
DEVICE void search_bits(const Bfs& s, Team& t, u64 first, const SetBits& bits, u32& fresh, u32& open, Sums& sums) {
    const u32* const frontier = frontier_bits(s, t);
    u32* const found = t.found + threadIdx.x / WARP * WARP;
    u32* const put_off = t.open + threadIdx.x / WARP * WARP;
    found[lane_id()] = put_off[lane_id()] = 0;
    __syncwarp();
    u32 owner, bit;
    bits.find(lane_id(), owner, bit);
    u32 next = owner * 32 + bit;  // in one word: registers are scarce here
    for (u32 start = 0; start < bits.total; start += WARP) {
        const u32 place = next;
        const bool active = start + lane_id() < bits.total;
        const u64 v = active ? SEARCHED_VERTEX(s, first, place) : 0;
        if (start + WARP < bits.total) {
            bits.find(start + WARP + lane_id(), owner, bit);
            next = owner * 32 + bit;
            if (HEADS) prefetch_heads(s.in, SEARCHED_VERTEX(s, first, next));
        }
        bool later = false;
        if (search_batch<HEADS>(s, t, frontier, v, active, later, sums)) atomicOr(found + place / 32, bit_of(place));
        if (later) atomicOr(put_off + place / 32, bit_of(place));
    }
    __syncwarp();
    fresh = found[lane_id()];
    open = put_off[lane_id()];
}

// The same where nearly all vertices are to be searched: a word at a time, the heads of the next asked for meanwhile.
DEVICE void search_words(const Bfs& s, Team& t, u64 first, u32 todo, u32& fresh, u32& open, Sums& sums) {
    const u32* const frontier = frontier_bits(s, t);
    for (u32 k = 0; k < WARP; ++k) {
        if (k + AHEAD < WARP) prefetch_heads(s.in, SEARCHED_VERTEX(s, first, (k + AHEAD) * WARP + lane_id()));
        const u32 word = __shfl_sync(ALL_LANES, todo, k);
        const bool active = (word >> lane_id()) & 1;
        bool later = false;
        const u64 v = SEARCHED_VERTEX(s, first, k * WARP + lane_id());
        const bool hit = search_batch<true>(s, t, frontier, v, active, later, sums);
        const u32 hits = __ballot_sync(ALL_LANES, hit);
        const u32 laters = __ballot_sync(ALL_LANES, later);
        if (lane_id() == k) {
            fresh = hits;
            open = laters;
        }
    }
}

DEVICE void hand_in_sums(Team& t, const Sums& sums) {
    hand_in(t, FOUND, sums.found);
    hand_in(t, MISSED, sums.missed);
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
    for (u64 base = team_warp() * WARP; base < searched_end(s, words); base += team_warps() * WARP) {
        prefetch_words(s, searched_word(s, base + team_warps() * WARP), words);
        const u64 w = searched_word(s, base + lane_id());
        const u32 visited = w < words ? s.visited[w] : 0;
        [[maybe_unused]] const u32 before = w < words ? WORD_BEFORE(t, next, w) : 0;
        const u32 todo = w < words ? ~visited & __ldg(s.in.rows + w) : 0;
        u32 fresh = 0, open = 0;
        if (__any_sync(ALL_LANES, todo != 0)) {
            const SetBits bits(todo);
            if (bits.total > DENSE) search_words(s, t, searched_word(s, base), todo, fresh, open, sums);
            else search_bits<true>(s, t, searched_word(s, base), bits, fresh, open, sums);
        }
        if (w < words) {
            FOUND_WORD(s, t, next, w, before, fresh);
            if (t.defer) s.open[w] = open;
        }
        if (fresh) s.visited[w] = visited | fresh;
        sums.found += (u64)__popc(fresh);
    }
    hand_in_sums(t, sums);
}

DEVICE void search_open(const Bfs& s, Team& t) {
    u32* const next = next_bits(s, t);
    const u64 words = words_for(s.in.n);
    const u64 warps = warps_in_window(s, searched_span(s, WARP));
    Sums sums = {0, 0, 0};
    for (u64 base = team_warp() * WARP; base < searched_end(s, words) && team_warp() < warps; base += warps * WARP) {
        const u64 w = searched_word(s, base + lane_id());
        const u32 todo = w < words ? s.open[w] : 0;
        if (!__any_sync(ALL_LANES, todo != 0)) continue;
        u32 fresh = 0, open = 0;
        search_bits<false>(s, t, searched_word(s, base), SetBits(todo), fresh, open, sums);
        if (!fresh) continue;
        FOUND_WORD(s, t, next, w, next[w], next[w] | fresh);
        s.visited[w] |= fresh;
        sums.found += (u64)__popc(fresh);
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
