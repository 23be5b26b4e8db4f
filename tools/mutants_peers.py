"""The bugs that tools/mutants.py plants into kernels of BFS over several GPUs (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

FOLDER = "algorithms/bfs/gpu/peers/"
AGREE, BFS, CLAIMS, MEETING, PHASES, TELL = (
    FOLDER + name for name in ("agree.cuh", "bfs_peers.cu", "claims.cuh", "meeting.cuh", "phases.cuh", "tell.cuh")
)
STEPS = "algorithms/bfs/gpu/hosts/host_steps.cu"
JOINT = "algorithms/components/gpu/peers/cc_peers.cu"
ROWS = "algorithms/bfs/gpu/hosts/streamed_ranks.cu"
STATE = FOLDER + "peers.cuh"
PART, WAKE, OWN = "kernels/base/part.cuh", "kernels/base/wake.cuh", "kernels/placement/own.cu"
OWN_PROOF = "kernels/proof/own.cu"
SUITES = ("test_kernels_peers.py", "test_kernels_letters.py")

PEERS = tuple(
    Mutant(f"peers: {name}", file, old, new, SUITES)
    for name, file, old, new in (
        (
            "a word written to the wrong rank",
            TELL,
            "else in_rank<u64>(p, r, at)[w] = word;",
            "else in_rank<u64>(p, (r + 1) % p.part.size, at)[w] = word;",
        ),
        (
            "a word written beside its place",
            TELL,
            "else in_rank<u64>(p, r, at)[w] = word;",
            "else in_rank<u64>(p, r, at)[p.part.first + i] = word;",
        ),
        (
            "a claim written to the wrong rank",
            CLAIMS,
            "in_rank<vid>(p, owner, p.claimed_at)[place] = v;",
            "in_rank<vid>(p, (owner + 1) % p.part.size, p.claimed_at)[place] = v;",
        ),
        (
            "a claim in another sender's inbox",
            CLAIMS,
            "const u64 place = p.part.rank * p.capacity + at;",
            "const u64 place = at;",
        ),
        (
            "a claim lost when an inbox overflows",
            CLAIMS,
            "        if (!room) p.s.queue[leftover_at(p, t, m.round, behind)] = v;\n",
            "        if (!room && m.round == 0) p.s.queue[leftover_at(p, t, m.round, behind)] = v;\n",
        ),
        (
            "a claim beyond its inbox",
            CLAIMS,
            "if (at >= p.capacity) return false;",
            "if (at > p.capacity) return false;",
        ),
        (
            "claims left over are not told",
            MEETING,
            "from = t.bottom_up ? &slot.chunks : &p.joint->left[m.round & 1]; break;",
            "from = t.bottom_up ? &slot.chunks : nullptr; break;",
        ),
        (
            "leftovers are not counted anew",
            CLAIMS,
            "    if (threadIdx.x == 0) relaxed_store(&p.joint->left[(m.round + 1) & 1], (u64)0);\n",
            "",
        ),
        (
            "claims are counted on from the round before",
            CLAIMS,
            "p.sent[r] = 0;",
            "p.sent[r] = p.sent[r];",
        ),
        (
            "an owner takes what it has visited",
            CLAIMS,
            "if (!claim_bit(p.s.visited, v)) continue;",
            "claim_bit(p.s.visited, v);",
        ),
        (
            "an owner takes a claim without an atomic",
            CLAIMS,
            "if (!claim_bit(p.s.visited, v)) continue;",
            "if (relaxed_load(p.s.visited + word_of(v)) & bit_of(v)) continue;\n"
            "        p.s.visited[word_of(v)] |= bit_of(v);",
        ),
        (
            "no meeting after claims are delivered",
            AGREE,
            "        case DELIVER:\n        case ACCEPT:\n        case PUBLISH:\n        case TAKE: return true;",
            "        case ACCEPT:\n        case PUBLISH:\n        case TAKE: return true;",
        ),
        (
            "no meeting after bits are published",
            AGREE,
            "        case PUBLISH:\n        case TAKE: return true;",
            "        case TAKE: return true;",
        ),
        (
            "a rank does not wait for the others",
            MEETING,
            "while (!is_there(letter, LETTER_FIELDS, number, word)) {",
            "while (!is_there(letter, LETTER_FIELDS, number, word) && false) {",
        ),
        (
            "the other words of a letter are not waited for",
            MEETING,
            "return __all_sync(ALL_LANES, (u32)(word >> 32) == (u32)number);",
            "return __shfl_sync(ALL_LANES, (u32)((u32)(word >> 32) == (u32)number), 0);",
        ),
        (
            "halves of a number in one word",
            MEETING,
            "const u64 half = lane_id() & 1 ? whole >> 32 : (u32)whole;",
            "const u64 half = (u32)whole;",
        ),
        (
            "letters of all meetings in one place",
            STATE,
            "((number & 1) * p.part.size + writer) * LETTER_WORDS",
            "writer * LETTER_WORDS",
        ),
        (
            "the first block does not wait for its own",
            MEETING,
            "while ((relaxed_load(word) & 0x7fffffffu) != gridDim.x - 1) spin();",
            "while (gridDim.x > 2 && (relaxed_load(word) & 0x7fffffffu) < gridDim.x - 2) spin();",
        ),
        (
            "a rank decides by what it has found itself",
            AGREE,
            "    m.count = m.notice[ALL_FOUND];\n",
            "    m.count = m.notice[OWN_FOUND];\n",
        ),
        (
            "the frontier's other words stay",
            PHASES,
            "case PUBLISH: publish(p, published_at(p, t)); break;",
            "case PUBLISH: publish(p, p.frontier_at); break;",
        ),
        (
            "whole: a rank ahead writes what is visited while others look for it",
            AGREE,
            "            return ALL_ROWS && t.shared;\n",
            "            return false;\n",
        ),
        (
            "whole: a rank makes a queue of its own words alone",
            "algorithms/bfs/gpu/peers/whole.cuh",
            "return ALL_ROWS ? words_for(p.s.out.n) : 2 * p.part.words;",
            "return 2 * p.part.words;",
        ),
        (
            "what is visited is told in place of the frontier",
            STATE,
            "return t.bottom_up || ALL_ROWS ? frontier_at(p, t) : p.visited_at;",
            "return p.visited_at;",
        ),
        (
            "own bits are not cleared",
            TELL,
            "bits[swept_word(p, h)] = 0;",
            "bits[swept_word(p, h)] |= 0;",
        ),
        (
            "the source is in every frontier's level of the search before",
            PHASES,
            "    settle(p.s, last, ~(vid)0, -1);\n",
            "",
        ),
        (
            "the range after its own",
            PART,
            "if (part.bounds[middle] <= word) low = middle;",
            "if (part.bounds[middle] < word) low = middle;",
        ),
        (
            "the last offset of own rows",
            OWN,
            "if (v == a.n || i > part.words) i = part.words;",
            "if (i > part.words) i = part.words;",
        ),
        (
            "chunks of own hubs are not moved",
            OWN,
            "blocks[c] = offsets[v] + (blocks[c] - a.indptr[v]);",
            "blocks[c] = blocks[c];",
        ),
        (
            "a piece of own rows ends with its first word",
            OWN,
            "for (u64 i = low; i < part.words && starts[i] < end; ++i) {",
            "for (u64 i = low; i < part.words && i == low; ++i) {",
        ),
    )
)

OWN_ROWS = tuple(
    Mutant(f"own rows: {name}", file, old, new, ("test_kernels_own.py",))
    for name, file, old, new in (
        ("heads by degrees that have moved", OWN, "short_heads(a, all, own,", "short_heads(a, a, own,"),
        ("heads of long rows by degrees that have moved", OWN, "read_best(a, all, v,", "read_best(a, a, v,"),
        ("chunks of others are proved", OWN_PROOF, "if (is_own(part, a.hubs[hub])) broken", "broken"),
        ("half of each word is proved", OWN_PROOF, "h < 2 * part.words;", "h < part.words;"),
    )
)

NOTICES = tuple(
    Mutant(f"peers: {name}", file, old, new, ("test_kernels_lost.py", *SUITES))
    for name, file, old, new in (
        (
            "a rank that is lost in levels of few is not told to the other blocks",
            AGREE,
            "    m.notice[LOST] = relaxed_load(&p.joint->lost);\n",
            "",
        ),
        (
            "counters are read before all blocks have come",
            MEETING,
            "    if (lane_id() == 0) meet_other_blocks(p.s.meeting);\n    __syncwarp();\n"
            "    const u64 value = own_counters(p, t, m);",
            "    const u64 value = own_counters(p, t, m);\n"
            "    if (lane_id() == 0) meet_other_blocks(p.s.meeting);\n    __syncwarp();",
        ),
        (
            "the level in which a rank was missed is forgotten",
            BFS,
            "                if (blockIdx.x == 0) save_progress(near.s, t, false);\n",
            "",
        ),
        (
            "ranks do not meet behind rows",
            AGREE,
            "default: return t.shared && reads_rows(t);",
            "default: return false;",
        ),
    )
)

WAKES = tuple(
    Mutant(f"links: {name}", file, old, new, ("test_kernels_wake.py",))
    for name, file, old, new in (
        ("a rank wakes itself", WAKE, "if (r != part.rank) relaxed_store", "relaxed_store"),
        ("a store behind the memory for it", WAKE, "if (i * LINE >= words) return;", "if (i * LINE > words) return;"),
        ("all stores go to one line", WAKE, " + i * LINE, (u64)0);", " + i, (u64)0);"),
        ("all senders store into one part", BFS, "p.part.rank * p.most_words * sizeof(u64);", "0;"),
        ("half of what is told is woken", JOINT, "2 * r.n * sizeof(vid) / 8", "r.n * sizeof(vid) / 8"),
    )
)

HOSTS = tuple(
    Mutant(f"hosts: {name}", STEPS, old, new, ("test_kernels_hosts.py",))
    for name, old, new in (
        ("every round of claims is the first", "m.round = (u32)step.round;", "m.round = 0;"),
        ("the frontier is in the first half of the queue", "t.begin = step.begin;", "t.begin = 0;"),
        ("next and frontier stay where they are", "t.swapped = (u32)step.swapped;", "t.swapped = 0;"),
        ("rows put off are not", "t.defer = (u32)step.defer;", "t.defer = 0;"),
        ("what is visited is told in place of the frontier", "t.bottom_up = (u32)step.bottom_up;", "t.bottom_up = 0;"),
        (
            "one block hands in what it has counted",
            "if (threadIdx.x == 0) hand_in_tallies(p, t);",
            "if (thread_id() == 0) hand_in_tallies(p, t);",
        ),
        (
            "counts are handed in before all threads have counted",
            "    __syncthreads();\n    if (threadIdx.x == 0) hand_in_tallies(p, t);",
            "    if (threadIdx.x == 0) hand_in_tallies(p, t);",
        ),
        (
            "a phase begins before all threads know it",
            "    __syncthreads();\n    run_phase_of_ranks(p, t, m);",
            "    run_phase_of_ranks(p, t, m);",
        ),
        (
            "the unreached say nothing",
            "KERNEL void host_finish(Peers p) { finish_own(p); }",
            "KERNEL void host_finish(Peers p) {}",
        ),
        ("the search before is not forgotten", "{ reset_all(p, source, last); }", "{ reset_all(p, source, source); }"),
    )
) + tuple(
    # MERGE: where hosts carry what is told; ranks that reach each other's memory write words in their places
    Mutant(f"hosts: {name}", TELL, old, new, ("test_kernels_hosts.py",))
    for name, old, new in (
        (
            "words of another sender are merged",
            "const u64* const theirs = told + r * p.most_words;",
            "const u64* const theirs = told + p.part.rank * p.most_words;",
        ),
        (
            "the last words are not merged",
            "r + i * p.part.size < words_of_64(p);",
            "r + (i + 1) * p.part.size < words_of_64(p);",
        ),
    )
)

FAR_ROWS = tuple(
    Mutant(f"far rows: {name}", ROWS, old, new, ("test_kernels_far_rows.py",))
    for name, old, new in (
        (
            "others' vertices are taken for own ones",
            "if (((u64)u >> 6) - part.first < part.words) {",
            "if ((u64)u >> 6 < part.first + part.words) {",
        ),
        ("a claim without its parent", "                if (s.parents) s.parents[u] = v;\n", ""),
        ("claims are packed twice", "            s.claimed[w] = 0;\n", ""),
        ("claims of all ranks in one part", "u64 at = r * capacity + atomicAdd(", "u64 at = atomicAdd("),
        (
            "a round goes into the next rank's words",
            "        if (end > part.bounds[r + 1]) end = part.bounds[r + 1];\n",
            "",
        ),
        (
            "a claim of who is visited is taken in",
            "if (!claim_bit(s.visited, v)) continue;",
            "claim_bit(s.visited, v);",
        ),
        (
            "who is claimed is not in the frontier",
            "        atomicOr(s.next + word_of(v), bit_of(v));\n        found",
            "        found",
        ),
    )
)
