// SETTLE: the end of a level that ran top-down, by the whole grid.
//
// A group of lanes takes a vertex of either queue. Those of the next one have in `other` what is new; it joins what
// they had, which is what they had a level before from now on. Those of the queue that was expanded, unless they are in
// the next one too, are as if they had never been in a frontier. Frontier kind: queue. Atomics: the collector's. Memory
// per vertex: its bits twice, read and written. Source: ours.
#pragma once
#include "algorithms/many/gpu/push.cuh"

DEVICE void settle(const Many& s, Team& t, u64 next_count) {
    const u64 level = t.now.level;
    u32* const claimed = claimed_by(s, level);
    const u32* const next_claimed = claimed_by(s, level + 1);
    u32 found = 0;
    u64 edges = 0;
    const u64 end = t.now.count + next_count;
    for (u64 base = team_warp() * warp_groups(s); base < end; base += team_warps() * warp_groups(s)) {
        const u64 i = base + own_group(s);
        const bool next = i >= t.now.count && i < end;
        const u64 v = next ? queue_of(s, level + 1)[i - t.now.count] : i < end ? queue_of(s, level)[i] : 0;
        Bits fresh = no_bits();
        if (next) {
            const Bits before = load_bits(s, s.seen, v);
            fresh = without(load_bits(s, s.other, v), before);
            Bits all = before;
            add(all, fresh);
            store_bits(s, s.other, v, before);
            store_bits(s, s.seen, v, all);
            if (leads_group(s)) edges += degree(s.out, v);
        } else if (i < end) {
            if (!(relaxed_load(next_claimed + word_of(v)) & bit_of(v)))
                store_bits(s, s.other, v, load_bits(s, s.seen, v));
            // its other bits are of vertices of this queue, too
            if (leads_group(s)) relaxed_store(claimed + word_of(v), 0u);
        }
        const u32 pairs = collect(s, t.found, v, fresh, level + 1);
        if (leads_group(s)) found += pairs;
    }
    tally(&t.found.found, found);
    tally(&t.found.edges, edges);
}
