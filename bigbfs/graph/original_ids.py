"""Original ids of the vertices of a graph, and back: the ids of the input, which files and users speak."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.names import Names
from bigbfs.sizes import counted, integer

SEARCHES = 64
"""Look-ups of original ids that do without putting the labels of a relabelled graph in order."""


@dataclass(frozen=True, slots=True)
class VertexIds:
    """The original ids of a graph's vertices, for a result that outlives the graph: made when they are asked for.

    Labels that are mapped from a file stay mapped while this lives.
    """

    n: int
    first_id: int
    labels: np.ndarray | None
    names: Names | None = None

    def array(self) -> np.ndarray:
        """Return all original ids ascending: int64, shape (n,)."""
        if self.labels is None:
            return np.arange(self.first_id, self.first_id + self.n, dtype=np.int64)
        return np.sort(np.asarray(self.labels).astype(np.int64))


class OriginalIds(ABC):
    """The part of a Graph that translates ids; the attributes are described there."""

    n: int
    first_id: int
    labels: np.ndarray | None
    names: Names | None
    flags: GraphFlags
    path: Path | None

    @property
    @abstractmethod
    def adjacency(self) -> Adjacency:
        """Out-neighbours; refuses a closed graph."""

    @cached_property
    def _ascending(self) -> np.ndarray | None:
        """Permutation that puts the vertices in ascending order of original id; None when they are already."""
        if self.labels is None or not self.flags.relabelled:
            return None
        return np.argsort(self.labels, kind="stable")

    def id_of(self, vertex: int | str) -> int:
        """Return the original id that a caller means: a name's, where vertices have names, or the number itself.

        Raises
        ------
        UsageError
            No vertex is called so.
        """
        _ = self.adjacency  # refuses a closed graph, whose names are gone
        if not isinstance(vertex, str) or self.names is None:
            return vertex  # type: ignore[return-value]  # a text that is no name is refused as what it is
        rank = self.names.find(vertex)
        if rank is None:
            near = " and ".join(map(repr, self.names.near(vertex)))
            raise UsageError(
                f"{self.path or 'graph'}: no vertex is called {vertex!r}: there are {counted(self.n, 'name')}, beside "
                f"it in byte order {near or 'none'}"
            )
        return rank

    def called(self, original: int) -> int | str:
        """Return what to call the vertex of an original id: its name where it has one."""
        return original if self.names is None or original < 0 else self.names.name(original)

    def vertex(self, original: int | str) -> int:
        """Return the vertex whose original id, or name, is ``original``.

        Raises
        ------
        UsageError
            No vertex has that id or name, or it is neither a whole number nor a name.
        """
        _ = self.adjacency  # refuses a closed graph, whose labels are gone
        original = integer("original", self.id_of(original))
        if self.labels is None:
            if 0 <= original - self.first_id < self.n:
                return int(original) - self.first_id
            last = self.first_id + self.n - 1
            have = f"ids are {self.first_id} to {last}" if self.n else "the graph has no vertices"
            raise UsageError(f"{self.path or 'graph'}: no vertex {original}: {have}")
        if self.flags.relabelled and "_ascending" not in self.__dict__:
            # a look at every label costs a hundredth of putting them in order
            return self._found(original, np.flatnonzero(np.asarray(self.labels) == original))
        order = self._ascending
        position = int(np.searchsorted(self.labels, original, sorter=order))
        vertex = np.arange(position, min(position + 1, self.n)) if order is None else order[position : position + 1]
        return self._found(original, vertex[np.asarray(self.labels)[vertex] == original])

    def vertices(self, originals: Sequence[int]) -> list[int]:
        """Return the vertices whose original ids are ``originals``; for many, the labels are put in order first.

        Raises
        ------
        UsageError
            No vertex has one of the ids.
        """
        if self.labels is not None and self.flags.relabelled and len(originals) > SEARCHES:
            _ = self._ascending
        return [self.vertex(original) for original in originals]

    def _found(self, original: int, vertices: np.ndarray) -> int:
        """Return the first of ``vertices``; UsageError if there is none."""
        if len(vertices):
            return int(vertices[0])
        labels = np.asarray(self.labels)
        raise UsageError(
            f"{self.path or 'graph'}: no vertex {original}: "
            + (f"{counted(self.n, 'id')} between {labels.min()} and {labels.max()}" if self.n else "it has no vertices")
        )

    def original(self, vertices: Any) -> Any:
        """Return the original ids (int64) of ``vertices`` (a scalar or an array); -1 stays -1."""
        _ = self.adjacency  # refuses a closed graph, whose labels are gone
        wanted = np.asarray(vertices).astype(np.int64)
        if self.labels is None:
            return wanted if self.first_id == 0 else np.where(wanted < 0, np.int64(-1), wanted + self.first_id)
        if self.n == 0:
            return wanted
        return np.where(wanted < 0, np.int64(-1), np.asarray(self.labels)[np.maximum(wanted, 0)])

    def first_by_id(self, chosen: np.ndarray) -> int | None:
        """Return which of the ``chosen`` vertices (bool, shape (n,)) has the smallest original id; None: none is."""
        if not self.flags.relabelled:
            first = int(chosen.argmax()) if len(chosen) else 0
            return first if len(chosen) and chosen[first] else None
        vertices = np.flatnonzero(chosen)
        return int(vertices[self.original(vertices).argmin()]) if len(vertices) else None

    def in_original_order(self, values: np.ndarray) -> np.ndarray:
        """Return per-vertex ``values`` as one entry per vertex in ascending order of original id."""
        _ = self.adjacency  # refuses a closed graph, whose labels are gone
        return values if self._ascending is None else values[self._ascending]

    def original_ids(self) -> np.ndarray:
        """Return all original ids ascending: int64, shape (n,)."""
        return self.vertex_ids().array()

    def vertex_ids(self) -> VertexIds:
        """Return what :meth:`original_ids` makes its array of, for a result that outlives the graph."""
        _ = self.adjacency  # refuses a closed graph, whose labels are gone
        return VertexIds(self.n, self.first_id, self.labels, self.names)
