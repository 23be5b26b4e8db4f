"""Inputs that cannot be cut: compressed edge lists and tables, each read from beginning to end by one rank.

Which rank reads which follows from their sizes, so all know it: the largest goes first, to whoever has least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.spread.slices import Share, is_sliced
from bigbfs.engines.ranks.group import Group
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.read import read_edges
from bigbfs.graph.edges import EdgeList


def takers(inputs: Sequence[str | Path], options: ConvertOptions, size: int) -> list[int | None]:
    """Return for each input which of ``size`` ranks reads it; None: all do, a share each.

    Raises
    ------
    UsageError
        It can neither be cut nor be read as a whole by a rank.
    """
    found: list[int | None] = [None] * len(inputs)
    whole = [number for number, path in enumerate(inputs) if not is_sliced(path, options)]
    loads = [0] * size
    for number in sorted(whole, key=lambda number: -Path(inputs[number]).stat().st_size):
        taker = loads.index(min(loads))
        found[number] = taker
        loads[taker] += Path(inputs[number]).stat().st_size
    return found


def read_whole(
    path: str | Path,
    edges: EdgeBuffer,
    options: ConvertOptions,
    *,
    block_bytes: int,
    ahead_bytes: int,
    progress: Callable[[int], object],
) -> Share:
    """Read an input to ``edges``.

    Raises
    ------
    InputError, FileAccessError, DoesNotFitError
        As :func:`bigbfs.formats.readers.read.read_edges`.
    """
    found = read_edges(
        path,
        format=options.format,
        rules=options.rules(),
        progress=progress,
        threads=options.threads,
        edges=edges,
        block_bytes=block_bytes,
        ahead_bytes=ahead_bytes,
    )
    return Share(found, 0, 1)  # one without an edge has been refused, or is a table that may be empty


def nothing_of() -> Share:
    """Return what a rank has of an input that another one reads."""
    return Share(EdgeList(np.empty(0, np.uint32), np.empty(0, np.uint32)), 0, 1)


def told_of_others(shares: list[Share], readers: list[int | None], group: Group) -> list[Share]:
    """Return the shares, in which all ranks have what one has read of the nature of an input."""
    mine = {
        number: (edges.mirrored, edges.one_way_means_both, edges.one_way, edges.notes)
        for number, edges in ((number, share.edges) for number, share in enumerate(shares))
        if readers[number] == group.rank
    }
    found = list(shares)
    for rank, theirs in enumerate(group.objects(mine)):
        for number, (mirrored, both, one_way, notes) in theirs.items():
            if rank != group.rank:
                nature = {"mirrored": mirrored, "one_way_means_both": both, "one_way": one_way, "notes": notes}
                found[number] = replace(found[number], edges=replace(found[number].edges, **nature))
    return found
