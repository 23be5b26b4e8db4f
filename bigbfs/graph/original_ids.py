"""Original ids of the vertices of a graph, and back: the ids of the input, which files and users speak."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.errors import RemedyLike, UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.names import Names
from bigbfs.sizes import counted, integer, quoted

LARGEST = 2**63 - 1
"""No original id is larger."""
SEARCHES = 64
"""Look-ups of original ids that do without putting the labels of a relabelled graph in order."""
SWEEPS = 16
"""Times that all labels of a relabelled graph are looked at for a few ids, before they are put in order after all."""
_CHUNK = 1 << 18
_FEW = 64
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


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
    _swept = 0

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
            near = " and ".join(map(quoted, self.names.near(vertex)))
            there = f"there are {counted(self.n, 'name')}, beside it in byte order {near or 'none'}"
            said = f"{self.path or 'graph'}: no vertex is called {quoted(vertex)}: {there}"
            raise UsageError(said, remedies=self._ways("names"))
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
            raise self.unknown(original)
        if not 0 <= original <= LARGEST:
            return self._found(original, np.zeros(0, np.int64))
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

    def places(self, originals: np.ndarray) -> np.ndarray:
        """Return the vertices (int64) whose original ids are ``originals`` (int64), -1 for those that no vertex has.

        For a few the labels of a relabelled graph are not put in order: a look at each costs a tenth of that or less.
        """
        _ = self.adjacency  # refuses a closed graph, whose labels are gone
        if self.labels is None:
            found = originals - self.first_id
            return np.where((originals >= self.first_id) & (found < self.n), found, np.int64(-1))
        labels = np.asarray(self.labels)
        few = self._swept < SWEEPS and len(originals) <= self.n // _FEW
        if few and self.flags.relabelled and "_ascending" not in self.__dict__:
            self._swept += 1
            return _swept(labels, originals)
        order = self._ascending
        at = np.searchsorted(labels, originals, sorter=order)
        inside = at < self.n
        at = at[inside] if order is None else order[at[inside]]
        found = np.full(len(originals), -1, np.int64)
        found[inside] = np.where(labels[at] == originals[inside], at, -1)
        return found

    def _found(self, original: int, vertices: np.ndarray) -> int:
        """Return the first of ``vertices``; UsageError if there is none."""
        if len(vertices):
            return int(vertices[0])
        raise self.unknown(original)

    def unknown(self, which: int | str) -> UsageError:
        """Return the error of an original id, or of several in words, that no vertex has: says which ids there are."""
        said = f"{self.path or 'graph'}: no vertex {which}: {self.known_ids()}"
        if self.labels is None or self.n == 0:
            return UsageError(said, remedies=("give one of these",) if self.n else ())
        return UsageError(said, remedies=self._ways("ids"))

    def _ways(self, what: str) -> tuple[RemedyLike, ...]:
        """Return what helps who has named a vertex that is not there, where its ids, or names, are those of a list."""
        return (f"give one of the {what} of its input", ("original_ids", self.path, "list them with {}"))

    def known_ids(self) -> str:
        """Return words on which original ids there are, for a message that one is none of them."""
        if not self.n:
            return "the graph has no vertices"
        if self.labels is None:
            return f"ids are {self.first_id} to {self.first_id + self.n - 1}"
        labels = np.asarray(self.labels)
        return f"{counted(self.n, 'id')} between {labels.min()} and {labels.max()}"

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


def _swept(labels: np.ndarray, originals: np.ndarray) -> np.ndarray:
    """Return where ``originals`` stand among ``labels`` (-1: nowhere), by one look at every label."""
    wanted, which = np.unique(originals, return_inverse=True)
    places = np.full(len(wanted), -1, np.int64)
    bits = np.uint64(max(_FEW * len(wanted), 2).bit_length())
    known = np.zeros(1 << int(bits), bool)
    known[_hashes(wanted, bits)] = True
    for first in range(0, len(labels) if len(wanted) else 0, _CHUNK):
        near = first + np.flatnonzero(known[_hashes(labels[first : first + _CHUNK], bits)])
        at = np.minimum(np.searchsorted(wanted, labels[near]), len(wanted) - 1)
        same = wanted[at] == labels[near]
        places[at[same]] = near[same]
    return places[which]


def _hashes(ids: np.ndarray, bits: np.uint64) -> np.ndarray:
    """Return numbers of ``bits`` bits, spread evenly whatever the ids."""
    return (ids.astype(np.uint64) * _SPREAD) >> (np.uint64(64) - bits)
