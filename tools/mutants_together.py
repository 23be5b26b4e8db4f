"""The bugs that tools/mutants.py plants into what GPUs tell one another: words found, marks, thin levels.

See mutant_list.py, and mutants_peers.py for the rest of a search over several GPUs.
"""

from __future__ import annotations

from mutant import Mutant
from mutants_peers import AGREE, FOLDER, MEETING, OWN, PART, STATE, SUITES

FOUND, MARKS, FEW = (FOLDER + name for name in ("found.cuh", "marks.cuh", "few.cuh"))

TOGETHER = tuple(
    Mutant(f"peers: {name}", file, old, new, SUITES)
    for name, file, old, new in (
        (
            "what chunks of hubs have found is taken for told",
            AGREE,
            "const bool known = !t.shared || m.notice[ALL_LEFT] == 0;",
            "const bool known = true;",
        ),
        (
            "found words are not told",
            FOUND,
            "in_rank<u32>(p, r, t.swapped ? p.frontier_at : p.next_at)[w] = word;",
            "in_rank<u32>(p, r, t.swapped ? p.frontier_at : p.next_at)[w] = 0;",
        ),
        (
            "found words are told in the frontier",
            FOUND,
            "in_rank<u32>(p, r, t.swapped ? p.frontier_at : p.next_at)[w] = word;",
            "in_rank<u32>(p, r, t.swapped ? p.next_at : p.frontier_at)[w] = word;",
        ),
        (
            "marks of others are not taken over",
            MARKS,
            "if (inside) next[w] = fresh | theirs;",
            "if (inside) next[w] = fresh | (theirs & 0);",
        ),
        (
            "parents of others' marks are not fetched",
            MARKS,
            "        if (some && p.s.parents) fetch_parents(p, base, theirs, in_rank<vid>(p, r, p.parents_at));\n",
            "        (void)some;\n",
        ),
        (
            "marks of the level before stay",
            MARKS,
            "thread_count()) frontier[w] = 0;",
            "thread_count()) frontier[w] |= 0;",
        ),
        (
            "marks are made on what is there",
            AGREE,
            "if (t.wide) return t.clean ? MARK : BLANK;",
            "if (t.wide) return MARK;",
        ),
        (
            "a level whose edges are estimated may be a thin one",
            AGREE,
            "t.phase = queue_phase(t, m);\n            break;",
            "t.phase = are_few(p, t, m) ? (t.wide = m.turns = 0, (u32)FEW) : queue_phase(t, m);\n            break;",
        ),
        ("the first blocks lose their claims", FEW, "else put_claim(p, owner,", "else if (i) put_claim(p, owner,"),
        (
            "counters of claims go on from one thin level to the next",
            FEW,
            "r += TEAM) p.sent[r] = 0;",
            "r += TEAM) p.sent[r] += 0;",
        ),
        (
            "other blocks do not hear of thin levels",
            FEW,
            "    t.slot += (u32)(relaxed_load(&p.s.progress->level) - (u64)t.level);\n    load_progress(p.s, t);\n",
            "    if (blockIdx.x == 0) load_progress(p.s, t);\n",
        ),
    )
)

LINES = tuple(
    Mutant(f"lines: {name}", PART, old, new, ("test_kernels_whole.py",))
    for name, old, new in (
        (
            "whoever would own a word were they dealt one by one",
            "turn = word >> part.shift;",
            "turn = word;",
        ),
        (
            "words of others are among own ones",
            "(half / 2 >> (u32)part.shift)",
            "(half >> (u32)part.shift)",
        ),
    )
)

PASSED_ON = tuple(
    Mutant(f"passed on: {name}", OWN, old, new, ("test_rank_passed_on.py",))
    for name, old, new in (
        (
            "the last bytes of a piece are lost",
            "for (u64 i = count / 16 * 16 + thread_id(); i < count;",
            "for (u64 i = count / 16 * 16 + thread_id(); i < count / 16 * 16;",
        ),
        (
            "a piece begins with its second line",
            "i < count / 16; i += thread_count()) ((uint4*)to)[i]",
            "i < count / 16; i += thread_count()) ((uint4*)to)[i ^ 1]",
        ),
    )
)

PUT_OFF = (
    Mutant(
        "put off: heads are no stronger by degree",
        FOLDER + "costs.cuh",
        "p.s.in.head_groups * HEAD_GROUP + (ALL_ROWS ? first * 5 / 2 : first);",
        "p.s.in.head_groups * HEAD_GROUP + (ALL_ROWS ? 0 : first);",
        ("test_kernels_whole.py",),
    ),
)

SHARED_HUBS = tuple(
    Mutant(f"shared hubs: {name}", file, old, new, ("test_kernels_whole_marks.py",))
    for name, file, old, new in (
        (
            "others mark a rank's vertices, not itself",
            STATE,
            "#define MARKS(s, v) is_own(part_of(s), v)",
            "#define MARKS(s, v) !is_own(part_of(s), v)",
        ),
        (
            "who is marked is counted with who was queued",
            MEETING,
            "ALL_ROWS && !t.bottom_up && !t.wide ? &slot.queued",
            "ALL_ROWS && !t.bottom_up ? &slot.queued",
        ),
        (
            "levels that are not shared are marked",
            FOLDER + "costs.cuh",
            "const bool may_mark = (!ALL_ROWS || t.shared) &&",
            "const bool may_mark =",
        ),
        (
            "whom heads have found is counted again behind them",
            MARKS,
            "return ALL_ROWS ? next[w] & ~p.s.visited[w] : next[w];",
            "return next[w];",
        ),
        (
            "whom heads have found is told no more behind them",
            MARKS,
            "tell_found(p, t, next, w, 0, ALL_ROWS ? next[w] : fresh);",
            "tell_found(p, t, next, w, 0, fresh);",
        ),
        (
            "chunks of hubs alone follow on heads",
            AGREE,
            "t.phase == UP ? MARK : MARK_CHUNKS;",
            "MARK_CHUNKS;",
        ),
    )
)

BLANK = tuple(
    Mutant(f"blank: {name}", file, old, new, ("test_kernels_whole.py",))
    for name, file, old, new in (
        (
            "the frontier of a search before stays",
            FOLDER + "whole.cuh",
            "w += threads) bits[w] = 0;",
            "w += threads) bits[w] |= 0;",
        ),
        (
            "one block has nobody who empties anything",
            FOLDER + "whole.cuh",
            " && gridDim.x > 1;",
            ";",
        ),
    )
)

ALONE = tuple(
    Mutant(f"levels that are not shared: {name}", file, old, new, ("test_kernels_whole.py",))
    for name, file, old, new in (
        (
            "there are none",
            AGREE,
            "    t.shared = !ALL_ROWS || not_visited(p, t) > p.alike_to;\n",
            "    t.shared = 1;\n",
        ),
        (
            "ranks meet behind them",
            AGREE,
            "default: return t.shared && reads_rows(t);",
            "default: return reads_rows(t);",
        ),
        (
            "ranks meet before them",
            AGREE,
            "            return ALL_ROWS && t.shared;\n",
            "            return ALL_ROWS;\n",
        ),
        (
            "own words alone are searched",
            FOLDER + "peers.cuh",
            "return ALL_ROWS ? !t.shared : VARINT;",
            "return ALL_ROWS ? false : VARINT;",
        ),
        (
            "whom chunks have found is told",
            AGREE,
            "const bool known = !t.shared || m.notice[ALL_LEFT] == 0;",
            "const bool known = m.notice[ALL_LEFT] == 0;",
        ),
    )
)
