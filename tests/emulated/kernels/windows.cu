// A test entry: the rows of a frontier gathered in windows of their numbers, as expand does it (merrill.cu), by one
// block, so that every launch numbers them alike.
#include "algorithms/bfs/strategies/gather.cuh"

KERNEL void gather_window(Search s, u64 begin) {
    __shared__ Gather g;
    u64 numbered = 0;
    for (u64 base = 0; base < here(s).size; base += THREADS) {
        const bool mine = base + threadIdx.x < here(s).size;
        const vid v = mine ? s.queue[base + threadIdx.x] : 0;
        const u64 ids = mine ? degree(s.out, v) : 0;
        const auto reserve = [&](u64 wanted) { return numbered += wanted, numbered - wanted; };
        const Window window = {begin, begin + s.edge_capacity};
        gather_part(s, g, v, ids, window, reserve, [&](bool there, vid, vid u, u64 number) {
            hand_in(s, there);
            if (there && number - begin < s.edge_capacity) s.edges[number - begin] = u;
        });
    }
}
ENTRY(gather_window)
