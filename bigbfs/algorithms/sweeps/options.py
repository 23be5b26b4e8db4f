"""Searches one after the other that close in on the diameter: what one is asked for, and what it tells.

The program keeps bounds of every eccentricity where the levels are, on the host or on a GPU, and each search renews
them in one pass over the vertices. With the distances ``d`` from a source ``s``, the eccentricity of ``v`` is at least
``d(s, v)`` and ``ecc(s) - d(s, v)``, at most ``d(s, v) + ecc(s)``. A vertex is *open* while its upper bound is above
the longest distance that is known. Distances from a few sources are kept: two vertices within half the longest distance
of one of them, its *ball*, are no farther apart than that, so that one end of any longer path lies outside. Only counts
and a few vertices come back, and the open vertices themselves once they are few.

Sources: Takes and Kosters, Determining the diameter of small world networks, CIKM 2011 (bounds); Bradley, Akathoott and
Burtscher, Fast exact diameter computation of sparse graphs, ICPP 2025 (balls, there called winnowing).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bigbfs.algorithms.registry import Options
from bigbfs.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

KEPT = 3
"""Sources whose distances are kept for all vertices."""
FAR = 2**16 - 1
"""What is kept of a distance from this on."""
LISTED = 2**14
"""Open vertices at most that come back."""
RIM = 1024
"""Vertices farthest from the first source at most that come back."""
SHALLOW = 64
"""Depth of a search up to which they do: in a deeper one they are no more than the ends of a few ways."""

RECORD = ("reached", "open", "listed", "far", "central", "radius", "ceiling", "left", "next", "top")
"""What a pass over the vertices counts, uint64: the last three once for each source kept. ``far``, ``central`` and
``next`` are keys, a score and a vertex (:func:`vertex_of`), of which the largest counts; so does the largest ``top``,
and what ``radius`` and ``ceiling`` lack to 2^31 - 1.
"""
WORDS = len(RECORD) - 3 + 3 * KEPT
PLACES = {
    name: at if at < len(RECORD) - 3 else at + (at - len(RECORD) + 3) * (KEPT - 1) for at, name in enumerate(RECORD)
}
"""The first word of each."""
VERTEX_BITS = 40
"""Bits of a key below its score: the vertex and one, 0 for nobody."""


@dataclass(frozen=True, slots=True)
class SweepOptions(Options):
    """One search.

    Attributes
    ----------
    source
        Vertex to search from, internal; None: do not search, but look for the vertex of most neighbours, or, where
        ``keep`` is given, return bounds of all vertices (int32, below and above, -1 above in other components) and
        their distances from the source kept there.
    anew
        Forget what is known: the component of ``source`` is the one that is looked at.
    keep
        Under which number to keep the distances; None: not at all.
    halfway
        Tell the vertex in the middle of the way to the farthest.
    central
        Tell a central vertex.
    """

    source: int | None = None
    anew: bool = False
    keep: int | None = None
    halfway: bool = False
    central: bool = False

    programs: ClassVar[dict[str, str]] = {
        "cpu": "bigbfs.algorithms.sweeps.cpu.program:CpuSweeps",
        "gpu": "bigbfs.algorithms.sweeps.gpu.program:GpuSweeps",
    }

    @property
    def key(self) -> Hashable:
        """All of them share a program."""
        return "sweeps"

    @property
    def takes_numbers(self) -> bool:
        """Yes: vertices with edges may have numbers of their own on a GPU."""
        return True


class Hub(NamedTuple):
    """The vertex of most neighbours, of several the first; and how many vertices have any."""

    vertex: int
    linked: int


@dataclass(frozen=True, slots=True)
class Listed:
    """The open vertices.

    Attributes
    ----------
    ids
        int64, (k,), ascending.
    upper
        int64, (k,): bounds of their eccentricities.
    levels
        int64, (k,): their distances from the last source.
    kept
        int64, (KEPT, k): from the sources kept, ``FAR`` and more as ``FAR``; nonsense where none is.
    """

    ids: np.ndarray
    upper: np.ndarray
    levels: np.ndarray
    kept: np.ndarray


@dataclass(frozen=True, slots=True)
class Rim:
    """All vertices that are so far from the first source, or farther, few.

    Attributes
    ----------
    ids, levels
        int64, (k,), ids ascending: the vertices, and their distances.
    """

    ids: np.ndarray
    levels: np.ndarray


@dataclass(frozen=True, slots=True)
class Swept:
    """What a search found.

    Attributes
    ----------
    depth, far
        The eccentricity of the source, and a farthest vertex; of several one with few neighbours.
    halfway
        The vertex in the middle of a shortest path between the two, or -1.
    reached
        Vertices of the component.
    longest
        The longest distance known.
    open
        How many vertices are open.
    left, next, top
        For each source kept: how many of them lie outside its ball, one with the largest upper bound (-1: none), and
        that bound. ``left`` is None where no source is kept.
    central
        A vertex of the smallest lower bound whose bounds differ, of several one with many neighbours; -1: there is
        none, or nobody asked.
    radius
        The smallest lower and the smallest upper bound.
    listed
        The open vertices, where they are few.
    edges, seconds
        Edges in the rows reached; time of the search.
    rim
        Of the first search, the vertices farthest away, where that was asked for by who can tell, and there are few.
    """

    depth: int
    far: int
    halfway: int
    reached: int
    longest: int
    open: int
    left: tuple[int | None, ...]
    next: tuple[int, ...]
    top: tuple[int, ...]
    central: int
    radius: tuple[int, int]
    listed: Listed | None
    edges: int
    seconds: float
    rim: Rim | None = None


def beyond(kept: np.ndarray) -> np.ndarray:
    """Return distances that were kept, int64; those that were too long as longer than any path."""
    distances = kept.astype("int64")
    distances[kept == FAR] = 2**62
    return distances


def vertex_of(key: int) -> int:
    """Return the vertex of a key, -1 for that of nobody."""
    return (key & ((1 << VERTEX_BITS) - 1)) - 1


class Told(NamedTuple):
    """What a record says: fields of ``Swept``."""

    reached: int
    open: int
    far: int
    central: int
    radius: tuple[int, int]
    left: tuple[int | None, ...]
    next: tuple[int, ...]
    top: tuple[int, ...]


def told(record: np.ndarray, kept: int) -> Told:
    """Return what ``record``, uint64 (WORDS,), says; bit k of ``kept``: source k is kept."""
    words, at, slots, most = [int(word) for word in record], PLACES, range(KEPT), 2**31 - 1
    return Told(
        reached=words[at["reached"]],
        open=words[at["open"]],
        far=vertex_of(words[at["far"]]),
        central=vertex_of(words[at["central"]]),
        radius=(most - words[at["radius"]], most - words[at["ceiling"]]),
        left=tuple(words[at["left"] + k] if kept >> k & 1 else None for k in slots),
        next=tuple(vertex_of(words[at["next"] + k]) for k in slots),
        top=tuple(words[at["top"] + k] for k in slots),
    )


def require_short(depth: int) -> None:
    """Refuse an eccentricity of which the double does not fit 32 bits.

    Raises
    ------
    UsageError
        It is that large.
    """
    if depth >= 2**30:
        raise UsageError(f"a shortest path has {depth:,} edges: bounds of eccentricities are kept below {2**30:,}")
