"""THE rule of duplicates and self-loops: what the lines of all inputs mean, and how often an edge is stored.

Lines ``u v`` and ``v u`` are the same edge of an undirected graph, and repeat one another as little as they do in a
directed one: ``duplicates`` counts lines that repeat an earlier one *in the same direction*. A self-loop is stored once
(or as often as it is given), in one direction, and is counted as a self-loop, never as a duplicate. ``reversed`` counts
the edges of an undirected graph that were given in both directions, so that, by default,

    edges stored = 2 * (lines - self-loops - duplicates - reversed)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import UsageError
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.njit import njit

ONCE, AS_GIVEN, LARGER_DIRECTION = 0, 1, 2
"""How often an edge is stored: once; once per line; per line of the direction that has more lines."""


class Rule(NamedTuple):
    """What the kernels need to know; a state tuple.

    Attributes
    ----------
    copies
        ``ONCE``, ``AS_GIVEN`` or ``LARGER_DIRECTION``.
    apart
        Every line is in one row alone, so that repeats of both directions are counted there; else it is in the rows of
        both ends, and counts in that of its source.
    """

    copies: int
    apart: bool


def stored(copies, forward, backward):
    """Return how often an edge is stored that was given ``forward`` and ``backward`` times."""
    if copies == AS_GIVEN:
        return forward + backward
    if copies == LARGER_DIRECTION:
        return max(forward, backward)
    return min(1, forward + backward)


def repeated(apart, forward, backward):
    """Return how many lines of an edge, no self-loop, repeat an earlier one; ``apart`` as in :class:`Rule`."""
    return max(forward - 1, 0) + (max(backward - 1, 0) if apart else 0)


def turned(forward, backward):
    """Return 1 where an edge was given in both directions, else 0."""
    return min(forward, 1) * min(backward, 1)


stored_of = njit(forceinline=True)(stored)
repeated_of = njit(forceinline=True)(repeated)
turned_of = njit(forceinline=True)(turned)


@dataclass(frozen=True)
class Meaning:
    """How lines become rows: stored ``both`` ways, in how many ``copies``; lists to ``expand`` to both ways first."""

    both: bool
    copies: int
    expand: bool


def meaning(lists: list[EdgeList], options: ConvertOptions) -> Meaning:
    """Return what the lines of all inputs together mean.

    Raises
    ------
    UsageError
        ``keep_duplicates`` with inputs of which some list every edge in both directions and others do not.
    """
    mirrored = [edges.mirrored for edges in lists]
    two_way = [edges.one_way_means_both for edges in lists]
    copies = ONCE
    both = not options.directed or (bool(lists) and all(two_way))
    if options.keep_duplicates:
        copies = AS_GIVEN
        if both and any(mirrored):
            if not all(mirrored):
                raise UsageError(
                    "repeated edges cannot be told in a mixture of inputs that list every edge in both directions and "
                    "inputs that list it once",
                    about=(("keep_duplicates", True),),
                    remedies=("convert them apart", "leave the option out"),
                )
            copies = LARGER_DIRECTION
    return Meaning(both, copies, expand=not both and any(two_way))
