// Numbers for the vertices that have edges (-D RENUMBERED=1): a vertex has as many as there are before it with edges,
// and the neighbour ids that lie outside are the file's. Part of adjacency.cuh.
//
// Memory per id: a word of a table that has eight bytes for each 32 vertices. Source: ours.
#pragma once

// The number that a word of the table gives to u; no vertex, where it has no edges.
DEVICE vid number_by(u64 word, vid u) {
    const u32 bits = (u32)word;
    return bits & bit_of(u) ? (vid)((word >> 32) + (u64)__popc(bits & (bit_of(u) - 1))) : ~(vid)0;
}

// The number of the vertex that the file calls u; no vertex, where it is none or has no edges.
DEVICE vid number_in(const u64* numbers, u64 file_n, vid u) {
    return u < file_n ? number_by(__ldg(numbers + word_of(u)), u) : ~(vid)0;
}

// Of ids[j], j < COUNT, those for the bits j of `asked` are the file's, in a row that lies outside, and become numbers;
// ids in device memory are numbers already. Rows are read before this is called, and LOOK_UPS ids looked up at a time:
// whoever looks up one id as soon as it is there reads the next one only two trips to memory later. More than two would
// cost spilled registers.
constexpr u32 LOOK_UPS = 2;
#if RENUMBERED
template <u32 COUNT> DEVICE void to_numbers(const Adjacency& a, vid* ids, u32 asked) {
    static_assert(COUNT % LOOK_UPS == 0, "as many at a time");
    if (!asked) return;
#pragma unroll
    for (u32 first = 0; first < COUNT; first += LOOK_UPS) {
        u32 known = 0;
        u64 words[LOOK_UPS];
#pragma unroll
        for (u32 j = 0; j < LOOK_UPS; ++j) known |= (u32)((asked >> (first + j)) & 1 && ids[first + j] < a.file_n) << j;
#pragma unroll
        for (u32 j = 0; j < LOOK_UPS; ++j) words[j] = (known >> j) & 1 ? __ldg(a.numbers + word_of(ids[first + j])) : 0;
#pragma unroll
        for (u32 j = 0; j < LOOK_UPS; ++j) {
            if ((asked >> (first + j)) & 1) ids[first + j] = number_by(words[j], ids[first + j]);
        }
    }
}
#else
template <u32 COUNT> DEVICE void to_numbers(const Adjacency&, vid*, u32) {}
#endif
