// What a block of a level top-down knows, in shared memory, and where it stands.
#pragma once
#include "algorithms/many/gpu/collect.cuh"

// Ids that a warp collects before it appends them to the queue, and what one step finds at most.
constexpr u32 BUFFER_IDS = 1024 / sizeof(vid);
constexpr u32 STEP_IDS = WARP * SLOTS;

enum Phase { EXPAND, EXPAND_CHUNKS, SETTLE, STOP };

// What a block knows, in shared memory; the same in every block after a barrier of the grid.
struct Team {
    ManyStand now;
    u64 limit;  // level before which the launch ends
    const u32* from;  // bitmap of the frontier; where these three lie is no loop's to keep in registers
    u32* to;  // of the next
    vid* queue;  // of the next
    u64 going[MOST_WORDS];  // sources that go on
    bool spreads;  // before a level bottom-up: what is found is queued by nobody
    u32 phase;
    u32 turn;
    Collector found;
    u64 read;  // ids
    u32 invalid;  // 1: an id was no vertex
    u32 held[TEAM_WARPS];
    vid buffer[TEAM_WARPS * BUFFER_IDS];
};

DEVICE ManySums& sums_of(const Many& s, const Team& t) { return s.many_sums[t.turn]; }

// Thread 0, whenever the level has changed.
DEVICE void point(const Many& s, Team& t) {
    t.from = claimed_by(s, t.now.level);
    t.to = claimed_by(s, t.now.level + 1);
    t.queue = queue_of(s, t.now.level + 1);
}

// What a block knows at the start of a launch; the whole block calls it, and a barrier follows.
DEVICE void begin_team(const Many& s, Team& t) {
    if (threadIdx.x < TEAM_WARPS) t.held[threadIdx.x] = 0;
    if (threadIdx.x > 0) return;
    constexpr u32 fields = sizeof(ManyStand) / sizeof(u64);
    for (u32 i = 0; i < fields; ++i) ((u64*)&t.now)[i] = relaxed_load((const u64*)s.many_stand + i);
    t.now.ending = MORE;
    t.turn = 0;
    t.read = t.invalid = 0;
    point(s, t);
}
