"""What ``bigbfs info`` tells about a graph: the header, the sections, and its degrees in brief."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import CompressedAdjacency
from bigbfs.graph.graph import Graph

BLOCK = 1 << 22
"""Vertices looked at in one step, so that the memory needed does not grow with the graph."""
BIN_BITS = 16
"""So many bits of the median are found in one pass."""


@dataclass(frozen=True, slots=True)
class DegreeSummary:
    """Out-degrees in brief.

    Attributes
    ----------
    minimum, median, mean, maximum
        Of all vertices (median: the lower of the two middle ones); zero for a graph without vertices.
    isolated
        Vertices without out-neighbours.
    histogram
        ``histogram[0]`` counts degree 0, ``histogram[i]`` degrees from 2**(i-1) to 2**i - 1.
    """

    minimum: int
    median: int
    mean: float
    maximum: int
    isolated: int
    histogram: list[int]


def degree_summary(graph: Graph) -> DegreeSummary:
    """Summarize the degrees of all vertices; FormatError where the offsets descend."""
    return summarize(graph.n, graph.m, lambda: degree_blocks(graph), str(graph.path or "graph"))


def summarize(n: int, m: int, blocks: Callable[[], Iterable[np.ndarray]], name: str) -> DegreeSummary:
    """Summarize ``n`` degrees in a pass over them, and a few more over those of the class that holds the median.

    Parameters
    ----------
    n, m
        Vertices, and the sum of their degrees.
    blocks
        Gives the degrees, int64, from the first to the last, each time that it is called.
    name
        What has them, for messages.

    Raises
    ------
    FormatError
        The offsets descend.
    """
    if n == 0:
        return DegreeSummary(0, 0, 0.0, 0, 0, [])
    histogram = np.zeros(65, np.int64)
    smallest, largest = 2**64, 0
    for degrees in blocks():
        if (degrees < 0).any():
            raise FormatError(f"{name}: corrupted: indptr descends; `bigbfs check` names the place")
        smallest, largest = min(smallest, int(degrees.min())), max(largest, int(degrees.max()))
        histogram += np.bincount(_classes(degrees), minlength=65)
    below = np.cumsum(histogram)
    middle = (n - 1) // 2
    which = int(np.searchsorted(below, middle, side="right"))
    skip = middle - (int(below[which - 1]) if which else 0)
    return DegreeSummary(
        minimum=smallest,
        median=_smallest_but(skip, blocks, low=(1 << which) >> 1, width=max(1, (1 << which) >> 1)),
        mean=m / n,
        maximum=largest,
        isolated=int(histogram[0]),
        histogram=histogram[: int(np.flatnonzero(histogram)[-1]) + 1].tolist(),
    )


def _smallest_but(skip: int, blocks: Callable[[], Iterable[np.ndarray]], low: int, width: int) -> int:
    """Return the degree that has ``skip`` before it among the sorted degrees from ``low`` to ``low + width - 1``.

    By counting in ever narrower bins: there may be more degrees of a class than memory holds.
    """
    while width > 1:
        shift = max(0, width.bit_length() - 1 - BIN_BITS)
        counts = np.zeros(width >> shift, np.int64)
        for degrees in blocks():
            inside = degrees[(degrees >= low) & (degrees < low + width)] - low
            counts += np.bincount(inside >> shift, minlength=len(counts))
        below = np.cumsum(counts)
        place = int(np.searchsorted(below, skip, side="right"))
        skip -= int(below[place - 1]) if place else 0
        low, width = low + (place << shift), 1 << shift
    return low


def degree_blocks(graph: Graph) -> Iterator[np.ndarray]:
    """Return the degrees of all vertices (int64), ``BLOCK`` at a time."""
    adjacency = graph.adjacency
    for start in range(0, graph.n, BLOCK):
        if isinstance(adjacency, CompressedAdjacency):
            yield adjacency.degree[start : start + BLOCK].astype(np.int64)
        else:
            yield np.diff(adjacency.indptr[start : start + BLOCK + 1]).astype(np.int64)


def _classes(degrees: np.ndarray) -> np.ndarray:
    """Return the number of bits of each degree; exact below 2**53, as every degree is."""
    return np.frexp(degrees.astype(np.float64))[1].astype(np.int64)
