// Slots in the next queue by prefix sums instead of a counter: every row is read three times, and nobody contends.
//
// scan_mark: a thread for each entry stores label and parent of each unreached end; of several the last to store is
// the parent. scan_count: how many ends an entry is the parent of. scan_blocks, scan_sums: sums of these, inside
// blocks and over them. scan_assign: the ends go where the sums say. Frontier kind: vertex queues. Atomics: none.
// Memory per edge: the id and label of its end, and twice more with the parent. Source: report 000, 2.3.
#include "algorithms/bfs/strategies/filter.cuh"
#include "algorithms/bfs/strategies/scan.cuh"

KERNEL void scan_mark(Search s) {
    u64 checked = 0;
    for (u64 i = thread_id(); i < here(s).size; i += thread_count()) {
        const vid v = s.queue[i];
        checked += read_alone(s, s.out, v, [&](vid u) {
            store_label(s, v, u);
            return false;
        });
    }
    hand_in(s, checked);
}
ENTRY(scan_mark)

// take(u) for every vertex that v has won, once: rows ascend, so that a neighbour kept twice follows itself.
template <typename Take> DEVICE void for_won(const Search& s, vid v, Take take) {
    vid last = v;
    read_alone(s, s.out, v, [&](vid u) {
        if (u != last && s.levels[u] == (i32)s.level + 1 && s.parents[u] == v) take(u);
        last = u;
        return false;
    });
}

KERNEL void scan_count(Search s) {
    for (u64 i = thread_id(); i < here(s).size; i += thread_count()) {
        u64 won = 0;
        for_won(s, s.queue[i], [&](vid) { ++won; });
        s.offsets[i] = won;
    }
}
ENTRY(scan_count)

KERNEL void scan_blocks(Search s) {
    __shared__ u64 words[WARPS];
    for (u64 base = (u64)blockIdx.x * THREADS; base < here(s).size; base += thread_count()) {
        const u64 i = base + threadIdx.x;
        u64 total;
        const u64 before = block_sum_before(i < here(s).size ? s.offsets[i] : 0, words, total);
        if (i < here(s).size) s.offsets[i] = before;
        if (threadIdx.x == 0) s.sums[base / THREADS] = total;
    }
}
ENTRY(scan_blocks)

// One block for the sums of all.
KERNEL void scan_sums(Search s) {
    __shared__ u64 words[WARPS];
    const u64 count = (here(s).size + THREADS - 1) / THREADS;
    u64 so_far = 0;
    for (u64 base = 0; base < count && blockIdx.x == 0; base += THREADS) {
        const u64 i = base + threadIdx.x;
        u64 total;
        const u64 before = block_sum_before(i < count ? s.sums[i] : 0, words, total);
        if (i < count) s.sums[i] = so_far + before;
        so_far += total;
    }
    // rows of a damaged file that do not ascend count an end twice
    if (thread_id() == 0) beyond(s).size = so_far < s.capacity ? so_far : s.capacity;
}
ENTRY(scan_sums)

KERNEL void scan_assign(Search s) {
    for (u64 i = thread_id(); i < here(s).size; i += thread_count()) {
        u64 at = s.sums[i / THREADS] + s.offsets[i];
        for_won(s, s.queue[i], [&](vid u) {
            if (at < s.capacity) s.next_queue[at] = u;
            ++at;
        });
    }
}
ENTRY(scan_assign)
