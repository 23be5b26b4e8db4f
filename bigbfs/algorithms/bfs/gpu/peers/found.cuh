// Whom a bottom-up level has found, told to other ranks as words of a bitmap.
//
// FOUND_WORD writes a word of own vertices, also into the others' bitmaps; where all ranks have all rows (whole.cuh),
// that they are visited, too. Atomics: none. Memory: a word, or two, for each other rank. Source: ours.
#pragma once

// Writes the word w of what a level has found, of own vertices, and tells all other ranks, unless they have it: late
// levels find few, and a word over the link costs as much as many in own memory.
#define FOUND_WORD(s, t, next, w, before, word) tell_found((const Peers&)(s), t, next, w, before, word)
#define WORD_BEFORE(t, next, w) ((t).told ? (next)[w] : 0)
DEVICE void tell_found(const Peers& p, const Team& t, u32* next, u64 w, u32 before, u32 word) {
    if (!TELLS || (ALL_ROWS && !t.shared)) {
        next[w] = word;
        return;
    }
#if VARINT && !WHOLE
    if (!is_own(p.part, w * 32)) return;  // its owner tells it
#endif
    if (t.told && before == word) return;
    next[w] = word;
    const u32 visited = ALL_ROWS && word ? p.s.visited[w] | word : 0;
    for (u64 r = 0; r < p.part.size; ++r) {
        if (r == p.part.rank) continue;
        in_rank<u32>(p, r, t.swapped ? p.frontier_at : p.next_at)[w] = word;
        if (visited) in_rank<u32>(p, r, p.visited_at)[w] = visited;
    }
}
