// Numbers for the vertices that have edges (-D RENUMBERED=1): a vertex has as many as there are before it with edges,
// and the neighbour ids that lie outside are the file's. Part of adjacency.cuh.
//
// Memory per id: a word of a table that has eight bytes for each 32 vertices. Source: ours.
#pragma once

// The number of the vertex that the file calls u; no vertex, where it is none or has no edges.
DEVICE vid number_in(const u64* numbers, u64 file_n, vid u) {
    if (u >= file_n) return ~(vid)0;
    const u64 word = __ldg(numbers + word_of(u));
    const u32 bits = (u32)word;
    return bits & bit_of(u) ? (vid)((word >> 32) + (u64)__popc(bits & (bit_of(u) - 1))) : ~(vid)0;
}

// The number of an id of a row that lies outside; ids in device memory are numbers already.
#if RENUMBERED
DEVICE vid number_of(const Adjacency& a, vid u, bool outside) {
    return outside ? number_in(a.numbers, a.file_n, u) : u;
}
#else
DEVICE vid number_of(const Adjacency&, vid u, bool) { return u; }
#endif
