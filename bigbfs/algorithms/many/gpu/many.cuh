// What the kernels of many searches share: the state in device memory, and the bits of a vertex, one for each source.
//
// A vertex has 64 to 512 bits twice. `seen`: the sources that have reached it by the level of the frontier. `other`: by
// the level before; where they differ, the vertex is in the frontier. A level that runs top-down adds what it finds to
// `other`, whose bits outside `seen` are the next frontier's, and closes it afterwards; one that runs bottom-up writes
// `other` as a whole, and the two change places. A lane has MANY_PART words of a vertex, a group of up to four
// neighbouring lanes has all of it. The frontier of level L is also a bitmap, number L % 2 of two, and, where it is
// going to be expanded, a queue.
//
// A vertex that lacks no source which is under way is full. Bottom-up says so in a bitmap, `full` by the level of the
// frontier and `done` by the next one, which change places, too. Once many are full, nobody looks at them or closes
// them any more (`by_full`): who meets one knows that it has all sources, for its bits in one of the two arrays stay
// behind. many_catch_up closes them before a level top-down. Of vertices of the frontier both arrays are right always.
// Source: Then et al., The more the merrier (VLDB 2014); two arrays, not three, and full ones by a bitmap: ours.
#pragma once
#include "kernels/base/grid.cuh"
#include "kernels/passes/passes.cuh"

constexpr u32 PART = MANY_PART;
static_assert(PART == 1 || PART == 2, "one word of 64 bits, or two");
constexpr u32 MOST_WORDS = 8;  // of a vertex
constexpr u32 MOST_BITS = 64 * MOST_WORDS;

enum Ending { MORE = 0, DONE = 1, WIDE = 2, FULL = 3, ROWS = 4 };

// Where a batch stands between launches.
struct ManyStand {
    u64 level;  // of the frontier
    u64 count;  // vertices of the frontier
    u64 edges;  // of their rows
    u64 left;  // edges of the rows that heads did not decide when a level last ran bottom-up
    u64 ending;  // WIDE: the host chooses a direction; FULL: takes counts; ROWS: has rows that heads do not hold read
    u64 pushed;  // levels that ran top-down
    u64 picked;  // vertices of the frontier that were picked for many_spread
    u64 full;  // vertices that lack no source, of those that bottom-up has looked at
    u64 active[MOST_WORDS];  // sources that have reached a vertex in this level
    u64 asked[MOST_WORDS];  // of these the ones that bottom-up asks for; the others are spread before it
};
static_assert(sizeof(ManyStand) == MANY_STAND_BYTES, "ManyStand differs from its NumPy dtype");

// What the blocks add up in a level. Three of them in turn: one to add to, one that is being read, one cleared.
struct ManySums {
    u64 freed;  // vertices of the next frontier
    u64 edges;  // of their rows
    u64 chunks;  // chunks of hub rows listed by who met the hubs; streamed: rows of the frontier that are not in heads
    u64 left;
    u64 listed;  // by many_list
    u64 full;  // vertices that lack no source any more
    u64 active[MOST_WORDS];
};
static_assert(sizeof(ManySums) == MANY_SUMS_BYTES, "ManySums differs from its NumPy dtype");
constexpr u32 TURNS = 3;

struct Many {
    Adjacency out;  // rows that top-down expands
    Adjacency in;  // rows that bottom-up searches: in-neighbours
    MANY_ARRAYS  // seen, other, queues, claimed, done, chunk_list, pairs, columns, ...: as arguments.py says
        u64 vertices;  // those behind have no edge, and no bits
    u64 base;  // level that the first counts are of
    u64 span;  // levels that there is room for, base among them
    u64 most_levels;  // of one launch
    u64 max_depth;
    u64 pull_from;  // frontiers with so many edges and more are for the host to decide
    u64 apart_ids;  // bottom-up: rows of up to so many ids are read by a group of lanes each
    u64 spread;  // bottom-up: `other` has bits of the next level already
    u64 sparse;  // bottom-up: a neighbour is looked up in the frontier's bitmap before its bits are asked for
    u64 hubs_apart;  // top-down: the rows of hubs are many_push_chunks' to read
    u64 few_words;  // top-down: rows of a vertex with so many words that are not empty are asked for by single lanes
    u64 shares_rows;  // bottom-up: lanes share out a row once only one of a group lacks something
    u64 kept;  // sources whose levels there is room for: a batch has no more, where levels are wanted
    u64 group_bits;  // a group has 2^group_bits lanes
    u64 by_full;  // bottom-up: full vertices are left alone, and known by the bitmap; their bits may be behind
};
static_assert(sizeof(Many) == MANY_BYTES, "Many differs from its NumPy dtype");

DEVICE u32 group_lanes(const Many& s) { return 1u << (u32)s.group_bits; }
DEVICE u32 warp_groups(const Many& s) { return WARP >> (u32)s.group_bits; }
DEVICE u32 own_group(const Many& s) { return lane_id() >> (u32)s.group_bits; }
DEVICE u32 vertex_words(const Many& s) { return PART << (u32)s.group_bits; }

// The lane's place in its group, and the first of its words of a vertex.
DEVICE u32 own_part(const Many& s) { return lane_id() & (group_lanes(s) - 1); }
DEVICE bool leads_group(const Many& s) { return own_part(s) == 0; }
DEVICE u32 own_word(const Many& s) { return own_part(s) * PART; }
DEVICE u64* words_of(const Many& s, u64* bits, u64 v) { return bits + v * vertex_words(s) + own_word(s); }
DEVICE u64* word_at(const Many& s, u64* bits, u64 v, u32 i) { return bits + v * vertex_words(s) + i; }

// Who brings none of the sources that are asked for in the words of lane `part` of a group, and need not be looked at:
// where some sources are spread, as many_pick says. Behind these bitmaps, where vertices have numbers of their own, the
// same by ids of the file, as many_parts says, so that only who is looked at is looked up.
DEVICE u32* bitmap_of_part(const Many& s, u32 part) { return s.parts + part * words_for(s.vertices); }
DEVICE u32* file_bitmap_of_part(const Many& s, u32 part) {
    return bitmap_of_part(s, group_lanes(s)) + part * words_for(s.in.file_n);
}

DEVICE u32* claimed_by(const Many& s, u64 level) { return s.claimed + (level & 1) * words_for(s.vertices); }
DEVICE vid* queue_of(const Many& s, u64 level) { return s.queues + (level & 1) * s.vertices; }

// The words of a bitmap, dealt to the warps one after the other; a lane looks at one of its warp's next WARP for all.
DEVICE u32 dealt_word(u32 base, u32 lane) { return base + lane * (u32)(thread_count() / WARP); }
DEVICE u32 dealt_words(const Many& s) { return (u32)words_for(s.vertices); }
DEVICE u32 load_dealt(const Many& s, const u32* bitmap, u32 base) {
    const u32 mine = dealt_word(base, lane_id());
    return mine < dealt_words(s) ? bitmap[mine] : 0;
}

// Who needs no look bottom-up: full vertices, and where their bits are not to be left behind, only once they have left
// the frontier, in which they are closed.
DEVICE u32 left_alone(const Many& s, u32 w) {
    return s.by_full ? s.full[w] : s.full[w] & ~claimed_by(s, s.many_stand->level)[w];
}

// Whether the bits of v may be behind: it is full, and in no frontier.
DEVICE bool is_behind(const Many& s, u64 v) {
    return s.by_full && (s.full[word_of(v)] & ~claimed_by(s, s.many_stand->level)[word_of(v)] & bit_of(v)) != 0;
}

// The ids in the row of v, of a hub one more than BLOCK_IDS.
DEVICE u32 short_degree(const Adjacency& a, u64 v) {
    const u64 ids = degree(a, v);
    return ids > BLOCK_IDS ? BLOCK_IDS + 1 : (u32)ids;
}

// Appends the chunks of the hub v to the list, for the lanes that ask for it; all lanes call it.
DEVICE void list_chunks(const Many& s, u64* listed, const Adjacency& a, bool asked, u64 v) {
    for (u32 todo = __ballot_sync(ALL_LANES, asked); todo; todo &= todo - 1) {
        const u32 hub = find_hub(a, (vid)__shfl_sync(ALL_LANES, v, (u32)__ffs((int)todo) - 1));
        const u64 first = a.hub_ptr[hub];
        const u64 count = a.hub_ptr[hub + 1] - first;
        u64 at = 0;
        if (lane_id() == 0) at = atomicAdd(listed, count);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u64 i = lane_id(); i < count; i += WARP) s.chunk_list[at + i] = (u32)(first + i);
    }
}

// Neighbours that a lane asks for at a time where it reads a row: registers are scarce there.
constexpr u32 LOOKS = 2;

// The LOOKS ids that a group looks at in turn `part`, of as many as a group has lanes: those of another lane, the same
// for all lanes of the group; which of them there are. All lanes call it.
DEVICE u32 hand_out(const Many& s, const vid* ids, u32 valid, u32 part, vid* mine) {
    const u32 from = part * warp_groups(s) + own_group(s);
#pragma unroll
    for (u32 j = 0; j < LOOKS; ++j) mine[j] = __shfl_sync(ALL_LANES, ids[j], from);
    return __shfl_sync(ALL_LANES, valid, from);
}
