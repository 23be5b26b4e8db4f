// BFS over several GPUs whose rows come from a file: what a rank does with its own, and with claims.
//
// The steps of a level are those of one GPU (streamed_steps.cuh), over the words of own vertices, which lie side by
// side (ranges). Top-down, ids that others own are marked in `claimed`, their parents put down; ranks_count, ranks_pack
// make lists of them, one for each owner, and ranks_accept takes in what others have claimed. ranks_know: what is in
// the frontier is claimed by nobody. A warp owns 32 words of a bitmap, a chunk of a hot row, or a piece; a thread a
// word or a claim. Frontier kind: bitmap. Atomics: as on one GPU; one for each word with claims, and two for a claim
// taken in. Memory per edge: as on one GPU. Source: Beamer et al. (SC'12); Pan, Pearce, Owens (IPDPS'18); ours.
#include "algorithms/bfs/gpu/streamed_steps.cuh"
#include "kernels/base/part.cuh"

// Own words of a bitmap.
DEVICE u64 own_begin(const Part& part) { return 2 * part.first; }
DEVICE u64 own_end(const Part& part, u64 n) {
    const u64 end = 2 * (part.first + part.words);
    return end < words_for(n) ? end : words_for(n);
}

// Top-down: every id of a row is reached; those of others are claimed.
struct Claim {
    static constexpr bool STOPS = false;
    const Search& s;
    const Part& part;
    u64 n;
    u64 found;

    METHOD Claim(const Search& search, const Part& own, u64 vertices) : s(search), part(own), n(vertices), found(0) {}

    METHOD bool wants(vid) const { return true; }

    METHOD bool read(vid v, vid u) {
        if (u >= n) {
            atomicAdd(s.tallies + INVALID, (u64)1);
        } else if (claim_bit(s.visited, u)) {
            if (((u64)u >> 6) - part.first < part.words) {
                settle(s, u, v);
                atomicOr(s.next + word_of(u), bit_of(u));
                found += 1;
            } else {
                if (s.parents) s.parents[u] = v;
                atomicOr(s.claimed + word_of(u), bit_of(u));
            }
        }
        return false;
    }
};

KERNEL void ranks_reset(Search s, u64 n, u64 source) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        if (s.levels) s.levels[v] = v == source ? 0 : -1;
        if (s.parents) s.parents[v] = ~(vid)0;
    }
    for (u64 w = thread_id(); w < words_for(n); w += thread_count()) {
        s.visited[w] = s.frontier[w] = w == word_of(source) ? bit_of(source) : 0;
        s.claimed[w] = 0;
    }
}
ENTRY(ranks_reset)

// Over own vertices of the frontier, or over all that are reached.
KERNEL void ranks_survey(Adjacency a, Search s, Part part, u32 all) {
    survey_rows(a, s, all ? s.visited : s.frontier, own_begin(part), own_end(part, a.n));
}
ENTRY(ranks_survey)

KERNEL void ranks_know(Search s, u64 n) {
    for (u64 w = thread_id(); w < words_for(n); w += thread_count()) s.visited[w] |= s.frontier[w];
}
ENTRY(ranks_know)

KERNEL void ranks_heads(Adjacency a, Search s, Part part) { sweep_heads(a, s, own_begin(part), own_end(part, a.n)); }
ENTRY(ranks_heads)

KERNEL void ranks_list(Adjacency a, Search s, Part part) {
    Claim claim(s, part, a.n);
    list_rows(a, s, claim, own_begin(part), own_end(part, a.n));
}
ENTRY(ranks_list)

KERNEL void ranks_hot(Adjacency a, Search s, Part part, u32 bottom_up) {
    if (bottom_up) {
        Seek seek(s, a.n);
        read_hot(a, s, true, seek, own_begin(part), own_end(part, a.n));
    } else {
        Claim claim(s, part, a.n);
        read_hot(a, s, false, claim, own_begin(part), own_end(part, a.n));
    }
}
ENTRY(ranks_hot)

KERNEL void ranks_expand(Adjacency a, Search s, Part part, const Piece* pieces, u64 count) {
    Claim claim(s, part, a.n);
    read_pieces(a, claim, pieces, count, s.wanted);
    hand_in(s, FOUND, claim.found);
}
ENTRY(ranks_expand)

KERNEL void ranks_search(Adjacency a, Search s, Part, const Piece* pieces, u64 count) {
    Seek seek(s, a.n);
    read_pieces(a, seek, pieces, count, s.wanted);
    hand_in(s, FOUND, seek.found);
}
ENTRY(ranks_search)

// How many vertices of each other rank are claimed, into `sent`, which is 0.
KERNEL void ranks_count(Search s, Part part, u64 n) {
    for (u64 r = 0; r < part.size; ++r) {
        if (r == part.rank) continue;
        const u64 end = 2 * part.bounds[r + 1] < words_for(n) ? 2 * part.bounds[r + 1] : words_for(n);
        u64 count = 0;
        for (u64 w = 2 * part.bounds[r] + thread_id(); w < end; w += thread_count()) count += (u64)__popc(s.claimed[w]);
        __syncwarp();
        count = warp_sum(count);
        if (lane_id() == 0 && count) atomicAdd(s.sent + r, count);
    }
}
ENTRY(ranks_count)

// Moves the claims of the `words` words of 64 from `begin` on, of each other rank's, into part r of `vertices` and of
// `parents`, which have room for `capacity` of each. `sent`, which is 0, counts them.
KERNEL void ranks_pack(Search s, Part part, u64 n, u64 begin, u64 words, vid* vertices, vid* parents, u64 capacity) {
    for (u64 r = 0; r < part.size; ++r) {
        if (r == part.rank) continue;
        u64 end = part.bounds[r] + begin + words;
        if (end > part.bounds[r + 1]) end = part.bounds[r + 1];
        end = 2 * end < words_for(n) ? 2 * end : words_for(n);
        for (u64 w = 2 * (part.bounds[r] + begin) + thread_id(); w < end; w += thread_count()) {
            u32 bits = s.claimed[w];
            if (!bits) continue;
            s.claimed[w] = 0;
            u64 at = r * capacity + atomicAdd(s.sent + r, (u64)__popc(bits));
            for (; bits; bits &= bits - 1, ++at) {
                const u64 v = w * 32 + ((u32)__ffs((int)bits) - 1);
                vertices[at] = (vid)v;
                if (s.parents) parents[at] = s.parents[v];
            }
        }
    }
}
ENTRY(ranks_pack)

// Own vertices that others have claimed; no parents where nobody wants them.
KERNEL void ranks_accept(Search s, const vid* vertices, const vid* parents, u64 count) {
    u64 found = 0;
    for (u64 i = thread_id(); i < count; i += thread_count()) {
        const vid v = vertices[i];
        if (!claim_bit(s.visited, v)) continue;
        settle(s, v, s.parents ? parents[i] : (vid)0);
        atomicOr(s.next + word_of(v), bit_of(v));
        found += 1;
    }
    __syncwarp();
    hand_in(s, FOUND, found);
}
ENTRY(ranks_accept)
