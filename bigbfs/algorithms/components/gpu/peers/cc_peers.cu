// Connected components over several GPUs of one machine: meetings, what ranks tell one another. What reads rows are the
// kernels of one GPU (cc_afforest.cu), on own rows. loop.py has the order, and where all ranks meet.
//
// A thread owns a vertex (joint_degrees), a vertex of the sample (joint_sample), a pair (joint_join); a warp 32
// vertices of any rank (joint_gather, joint_tell). Frontier kind: none. Atomics: a compare-and-swap for each pair that
// unites two trees. Others' memory is read, and written by plain stores: samples, flags. Memory over the link: an id
// for each vertex gathered, two for each pair and rank. Source: Sutton, Ben-Nun, Barak (IPDPS'18); over ranks: ours.
#include "algorithms/components/gpu/peers/joint.cuh"
#include "kernels/base/wake.cuh"

// Neighbours of every vertex, of those too whose rows are not here (their offsets are not, either).
KERNEL void joint_degrees(u64 n, const u64* indptr, vid* degrees) {
    for (u64 v = thread_id(); v < n; v += thread_count()) degrees[v] = (vid)(indptr[v + 1] - indptr[v]);
}
ENTRY(joint_degrees)

// Before a run, in which `told` is written anew. All ranks have ended the one before.
KERNEL void joint_wake(Ranks r) { wake_links(r.part, r.bases, r.told_at, 2 * r.n * sizeof(vid) / 8, thread_id()); }
ENTRY(joint_wake)

// One warp: says that this rank has come to meeting `number`, and waits until all others have, but no longer than
// `patience` cycles; what they have stored before is seen by the kernels behind it. No host takes part.
KERNEL void joint_meet(Ranks r, u64 number, u64 patience, Waits* waits) {
    if (thread_id() >= WARP) return;
    const u64 start = (u64)clock64(), longest = relaxed_load(&waits->lost) ? 0 : patience;
    system_fence();
    for (u64 k = lane_id(); k < r.part.size; k += WARP) {
        relaxed_store(in_rank<u64>(r, k, r.meetings_at) + r.part.rank, number);
    }
    for (u64 k = lane_id(); k < r.part.size; k += WARP) {
        bool late = false;
        while (!late && acquire_load(in_rank<u64>(r, r.part.rank, r.meetings_at) + k) < number) {
            spin();
            late = (u64)clock64() - start > longest;
        }
        if (late) relaxed_store(&waits->lost, k + 1);
    }
    __syncwarp();
    if (lane_id() == 0) waits->cycles += (u64)clock64() - start;
}
ENTRY(joint_meet)

// Own vertices of the sample, with their roots, to all ranks.
KERNEL void joint_sample(Adjacency a, Ranks r, const vid* forest) {
    for (u64 i = thread_id(); i < SAMPLE && r.n; i += thread_count()) {
        const u64 v = sampled((u32)i, r.n);
        if (!is_own(r.part, v)) continue;
        for (u64 to = 0; to < r.part.size; ++to) {
            in_rank<vid>(r, to, r.sample_at)[i] = forest[v];
            in_rank<u32>(r, to, r.edged_at)[i] = test_bit(a.rows, v);
        }
    }
}
ENTRY(joint_sample)

// One block: the giant of the sample, the same on all ranks.
KERNEL void joint_giant(const vid* sample, const u32* edged, vid* giant, u32* settled) {
    __shared__ vid roots[SAMPLE];
    __shared__ Votes votes;
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) roots[i] = sample[i];
    elect(roots, votes, [&](u32 i) { return edged[i] != 0; }, giant, settled);
}
ENTRY(joint_giant)

// Ids that a lane asks another rank for before it waits for one.
constexpr u32 GATHERED = 4;

// The parents of all vertices of others, from their owners, who may be pointing them at their roots meanwhile: whatever
// is read is above them. Their labels become their own, as those of own vertices.
KERNEL void joint_gather(Ranks r, vid* forest, vid* labels, u32* below) {
    for (u64 base = thread_id() / WARP * WARP * GATHERED; base < r.n; base += thread_count() * GATHERED) {
        vid above[GATHERED];
#pragma unroll
        for (u32 j = 0; j < GATHERED; ++j) {
            const u64 first = base + j * WARP, v = first + lane_id();
            const u64 owner = first < r.n ? owner_of(r.part, first) : r.part.rank;
            above[j] = (vid)v;
            if (v < r.n && owner != r.part.rank) above[j] = relaxed_load(in_rank<vid>(r, owner, r.forest_at) + v);
        }
#pragma unroll
        for (u32 j = 0; j < GATHERED; ++j) {
            const u64 first = base + j * WARP, v = first + lane_id();
            if (first >= r.n || is_own(r.part, first)) continue;
            if (v < r.n) {
                forest[v] = above[j];
                labels[v] = (vid)v;
            }
            const u32 bits = __ballot_sync(ALL_LANES, above[j] != (vid)v);
            if (lane_id() == 0) below[word_of(first)] = bits;
        }
    }
}
ENTRY(joint_gather)

// Each root that links have hung, and what it hangs below. A warp looks at 1,024 vertices before it adds to the
// counter, for which all warps wait. known: all trees are known to all.
KERNEL void joint_tell(
    Ranks r, const vid* forest, const u32* below, const u32* asked, u32 known, vid* told, u64* count
) {
    for (u64 base = thread_id() / WARP * WARP * WARP; base < r.n; base += thread_count() * WARP) {
        const u64 first = base + lane_id() * WARP;  // of the lane's word
        u32 roots = first < r.n ? ~below[word_of(first)] : 0;
        if (first < r.n && r.n - first < WARP) roots &= (1u << (u32)(r.n - first)) - 1;
        if (!__any_sync(ALL_LANES, roots != 0)) continue;
        const SetBits hung(hung_of(forest, base, roots));
        u64 at = 0;
        if (lane_id() == 0 && hung.total) at = atomicAdd(count, (u64)hung.total);
        at = __shfl_sync(ALL_LANES, at, 0);
        for (u32 start = 0; start < hung.total; start += WARP) {
            const u32 k = start + lane_id();
            u32 owner, bit;
            hung.find(k, owner, bit);
            if (k >= hung.total) continue;
            const vid v = (vid)(base + owner * WARP + bit), above = forest[v];
            told[2 * (at + k)] = known ? v : name_of(r, asked, v);
            told[2 * (at + k) + 1] = known ? above : name_of(r, asked, above);
        }
    }
}
ENTRY(joint_tell)

// Links what all ranks have told, this one too, who may have told it by other names.
KERNEL void joint_join(Ranks r, vid* forest, u32* below, u32 by_id, u64* moved) {
    u64 bytes = 0;
    for (u64 k = 0; k < r.part.size; ++k) {
        const u64 rank = (r.part.rank + k) % r.part.size;
        const u64 count = *in_rank<u64>(r, rank, r.count_at);
        const vid* const pairs = in_rank<vid>(r, rank, r.told_at);
        for (u64 i = thread_id(); i < count; i += thread_count()) {
            const vid late = pairs[2 * i];
            link(forest, late, pairs[2 * i + 1], by_id);
            atomicOr(below + word_of(late), bit_of(late));
            if (k > 0) bytes += 2 * sizeof(vid);
        }
    }
    add_moved(bytes, moved);
}
ENTRY(joint_join)
