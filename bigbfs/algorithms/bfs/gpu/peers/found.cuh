// Whom a bottom-up level has found, told to other ranks as words of a bitmap or in lists.
//
// FOUND_WORD writes a word of own vertices. Where all ranks have all rows (whole.cuh), a level that can find but few
// leaves them in lists: to tell a bitmap takes n / 8 bytes over the links, mostly to clear what lies there, and to look
// through it for a few bits takes as long as a level. A block has a list of its own in each rank's inbox; before the
// lists stand their numbers of ids, side by side, since every warp that reads a list adds up those before. A block
// whose list is full says that something is left, and the bitmap is published. ENLIST (tell.cuh) makes one queue of all
// lists. Atomics: one on shared memory for each word with some. Memory: an id for each vertex found and rank. Source:
// ours.
#pragma once

// Team::told of a level that tells whom it finds in lists.
constexpr u32 IN_LISTS = 2;

DEVICE bool in_lists(const Team& t) { return ALL_ROWS && t.told == IN_LISTS; }

// Whether rows are searched in the phase.
DEVICE bool searches(const Team& t) { return t.phase == UP || t.phase == UP_OPEN || t.phase == UP_CHUNKS; }

// How many ids the list of block b of one rank holds, in the memory of another.
DEVICE vid* list_count(const Peers& p, u64 reader, u64 writer, u64 b) {
    return in_rank<vid>(p, reader, p.claimed_at) + writer * p.capacity + b;
}

// That list.
DEVICE vid* list_of(const Peers& p, u64 reader, u64 writer, u64 b) {
    return list_count(p, reader, writer, p.lists) + b * p.list_ids;
}

// The vertices of `fresh`, of word w, into the block's list.
DEVICE void list_found(const Peers& p, Team& t, u64 w, u32 fresh) {
    if (!fresh) return;
    u32 at = atomicAdd(&t.tail, (u32)__popc(fresh));
    for (; fresh; fresh &= fresh - 1, ++at) {
        if (at >= p.list_ids) return;
        const vid v = (vid)(w * 32 + (u32)__ffs((int)fresh) - 1);
        for (u64 r = 0; r < p.part.size; ++r) list_of(p, r, p.part.rank, blockIdx.x)[at] = v;
    }
}

// Thread 0 of a block, behind the phase: how many its list holds, in all ranks' memory.
DEVICE void close_list(const Peers& p, const Team& t) {
    if (t.tail > p.list_ids) atomicAdd(p.joint->left, (u64)1);
    const u64 count = t.tail < p.list_ids ? t.tail : p.list_ids;
    for (u64 r = 0; r < p.part.size; ++r) *list_count(p, r, p.part.rank, blockIdx.x) = (vid)count;
}

// Writes the word w of what a level has found, of own vertices, and tells all other ranks, unless they have it: late
// levels find few, and a word over the link costs as much as many in own memory.
#define FOUND_WORD(s, t, next, w, before, word) tell_found((const Peers&)(s), t, next, w, before, word)
#define WORD_BEFORE(t, next, w) ((t).told == 1 ? (next)[w] : 0)
DEVICE void tell_found(const Peers& p, Team& t, u32* next, u64 w, u32 before, u32 word) {
    if (!TELLS) {
        next[w] = word;
        return;
    }
#if VARINT
    if (!is_own(p.part, w * 32)) return;  // its owner tells it
#endif
    if (in_lists(t)) {
        next[w] = word;
        return list_found(p, t, w, word & ~before);
    }
    if (t.told && before == word) return;
    next[w] = word;
    const u32 visited = ALL_ROWS && word ? p.s.visited[w] | word : 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        in_rank<u32>(p, r, t.swapped ? p.frontier_at : p.next_at)[w] = word;
        if (visited) in_rank<u32>(p, r, p.visited_at)[w] = visited;
    }
}
