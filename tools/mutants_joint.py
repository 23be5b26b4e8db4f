"""The bugs that tools/mutants.py plants into kernels of components over several GPUs (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

JOINT = "algorithms/components/gpu/peers/"
CC, FOREST, LABELS, RANKS = (
    JOINT + name for name in ("cc_peers.cu", "cc_peer_forest.cu", "cc_peer_labels.cu", "joint.cuh")
)
FAR = "algorithms/components/gpu/hosts/cc_hosts.cu"
HALVES = "algorithms/components/gpu/hosts/halves.cuh"

JOINT_FORESTS = tuple(
    Mutant(f"joint: {name}", file, old, new, ("test_kernels_joint.py",))
    for name, file, old, new in (
        (
            "a parent is asked of the next rank",
            FOREST,
            "relaxed_load(in_rank<vid>(r, owner_of(r.part, at), r.forest_at) + at)",
            "relaxed_load(in_rank<vid>(r, (owner_of(r.part, at) + 1) % r.part.size, r.forest_at) + at)",
        ),
        (
            "who is above a parent is not asked for",
            FOREST,
            "if (is_own(r.part, above) || !claim_bit(asked, above)) break;",
            "break;",
        ),
        (
            "those asked for stay where they are",
            FOREST,
            "each_bit(asked, r.n, [&](u64 v) { find_root(forest, (vid)v); });\n",
            "",
        ),
        (
            "a sample of own vertices",
            CC,
            "for (u64 to = 0; to < r.part.size; ++to) {",
            "for (u64 to = r.part.rank; to == r.part.rank; ++to) {",
        ),
        (
            "roots are gathered from the next rank",
            CC,
            "above[j] = relaxed_load(in_rank<vid>(r, owner, r.forest_at) + v);",
            "above[j] = relaxed_load(in_rank<vid>(r, (owner + 1) % r.part.size, r.forest_at) + v);",
        ),
        (
            "links do not climb to roots of others' vertices",
            "algorithms/components/gpu/forest.cuh",
            "vid b = CLIMBS && !by_id ? find_root(forest, v) : relaxed_load(forest + v);",
            "vid b = relaxed_load(forest + v);",
        ),
        (
            "nobody waits at a meeting",
            CC,
            "bool late = false;",
            "bool late = true;",
        ),
        (
            "a name that no other rank knows",
            RANKS,
            "return below & bit_of(z) ? in_rank",
            "return below & bit_of(z) && owner == r.part.size ? in_rank",
        ),
        (
            "pairs in one another's place",
            CC,
            "told[2 * (at + k)] = known",
            "told[2 * at] = known",
        ),
        (
            "what the last rank has told is not linked",
            CC,
            "for (u64 k = 0; k < r.part.size; ++k) {\n        const u64 rank =",
            "for (u64 k = 0; k + (r.part.size > 1) < r.part.size; ++k) {\n        const u64 rank =",
        ),
        (
            "the smallest of own vertices is the label",
            LABELS,
            "if (label < least) least = label;",
            "if (k == r.part.rank) least = label;",
        ),
        (
            "a root's label is lowered where it is at home",
            LABELS,
            "            relaxed_store(in_rank<vid>(r, k, r.labels_at) + v, least);\n",
            "            if (k == r.part.rank) relaxed_store(in_rank<vid>(r, k, r.labels_at) + v, least);\n",
        ),
        (
            "others' hubs are read",
            "kernels/passes/passes.cuh",
            "active = test_bit(a.rows, a.hubs[hub]) && operation",
            "active = operation",
        ),
    )
)

WHOLE, TOPS, ONE = (
    JOINT + "cc_peer_whole.cu",
    "algorithms/components/gpu/tops.cuh",
    "algorithms/components/gpu/cc_tops.cu",
)
WHOLE_ROOTS = tuple(
    Mutant(f"whole components: {name}", file, old, new, ("test_kernels_whole_components.py",))
    for name, file, old, new in (
        (
            "strays of a warp in one another's place",
            TOPS,
            "at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(all & ((1u << lane_id()) - 1));",
            "at = __shfl_sync(ALL_LANES, at, 0);",
        ),
        (
            "others' roots of strays are not stored",
            TOPS,
            "    mine.keep(forest, root);\n",
            "",
        ),
        (
            "the giant's root is stored by its owner alone",
            WHOLE,
            "        relaxed_store(forest + *giant, *giant);\n",
            "",
        ),
        (
            "a hub outside is told by nobody",
            WHOLE,
            "    if (!strays->hubs) return;",
            "    if (!strays->hubs || a.n) return;",
        ),
        (
            "only own pairs are linked",
            WHOLE,
            "link(forest, pairs[2 * i], pairs[2 * i + 1], 1);",
            "if (k == r.part.rank) link(forest, pairs[2 * i], pairs[2 * i + 1], 1);",
        ),
        (
            "what another rank has found too much is not heard",
            WHOLE,
            "if (count > r.n || !*settled) {",
            "if ((count > r.n && k == r.part.rank) || !*settled) {",
        ),
        (
            "own vertices stay below a giant's root that was hung",
            WHOLE,
            "    if (relaxed_load(forest + *giant) == *giant) {",
            "    if (relaxed_load(forest + *giant) <= *giant) {",
        ),
        (
            "strays stay where they are",
            WHOLE,
            "i += thread_count()) find_root(forest, list[i]);",
            "i += thread_count()) (void)list[i];",
        ),
        (
            "one GPU: a hub outside is linked by nobody",
            ONE,
            "if (strays->lost || !strays->hubs) return;",
            "if (strays->lost || a.n) return;",
        ),
        (
            "one GPU: all stay below a giant's root that was hung",
            ONE,
            "relaxed_load(forest + *giant) == *giant;",
            "relaxed_load(forest + *giant) <= *giant;",
        ),
        (
            "one GPU: strays stay where they are",
            ONE,
            "i < end; i += thread_count()) find_root",
            "i < end && !stays; i += thread_count()) find_root",
        ),
        (
            "pairs name the vertex, not its root",
            JOINT + "whole.cuh",
            "told[2 * at + 1] = other;",
            "told[2 * at + 1] = u;",
        ),
    )
)

OVER_GPUS = (*JOINT_FORESTS, *WHOLE_ROOTS)

FAR_FORESTS = tuple(
    Mutant(f"far: {name}", HALVES if "bounds" in old else FAR, old, new, ("test_kernels_far.py",))
    for name, old, new in (
        (
            "a pair dealt to the next rank",
            "write_pairs(tells, (vid)v, root, cursors + owner, pairs);",
            "write_pairs(tells, (vid)v, root, cursors + (owner + 1) % part.size, pairs);",
        ),
        (
            "pairs of a warp in one another's place",
            "    at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(all & ((1u << lane_id()) - 1));",
            "    at = __shfl_sync(ALL_LANES, at, 0);",
        ),
        (
            "a pair lost: the first of each rank",
            "link(names, pair[1], find_root(forest, pair[0]), 1);",
            "if (i > 0 || ranks == 1) link(names, pair[1], find_root(forest, pair[0]), 1);",
        ),
        (
            "pairs of the rank before",
            "const vid* const pair = pairs + 2 * (k * room + i);\n            link(forest, pair[0]",
            "const vid* const pair = pairs + 2 * ((k ? k - 1 : k) * room + i);\n            link(forest, pair[0]",
        ),
        (
            "names linked in the forest, which says what is known already",
            "link(names, pair[1], find_root(forest, pair[0]), 1);",
            "link(forest, pair[1], find_root(forest, pair[0]), 1);",
        ),
        (
            "a root that is a name here is not told",
            "if (home != part.rank && claim_bit(named, root)) atomicAdd(counts + home, (u64)1);",
            "if (home != part.rank && claim_bit(named, root)) atomicAdd(counts + home, (u64)0);",
        ),
        (
            "a name is counted by every vertex below it",
            "if (home != part.rank && claim_bit(named, root)) atomicAdd(counts + home, (u64)1);",
            "if (home != part.rank) claim_bit(named, root), atomicAdd(counts + home, (u64)1);",
        ),
        (
            "bits in the place of the next rank's",
            "if (lane_id() == 0) bits[2 * part.rank * most + h] = in;",
            "if (lane_id() == 0) bits[2 * ((part.rank + 1) % part.size) * most + h] = in;",
        ),
        (
            "members of one rank taken for another's",
            "const u64 v = half_of(part, q, at % (2 * most)) * 32 + lane_id();",
            "const u64 v = half_of(part, (q + 1) % part.size, at % (2 * most)) * 32 + lane_id();",
        ),
        (
            "a member of others is hung below the root whatever it is below already",
            "if (!alone || atomicCAS(forest + v, (vid)v, root) != (vid)v) link(forest, (vid)v, hub, 1);",
            "(void)alone;\n        relaxed_store(forest + v, root);",
        ),
        (
            "a member smaller than the root is hung below it",
            "const bool alone = root < v && relaxed_load",
            "const bool alone = root != v && relaxed_load",
        ),
        (
            "whoever is in a tree is a member",
            "v < n && find_root(forest, (vid)v) == root);",
            "v < n && find_root(forest, (vid)v) <= root);",
        ),
        (
            "nothing is told of the hub's tree where edges go one way",
            "return !heard || bits[member_half(part, most, v / 32)] >> (v % 32) & 1;",
            "return true;",
        ),
        (
            "another's bit says who is a member",
            "return 2 * (q * most + (part.bounds ? word - part.bounds[q] : word / part.size)) + half % 2;",
            "return 2 * (q * most + (part.bounds ? word - part.bounds[q] : word / part.size));",
        ),
        (
            "classes are told by who is in them alone",
            "(least != (vid)v, (vid)v, least, count, pairs);",
            "(least != (vid)v, (vid)v, (vid)v, count, pairs);",
        ),
        (
            "own vertices stay where links have left them",
            "        if (v < n) find_root(forest, (vid)v);\n",
            "        if (v < n && part.size == 1) find_root(forest, (vid)v);\n",
        ),
        (
            "roots are compared before they are known",
            "    }\n    __syncthreads();\n    for (u32 i = threadIdx.x; i < SAMPLE && part.words",
            "    }\n    for (u32 i = threadIdx.x; i < SAMPLE && part.words",
        ),
    )
)
