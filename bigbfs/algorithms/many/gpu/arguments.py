"""The argument struct of the kernels of many searches, and the state that its pointers lead to.

``STAND`` and ``SUMS`` mirror the structs of many.cuh field by field, each of 8 bytes. An array is declared here once:
the ledger counts it, the pool makes it, and the kernels' struct gets its pointer by a define.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.gathered import Wants
from bigbfs.algorithms.many.gpu.tuning import DEFAULT
from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, BLOCK, COUNTS
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of

WIDTHS = (64, 128, 256, 512)
"""Bits of a vertex, twice."""

ACTIVE = np.dtype((np.uint64, WIDTHS[-1] // 64))
"""Words of as many bits as there can be sources."""


def part_of(width: int) -> int:
    """Return the words of a vertex that a lane has."""
    return 1 if width == WIDTHS[0] else 2


def _with_words(names: tuple[str, ...], words: tuple[str, ...]) -> np.dtype:
    """Return a struct of fields of 8 bytes, the last of them words of a bit for each source."""
    return np.dtype([(name, np.uint64) for name in names] + [(name, ACTIVE) for name in words])


STAND = _with_words(("level", "count", "edges", "left", "ending", "pushed", "picked", "full"), ("active", "asked"))
"""Where a batch stands."""

SUMS = _with_words(("freed", "edges", "chunks", "left", "listed", "full"), ("active",))
"""What a level adds up."""

DONE, WIDE, FULL, ROWS = 1, 2, 3, 4
"""What ``STAND.ending`` says: no frontier is left; the host chooses the direction; it takes the counts first; it has
rows of the frontier read from the file."""

SAMPLE = 1 << 13
"""Vertices by which the frontiers of sources are weighed."""

MOST_MASKS = 8
"""Choices between which sources to spread."""

_CHUNKS = ArraySpec("chunk_list", "u32", "chunks", "chunks of hubs to be read in a level")
_MEETING = ArraySpec("meeting", "u32", "1", "where the blocks of the grid meet", True)
_COUNTS = ArraySpec("counts", "u64", f"{len(COUNTS.names or ())}", "counters of passes", True, "vram", "Counts")


STREAMED = (
    ArraySpec("wanted", "u32", "words", "bitmap: rows to be read from the file"),
    ArraySpec("many_asked", "u64", "2", "how many they are, and what they take"),
)
"""More state, where rows are streamed."""


def arrays(
    width: int, wants: Wants, span: int = DEFAULT.span, kept: int | None = None, streamed: bool = False
) -> tuple[ArraySpec, ...]:
    """Return the state of batches of ``width`` sources which collect what ``wants`` says, of ``span`` levels and the
    one before them."""
    words = width // 64
    stand, sums = STAND.itemsize // 8, 3 * SUMS.itemsize // 8
    always = (
        ArraySpec("seen", "u64", f"reachable * {words}", f"a bit for each of {width} sources: has reached the vertex"),
        ArraySpec("other", "u64", f"reachable * {words}", f"the same of {width} sources, a level before or after"),
        ArraySpec("queues", "id", "2 * reachable", "frontiers of two levels"),
        ArraySpec("claimed", "u32", "2 * reachable_words", "bitmaps of both"),
        ArraySpec("full", "u32", "reachable_words", "bitmap: vertices that lacked no source before a level"),
        ArraySpec("done", "u32", "reachable_words", "the same after it"),
        ArraySpec("open", "u32", "reachable_words", "bitmap: vertices whose heads do not decide"),
        ArraySpec(
            "parts",
            "u32",
            f"{words // part_of(width)} * (reachable_words + table)",
            "bitmaps: who brings no word of a lane's",
        ),
        _CHUNKS,
        ArraySpec("out_order", "u32", "chunks", "all of them, those equally far along their rows together"),
        ArraySpec("in_order", "u32", "chunks", "the same of in-rows"),
        ArraySpec("pairs", "u64", f"{span + 1}", "pairs of source and vertex found in each level"),
        ArraySpec("far", "u64", f"{width}", "of each source a vertex in its last level"),
        ArraySpec("depth", "u64", f"{width}", "of each source its last level"),
        ArraySpec("many_sources", "u64", f"{width}", "the sources of a batch"),
        ArraySpec("many_places", "u32", f"{width}", "which source of the batch each bit is"),
        ArraySpec("many_sums", "u64", f"{sums}", "sums of three levels", True, "vram", "ManySums"),
        ArraySpec("many_stand", "u64", f"{stand}", "where a batch stands", True, "vram", "ManyStand"),
        ArraySpec("many_sample", "id", f"{SAMPLE}", "vertices drawn by their edges"),
        ArraySpec("many_weights", "u64", f"{2 * WIDTHS[-1]}", "how many of them each source reached last, and has not"),
        ArraySpec("many_masks", "u64", f"{MOST_MASKS * WIDTHS[-1] // 64}", "sources that could be spread, by choices"),
        _MEETING,
        _COUNTS,
    )
    asked_for = (spec for spec, wanted in _wanted(width, wants, span, kept or width) if wanted)
    return (*always, *asked_for, *(STREAMED if streamed else ()))


def _wanted(width: int, wants: Wants, span: int, kept: int) -> tuple[tuple[ArraySpec, bool], ...]:
    """Return the arrays that are there when they are wanted, and whether they are."""
    counts = f"{(span + 1) * width}"
    return (
        (ArraySpec("columns", "u64", counts, "vertices found in each level by each source"), wants.columns),
        (ArraySpec("reach", "u64", "n", "how many sources reach a vertex"), wants.sums),
        (ArraySpec("farness", "u64", "n", "the sum of their distances"), wants.sums),
        (ArraySpec("harmonic", "u64", "n", "the sum of reciprocals", False, "vram", "double"), wants.harmonic),
        (ArraySpec("levels", "i32", f"n * {kept}", f"levels of {kept} sources"), wants.levels),
    )


EVERYTHING = Wants(sums=True, harmonic=True, columns=True, levels=True)
POINTERS = arrays(WIDTHS[0], EVERYTHING)
"""All that the kernels' struct has a pointer to; 0 where it is not wanted."""

SCALARS = (
    *("vertices", "base", "span", "most_levels", "max_depth", "pull_from", "apart_ids"),
    *("spread", "sparse", "hubs_apart", "few_words", "shares_rows", "kept", "group_bits"),
    "by_full",
)

MANY = np.dtype(
    [("out", ADJACENCY), ("in", ADJACENCY)] + [(name, np.uint64) for name in (*(s.name for s in POINTERS), *SCALARS)]
)
"""``struct Many`` (many.cuh)."""

FOLDER = "algorithms/many/gpu"
FILES = {
    "many": ("many_begin", "many_collect", "many_close", "many_gather", "many_catch_up", "many_list", "many_rank"),
    "many_split": ("many_weigh", "many_try", "many_pick", "many_parts"),
    "many_pull": ("many_pull", "many_pull_chunks"),
}
"""Kernels by the file that they are in, but those that hold the whole device."""

ROW_KERNELS = ("many_pull_rows", "many_pull_apart")
"""Those of many_pull.cu that read rows where the edges are in memory."""

PUSH_PIECES, PULL_PIECES = ("many_push_pieces", "many_push_short"), ("many_pull_pieces", "many_pull_short")
"""Those of many_streamed.cu that take a batch of rows, where they are not."""


def kernels(width: int, streamed: bool = False) -> tuple[KernelSpec, ...]:
    """Return the kernels for ``width`` bits."""
    defines = (
        ("MANY_PART", str(part_of(width))),
        ("MANY_ARRAYS", pointer_fields(POINTERS)),
        ("MANY_BYTES", str(MANY.itemsize)),
        ("MANY_STAND_BYTES", str(STAND.itemsize)),
        ("MANY_SUMS_BYTES", str(SUMS.itemsize)),
    )
    expanding = (*defines, ("MANY_STREAMED", str(int(streamed))))
    whole = (
        KernelSpec(f"{FOLDER}/many_push.cu", "many_push", expanding, cooperative=True, team=True),
        KernelSpec(f"{FOLDER}/many_split.cu", "many_spread", expanding, cooperative=True, team=True),
    )
    others = tuple(
        spec
        for file, names in FILES.items()
        for spec in kernels_of(
            f"{FOLDER}/{file}.cu", names, defines=expanding if file == "many_split" else defines, team=True
        )
    )
    # blocks of an ordinary size, though they are teams
    blocks = (*defines, ("TEAM_THREADS", str(BLOCK)))
    chunks = KernelSpec(f"{FOLDER}/many_chunks.cu", "many_push_chunks", blocks)
    if streamed:
        pieces = ("many_ask", *PUSH_PIECES, *PULL_PIECES)
        rows = kernels_of(f"{FOLDER}/many_streamed.cu", pieces, defines=blocks)
    else:
        rows = kernels_of(f"{FOLDER}/many_pull.cu", ROW_KERNELS, defines=defines, team=True)
    return (*whole, *others, chunks, *rows)
