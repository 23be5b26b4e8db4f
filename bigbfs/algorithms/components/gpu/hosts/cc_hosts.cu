// Connected components over GPUs that reach nobody's memory: what ranks tell one another of their forests. What plants
// and links along rows are the kernels of one GPU (cc_afforest.cu), on own rows; loop.py has the order, and says why.
//
// A thread owns a candidate or a vertex of the sample (far_elect, far_votes: one block), a pair (far_accept,
// far_join); a warp 32 vertices: own ones (far_compress, far_members), others' (far_welcome), any (the rest).
// Frontier kind: none. Atomics: a compare-and-swap for each pair and each member of others that unites two trees, a bit
// for each root of others, a count for each warp that has pairs. Memory per vertex: a parent, and a bit. All trees are
// hung by id: a root is the smallest vertex of its tree. Source: Sutton, Ben-Nun, Barak (IPDPS'18); over ranks: ours.
#include "algorithms/components/gpu/forest.cuh"
#include "algorithms/components/gpu/giant.cuh"
#include "algorithms/components/gpu/hosts/halves.cuh"
#include "kernels/rows/heads.cuh"

// Every name is its own class.
KERNEL void far_names(u64 n, vid* names) {
    for (u64 v = thread_id(); v < n; v += thread_count()) names[v] = (vid)v;
}
ENTRY(far_names)

// Points own vertices at their roots.
KERNEL void far_compress(Part part, u64 n, vid* forest) {
    for (u64 h = first_half(); h < 2 * part.words; h += next_half()) {
        const u64 v = own_lane(part, h);
        if (v < n) find_root(forest, (vid)v);
    }
}
ENTRY(far_compress)

// One block: the most frequent root of the sample of own vertices; ~0: there are none.
KERNEL void far_elect(Adjacency a, Part part, vid* forest, vid* giant, u32* settled) {
    __shared__ vid roots[SAMPLE];
    __shared__ Votes votes;
    if (part.words == 0) {
        if (threadIdx.x == 0) *giant = ~(vid)0;
        return;
    }
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) {
        roots[i] = find_root(forest, (vid)own_sampled(part, a.n, i));
    }
    elect(roots, votes, [&](u32 i) { return test_bit(a.rows, own_sampled(part, a.n, i)); }, giant, settled);
}
ENTRY(far_elect)

// One block: the roots of `count` candidates, how many vertices of the sample are in the tree of each, and last, how
// many there are, of those that have edges.
KERNEL void far_votes(Adjacency a, Part part, vid* forest, const vid* candidates, u32 count, vid* roots, u32* votes) {
    for (u32 k = threadIdx.x; k <= count; k += blockDim.x) {
        votes[k] = 0;
        if (k < count) roots[k] = find_root(forest, candidates[k]);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < SAMPLE && part.words; i += blockDim.x) {
        const u64 v = own_sampled(part, a.n, i);
        if (!test_bit(a.rows, v)) continue;
        const vid root = find_root(forest, (vid)v);
        for (u32 k = 0; k < count; ++k) {
            if (roots[k] == root) atomicAdd(votes + k, 1u);
        }
        atomicAdd(votes + count, 1u);
    }
}
ENTRY(far_votes)

// Bits of own vertices in the tree of *giant.
KERNEL void far_members(Part part, u64 n, vid* forest, const vid* giant, u32* bits, u64 most) {
    const vid root = *giant;
    for (u64 h = first_half(); h < 2 * part.words; h += next_half()) {
        const u64 v = own_lane(part, h);
        const u32 in = __ballot_sync(ALL_LANES, v < n && find_root(forest, (vid)v) == root);
        if (lane_id() == 0) bits[2 * part.rank * most + h] = in;
    }
}
ENTRY(far_members)

// Others' members are in the tree of the hub here, too, whose root is *giant or was it: nearly all are alone, and hung
// below that without asking where the hub is, which all would read in one place.
KERNEL void far_welcome(Part part, u64 n, vid* forest, const vid* giant, const u32* bits, u64 most, vid hub) {
    const vid root = *giant;
    for (u64 at = first_half(); at < 2 * part.size * most; at += next_half()) {
        const u64 q = at / (2 * most);
        const u32 in = q == part.rank ? 0 : bits[at];
        if (!in) continue;
        const u64 v = half_of(part, q, at % (2 * most)) * 32 + lane_id();
        if (v >= n || !(in >> lane_id() & 1)) continue;
        if (stale_load(forest + v) == root) continue;
        const bool alone = root < v && relaxed_load(forest + v) == (vid)v;
        if (!alone || atomicCAS(forest + v, (vid)v, root) != (vid)v) link(forest, (vid)v, hub, 1);
    }
}
ENTRY(far_welcome)

// Whether all know of v, below `root` here, what this rank would tell. heard: of members alone (see loop.py).
DEVICE bool is_told(const Part& part, vid root, vid giant, const u32* bits, u64 most, u32 heard, u64 v) {
    if (root != giant) return false;
    return !heard || bits[member_half(part, most, v / 32)] >> (v % 32) & 1;
}

// Counts by owner what will be told: vertices of others below a root, and roots of others, of which `named` gets bits,
// that vertices are below. All vertices point at their roots afterwards.
KERNEL void far_count(
    Part part, u64 n, vid* forest, const vid* giant, const u32* bits, u64 most, u32 heard, u32* named, u64* counts
) {
    const vid most_have = *giant;
    for (u64 base = thread_id() / WARP * WARP; base < n; base += thread_count()) {
        const u64 owner = owner_of(part, base);
        const u64 v = base + lane_id();
        bool tells = v < n && relaxed_load(forest + v) != (vid)v;
        vid root = (vid)v;
        if (tells) {
            root = find_root(forest, (vid)v);
            if (root != most_have) {
                const u64 home = owner_of(part, root);
                if (home != part.rank && claim_bit(named, root)) atomicAdd(counts + home, (u64)1);
            }
            tells = owner != part.rank && !is_told(part, root, most_have, bits, most, heard, v);
        }
        const u32 all = __ballot_sync(ALL_LANES, tells);
        if (lane_id() == 0 && all) atomicAdd(counts + owner, (u64)__popc(all));
    }
}
ENTRY(far_count)

// Pairs of the lanes that tell, side by side, from *cursor on; by a whole warp.
DEVICE void write_pairs(bool tells, vid v, vid root, u64* cursor, vid* pairs) {
    const u32 all = __ballot_sync(ALL_LANES, tells);
    if (!all) return;
    u64 at = 0;
    if (lane_id() == 0) at = atomicAdd(cursor, (u64)__popc(all));
    at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(all & ((1u << lane_id()) - 1));
    if (!tells) return;
    pairs[2 * at] = v;
    pairs[2 * at + 1] = root;
}

// The same written down: a vertex and its root, for rank q from cursors[q] on.
KERNEL void far_tell(
    Part part, u64 n, vid* forest, const vid* giant, const u32* bits, u64 most, u32 heard, const u32* named,
    u64* cursors, vid* pairs
) {
    const vid most_have = *giant;
    for (u64 base = thread_id() / WARP * WARP; base < n; base += thread_count()) {
        const u64 owner = owner_of(part, base);
        if (owner == part.rank) continue;
        const u64 v = base + lane_id();
        const vid root = v < n ? forest[v] : (vid)v;
        bool tells = v < n && test_bit(named, v);
        if (root != (vid)v) tells = !is_told(part, root, most_have, bits, most, heard, v);
        write_pairs(tells, (vid)v, root, cursors + owner, pairs);
    }
}
ENTRY(far_tell)

// Own vertices, and what they are called on other ranks: here by their roots. Those of rank k begin at pair k * room.
KERNEL void far_accept(vid* forest, vid* names, const vid* pairs, u64 room, const u64* counts, u64 ranks) {
    for (u64 k = 0; k < ranks; ++k) {
        for (u64 i = thread_id(); i < counts[k]; i += thread_count()) {
            const vid* const pair = pairs + 2 * (k * room + i);
            link(names, pair[1], find_root(forest, pair[0]), 1);
        }
    }
}
ENTRY(far_accept)

// Names, and the smallest of their classes.
KERNEL void far_classes(u64 n, vid* names, vid* pairs, u64* count) {
    for (u64 base = thread_id() / WARP * WARP; base < n; base += thread_count()) {
        const u64 v = base + lane_id();
        const vid least = v < n ? find_root(names, (vid)v) : (vid)v;
        write_pairs(least != (vid)v, (vid)v, least, count, pairs);
    }
}
ENTRY(far_classes)

// Links both ends of pairs that lie as those of far_accept.
KERNEL void far_join(vid* forest, const vid* pairs, u64 room, const u64* counts, u64 ranks) {
    for (u64 k = 0; k < ranks; ++k) {
        for (u64 i = thread_id(); i < counts[k]; i += thread_count()) {
            const vid* const pair = pairs + 2 * (k * room + i);
            link(forest, pair[0], pair[1], 1);
        }
    }
}
ENTRY(far_join)
