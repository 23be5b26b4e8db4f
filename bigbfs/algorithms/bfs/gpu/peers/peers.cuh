// A BFS over several GPUs of one machine: what each of them knows, and who owns which vertex.
//
// Every GPU ("rank") runs the same kernel at the same time on the rows of its own vertices: words of 64, dealt in turn
// or cut into ranges (bigbfs/engines/ranks/partition.py). Ids are global everywhere, and bitmaps have a bit for each
// vertex of the graph. What ranks tell one another they store into each other's memory: all that others write lies in
// one allocation on each rank, laid out alike, so that a rank finds another's array by its base and an offset.
#pragma once
#include "algorithms/bfs/gpu/bfs.cuh"
#include "kernels/base/part.cuh"

// Whether ranks write into each other's memory, so that a level tells at once whom it finds.
#ifndef TELLS
#define TELLS 1
#endif

// Whether each rank has the rows of all vertices (whole.cuh). Such searches are a program of their own: neither has
// registers for what only the other does.
#ifndef WHOLE
#define WHOLE 0
#endif
constexpr bool ALL_ROWS = WHOLE;

enum PeerPhase {
    DOWN,
    DOWN_CHUNKS,
    DELIVER,
    ACCEPT,
    FILL,
    SET,
    COLLECT,
    PUBLISH,
    MERGE,
    UP,
    UP_OPEN,
    UP_CHUNKS,
    BLANK,
    MARK,
    MARK_CHUNKS,
    TAKE,
    FEW,
    ALONE,
    HALT
};

// What a rank tells every other at a meeting.
struct Letter {
    u64 found;   // own vertices found by the level, so far
    u64 edges;   // in their rows (bottom-up: estimated)
    u64 missed;  // bottom-up: own vertices whose heads did not decide
    u64 left;    // claims for which there was no room; bottom-up: chunks of own hubs, whose finds nobody was told
    u64 claims;  // in the receiver's inbox, from the sender
};
static_assert(sizeof(Letter) == LETTER_BYTES, "Letter differs from its NumPy dtype");

// A letter on its way: each number in two halves, each half in a word of its own (meeting.cuh).
constexpr u32 LETTER_FIELDS = LETTER_BYTES / sizeof(u64);
constexpr u32 LETTER_WORDS = 2 * LETTER_FIELDS;
constexpr u32 CLAIMS_FIELD = 4;

// What the first block tells the others of its GPU at a barrier: the letters' first fields added up over all ranks,
// and this rank's own counters of the level.
enum NoticeField {
    ALL_FOUND,
    ALL_EDGES,
    ALL_MISSED,
    ALL_LEFT,
    LOST,  // 1 + the rank that has not come; 0: all have
    MEETS,  // whether all ranks have met
    OWN_FOUND,
    OWN_EDGES,
    OWN_MISSED,
    OWN_GATHERED,
    OWN_CHUNKS,
    NOTICE_FIELDS
};
static_assert(2 * NOTICE_FIELDS <= WARP, "a notice is one read of a warp");
static_assert(2 * NOTICE_FIELDS * sizeof(u64) == NOTICE_BYTES, "a notice differs from its NumPy size");

// What all ranks know alike, and what this one keeps from round to round.
struct Joint {
    u64 count;     // vertices of the frontier, of all ranks
    u64 edges;     // in their rows
    u64 explored;  // edges in the rows of all vertices reached
    u64 meetings;  // so many have been
    u64 lost;      // 1 + the rank that did not come to the last of them; 0: all came
    u64 left[2];   // claims left over by this rank, of even and of odd rounds
    u64 rounds;    // rounds of delivering claims that a level took beyond its first
    u64 waited;    // cycles of waiting for other ranks
    u64 told;      // bytes stored into others' memory
    u64 barriers;  // so many with a notice have been, and at the last of them was told
    u64 notice[2 * NOTICE_FIELDS];
};
static_assert(sizeof(Joint) == JOINT_BYTES, "Joint differs from its NumPy dtype");

struct Peers {
    // levels, parents, queue and bitmaps of all vertices (queue: twice); rows, heads: own ones are there
    Bfs s;
    Joint* joint;
    Part part;
    u64* sent;         // ranks: claims that this round has for each
    const u64* bases;  // ranks: where the memory begins that others write
    u64 visited_at;    // bytes from a base
    u64 frontier_at;
    u64 next_at;
    u64 told_at;       // words of a bitmap as others have published them, by sender
    u64 claimed_at;    // ranks x capacity ids: vertices claimed, by sender
    u64 claimers_at;   // the same: their parents
    u64 letters_at;    // 2 x ranks x LETTER_WORDS: letters of even and of odd meetings, by sender
    u64 parents_at;    // parents of all vertices, right where they are own
    u64 capacity;      // claims that one rank can leave for another in a round
    u64 patience;      // cycles that a rank waits for the others
    u64 most_words;    // words of 64 vertices that a rank has at most where they are dealt
    u64 edges_in_all;  // of the whole graph
    u64 told_cost;     // of a vertex found that may belong to another, and of telling all bits: picoseconds
    u64 publish_cost;
    u64 alike_to;      // bottom-up levels that find at most so many vertices are not shared (whole.cuh)
};
static_assert(sizeof(Peers) == PEERS_BYTES, "Peers differs from its NumPy dtype");

// Bottom-up levels search halves of own words: in them most vertices are own, so that lanes next to one another have
// heads next to one another. With varint rows of own vertices alone there is no register left for it: words of others,
// which have no rows here, are passed over. Where all ranks have all rows a piece of words is one that was dealt, and a
// level that is not shared has the words of all. All states of a search are the first member of their Peers.
DEVICE const Part& part_of(const Bfs& s) { return ((const Peers*)&s)->part; }
DEVICE bool has_all_words(const Team& t) { return ALL_ROWS ? !t.shared : VARINT; }
DEVICE u64 searched_end(const Bfs& s, const Team& t, u64 words) {
    return has_all_words(t) ? words : 2 * part_of(s).words;
}
DEVICE u64 searched_word(const Bfs& s, const Team& t, u64 i) {
    if (has_all_words(t)) return i;
    return i < 2 * part_of(s).words ? own_half(part_of(s), i) : ~0ull;
}
DEVICE u64 searched_span(const Bfs& s, const Team& t, u64 words) {
    return words * 32 * (has_all_words(t) ? 1 : part_of(s).stride);
}
#if WHOLE || VARINT
#define SEARCHED_VERTEX(s, first, place) ((first) * 32 + (place))
#else
#define SEARCHED_VERTEX(s, first, place) own_vertex(s, first, place)
// Words are dealt one by one, or lie side by side.
DEVICE u64 own_vertex(const Bfs& s, u64 first, u32 place) {
    return ((vid)first + 2 * (place / 64) * (vid)part_of(s).gap) * 32 + place;
}
#endif

#if WHOLE
#define MARKS(s, v) is_own(part_of(s), v)
#endif

template <typename T> DEVICE T* in_rank(const Peers& p, u64 rank, u64 at) { return (T*)(p.bases[rank] + at); }

#include "algorithms/bfs/gpu/peers/found.cuh"
#include "algorithms/bfs/gpu/bottomup.cuh"
#include "algorithms/bfs/gpu/topdown.cuh"
#include "algorithms/bfs/gpu/wide.cuh"

// What a block knows beside Team, in shared memory; the same in every block after a barrier.
struct Mates {
    u64 count;  // as in Joint
    u64 edges;
    u64 explored;
    u64 meetings;
    u64 barriers;
    u64 waited;  // as in Joint; the first block's are right
    u64 told;
    u64 notice[NOTICE_FIELDS];  // of the last barrier: the first block's, or what this one has read
    u32 round;  // of delivering the claims of a level
    u32 blank;  // whether the frontier's bitmap is empty
    u32 turns;  // whether what is visited is published before the level, which is top-down
    u32 same;  // bit t.swapped: all ranks have the same frontier as a bitmap; the other bit: the same `next`
};

// The letter of meeting `number` from one rank, in the memory of another.
DEVICE u64* letter_from(const Peers& p, u64 reader, u64 writer, u64 number) {
    return in_rank<u64>(p, reader, p.letters_at) + ((number & 1) * p.part.size + writer) * LETTER_WORDS;
}

// Claims in the inbox from rank r, of the last meeting.
DEVICE u64 claims_from(const Peers& p, const Mates& m, u64 r) {
    const u64* const halves = letter_from(p, p.part.rank, r, m.meetings) + 2 * CLAIMS_FIELD;
    return (u32)relaxed_load(halves) | relaxed_load(halves + 1) << 32;
}

// A bitmap of 64-vertex words in the memory of a rank: the frontier of the level in progress.
DEVICE u64 frontier_at(const Peers& p, const Team& t) { return t.swapped ? p.next_at : p.frontier_at; }

// Of what a phase publishes.
DEVICE u64 published_at(const Peers& p, const Team& t) {
    return t.bottom_up || ALL_ROWS ? frontier_at(p, t) : p.visited_at;
}

DEVICE bool is_dealt(const Peers& p) { return p.part.bounds == 0; }

// Words of 64 vertices.
DEVICE u64 words_of_64(const Peers& p) { return (p.s.out.n + 63) >> 6; }

// Where the queue's other half begins: what a level finds becomes the next frontier there.
DEVICE u64 other_half(const Peers& p, const Team& t) { return t.begin ? 0 : p.s.out.n; }
