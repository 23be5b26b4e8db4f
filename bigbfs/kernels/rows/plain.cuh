// Plain CSR for adjacency.cuh: data holds ids, indptr counts ids.
#pragma once

// What indptr counts.
typedef vid Unit;

DEVICE u64 degree(const Adjacency& a, u64 v) { return __ldg(a.indptr + v + 1) - __ldg(a.indptr + v); }

DEVICE void prefetch_degree(const Adjacency& a, u64 v) { prefetch(a.indptr + v); }

DEVICE Segment row(const Adjacency& a, u64 v) {
    Segment s;
    s.begin = __ldg(a.indptr + v);
    s.end = __ldg(a.indptr + v + 1);
    s.base = 0;
    s.hot = false;
    return s;
}

DEVICE Segment share_of(const Segment& s, u32 which, u32 of) {
    const u64 ids = s.end - s.begin;
    const u64 each = (ids + of - 1) / of;
    const u64 before = which * each < ids ? which * each : ids;
    Segment own = s;
    own.begin = s.begin + before;
    own.end = own.begin + (each < ids - before ? each : ids - before);
    return own;
}

DEVICE Segment chunk(const Adjacency& a, u64 c, u32 hub) {
    Segment s = row(a, a.hubs[hub]);
    s.hot = s.end - s.begin >= a.hot_from;
    if (s.hot) {
        s.end = a.hot_ptr[hub] + (s.end - s.begin);
        s.begin = a.hot_ptr[hub];
    }
    s.begin += (c - a.hub_ptr[hub]) * BLOCK_IDS;
    if (s.end > s.begin + BLOCK_IDS) s.end = s.begin + BLOCK_IDS;
    return s;
}

// A warp starts at the 128-byte line that holds its first id, so that each of its reads is one whole line, and has
// four of them in flight.
template <u32 WIDTH> struct Cursor {
    vid ids[SLOTS];
    u32 valid;
    const Adjacency& adjacency;
    const bool outside;
    const vid* data;
    u64 first;
    u64 end;
    u64 position;
    u32 lane;

    METHOD Cursor(const Adjacency& a, const Segment& s, u32 own_lane)
        : valid(0),
          adjacency(a),
          outside(is_outside(a, s)),
          data((const vid*)memory_of(a, s)),
          first(s.begin),
          end(s.end),
          lane(own_lane) {
        position = s.begin & ~(u64)(WIDTH - 1);
    }

    METHOD bool load() {
        if (!read()) return false;
        to_numbers<SLOTS>(adjacency, ids, outside ? valid : 0);
        return true;
    }

    METHOD bool in_file() const { return RENUMBERED && outside; }

    METHOD void number(u32 asked) { to_numbers<SLOTS>(adjacency, ids, outside ? asked : 0); }

    METHOD bool read() {
        if (position >= end) return false;
        valid = 0;
#pragma unroll
        for (u32 j = 0; j < SLOTS; ++j) {
            const u64 at = position + j * WIDTH + lane;
            const bool inside = at >= first && at < end;
            ids[j] = inside ? __ldg(data + at) : 0;
            valid |= (u32)inside << j;
        }
        position += SLOTS * WIDTH;
        return true;
    }

    METHOD bool has(u32 j) const { return (valid >> j) & 1; }

    METHOD Segment rest() const {
        Segment s;
        s.begin = position < end ? position : end;
        s.end = end;
        s.base = 0;
        s.hot = false;
        return s;
    }
};
