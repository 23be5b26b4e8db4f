// Connected components over several GPUs of one machine: the first forest. The other kernels are in cc_peers.cu.
//
// A thread owns a vertex that was asked for (joint_climb, joint_point), a warp 32 own vertices (the rest). Frontier
// kind: none. Atomics: a bit for each vertex asked for. Others' memory is read. Memory over the link: an id for each
// vertex asked for. Source: as cc_peers.cu.
#include "algorithms/components/gpu/peers/joint.cuh"
#include "kernels/base/turns.cuh"

// Vertices of others are alone; all warps together.
DEVICE void plant_others(const Ranks& r, vid* forest) {
    for (Turns turns; turns.begin * WARP < r.n; turns.go_on()) {
        for (u32 j = 0; j < AT_ONCE; ++j) {
            const u64 v = turns.word(j) * WARP + lane_id();
            if (v < r.n && !is_own(r.part, v)) forest[v] = (vid)v;
        }
    }
}

// Asks for the parent of `parent`, of another rank. Bits are only set, and many ask for the same few: most are answered
// by the multiprocessor's own cache.
DEVICE void ask_for(const Ranks& r, u32* asked, vid parent) {
    if (!is_own(r.part, parent) && !(stale_load(asked + word_of(parent)) & bit_of(parent))) claim_bit(asked, parent);
}

// As cc_plant: the first head of v, an own vertex with edges, if that is stronger; else v.
DEVICE vid planted(const Adjacency& a, const vid* degrees, u64 v, u32 by_id) {
    const vid first = head(a, v, 0);
    return (by_id ? first < v : is_stronger(first, degrees[first], (vid)v, degrees[v])) ? first : (vid)v;
}

// The first forest of own vertices, as cc_plant makes it. By chance, others are gathered (joint_gather). By id, they
// are alone, and whose parent belongs to another rank asks for that.
KERNEL void joint_plant(
    Adjacency a, Ranks r, const vid* degrees, vid* forest, vid* labels, u32* asked, u32 tie, u32 by_id
) {
    if (by_id) plant_others(r, forest);
    for (u64 h = first_half(); h < halves(r); h += next_half()) {
        const u64 v = own_lane(r, h);
        if (v >= r.n) continue;
        const bool plants = tie && a.head_groups && test_bit(a.rows, v);
        const vid parent = plants ? planted(a, degrees, v, by_id) : (vid)v;
        if (by_id && plants) ask_for(r, asked, parent);
        forest[v] = parent;
        if (!by_id) labels[v] = (vid)v;
    }
}
ENTRY(joint_plant)

// The parents of who was asked for, and of who is above them as far as the first own vertex. Their owners may be
// pointing them at their roots meanwhile: whatever is read is above them.
KERNEL void joint_climb(Ranks r, vid* forest, u32* below, u32* asked, u64* moved) {
    u64 bytes = 0;
    each_bit(asked, r.n, [&](u64 at) {
        while (true) {
            const vid above = relaxed_load(in_rank<vid>(r, owner_of(r.part, at), r.forest_at) + at);
            bytes += sizeof(vid);
            relaxed_store(forest + at, above);
            if (above == at) break;
            atomicOr(below + word_of(at), bit_of(at));
            if (is_own(r.part, above) || !claim_bit(asked, above)) break;
            at = above;
        }
    });
    add_moved(bytes, moved);
}
ENTRY(joint_climb)

// Points those at their roots, too: a link must meet no vertex that was below another when links began.
KERNEL void joint_point(Ranks r, vid* forest, const u32* asked) {
    each_bit(asked, r.n, [&](u64 v) { find_root(forest, (vid)v); });
}
ENTRY(joint_point)

// Points own vertices at their roots.
KERNEL void joint_compress(Ranks r, vid* forest, u32* below) {
    for (u64 h = first_half(); h < halves(r); h += POINTED * next_half()) {
        u64 v[POINTED];
        own_lanes(r, h, v);
        const u32 found = point(forest, v, r.n);
#pragma unroll
        for (u32 j = 0; j < POINTED; ++j) {
            const u32 bits = __ballot_sync(ALL_LANES, (found >> j) & 1);
            if (lane_id() == 0 && h + j * next_half() < halves(r)) below[own_half(r.part, h + j * next_half())] = bits;
        }
    }
}
ENTRY(joint_compress)
