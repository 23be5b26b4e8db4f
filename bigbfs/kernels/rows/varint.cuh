// Delta-varint rows for adjacency.cuh: data holds LEB128 differences, indptr counts bytes, blocks of BLOCK_IDS ids
// start again with an absolute id (bigbfs.graph.adjacency.CompressedAdjacency).
//
// Decoding by a warp: every lane loads an aligned word of four bytes, one 128-byte line in all. No value is put
// together: each byte adds its seven bits, shifted to their place, to a running sum, which is an id wherever a byte
// below 0x80 ends a value. All that a lane needs of its left is where in a value its word begins, and one scan over
// the warp adds up the sums: 128 bytes, some 50 ids, cost one load and seven shuffles (fifteen where ids have 64 bits,
// whose values begin up to three words before). Lines are those of memory, not of the data: one that is read in two
// halves takes two trips over a link.
#pragma once

// What indptr counts.
typedef u8 Unit;

DEVICE u64 degree(const Adjacency& a, u64 v) { return __ldg(a.degrees + v); }

DEVICE void prefetch_degree(const Adjacency& a, u64 v) { prefetch(a.degrees + v); }

DEVICE Segment row(const Adjacency& a, u64 v) {
    Segment s;
    s.begin = __ldg(a.indptr + v);
    s.end = __ldg(a.indptr + v + 1);
    s.base = 0;
    s.hot = false;
    return s;
}

// Where a value begins only who reads those before it knows: the first has all.
DEVICE Segment share_of(const Segment& s, u32 which, u32) {
    Segment own = s;
    if (which) own.begin = own.end;
    return own;
}

DEVICE Segment chunk(const Adjacency& a, u64 c, u32 hub) {
    Segment s;
    s.begin = a.block_ptr[c];
    s.end = c + 1 < a.hub_ptr[hub + 1] ? a.block_ptr[c + 1] : a.indptr[(u64)a.hubs[hub] + 1];
    s.base = 0;
    s.hot = degree(a, a.hubs[hub]) >= a.hot_from;
    if (s.hot) {
        const u64 moved = a.hot_ptr[hub] - a.indptr[a.hubs[hub]];
        s.begin += moved;
        s.end += moved;
    }
    return s;
}

// How many of the word's last bytes belong to a value that goes on behind the word.
DEVICE u32 open_bytes(u32 word) { return (u32)__clz((int)(~word & 0x80808080u)) >> 3; }

template <u32 WIDTH> struct Cursor {
    static_assert(WIDTH == 1 || WIDTH == WARP, "a thread or a warp");
    static constexpr u32 OPEN_WORDS = sizeof(vid) == 4 ? 1 : 3;  // a value has 5 or 10 bytes at most
    static constexpr u32 LINE = 4 * WIDTH;
    static constexpr u64 MOST_BYTES = 1u << 30;  // more than BLOCK_IDS ids take; of a longer row no more is read
    vid ids[SLOTS];
    u32 valid;
    const u8* at;      // the lane's next word
    i32 first;         // of the segment, in bytes from `at`; below 0 behind its beginning
    i32 end;
    bool juts;         // out of the data, whose first or last bytes are no whole word
    vid total;         // all differences so far
    u32 word;          // what the lane has read, bytes outside the segment zeroed
    u32 begun;         // how many bytes of a value that goes on in it lie before it
    vid left;          // sum of all that lies before it
    u32 open;          // bytes through the lane's last word of a value that goes on behind it
    u32 lane;
    const u8* data;
    vid given;         // last id (WIDTH 1)

    METHOD Cursor(const Adjacency& a, const Segment& s, u32 own_lane)
        : valid(0), total(s.base), open(0), lane(own_lane), data((const u8*)memory_of(a, s)), given(s.base) {
        const u64 data_bytes = memory_end(a, s);
        const u64 stop = s.end < data_bytes ? s.end : data_bytes;
        const u64 bytes = s.begin < stop ? stop - s.begin : 0;
        const u64 address = (u64)data + s.begin;
        const u32 before = (u32)address & (LINE - 1);
        at = (const u8*)(address - before + 4 * lane);
        first = (i32)before - (i32)(4 * lane);
        end = first + (i32)(bytes < MOST_BYTES ? bytes : MOST_BYTES);
        juts = (address & 3) > s.begin || stop + (-((u64)data + stop) & 3) > data_bytes;
    }

    // The lane's aligned word. Where the data do not begin and end with one, bytes outside the segment are left alone.
    METHOD u32 load_word() const {
        if (!juts || (first <= 0 && end >= 4)) return __ldg((const u32*)at);
        u32 word = 0;
        for (i32 i = 0; i < 4; ++i) {
            if (i >= first && i < end) word |= (u32)at[i] << (8 * i);
        }
        return word;
    }

    // How many bytes before this lane's word belong to a value that goes on in it.
    METHOD u32 open_before(u32 word) {
        const u32 own = open_bytes(word);
        const u32 last = open;  // lane 0 goes on where the last lane ended
        u32 before = last;
        open = own;
#pragma unroll
        for (u32 i = 0; i < OPEN_WORDS; ++i) {
            if (WIDTH > 1) before = __shfl_sync(ALL_LANES, lane == WIDTH - 1 ? last : open, (lane - 1) & (WIDTH - 1));
            open = own == 4 ? 4 + before : own;
        }
        return before;
    }

    METHOD bool load() { return read(); }

    METHOD bool in_file() const { return false; }

    METHOD void number(u32) {}

    METHOD bool read() {
        if (end + (i32)(4 * lane) <= 0) return false;
        // Bytes outside the segment become zeros: values that end at once and add nothing.
        u32 inside = 0;
        word = 0;
        if (first < 4 && end > 0) {
            inside = (~0u << (first > 0 ? 8 * first : 0)) & (~0u >> (end < 4 ? 32 - 8 * end : 0));
            word = load_word() & inside;
        }
        // Corrupt bytes could make a value longer than any id: the shift stays defined, the id is checked by its user.
        begun = open_before(word);
        vid unit = (vid)1 << ((7 * begun) & (8 * sizeof(vid) - 1));
        vid sum = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            sum += (byte(j) & 0x7f) * unit;
            ids[j] = sum;
            unit = byte(j) & 0x80 ? unit << 7 : 1;
        }
        // the four stop bits side by side
        valid = ((~word & inside & 0x80808080u) * 0x00204081u) >> 28;
        add_ids_before(sum);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) given = has(j) ? ids[j] : given;
        at += LINE;
        first = 0;
        end -= (i32)LINE;
        return true;
    }

    METHOD void add_ids_before(vid sum) {
        vid through = sum;
        if (WIDTH > 1) {
#pragma unroll
            for (u32 step = 1; step < WIDTH; step *= 2) through = add_left(through, step);
        }
        left = total + (through - sum);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) ids[j] += left;
        total += WIDTH > 1 ? __shfl_sync(ALL_LANES, through, WIDTH - 1) : through;
    }

    METHOD bool has(u32 j) const { return (valid >> j) & 1; }

    METHOD u32 byte(u32 j) const { return (word >> (8 * j)) & 0xff; }

    METHOD Segment rest() const {
        Segment s;
        const u64 here = (u64)(at - data);
        s.end = here + (u64)(i64)end;
        s.begin = end > 0 ? here + (u64)(i64)(first - (i32)open) : s.end;
        s.base = given;
        s.hot = false;
        return s;
    }
};
