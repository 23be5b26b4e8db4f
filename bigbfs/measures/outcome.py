"""What is known of eccentricities: bounds of each vertex, of diameter and radius, and who witnesses the diameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bigbfs.algorithms.columns import Tabular
from bigbfs.algorithms.many.result import ManyRecord
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names
from bigbfs.graph.original_ids import VertexIds

if TYPE_CHECKING:
    from bigbfs.algorithms.columns import Table

Tell = Callable[[int, tuple[int, int]], None]
"""Takes the number of vertices still open and the bounds of the diameter."""


@dataclass(slots=True)
class Eccentricity(Tabular):
    """Bounds of eccentricities, equal where these are known.

    Attributes
    ----------
    ids
        int64, (k,): original ids, ascending: of the largest component, or of all vertices; empty where the diameter
        alone was asked for.
    lower, upper
        int64, (k,): bounds of the eccentricity of each.
    diameter, radius
        Lower and upper bound.
    witness
        Two original ids whose distance is the diameter's lower bound.
    exact
        Whether what was asked for is known.
    components, vertices
        Components that were looked at, and their vertices.
    record
        What it took; ``seconds`` of the searches alone.
    names
        Of the vertices, for tables; None where they have none.
    """

    ids: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    diameter: tuple[int, int]
    radius: tuple[int, int]
    witness: tuple[int, int]
    exact: bool
    components: int
    vertices: int
    record: ManyRecord
    names: Names | None = field(default=None, repr=False, compare=False)

    def _table(self) -> Table:
        return VertexIds(len(self.ids), 0, self.ids, self.names), {"lower": self.lower, "upper": self.upper}, ()

    @property
    def centre(self) -> np.ndarray:
        """Ids of the vertices known to have the smallest eccentricity; none until the radius is known."""
        return self.ids[self._is_known(self.radius) & (self.upper == self.radius[1])]

    @property
    def periphery(self) -> np.ndarray:
        """Ids of the vertices known to have the largest; none until the diameter is known."""
        return self.ids[self._is_known(self.diameter) & (self.lower == self.diameter[0])]

    def _is_known(self, bounds: tuple[int, int]) -> np.ndarray:
        """Return whose eccentricity is known, nobody's while these bounds are two: what they bound may be another."""
        return (self.lower == self.upper) & (bounds[0] == bounds[1])


@dataclass(frozen=True, slots=True)
class Known:
    """What a run knows of internal vertices.

    Attributes
    ----------
    inside
        bool, (n,): those that are asked for.
    lower, upper
        Integers, (n,).
    best
        The longest distance found, and two vertices so far apart.
    """

    inside: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    best: tuple[int, int, int]

    def original(self, graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ids, ascending, with lower and upper bounds of those that are asked for: int64."""
        inside = np.asarray(graph.in_original_order(self.inside))
        lower, upper = (
            np.asarray(graph.in_original_order(each))[inside].astype(np.int64, copy=False)
            for each in (self.lower, self.upper)
        )
        return np.asarray(graph.original_ids())[inside], lower, upper

    def verify(self, graph: Graph) -> None:
        """Search singly from a sample of vertices.

        Raises
        ------
        VerificationError
            Bounds are not kept.
        """
        from bigbfs.algorithms.many.reference import many

        inside = np.flatnonzero(self.inside)
        sample = np.unique(np.append(inside[:: max(1, len(inside) // 8)], self.best[1]))
        for vertex, levels in zip(sample.tolist(), many(graph, sample), strict=True):
            low, high, have = int(self.lower[vertex]), int(self.upper[vertex]), int(levels.max())
            if not low <= have <= high:
                name = int(np.asarray(graph.original(vertex)))
                raise VerificationError(
                    f"wrong result: the eccentricity of {name} is {have}, its bounds are {low} and {high}"
                )


def ends_of(graph: Graph, best: tuple[int, int, int]) -> tuple[int, int]:
    """Return the witnesses of ``best`` in original ids."""
    one, other = np.asarray(graph.original(np.array(best[1:]))).tolist()
    return one, other
