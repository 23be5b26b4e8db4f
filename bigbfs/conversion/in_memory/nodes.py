"""Numbers for the nodes of a NetworkX graph, 0 to n - 1 in its order, and rows of numbers for its dicts of neighbours.

Where it can be done exactly, dicts are walked by compiled code (:mod:`.dictionary_kernels`): the nodes have different
hashes, which no code written in Python computes. Else, and for what is no plain dict (views, graphs with
dictionaries of their own), Python walks them and looks every neighbour up.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import WrapperDescriptorType
from typing import Any

import numpy as np

from bigbfs.conversion.in_memory import dictionary_kernels
from bigbfs.graph.adjacency import PlainAdjacency, id_dtype
from bigbfs.jit import settings

_NO_SLOTS = np.zeros((0, 2), np.int64)


class Numbering:
    """The nodes of a graph and their numbers.

    Parameters
    ----------
    nodes
        In their order, all different.

    Attributes
    ----------
    counted
        Whether each node is its number, an int.
    """

    def __init__(self, nodes: list[Hashable]) -> None:
        self.nodes = nodes
        self.counted = set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def _slots(self) -> tuple[np.ndarray, np.uint64] | None:
        """The table of hashes, and the shift that finds a slot; None: hashes do not tell."""
        if self.counted:
            return _NO_SLOTS, np.uint64(0)
        if not walkable() or not _compiled_hashes(self.nodes):
            return None
        bits = max(1, (2 * len(self) - 1).bit_length())
        slots, shift = np.full((1 << bits, 2), -1, np.int64), np.uint64(64 - bits)
        hashes = np.fromiter(map(hash, self.nodes), np.int64, len(self))
        return (slots, shift) if dictionary_kernels.fill(hashes, slots, shift) else None

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _objects(self) -> np.ndarray:
        return np.fromiter(self.nodes, object, len(self))

    def number(self, node: Any) -> int | None:
        """Return the number of a node; None: it is not in the graph.

        Raises
        ------
        TypeError
            It has no hash, so it is in no graph.
        """
        key = hash(node)
        if self._slots is None:
            return self._numbers.get(node)
        number = key if self.counted else int(dictionary_kernels.number_of(key, *self._slots))
        if not 0 <= number < len(self):
            return None
        found = self.nodes[number]  # no other node has this hash
        return number if found is node or found == node else None

    def of(self, numbers: np.ndarray) -> list[Any]:
        """Return the nodes that have ``numbers``."""
        found: list[Any] = (numbers if self.counted else self._objects[numbers]).tolist()
        return found

    def rows(self, neighbours: Mapping[Any, Any]) -> PlainAdjacency:
        """Return the numbers of the neighbours of every node, in the order in which they come."""
        nodes = self.nodes
        plain = type(neighbours) is dict and list(neighbours) == nodes
        lists: list[Any] = list(neighbours.values()) if plain else list(map(neighbours.__getitem__, nodes))
        if walkable() and self._slots is not None and set(map(type, lists)) <= {dict}:
            found = self._walked(lists)
            if found is not None:
                return found
        return self._looked_up([list(each) for each in lists])  # a view counts what it has each time it is asked

    def _walked(self, dicts: Sequence[dict[Any, Any]]) -> PlainAdjacency | None:
        """Return the rows as compiled code finds them; None: a neighbour is no node, which a look-up will say."""
        assert self._slots is not None
        indptr = _offsets(dicts)
        found = np.empty(int(indptr[-1]), id_dtype(len(self)))
        keys, place = np.empty(2 * dictionary_kernels.AHEAD, np.int64), np.zeros(3, np.int64)
        addresses = np.fromiter(map(id, dicts), np.int64, len(dicts))
        done = dictionary_kernels.walk(addresses, *self._slots, keys, place, found)
        return PlainAdjacency(indptr, found) if done else None

    def _looked_up(self, lists: Sequence[list[Any]]) -> PlainAdjacency:
        indptr = _offsets(lists)
        ends: Iterable[int] = map(self._numbers.__getitem__, chain.from_iterable(lists))
        return PlainAdjacency(indptr, np.fromiter(ends, id_dtype(len(self)), int(indptr[-1])))


def walkable() -> bool:
    """Tell whether compiled code may walk dicts: in CPython, under its lock, and where kernels are compiled."""
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return sys.implementation.name == "cpython" and locked and not settings.interpreted()


def _offsets(lists: Sequence[Any]) -> np.ndarray:
    """Return the offsets of rows of these lengths, uint64."""
    indptr = np.zeros(len(lists) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), out=indptr[1:].view(np.int64))
    return indptr


def _compiled_hashes(objects: Iterable[Any]) -> bool:
    """Tell whether no code written in Python takes part in the hashes: it might change a dict that is being walked."""
    kinds = set(map(type, objects))
    if not all(isinstance(kind.__hash__, WrapperDescriptorType) for kind in kinds):
        return False
    holders = {kind for kind in kinds if issubclass(kind, tuple | frozenset)}
    inside = chain.from_iterable(each for each in objects if type(each) in holders)
    return not holders or _compiled_hashes(list(inside))
