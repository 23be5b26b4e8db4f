"""The bugs that tools/mutants.py plants into Merrill's strategies (report 004; see mutant_list.py).

Those that the report itself contains come first. Three that look like bugs are none:

- The last barrier of gather_part: the sums of the next tile have two more before anything is overwritten.
- The second barrier of the warp culling, before the lane is read: of the lanes that store into a slot the last finds
  itself, so that without it twins may pass, and never fewer than one.
- The filter's parts in another order: whoever drops an end has found somebody's mark, who goes on with it.
"""

from __future__ import annotations

from mutants_strategies import in_strategy

MERRILL = (
    in_strategy(
        "merrill, warp culling: no barrier before the id is read (as printed in report 004)",
        "culling.cuh",
        "    if (held) relaxed_store(c.ids + slot, u);\n    __syncwarp();\n",
        "    if (held) relaxed_store(c.ids + slot, u);\n",
    ),
    in_strategy(
        "merrill: the history begins with vertex 0",
        "culling.cuh",
        "c.seen[i] = ~(vid)0;",
        "c.seen[i] = 0;",
    ),
    in_strategy(
        "merrill: a bit is set before the label is asked, and the end dropped",
        "culling.cuh",
        "passes_bitmask(s, u) && store_label(s, v, u);",
        "passes_bitmask(s, u) && (u & 7) != 3 && store_label(s, v, u);",
    ),
    in_strategy(
        "merrill: an entry of the history taken for every id of its slot",
        "culling.cuh",
        "if (relaxed_load(entry) == u) return false;",
        "if (relaxed_load(entry) != ~(vid)0) return false;",
    ),
    in_strategy(
        "merrill: who finds its twin in the hash is dropped with it",
        "culling.cuh",
        "relaxed_load(c.lanes + slot) != lane_id();",
        "relaxed_load(c.lanes + slot) != 0;",
    ),
    in_strategy(
        "merrill: capacity of the vertex queue is not asked",
        "merrill.cu",
        "if (found && at < s.capacity) s.next_queue[at] = u;",
        "if (found) s.next_queue[at] = u;",
    ),
    in_strategy(
        "merrill: capacity of the edge queue asked after the store",
        "merrill.cu",
        "            if (!there || slot >= s.edge_capacity) return;\n            ends[slot] = u;",
        "            if (there && number >= s.window) ends[slot] = u;\n"
        "            if (!there || slot >= s.edge_capacity) return;",
    ),
    in_strategy(
        "merrill: the seam between two windows",
        "merrill.cu",
        "if (!there || slot >= s.edge_capacity) return;",
        "if (!there || slot >= s.edge_capacity - 1) return;",
    ),
    in_strategy(
        "merrill: the sweep finds the level before",
        "merrill.cu",
        "s.levels[v] == (i32)s.level;",
        "s.levels[v] == (i32)s.level - 1;",
    ),
    in_strategy(
        "merrill: the queue is rebuilt from the level itself",
        "merrill.cu",
        "s.levels[v] == (i32)s.level + 1, (vid)v);",
        "s.levels[v] == (i32)s.level, (vid)v);",
    ),
    in_strategy(
        "merrill: a tile's first number is forgotten",
        "merrill.cu",
        "                numbers[0] = first;\n",
        "                numbers[0] = base;\n",
    ),
    in_strategy(
        "merrill: a tile's last number is that of its first id",
        "merrill.cu",
        "                numbers[1] = first + wanted;\n",
        "                numbers[1] = first;\n",
    ),
    in_strategy(
        "merrill: every window reads the rows of all",
        "gather.cuh",
        "return first < end && first + ids > begin;",
        "return true;",
        ("test_kernels_windows.py",),
    ),
    in_strategy(
        "merrill: a row that ends in a window's first id is left out",
        "gather.cuh",
        "first + ids > begin;",
        "first + ids > begin + 1;",
    ),
    in_strategy(
        "merrill: the origin at another slot",
        "merrill.cu",
        "            s.next_origins[number] = from;",
        "            s.next_origins[number ^ 1] = from;",
    ),
    in_strategy(
        "merrill: more vertices found than the queue holds, and their rows left out",
        "merrill.cu",
        "        if (thread_id() == 0) atomicAdd(&beyond(s).size, s.edge_capacity + 1);\n",
        "",
    ),
    in_strategy(
        "merrill: the block takes the hub of whoever vied last, after others have begun (lock step)",
        "gather.cuh",
        "        if (vies) relaxed_store(&g.vying, threadIdx.x);\n        __syncthreads();\n",
        "        if (vies) relaxed_store(&g.vying, threadIdx.x);\n",
    ),
    in_strategy(
        "merrill: the vying word keeps its winner",
        "gather.cuh",
        "        if (winner == threadIdx.x) vies = false;",
        "        vies = false;",
    ),
    in_strategy(
        "merrill: a hub's chunks at the same slots",
        "gather.cuh",
        "g.numbers[winner] + before, emit);",
        "g.numbers[winner], emit);",
    ),
    in_strategy(
        "merrill: a row of 32 ids is read by nobody",
        "gather.cuh",
        "length >= WARP && length <= BLOCK_IDS);",
        "length > WARP && length <= BLOCK_IDS);",
    ),
    in_strategy(
        "merrill: a row of 1024 ids is read twice",
        "gather.cuh",
        "g.lengths[threadIdx.x] > BLOCK_IDS;",
        "g.lengths[threadIdx.x] >= BLOCK_IDS;",
    ),
    in_strategy(
        "merrill: short rows past the first round",
        "gather.cuh",
        "for (u32 begin = 0; begin < total;) {",
        "for (u32 begin = 0; begin < total && begin == 0;) {",
    ),
    in_strategy(
        "merrill: a round's places are overwritten while others take them",
        "gather.cuh",
        "        begin += count;\n        __syncthreads();\n",
        "        begin += count;\n",
    ),
    in_strategy(
        "merrill: what does not fit is cut instead of put off",
        "gather.cuh",
        "            else g.next = before;\n",
        "",
    ),
)
