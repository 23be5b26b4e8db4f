"""The bugs that tools/mutants.py plants into what many searches know before they look (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

SUITE = ("test_kernels_many_full.py", "test_kernels_many.py")


def _planted(name: str, file: str, old: str, new: str) -> Mutant:
    return Mutant(f"many searches: {name}", f"algorithms/many/gpu/{file}", old, new, SUITE)


FULL = (
    _planted(
        "who is full by this level brings all in it",
        "pull.cuh",
        "? s.full[word_of(ids[j])] & bit_of(ids[j]) : 0;",
        "? s.done[word_of(ids[j])] & bit_of(ids[j]) : 0;",
    ),
    _planted(
        "a full neighbour brings what is asked of the others alone",
        "pull.cuh",
        "if (some & ALL_ASKED) add(have, asked_bits(s));",
        "if (some & ALL_ASKED) add(have, no_bits());",
    ),
    _planted(
        "a word that is left alone loses its full vertices",
        "many_pull.cu",
        "s.done[mine] = s.full[mine];",
        "s.done[mine] = 0;",
    ),
    _planted(
        "full vertices stay behind for ever", "many.cu", "                add(all, load_bits(s, s.other, v));\n", ""
    ),
    _planted(
        "full vertices of the frontier are caught up",
        "many.cu",
        "s.full[mine] & ~claimed_by(s, s.many_stand->level)[mine] : 0;",
        "s.full[mine] : 0;",
    ),
    _planted(
        "full vertices are left alone before they are closed",
        "many.cuh",
        "return s.by_full ? s.full[w] : s.full[w] & ~claimed_by(s, s.many_stand->level)[w];",
        "return s.full[w];",
    ),
    _planted(
        "a row with more than a group of heads ends",
        "pull.cuh",
        "HEAD_GROUP - 1) != (vid)v;",
        "HEAD_GROUP - 1) == (vid)v;",
    ),
    _planted(
        "lanes ask who brings the words of another",
        "pull_rows.cuh",
        ": bitmap_of_part(s, part);",
        ": bitmap_of_part(s, group_lanes(s) - 1 - part);",
    ),
    _planted(
        "who brings a lane's words, of the first group's vertices alone",
        "many_split.cu",
        "            brings |= __shfl_xor_sync(ALL_LANES, brings, step);\n",
        "            brings |= __shfl_xor_sync(ALL_LANES, brings, 0);\n",
    ),
)
