"""The bugs that tools/mutants.py plants into the numbers that vertices with edges have (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

SUITE = ("test_kernels_renumbered.py",)
MANY = ("test_kernels_many_numbered.py",)


def _planted(name: str, file: str, old: str, new: str, suite: tuple[str, ...] = SUITE) -> Mutant:
    return Mutant(f"numbers: {name}", file, old, new, suite)


NUMBERS = (
    _planted(
        "a vertex counts itself", "kernels/rows/numbers.cuh", "bits & (bit_of(u) - 1)", "bits & (2 * bit_of(u) - 1)"
    ),
    _planted(
        "who has no edges has a number",
        "kernels/rows/numbers.cuh",
        "return bits & bit_of(u) ? (vid)",
        "return true ? (vid)",
    ),
    _planted(
        "ids in device memory are looked up, too",
        "kernels/rows/plain.cuh",
        "to_numbers<SLOTS>(adjacency, ids, outside ? valid : 0)",
        "to_numbers<SLOTS>(adjacency, ids, valid)",
    ),
    _planted(
        "of two ids that are looked up together the second gets the first one's number",
        "kernels/rows/numbers.cuh",
        "ids[first + j] = number_by(words[j], ids[first + j]);",
        "ids[first + j] = number_by(words[0], ids[first + j]);",
    ),
    _planted(
        "hot rows keep the ids of the file",
        "kernels/placement/place.cu",
        "return number_in(a.numbers, a.file_n, ((const Unit*)a.data)[i]);",
        "return ((const Unit*)a.data)[i];",
    ),
    _planted(
        "wide levels take ids as they are",
        "algorithms/bfs/gpu/wide.cuh",
        "to_numbers<SLOTS>(s.out, found, file_ids);",
        "to_numbers<SLOTS>(s.out, found, 0);",
    ),
    _planted(
        "only the first half of all ids is written anew",
        "kernels/placement/place.cu",
        "for (u64 i = thread_id(); i < count; i += thread_count()) ids[i]",
        "for (u64 i = thread_id(); i < count / 2; i += thread_count()) ids[i]",
    ),
    _planted(
        "a source without a number has a level among those that have one",
        "algorithms/many/gpu/many.cu",
        "if (s.levels && v < s.out.n) s.levels",
        "if (s.levels) s.levels",
        MANY,
    ),
    _planted(
        "rows outside lead to vertices as the file has them",
        "kernels/rows/plain.cuh",
        "to_numbers<SLOTS>(adjacency, ids, outside ? valid : 0)",
        "to_numbers<SLOTS>(adjacency, ids, 0)",
        MANY,
    ),
    _planted(
        "who is looked at for a lane is not looked up",
        "algorithms/many/gpu/pull_rows.cuh",
        "    cursor.number(some);\n",
        "",
        MANY,
    ),
    _planted(
        "ids of the file are asked about as if they were numbers",
        "algorithms/many/gpu/pull_rows.cuh",
        "cursor.in_file() ? file_bitmap_of_part(s, part) :",
        "cursor.in_file() && false ? file_bitmap_of_part(s, part) :",
        MANY,
    ),
    _planted(
        "a word of the file's has its vertices from one word of numbers",
        "algorithms/many/gpu/many_split.cu",
        "if (before + count > 32) bits |=",
        "if (false) bits |=",
        MANY,
    ),
    _planted(
        "vertices without edges bring nothing",
        "algorithms/many/gpu/many_split.cu",
        "file_bitmap_of_part(s, part)[w] = found;",
        "file_bitmap_of_part(s, part)[w] = found | ~(u32)numbers;",
        MANY,
    ),
)
