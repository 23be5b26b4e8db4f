"""Room for the counts of each source of ``hops``: what surely does not fit is refused before the search.

There is a count for each source and level, and how many levels there will be, nobody knows before. So where they could
be too many, a few of the sources are searched from first: the search goes at least as deep as they do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many import gathered
from bigbfs.algorithms.many.cpu.widths import FEW
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.algorithms.many.result import ManyResult
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.formats.atomic import free_for
from bigbfs.sizes import counted, free_memory, size_allowed, size_needed

LOOKED = FEW + 1
"""Sources searched from first: as many as take the widest batch, as all will, so that nothing is compiled twice."""
COUNT = 8
"""Bytes of a count."""
COPIES = 2
"""Counts of the levels, and sums of them, are kept at once."""
ROW = len("0,0,1\n")
"""Characters of a line of a .csv at least; tables of columns are smaller, by how much nobody knows before."""


def require_room_for_each(engine: Engine, sources: np.ndarray, max_depth: int | None, path: Path) -> None:
    """Refuse to count for each of ``sources`` (internal), and write to ``path``, what would surely be too much.

    Raises
    ------
    UsageError
        Sources times levels are more than are kept.
    DoesNotFitError
        They take more than is free in memory, or on the disk of ``path``.
    """
    count = len(sources)
    if count <= LOOKED:  # what could be refused is as much work as what is asked for
        return
    most = engine.graph.n if max_depth is None else min(engine.graph.n, max_depth + 1)
    if max(count, WIDTHS[-1]) * most <= gathered.MOST_COUNTS and not _short(count * most, path):
        return
    first: ManyResult = engine.run_internal(ManyOptions(sources[:LOOKED], max_depth, columns=True))
    levels = len(first.found)
    if first.columns is None or count * levels > gathered.MOST_COUNTS:
        raise too_many(count, levels, "at least ")
    if short := _short(count * levels, path):
        raise DoesNotFitError(
            f"{counted(count, 'source')} with at least {counted(levels, 'count')} each take {short}",
            remedies=("give fewer sources", ("max_depth", None, "a smaller {}")),
        )


def too_many(sources: int, levels: int, least: str = "") -> UsageError:
    """Return the error of counts that are too many to keep."""
    what = f"{counted(sources, 'source')} with {least}{counted(levels, 'count')} each are too many to keep"
    return UsageError(what, remedies=("give fewer", ("max_depth", None, "a smaller {}")))


def _short(counts: int, path: Path) -> str:
    """Return in words what so many counts take at least, where there is no room for that; else nothing."""
    needed, free, where = COPIES * COUNT * counts, free_memory(), "memory"
    if needed <= free and str(path) != "-":
        needed, where = (COUNT if path.suffix == ".npy" else ROW) * counts, f"the disk of {path}"
        free = free_for(path) if path.suffix in (".npy", ".csv") else needed
    return f"{size_needed(needed)}, and {size_allowed(free)} are free in {where}" if needed > free else ""
