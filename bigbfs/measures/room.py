"""Room for the distances of many sources, in memory or on a disk: what surely does not fit is refused before the start.

An array has its size from the start. A table of lines has a line for each pair with a path, and how many these are is
known beforehand only of an undirected graph that is searched to the end: the pairs inside its components. Elsewhere
nothing is refused, and a disk that fills up ends the run. What is said beforehand of a table is an upper bound: a line
for each pair, distances as long as the longest path that there could be.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs import api
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.formats.atomic import free_for
from bigbfs.graph.graph import Graph
from bigbfs.measures.rows_room import refuse_unless
from bigbfs.sizes import counted, format_size

NARROW = int(np.iinfo(np.int16).max)
"""The largest distance that int16 holds."""
SIGNS = len(",,0\n")
"""Characters of a line beside its ids, at least."""
HEADER = b"source,target,distance\n"
"""The first line of a table."""


def require_room(sources: int, targets: int, dtype: np.dtype, path: Path | None) -> int:
    """Return the bytes of an array of all distances, once it is known that there is room in memory, or for ``path``.

    Raises
    ------
    DoesNotFitError
        There is not.
    """
    size = sources * targets * dtype.itemsize
    _require(size, sources, targets, path)
    return size


def require_room_for_lines(
    graph: Graph, starts: np.ndarray, tos: np.ndarray, max_depth: int | None, path: Path
) -> None:
    """Refuse a table of the distances from ``starts`` to ``tos`` (internal) that would surely fill the disk.

    Raises
    ------
    DoesNotFitError
        It would, whatever the distances are; or, on a full machine, components take more memory than is free.
    """
    if max_depth is not None or not graph.flags.symmetric:
        return
    before, behind = _digits(graph, starts), _digits(graph, tos)
    longest = int(before.max(initial=0)) + int(behind.max(initial=0)) + SIGNS
    if len(starts) * len(tos) * longest <= free_for(path):
        return  # even if every pair has a path and distances of one digit
    with api.engine(graph, backend="cpu", work=(ComponentsOptions(),)) as engine:
        labels = engine.run_internal(ComponentsOptions()).labels
    _require(_least_bytes(labels, starts, tos, before, behind), len(starts), len(tos), path, "at least ")


def size_on_disk(graph: Graph, starts: np.ndarray, tos: np.ndarray, max_depth: int | None, path: Path) -> str:
    """Return, for people, how large ``path`` becomes with the distances from ``starts`` to ``tos`` (internal).

    Raises
    ------
    DoesNotFitError
        There is no room for it, however short its distances are, as far as that is known.
    """
    if path.suffix == ".csv":
        require_room_for_lines(graph, starts, tos, max_depth, path)
    free = free_for(path)
    pairs = f"{counted(len(starts), 'source')} x {counted(len(tos), 'target')}"
    farthest = max(0, graph.n - 1) if max_depth is None else min(max_depth, max(0, graph.n - 1))
    if path.suffix == ".npy":
        narrow, wide = (len(starts) * len(tos) * np.dtype(each).itemsize for each in (np.int16, np.int32))
        _require(narrow, len(starts), len(tos), path)
        size, text = narrow, f"{pairs} take {format_size(narrow)} as int16"
        if farthest > NARROW:
            size = wide
            text += f", {format_size(wide)} as int32 if a distance is above {NARROW:,}"
    elif graph.names is not None:
        return f"{pairs} take a line at most for each pair; {format_size(free)} are free"
    else:
        size = _most_bytes(_digits(graph, starts), _digits(graph, tos), farthest)
        text = f"{pairs} take {format_size(size)} at most"
    enough = ", which may be too few" if size > free else ""
    return f"{text}; {format_size(free)} are free{enough}"


def _most_bytes(before: np.ndarray, behind: np.ndarray, farthest: int) -> int:
    """Return the bytes of a table with a line for each pair, ids of ``before`` and ``behind`` characters."""
    longest = SIGNS - 1 + len(str(farthest))
    ids = int(before.sum()) * len(behind) + int(behind.sum()) * len(before)
    return len(HEADER) + ids + len(before) * len(behind) * longest


def _digits(graph: Graph, vertices: np.ndarray) -> np.ndarray:
    """Return the characters of the original ids of ``vertices``, int64; nothing is said of names."""
    if graph.names is not None:
        return np.zeros(len(vertices), np.int64)
    powers = 10 ** np.arange(1, 19, dtype=np.int64)
    return 1 + np.searchsorted(powers, np.asarray(graph.original(vertices)), side="right")


def _least_bytes(
    labels: np.ndarray, starts: np.ndarray, tos: np.ndarray, before: np.ndarray, behind: np.ndarray
) -> int:
    """Return the bytes of a line for each pair inside a component, distances of one digit."""
    n = len(labels)
    sources, targets = (np.bincount(labels[ends], minlength=n) for ends in (starts, tos))
    ids = (np.bincount(labels[ends], long, minlength=n) for ends, long in ((starts, before), (tos, behind)))
    from_ids, to_ids = (each.astype(np.int64) for each in ids)
    here = np.flatnonzero((sources > 0) & (targets > 0))
    rows = (each[here].tolist() for each in (sources, targets, from_ids, to_ids))  # products beyond 64 bits stay exact
    return sum(s * t * SIGNS + a * t + s * b for s, t, a, b in zip(*rows, strict=True))


def _require(size: int, sources: int, targets: int, path: Path | None, least: str = "") -> None:
    """Refuse ``size`` bytes of distances where there is no room for them."""
    what = f"{counted(sources, 'source')} x {counted(targets, 'target')} take {least}"
    refuse_unless(size, what, path, ("name fewer sources", ("targets", None, "fewer targets ({})")))
