// What one of several GPUs places: its own rows, and what follows from them. `a` has offsets and degrees of all rows;
// for own_heads `all` has them, and `a` own rows where they are by then.
//
// own_rows: a thread owns a word of the bitmap of rows. own_heads: a warp owns 32 vertices, as place_heads does; heads
// of other vertices' rows are not asked for. own_offsets, own_near: a thread owns an offset; own rows move together,
// others become empty, or stay. own_blocks: a thread owns a chunk of a hub. own_edges: a warp copies OWN_PIECE ids or
// bytes of what own rows become; it looks for the word in which they begin. own_pass_on: a thread copies 16 bytes, also
// from another GPU's memory. Frontier kind: none. Atomics: one for each
// warp that counts, and one for each id that is no vertex. Memory per edge: read once to copy it, once to choose heads.
// Source: ours.
#include "kernels/base/part.cuh"
#include "kernels/placement/best.cuh"

constexpr u64 OWN_PIECE = 4096;

// Leaves the bits of own vertices in `rows`, and counts them.
KERNEL void own_rows(u64 n, Part part, u32* rows, u64* count) {
    u64 sum = 0;
    for (u64 base = thread_id() / WARP * WARP; base < words_for(n); base += thread_count()) {
        const u64 w = base + lane_id();
        if (w >= words_for(n)) continue;
        if (is_own(part, w * 32)) sum += (u64)__popc(rows[w]);
        else rows[w] = 0;
    }
    __syncwarp();
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum) atomicAdd(count, sum);
}
ENTRY(own_rows)

// Fills the heads of own vertices. ranked: as for place_heads.
KERNEL __launch_bounds__(256, 4) void own_heads(
    Adjacency a, Adjacency all, Part part, vid* heads, u32 ranked, u64* invalid
);

KERNEL void own_heads(Adjacency a, Adjacency all, Part part, vid* heads, u32 ranked, u64* invalid) {
    for (u64 h = thread_id() / WARP; h < 2 * part.words; h += thread_count() / WARP) {
        const u64 first = own_half(part, h) * 32;
        const u64 own = first + lane_id();
        const u64 ids = own < a.n ? degree(a, own) : 0;
        if (own < a.head_rows && ids <= SHORT_ROW) short_heads(a, all, own, ranked, heads, invalid);
        for (u32 left = __ballot_sync(ALL_LANES, ids > SHORT_ROW); left; left &= left - 1) {
            const u64 v = first + (u32)__ffs((int)left) - 1;
            Segment segment = row(a, v);
            if (degree(a, v) > BLOCK_IDS) {
                const u32 hub = find_hub(a, (vid)v);
                segment = chunk(a, a.hub_ptr[hub], hub);
            }
            Best<LANE_BEST> best = read_best(a, all, v, segment, ranked, invalid);
            write_heads(a, v, best, heads);
        }
    }
}
ENTRY(own_heads)

// Where own rows begin once they lie side by side: starts[i] is where own word i does, for i up to part.words.
KERNEL void own_offsets(Adjacency a, Part part, const u64* starts, u64* offsets) {
    for (u64 v = thread_id(); v <= a.n; v += thread_count()) {
        const u64 word = v >> 6;
        if (v < a.n && is_own(part, v)) {
            offsets[v] = starts[(word - part.first) / part.stride] + (a.indptr[v] - a.indptr[word << 6]);
        } else {
            // the next own word: the row of v is empty, and that before it ends where it should
            u64 i = word < part.first ? 0 : (word - part.first + part.stride - 1) / part.stride;
            if (v == a.n || i > part.words) i = part.words;
            offsets[v] = starts[i];
        }
    }
}
ENTRY(own_offsets)

// Offsets of all rows once the first `near` own words have copies side by side at `base` and behind: of other rows as
// they were. What follows a near word is where it ends; it is no own row, since own words are dealt.
KERNEL void own_near(Adjacency a, Part part, const u64* starts, u64 near, u64 base, u64* offsets) {
    for (u64 v = thread_id(); v <= a.n; v += thread_count()) {
        const u64 word = v >> 6;
        const bool behind = (v & 63) == 0 && word > part.first && (word - 1 - part.first) % part.stride == 0;
        const u64 i = word < part.first ? near : (word - part.first) / part.stride;
        u64 offset = a.indptr[v];
        if (behind) offset = i < near ? base + starts[i + 1] : offset;
        else if (is_own(part, v) && i < near) offset = base + starts[i] + (a.indptr[v] - a.indptr[word << 6]);
        offsets[v] = offset;
    }
}
ENTRY(own_near)

// Moves the first bytes of the chunks of own hubs (varint) as own_offsets has moved their rows.
KERNEL void own_blocks(Adjacency a, Part part, const u64* offsets, u64* blocks) {
    for (u64 c = thread_id(); c < a.chunks; c += thread_count()) {
        const vid v = a.hubs[a.chunk_hub[c]];
        if (is_own(part, v)) blocks[c] = offsets[v] + (blocks[c] - a.indptr[v]);
    }
}
ENTRY(own_blocks)

// Copies the edges of own rows to `own`, side by side.
KERNEL void own_edges(Adjacency a, Part part, const u64* starts, Unit* own) {
    const u64 total = starts[part.words];
    const Unit* const all = (const Unit*)a.data;
    for (u64 begin = thread_id() / WARP * OWN_PIECE; begin < total; begin += thread_count() / WARP * OWN_PIECE) {
        const u64 end = begin + OWN_PIECE < total ? begin + OWN_PIECE : total;
        u64 low = 0, high = part.words;  // the last word that does not begin after the piece
        while (high - low > 1) {
            const u64 middle = (low + high) / 2;
            if (starts[middle] <= begin) low = middle;
            else high = middle;
        }
        for (u64 i = low; i < part.words && starts[i] < end; ++i) {
            const u64 from = starts[i] > begin ? starts[i] : begin;
            const u64 to = starts[i + 1] < end ? starts[i + 1] : end;
            const u64 moved = a.indptr[(part.first + i * part.stride) << 6] - starts[i];
            for (u64 at = from + lane_id(); at < to; at += WARP) own[at] = all[at + moved];
        }
    }
}
ENTRY(own_edges)

// `count` bytes of another GPU's memory, or of this one's, to this one's: addresses, multiples of 16.
KERNEL void own_pass_on(u64 from, u64 to, u64 count) {
    for (u64 i = thread_id(); i < count / 16; i += thread_count()) ((uint4*)to)[i] = ((const uint4*)from)[i];
    for (u64 i = count / 16 * 16 + thread_id(); i < count; i += thread_count()) ((u8*)to)[i] = ((const u8*)from)[i];
}
ENTRY(own_pass_on)
