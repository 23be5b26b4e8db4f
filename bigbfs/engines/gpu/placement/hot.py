"""Which rows are hot: those of the largest hubs, then any others, as many as device memory has room for.

Early in a BFS a few thousand hubs hold 10^8 edges, too early for the heads to decide and too wide for the link. A
row is hot from a number of ids on, so that a kernel knows from a row's degree where it lies. What room the hubs leave
takes a range of the edges as they are stored, in degree order the rows that come next: one split point.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency
from bigbfs.graph.graph import Graph

NOTHING_HOT = 2**64 - 1
"""Ids from which a row is hot where none is."""

LOOKS = 4096
"""Rows whose degrees tell whether a graph is stored by degree."""

EVEN_FROM = 8
EVEN_SPREAD = 4
"""Rows are even: more ids than the first on average, and none of more than so many times the average."""

GRAIN = 512
"""Bytes to which the device allocator rounds."""


def offset_bytes(hubs: int) -> int:
    """Return the bytes of device memory that the offsets of the hot rows take, and what the allocator may add."""
    return 8 * hubs + 2 * GRAIN


def hottest(ids: np.ndarray, sizes: np.ndarray, room: int) -> tuple[int, np.ndarray, int]:
    """Choose the hot rows among those of the hubs.

    Parameters
    ----------
    ids
        Ids in the row of each hub: int64, shape (hubs,).
    sizes
        Bytes of each row: int64, shape (hubs,).
    room
        Bytes for the rows chosen.

    Returns
    -------
    tuple
        The number of ids from which a row is hot, the first byte of each hub's row (int64, shape (hubs,); 0 where it is
        not hot), and the bytes of all hot rows.
    """
    order = np.argsort(-ids, kind="stable")
    ends = np.cumsum(-(-sizes[order] // LINE) * LINE)
    fits = int(np.searchsorted(ends, room, side="right"))
    if fits < len(ids):
        # rows of the same number of ids are hot together or not at all
        fits = int(np.searchsorted(-ids[order], -ids[order[fits]]))
    offsets = np.zeros(len(ids), np.int64)
    if fits == 0:
        return NOTHING_HOT, offsets, 0
    offsets[order[1:fits]] = ends[: fits - 1]
    return int(ids[order[fits - 1]]), offsets, int(ends[fits - 1])


def nearest(indptr: np.ndarray, skip: int, room: int, unit: int) -> tuple[int, int]:
    """Choose the range of edges beside the hot rows that goes to device memory.

    Parameters
    ----------
    indptr
        First id or byte of each row: uint64, shape (n + 1,).
    skip
        Rows at the beginning that are hot already.
    room
        Bytes for the range.
    unit
        Bytes of what ``indptr`` counts.

    Returns
    -------
    tuple
        First and last + 1 of the ids or bytes: whole rows between them, the first at a line of ``LINE`` bytes.
    """
    if room < unit:
        return 0, 0
    line = LINE // unit
    begin = int(indptr[skip]) // line * line
    row = int(np.searchsorted(indptr, np.uint64(begin + room // unit), side="right")) - 1
    end = int(indptr[row])
    return (begin, end) if row > skip else (0, 0)


def first_is_best(adjacency: Adjacency, ranked: bool) -> bool:
    """Return whether no rows are worth more in device memory than the first ones, as far as a sample tells: those of a
    graph stored by descending degree (``ranked``) that are the longest, or any of even ones."""
    return (ranked and descends(adjacency)) or even(adjacency)


def first_rows(adjacency: Adjacency, room: int) -> np.ndarray:
    """Return the edges of the first rows, as many as ``room`` bytes of device memory hold beside what the offsets of
    hot rows take: a part of ``adjacency.edges``, and no more than that whatever damaged offsets say."""
    hubs = len(adjacency.hubs) if isinstance(adjacency, CompressedAdjacency) else adjacency.m // (BLOCK_IDS + 1)
    most = max(0, room - offset_bytes(hubs) - LINE) // adjacency.edges.itemsize
    rows = int(np.searchsorted(adjacency.indptr, np.uint64(most), side="right")) - 1
    return adjacency.edges[: int(adjacency.indptr[rows]) if rows > 0 else 0]


def by_degree(graph: Graph) -> bool:
    """Return whether ``graph`` is stored by descending degree, as far as a sample of ``LOOKS`` rows tells.

    A wrong answer costs time and no more: the heads of a vertex are then its smallest neighbours, whatever they are.
    """
    return graph.flags.relabelled and graph.n > 0 and descends(graph.adjacency)


def descends(adjacency: Adjacency) -> bool:
    """Return whether no row is longer than one before it, as far as the same sample tells."""
    return not (np.diff(sampled_degrees(adjacency)) > 0).any()


def sampled_degrees(adjacency: Adjacency) -> np.ndarray:
    """Return the degrees of ``LOOKS`` vertices at equal distances, of which some may be the same: int64."""
    if adjacency.n == 0:
        return np.zeros(0, np.int64)
    rows = np.linspace(0, adjacency.n - 1, LOOKS).astype(np.int64)
    if isinstance(adjacency, CompressedAdjacency):
        return adjacency.degree[rows].astype(np.int64)
    return (adjacency.indptr[rows + 1] - adjacency.indptr[rows]).astype(np.int64)


def held_share(adjacency: Adjacency, most: int) -> float:
    """Return the share of the edges in rows of at most ``most`` ids, as far as a sample tells."""
    degrees = sampled_degrees(adjacency)
    return int(degrees[degrees <= most].sum()) / max(1, int(degrees.sum()))


def even(adjacency: Adjacency) -> bool:
    """Return whether rows are long and of like length, as far as a sample tells: no vertex is more likely than another
    to be a neighbour that is reached early, and more heads find what fewer do not."""
    degrees = sampled_degrees(adjacency)
    mean = adjacency.m / max(1, adjacency.n)
    return mean > EVEN_FROM and int(degrees.max(initial=0)) <= EVEN_SPREAD * mean
