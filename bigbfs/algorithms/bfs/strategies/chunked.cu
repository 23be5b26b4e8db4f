// A thread takes a run of neighbouring entries of the queue and keeps what it finds in slots of its own until they are
// full.
//
// Frontier kind: vertex queues. Atomics: one on the label of each end that looks unreached, one on the counter of the
// next queue for up to HELD vertices. The report's "one atomic per thread" would take slots without end. Memory per
// edge: the id and the label of its end. Source: report 001, 2.3 (version 2).
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/sink.cuh"

constexpr u32 HELD = 16;

// Slot k of every thread side by side, so that a warp that fills the same slot touches every bank once.
struct Slots {
    vid* own;
    u32 held;

    METHOD void empty(const Search& s) {
        const u64 at = held ? atomicAdd(&beyond(s).size, (u64)held) : 0;
        for (u32 k = 0; k < held; ++k) s.next_queue[at + k] = own[k * THREADS];
        held = 0;
    }

    METHOD void add(const Search& s, vid u) {
        own[held * THREADS] = u;
        if (++held == HELD) empty(s);
    }
};

KERNEL void chunked_expand(Search s) {
    __shared__ vid slots[HELD * THREADS];
    Slots mine = {slots + threadIdx.x, 0};
    u64 checked = 0;
    const u64 size = here(s).size;
    const u64 run = (size + thread_count() - 1) / thread_count();
    const u64 end = (thread_id() + 1) * run;
    for (u64 i = thread_id() * run; i < size && i < end; ++i) {
        const vid v = s.queue[i];
        checked += read_alone(s, s.out, v, [&](vid u) {
            if (swap_label(s, v, u)) mine.add(s, u);
            return false;
        });
    }
    mine.empty(s);
    hand_in(s, checked);
}
ENTRY(chunked_expand)
