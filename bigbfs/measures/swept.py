"""What single searches know of a diameter, whoever makes them, and the result that this gives."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from bigbfs.algorithms.many.result import ManyRecord
from bigbfs.graph.graph import Graph
from bigbfs.measures.outcome import Eccentricity, Known, Tell, ends_of
from bigbfs.measures.placing import Until


class Searches:
    """The searches of one run, in one component of an undirected graph; vertices are internal.

    Attributes
    ----------
    longest
        The longest distance found, and two vertices so far apart: (distance, one, other).
    record
        What the searches took.
    left, top
        How many vertices may be the end of a longer distance, and the largest of their upper bounds.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.longest = (-1, 0, 0)
        self.record = ManyRecord(0, 0, 1, 0, 0, 0.0)
        self.left = self.top = 0

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @abstractmethod
    def run(self, until: Until, tell: Tell | None) -> bool:
        """Search until the diameter is known, or it is time to stop; False: too many are left for too long.

        The first search is done whatever ``until`` says: it tells which component is the largest.
        """

    @abstractmethod
    def go_on(self, until: Until, tell: Tell | None, *, patient: bool = False) -> bool:
        """Search on; ``patient``: however many are left."""

    @abstractmethod
    def known(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower and upper bounds, -1 above in other components, and distances from the centre of the ball."""

    @property
    @abstractmethod
    def searched(self) -> list[int]:
        """The vertices searched from."""

    @property
    @abstractmethod
    def reached(self) -> int:
        """Vertices of the component."""

    @property
    @abstractmethod
    def lowest(self) -> tuple[int, int]:
        """The smallest lower and the smallest upper bound."""

    @property
    def diameter(self) -> tuple[int, int]:
        """Bounds of the diameter, which no more edges have than a path through all vertices."""
        longest = self.longest[0]
        return longest, min(max(longest, self.top), self.reached - 1) if self.left else longest

    def result(self, *, each: bool, verify: bool) -> Eccentricity:
        """Return what is known, in original ids; bounds of ``each`` vertex only where they are wanted.

        Raises
        ------
        VerificationError
            ``verify`` is wanted, and a single search finds something else.
        """
        graph, diameter = self._graph, self.diameter
        ids = lower = upper = np.empty(0, np.int64)
        if each or verify:
            below, above, _ = self.known()
            known = Known(above >= 0, below, np.minimum(above, diameter[1]), self.longest)
            if verify:
                known.verify(graph)
                self.record.verified = True
            ids, lower, upper = known.original(graph)
        ends, reached = ends_of(graph, self.longest), self.reached
        radius = max(self.lowest[0], (diameter[0] + 1) // 2), self.lowest[1]  # two of it span the diameter
        return Eccentricity(
            ids, lower, upper, diameter, radius, ends, not self.left, 1, reached, self.record, graph.names
        )  # fmt: skip
