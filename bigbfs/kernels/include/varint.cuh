// Delta-varint rows for adjacency.cuh: data holds LEB128 differences, indptr counts bytes, blocks of BLOCK_IDS ids
// start again with an absolute id (bigbfs.adjacency.CompressedAdjacency).
//
// Decoding by a warp: every lane loads an aligned word of four bytes, one 128-byte line in all. A byte below 0x80 ends a
// value, and the value belongs to the lane that holds its last byte; what it needs of the bytes before comes from the
// lane to the left. Each lane adds up its own differences, one scan over the warp turns them into ids: 128 bytes, some
// 50 ids, cost one load and a dozen shuffles.
#pragma once

// What indptr counts.
typedef u8 Unit;

DEVICE u64 degree(const Adjacency& a, u64 v) { return __ldg(a.degrees + v); }

DEVICE Segment row(const Adjacency& a, u64 v) {
    Segment s;
    s.begin = __ldg(a.indptr + v);
    s.end = __ldg(a.indptr + v + 1);
    s.base = 0;
    s.hot = false;
    return s;
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

// The four 7-bit groups of a word side by side: 28 bits.
DEVICE u32 join_groups(u32 x) {
    return (x & 0x7f) | ((x >> 1) & 0x3f80) | ((x >> 2) & 0x1fc000) | ((x >> 3) & 0xfe00000);
}

// How many of the word's last bytes belong to a value that goes on behind the word.
DEVICE u32 open_bytes(u32 word) {
    const u32 stops = ~word & 0x80808080u;
    return stops ? (u32)__clz((int)stops) >> 3 : 4;
}

template <u32 WIDTH> struct Cursor {
    static_assert(WIDTH == 1 || WIDTH == WARP, "a thread or a warp");
    static constexpr u32 MAX_OPEN_WORDS = sizeof(vid) == 4 ? 1 : 3;  // a value has 5 or 10 bytes at most
    vid ids[SLOTS];
    u32 valid;
    const u8* blob;
    u64 blob_bytes;
    u64 first;
    u64 end;
    i64 position;  // of the group's next line, in bytes of the blob; below 0 where the blob is not aligned
    u64 unread;    // byte behind the last value given (WIDTH 1)
    vid carry;     // last id given
    u32 words[3];  // WIDTH 1: the words before; a warp: words[0] is each lane's word of the line before
    u32 lane;

    METHOD Cursor(const Adjacency& a, const Segment& s, u32 own_lane)
        : valid(0), blob((const u8*)memory_of(a, s)), blob_bytes(memory_end(a, s)), first(s.begin), end(s.end), unread(s.begin),
          carry(s.base), lane(own_lane) {
        const u64 line = 4 * WIDTH;
        position = (i64)s.begin - (i64)(((u64)blob + s.begin) & (line - 1));
        words[0] = words[1] = words[2] = 0;  // as if a value had ended right before the line
    }

    // Aligned word at `at`; bytes outside the blob read as zero.
    METHOD u32 load_word(i64 at) const {
        if (at >= 0 && (u64)at + 4 <= blob_bytes) return __ldg((const u32*)(blob + at));
        u32 word = 0;
        for (u32 i = 0; i < 4; ++i) {
            const i64 byte = at + (i64)i;
            if (byte >= 0 && (u64)byte < blob_bytes) word |= (u32)blob[byte] << (8 * i);
        }
        return word;
    }

    // The word `back` (1 to 3) words before the one that this lane holds.
    METHOD u32 word_before(u32 word, u32 back) const {
        if (WIDTH == 1) return words[back - 1];
        return __shfl_sync(ALL_LANES, lane >= WIDTH - back ? words[0] : word, (lane - back) & (WIDTH - 1));
    }

    // Start of the value that is open where this lane's word begins: its bits, and how many there are.
    METHOD void open_value(u32 word, vid& value, u32& bits) const {
        value = 0;
        bits = 0;
        bool open = true;
#pragma unroll
        for (u32 back = 1; back <= MAX_OPEN_WORDS; ++back) {
            const u32 before = word_before(word, back);
            const u32 count = open ? open_bytes(before) : 0;
            if (count > 0) {
                value = (vid)(value << (7 * count)) | join_groups(before >> (32 - 8 * count));
                bits += 7 * count;
            }
            open = count == 4;
        }
    }

    METHOD bool load() {
        if (position >= (i64)end) return false;
        const i64 at = position + 4 * (i64)lane;
        const bool touches = at + 4 > (i64)first && at < (i64)end;
        const u32 word = touches ? load_word(at) : 0;
        vid value;
        u32 bits;
        open_value(word, value, bits);
        vid sum = 0;
        valid = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const u32 byte = (word >> (8 * j)) & 0xff;
            // Corrupt bytes could make a value longer than any id: the shift stays defined, the id is checked by its user.
            value |= (vid)(byte & 0x7f) << (bits & (8 * sizeof(vid) - 1));
            bits += 7;
            if (byte < 0x80) {
                if (touches && at + (i64)j >= (i64)first && at + (i64)j < (i64)end) {
                    sum += value;
                    valid |= 1u << j;
                    unread = (u64)(at + (i64)j + 1);
                }
                value = 0;
                bits = 0;
            }
            ids[j] = sum;
        }
        add_ids_before(sum);
        words[2] = words[1];
        words[1] = words[0];
        words[0] = word;
        position += 4 * WIDTH;
        return true;
    }

    METHOD void add_ids_before(vid sum) {
        vid through = sum;
        if (WIDTH > 1) {
#pragma unroll
            for (u32 step = 1; step < WIDTH; step *= 2) {
                const vid left = __shfl_up_sync(ALL_LANES, through, step);
                if (lane >= step) through += left;
            }
        }
        const vid before = carry + (through - sum);
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) ids[j] += before;
        carry += WIDTH > 1 ? __shfl_sync(ALL_LANES, through, WIDTH - 1) : through;
    }

    METHOD bool has(u32 j) const { return (valid >> j) & 1; }

    METHOD Segment rest() const {
        Segment s;
        s.begin = unread;
        s.end = end;
        s.base = carry;
        s.hot = false;
        return s;
    }
};
