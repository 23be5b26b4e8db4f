// Is a result right? The rules of bigbfs.algorithms.validate, for graphs whose results should stay on the device.
//
// check_tree_edges: no edge leads from a reached vertex to an unreached one or down more than one level, and the edge
// that leads to a vertex from its parent marks it in `joined`. check_tree_vertices: the source alone has level 0, who
// has a level has a parent one level up, joined to it by an edge. check_label_edges: an edge joins equal labels.
// check_label_vertices: a label is its own label and no larger than the vertex. A warp takes a row, or a chunk of a
// hub row; a thread a vertex. Atomics: one atomicOr for each tree edge, one count for each fault. Memory per edge: the
// id, and the level and the parent (or the label) of its end. Source: Graph500 specification, section Validation.
#include "kernels/rows/piece.cuh"

struct TreeRule {
    const i32* levels;
    const vid* parents;
    u32* joined;

    METHOD bool broken(u64 u, vid v) const {
        if (levels[u] < 0) return false;
        if (levels[v] < 0 || levels[v] > levels[u] + 1) return true;
        if (parents[v] == (vid)u && !(relaxed_load(joined + word_of(v)) & bit_of(v))) {
            atomicOr(joined + word_of(v), bit_of(v));
        }
        return false;
    }
};

struct LabelRule {
    const vid* labels;

    METHOD bool broken(u64 u, vid v) const { return labels[u] != labels[v]; }
};

template <typename Rule> DEVICE u64 check_segment(const Adjacency& a, const Rule& rule, u64 u, const Segment& segment) {
    u64 faults = 0;
    Cursor<WARP> cursor(a, segment, lane_id());
    while (cursor.load()) {
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            if (cursor.has(j)) faults += cursor.ids[j] >= a.n || rule.broken(u, cursor.ids[j]);
        }
    }
    return faults;
}

template <typename Rule> DEVICE void check_edges(const Adjacency& a, const Rule& rule, u64* faults) {
    const u64 warp = thread_id() / WARP;
    const u64 warps = thread_count() / WARP;
    u64 found = 0;
    for (u64 u = warp; u < a.n; u += warps) {
        const u64 ids = degree(a, u);
        if (ids > 0 && ids <= BLOCK_IDS) found += check_segment(a, rule, u, row(a, u));
    }
    for (u64 c = warp; c < a.chunks; c += warps) {
        const u32 hub = a.chunk_hub[c];
        found += check_segment(a, rule, a.hubs[hub], chunk(a, c, hub));
    }
    found = warp_sum(found);
    if (lane_id() == 0 && found) atomicAdd(faults, found);
}

KERNEL void check_tree_edges(Adjacency a, const i32* levels, const vid* parents, u32* joined, u64* faults) {
    check_edges(a, TreeRule{levels, parents, joined}, faults);
}
ENTRY(check_tree_edges)

KERNEL void check_label_edges(Adjacency a, const vid* labels, u64* faults) {
    check_edges(a, LabelRule{labels}, faults);
}
ENTRY(check_label_edges)

// The rows of a batch: the rule for every id that piece.cuh reads.
template <typename Rule> struct Check {
    static constexpr bool STOPS = false;
    const Rule& rule;
    u64 n;
    u64 faults;

    METHOD bool wants(vid) const { return true; }

    METHOD bool read(vid v, vid u) {
        faults += u >= n || rule.broken(v, u);
        return false;
    }
};

template <typename Rule>
DEVICE void check_pieces(const Adjacency& a, const Rule& rule, const Piece* pieces, u64 count, u64* faults) {
    Check<Rule> check = {rule, a.n, 0};
    read_pieces(a, check, pieces, count, a.rows);
    const u64 found = warp_sum(check.faults);
    if (lane_id() == 0 && found) atomicAdd(faults, found);
}

KERNEL void check_tree_pieces(
    Adjacency a, const i32* levels, const vid* parents, u32* joined, const Piece* pieces, u64 count, u64* faults
) {
    check_pieces(a, TreeRule{levels, parents, joined}, pieces, count, faults);
}
ENTRY(check_tree_pieces)

KERNEL void check_label_pieces(Adjacency a, const vid* labels, const Piece* pieces, u64 count, u64* faults) {
    check_pieces(a, LabelRule{labels}, pieces, count, faults);
}
ENTRY(check_label_pieces)

KERNEL void check_tree_vertices(
    u64 n, u64 source, const i32* levels, const vid* parents, const u32* joined, u64* faults
) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        const vid parent = parents[v];
        bool broken = false;
        if (v == source || levels[v] <= 0) {
            broken = levels[v] != (v == source ? 0 : -1) || parent != (vid) ~(vid)0;
        } else {
            broken = parent >= n || levels[parent] != levels[v] - 1 || !test_bit(joined, v);
        }
        if (broken) atomicAdd(faults, (u64)1);
    }
}
ENTRY(check_tree_vertices)

KERNEL void check_label_vertices(u64 n, const vid* labels, u64* faults) {
    for (u64 v = thread_id(); v < n; v += thread_count()) {
        if (labels[v] > v || labels[labels[v]] != labels[v]) atomicAdd(faults, (u64)1);
    }
}
ENTRY(check_label_vertices)
