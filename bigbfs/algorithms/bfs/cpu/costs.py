"""What the next level costs in either direction, from what is known between two levels; which one is cheaper.

The costs are fitted to levels of R-MAT, uniform, small-world, web-like and preferential graphs of 2 to 4 M vertices,
each timed in both directions (docs/notebook/cpu.md). Source of the question: Beamer, Asanovic, Patterson,
"Direction-optimizing breadth-first search", SC 2012, whose answer looks at edges alone.
"""

from __future__ import annotations

import math

from bigbfs.algorithms.bfs.cpu.frontier import Frontier

ROW = 7.0
"""Cost of a vertex of the frontier in a top-down level: its row and where that is lie in no cache. The unit of all is
some 4 ns of two cores."""
EDGE = 0.75
"""Cost of an edge in a top-down level."""
FOUND = 2.5
"""Cost of a vertex that a top-down level finds: so do its level, its parent and its degree."""
GATHERED = 5.0
"""Cost of a vertex of the frontier that is gathered from the bitmaps for a top-down level, by one thread."""
GATHERED_WORD = 0.5
"""Cost of a word of the bitmaps there."""

VERTEX = 1.0
"""Cost of a vertex in a bottom-up level, apart from its neighbours."""
PROBE = 0.15
"""Cost of looking at one neighbour in a bottom-up level: rows are read in order."""
WORD = 2.0
"""Cost of a word of the bitmaps in a bottom-up level, whatever is in it."""


def bottom_up_is_cheaper(frontier: Frontier, words: int) -> bool:
    """Return whether the next level should go bottom-up; ``words`` of a bitmap of all vertices.

    Of the edges of the frontier so many lead to the unvisited as theirs are among all that are left, and no more than
    found a vertex in the level before (``reach``): where neighbours know one another, few do.
    """
    left = max(0, frontier.unexplored)  # of edges that lead one way an estimate, which may run below 0
    unvisited = frontier.unvisited
    into = frontier.edges * min(frontier.reach, left / max(1, frontier.edges + left))
    found = unvisited * -math.expm1(-into / max(1, unvisited))
    # an unvisited vertex looks until it meets the frontier, to which `into` of the edges left lead
    probes = min(left, unvisited * left / into) if into else left
    upward = VERTEX * unvisited + PROBE * probes + WORD * words
    downward = ROW * frontier.vertices + EDGE * frontier.edges + FOUND * found
    if frontier.in_bitmap:
        downward += GATHERED * frontier.vertices + GATHERED_WORD * words
    return upward < downward
