// Test entries around include/: every way to read a row, the set bits of a warp, bitmaps.
#include "kernels/rows/adjacency.cuh"

// How a row is read: by one thread, by a warp, by a thread that stops and a warp that goes on, hubs by their chunks.
enum Way { THREAD, TOGETHER, HANDED_OVER, CHUNKS };

template <u32 WIDTH> DEVICE void dump(const Adjacency& a, const Segment& s, u32 lane, vid* out, u64* count, u64 room) {
    Cursor<WIDTH> cursor(a, s, lane);
    while (cursor.load()) {
        for (u32 j = 0; j < SLOTS; ++j) {
            if (!cursor.has(j)) continue;
            const u64 at = atomicAdd(count, (u64)1);
            if (at < room) out[at] = cursor.ids[j];
        }
    }
}

// Lane 0 takes `loads` groups, the warp what is left.
DEVICE void hand_over(const Adjacency& a, const Segment& s, u32 loads, vid* out, u64* count, u64 room) {
    Segment rest = s;
    if (lane_id() == 0) {
        Cursor<1> cursor(a, s, 0);
        for (u32 k = 0; k < loads && cursor.load(); ++k) {
            for (u32 j = 0; j < SLOTS; ++j) {
                if (!cursor.has(j)) continue;
                const u64 at = atomicAdd(count, (u64)1);
                if (at < room) out[at] = cursor.ids[j];
            }
        }
        rest = cursor.rest();
    }
    dump<WARP>(a, broadcast(rest, 0), lane_id(), out, count, room);
}

// A warp for every row; the ids of row v go to out[offsets[v]...], counts[v] is how many there were.
KERNEL void dump_rows(Adjacency a, u32 way, u32 loads, const u64* offsets, vid* out, u64* counts) {
    for (u64 v = thread_id() / WARP; v < a.n; v += thread_count() / WARP) {
        vid* const ids = out + offsets[v];
        const u64 room = offsets[v + 1] - offsets[v];
        if (way == THREAD && lane_id() == 0) dump<1>(a, row(a, v), 0, ids, counts + v, room);
        if (way == TOGETHER) dump<WARP>(a, row(a, v), lane_id(), ids, counts + v, room);
        if (way == HANDED_OVER) hand_over(a, row(a, v), loads, ids, counts + v, room);
    }
}
ENTRY(dump_rows)

KERNEL void dump_chunks(Adjacency a, const u64* offsets, vid* out, u64* counts) {
    for (u64 c = thread_id() / WARP; c < a.chunks; c += thread_count() / WARP) {
        const u32 hub = a.chunk_hub[c];
        const u64 v = a.hubs[hub];
        dump<WARP>(a, chunk(a, c, hub), lane_id(), out + offsets[v], counts + v, offsets[v + 1] - offsets[v]);
    }
}
ENTRY(dump_chunks)

KERNEL void degrees(Adjacency a, u64* out) {
    for (u64 v = thread_id(); v < a.n; v += thread_count()) out[v] = degree(a, v);
}
ENTRY(degrees)

// A warp for every 32 words: the set bits as vertices, in order.
KERNEL void set_bits(u64 warps, const u32* words, u32* out, u32* totals) {
    const u64 w = thread_id() / WARP;
    if (w >= warps) return;
    const SetBits bits(words[thread_id()]);
    for (u32 start = 0; start < bits.total; start += WARP) {
        u32 owner, bit;
        bits.find(start + lane_id(), owner, bit);
        if (start + lane_id() < bits.total) out[w * 1024 + start + lane_id()] = owner * 32 + bit;
    }
    if (lane_id() == 0) totals[w] = bits.total;
}
ENTRY(set_bits)

KERNEL void claim(u64 n, const u32* vertices, u32* bitmap, u32* winners) {
    for (u64 i = thread_id(); i < n; i += thread_count()) {
        if (claim_bit(bitmap, vertices[i])) atomicAdd(winners + vertices[i], 1u);
    }
}
ENTRY(claim)
