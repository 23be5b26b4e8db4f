// A warp's piece of a bottom-up level, 1024 vertices: 32 at a time look at a group of their heads, then who is open at
// the next group, and at last at their rows.
//
// Few vertices of a batch are open after the first group, but of nearly every batch some, and the warp would wait for
// the last of them: of R-MAT with eight groups four times as long as its lanes on average. So those that a group leaves
// open are given to the lanes anew. Frontier kind: bitmap. Atomics: on shared memory. Memory per vertex: 16 bytes for
// each group of heads and the words of the frontier that they ask for, and rows as search.cuh says. Source: the giving
// anew is ours, after the compaction of frontiers in Merrill et al. (PPoPP'12).
#pragma once
#include "algorithms/bfs/gpu/search.cuh"

// A piece of 1024 vertices with more of them unvisited is walked word by word.
constexpr u32 DENSE = 768;

// Heads of the first group that a vertex of a dense piece looks at at once: most find among them.
constexpr u32 FIRST_LOOKS = 2;

// Words whose heads are asked for before those of the present one have come.
constexpr u32 AHEAD = 2;

// One word in so many has its vertices asked for their degrees: a whole word, so that few warps wait; not the first,
// since by degree the first vertices of all are no sample of the others.
constexpr u32 DEGREE_SAMPLE = 32;
DEVICE bool is_sampled(u64 v) { return word_of(v) % DEGREE_SAMPLE == DEGREE_SAMPLE / 2; }

// The words that are searched: those of all vertices, unless one of several GPUs has said which are its own
// (peers/peers.cuh). Past the end a word is `words` at least. A piece's `first` word is its first lane's.
#ifndef SEARCHED_VERTEX
DEVICE u64 searched_end(const Bfs&, const Team&, u64 words) { return words; }
DEVICE u64 searched_word(const Bfs&, const Team&, u64 i) { return i; }
// no function: with one, a compiler spills registers of varint kernels
#define SEARCHED_VERTEX(s, first, place) ((first) * 32 + (place))
DEVICE u64 searched_span(const Bfs&, const Team&, u64 words) { return words * 32; }
#endif

// What a lane has counted.
struct Sums {
    u32 found;  // 32 bits for a lane's share of all vertices
    u32 missed;
    u64 edges;
};

DEVICE void settle_hit(const Bfs& s, Team& t, u64 v, vid parent, Sums& sums) {
    settle(s, v, parent, t.level + 1);
    if (is_sampled(v)) sums.edges += count_edges(s, t, v, DEGREE_SAMPLE);
}

// One group of the heads of a vertex for each lane that is `active`; true where it has found a parent. `later`: the
// group does not decide.
template <u32 LOOKS>
DEVICE bool look_at_heads(
    const Bfs& s, Team& t, const u32* frontier, u64 v, u32 group, bool active, bool& later, Sums& sums
) {
    vid parent = 0;
    later = false;
    if (!active) return false;
    const bool hit = search_group<LOOKS>(s, frontier, v, group, parent, later);
    // a full table may hold the whole row, too
    if (later && group + 1 == s.in.head_groups) later = !heads_are_all(s.in, degree(s.in, v));
    if (hit) settle_hit(s, t, v, parent, sums);
    return hit;
}

// Where the vertices of a batch look.
enum Where { FIRST_HEADS, MORE_HEADS, ROWS };

// Where a warp's 32 words of who has found a parent in this piece lie, and of who is still open; a lane has the one of
// its place. In shared memory: registers are scarce here.
DEVICE u32* found_words(Team& t) { return t.found + threadIdx.x / WARP * WARP; }
DEVICE u32* open_words(Team& t) { return t.open + threadIdx.x / WARP * WARP; }

// The vertices that are open, 32 at a time however they are spread: a vertex that finds a parent, in `group` of its
// heads or in its row, is set in found_words(); open stay those that the group does not decide. All lanes call it.
template <Where WHERE> DEVICE void search_bits(const Bfs& s, Team& t, u64 first, u32 group, Sums& sums) {
    const u32* const frontier = frontier_bits(s, t);
    const SetBits bits(open_words(t)[lane_id()]);
    open_words(t)[lane_id()] = 0;
    __syncwarp();
    u32 owner, bit;
    bits.find(lane_id(), owner, bit);
    u32 next = owner * 32 + bit;  // in one word
    for (u32 start = 0; start < bits.total; start += WARP) {
        const u32 place = next;
        const bool active = start + lane_id() < bits.total;
        const u64 v = active ? SEARCHED_VERTEX(s, first, place) : 0;
        if (start + WARP < bits.total) {
            bits.find(start + WARP + lane_id(), owner, bit);
            next = owner * 32 + bit;
            if (WHERE != ROWS) prefetch_heads(s.in, SEARCHED_VERTEX(s, first, next), group);
        }
        bool later = false;
        bool hit;
        if (WHERE == ROWS) {
            vid parent = 0;
            hit = search_row(s, t, frontier, v, active, parent);
            if (hit) settle_hit(s, t, v, parent, sums);
        } else {
            hit = look_at_heads<HEAD_GROUP>(s, t, frontier, v, group, active, later, sums);
        }
        if (hit) atomicOr(found_words(t) + place / 32, bit_of(place));
        if (later) atomicOr(open_words(t) + place / 32, bit_of(place));
    }
    __syncwarp();
}

// The first heads where nearly all vertices are to be searched: a word at a time, the heads of the next asked for
// meanwhile.
DEVICE void search_words(const Bfs& s, Team& t, u64 first, Sums& sums) {
    const u32* const frontier = frontier_bits(s, t);
    const u32 todo = open_words(t)[lane_id()];
    for (u32 k = 0; k < WARP; ++k) {
        if (k + AHEAD < WARP) prefetch_heads(s.in, SEARCHED_VERTEX(s, first, (k + AHEAD) * WARP + lane_id()));
        const u32 word = __shfl_sync(ALL_LANES, todo, k);
        const bool active = (word >> lane_id()) & 1;
        bool later = false;
        const u64 v = SEARCHED_VERTEX(s, first, k * WARP + lane_id());
        const bool hit = look_at_heads<FIRST_LOOKS>(s, t, frontier, v, 0, active, later, sums);
        const u32 hits = __ballot_sync(ALL_LANES, hit);
        const u32 laters = __ballot_sync(ALL_LANES, later);
        if (lane_id() == k) {
            found_words(t)[lane_id()] = hits;
            open_words(t)[lane_id()] = laters;
        }
    }
    __syncwarp();
}

// The vertices `todo` of the lane's word, and so of the warp's 32. Those that no head decides stay open where rows are
// put off. All lanes call it.
DEVICE void search_piece(const Bfs& s, Team& t, u64 first, u32 todo, Sums& sums) {
    found_words(t)[lane_id()] = 0;
    open_words(t)[lane_id()] = todo;
    __syncwarp();
    u32 group = 0;
    if (s.in.head_groups) {
        if (warp_sum((u32)__popc(todo)) > DENSE) search_words(s, t, first, sums);
        else search_bits<MORE_HEADS>(s, t, first, group, sums);
        group = 1;
    }
    for (; group < s.in.head_groups && __any_sync(ALL_LANES, open_words(t)[lane_id()] != 0); ++group) {
        search_bits<MORE_HEADS>(s, t, first, group, sums);
    }
    const u32 open = open_words(t)[lane_id()];
    sums.missed += (u32)__popc(open);
    if (!t.defer && __any_sync(ALL_LANES, open != 0)) search_bits<ROWS>(s, t, first, 0, sums);
}
