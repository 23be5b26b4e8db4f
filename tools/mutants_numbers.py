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
        "lines: a row has the first line of the next",
        "algorithms/bfs/gpu/search.cuh",
        "__ballot_sync(ALL_LANES, first <= line)",
        "__ballot_sync(ALL_LANES, first <= line + 1)",
    ),
    _planted(
        "lines: what lies behind a row in its last line is read",
        "algorithms/bfs/gpu/search.cuh",
        "max(first, min(last, this_line * WARP + lane_id()))",
        "max(first, min(last | (WARP - 1), this_line * WARP + lane_id()))",
    ),
    _planted(
        "lines: what lies before a row in its first line is read",
        "algorithms/bfs/gpu/search.cuh",
        "max(first, min(last, this_line * WARP + lane_id()))",
        "max(first & ~(WARP - 1), min(last, this_line * WARP + lane_id()))",
    ),
    _planted(
        "lines: the last id of a row is left out",
        "algorithms/bfs/gpu/search.cuh",
        "__shfl_sync(ALL_LANES, end, owner) - 1",
        "__shfl_sync(ALL_LANES, end, owner) - 2",
    ),
    _planted(
        "lines: a row is left where another has found its parent",
        "algorithms/bfs/gpu/search.cuh",
        "if (decided & bit_of(next) && line < behind)",
        "if (decided && line < behind)",
    ),
    _planted(
        "lines: ids of all rows are looked up",
        "algorithms/bfs/gpu/search.cuh",
        "to_numbers<SLOTS>(s.in, ids, outside);",
        "to_numbers<SLOTS>(s.in, ids, ~0u);",
    ),
    _planted(
        "heads: who is open looks at the first group again",
        "algorithms/bfs/gpu/pieces.cuh",
        "search_group<LOOKS>(s, frontier, v, group, parent, later)",
        "search_group<LOOKS>(s, frontier, v, 0, parent, later)",
    ),
    _planted(
        "heads: the last group is left out",
        "algorithms/bfs/gpu/pieces.cuh",
        "for (; group < s.in.head_groups && __any_sync",
        "for (; group + 1 < s.in.head_groups && __any_sync",
    ),
    _planted(
        "heads: who is found in a piece is found in the next, too",
        "algorithms/bfs/gpu/pieces.cuh",
        "    found_words(t)[lane_id()] = 0;\n",
        "",
    ),
    _planted(
        "heads: who is open behind a group is given up",
        "algorithms/bfs/gpu/pieces.cuh",
        "if (later) atomicOr(open_words(t) + place / 32, bit_of(place));",
        "if (later && WHERE == FIRST_HEADS) atomicOr(open_words(t) + place / 32, bit_of(place));",
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
