"""Results of a graph file as NetworkX's users read them, dictionaries and sets, which lie in arrays.

A graph of a thousand million vertices has no room for as many objects of Python. So nodes are made as they are asked
for, and only those. What is read is equal to the dict or set that NetworkX returns, and has its operators; it cannot
be changed: ``copy()`` gives a plain one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Set, ValuesView
from itertools import chain, islice
from typing import Any

import numpy as np

from bigbfs.networkx.file_nodes import FileNodes

_NOTHING = object()
_CHUNK = 1 << 16
"""Entries that are made at once where all are read."""
_SHOWN = 8
"""Entries that a text has at most."""


class NodeMap(Mapping[Any, Any]):
    """A number for each of some nodes of a graph file: lengths of paths, centralities.

    Parameters
    ----------
    nodes
        All that there are.
    order
        Numbers of those that have a value, in their order.
    values
        By number, (nodes,): int or float; below 0 for the others.
    """

    __slots__ = ("_nodes", "_order", "_values")

    def __init__(self, nodes: FileNodes, order: np.ndarray, values: np.ndarray) -> None:
        self._nodes, self._order, self._values = nodes, order, values

    @classmethod
    def of_some(cls, nodes: FileNodes, order: np.ndarray, values: np.ndarray) -> NodeMap:
        """Return the map of ``values`` that are those of ``order``, in arrays of no more than these."""
        turn = np.argsort(order, kind="stable")
        places = np.empty(len(order), np.int64)
        places[turn] = np.arange(len(order))
        return cls(nodes.only(order[turn]), places, values[turn])

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, node: Any) -> Any:
        number = self._nodes.number(node)
        value = -1 if number is None else self._values.item(number)
        if value < 0:
            raise KeyError(node)
        return value

    def __contains__(self, node: object) -> bool:
        number = self._nodes.number(node)
        return number is not None and bool(self._values[number] >= 0)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self._nodes.of, _chunks(self._order)))

    def __reversed__(self) -> Iterator[Any]:
        return (node for part in _chunks_back(self._order) for node in reversed(self._nodes.of(part)))

    def keys(self) -> KeysView[Any]:
        """Return the nodes."""
        return _Keys(self)

    def items(self) -> ItemsView[Any, Any]:
        """Return the nodes with their values."""
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """Return the values, in the order of the nodes."""
        return _Values(self)

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        """Return the nodes with their values, made by many at once."""
        return chain.from_iterable(
            zip(self._nodes.of(part), self._values[part].tolist(), strict=True) for part in _chunks(self._order)
        )

    def _numbers(self) -> Iterator[Any]:
        """Return the values, made by many at once."""
        return chain.from_iterable(self._values[part].tolist() for part in _chunks(self._order))

    def _numbers_back(self) -> Iterator[Any]:
        """Return the same, the last one first."""
        return chain.from_iterable(reversed(self._values[part].tolist()) for part in _chunks_back(self._order))

    def copy(self) -> dict[Any, Any]:
        """Return a plain dict."""
        return dict(self._pairs())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        # one by one: neither side is made of objects as a whole
        return len(self) == len(other) and all(self.get(node, _NOTHING) == value for node, value in other.items())

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return self.copy() | dict(other.items()) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return dict(other.items()) | self.copy() if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        return _text(self, [f"{node!r}: {value!r}" for node, value in islice(self._pairs(), _SHOWN)])

    def alone(self) -> NodeMap:
        """Return the same in arrays of no more than the nodes that have a value."""
        return NodeMap.of_some(self._nodes, self._order, self._values[self._order])

    def __reduce__(self) -> tuple[Any, ...]:
        if self._nodes.names is not None:  # those of the whole graph lie in one piece
            return dict, (list(self._pairs()),)
        alone = self.alone()
        return _map_of, (alone._nodes.labels, alone._order, alone._values)


class _Keys(KeysView[Any]):
    """``keys()``."""

    _mapping: NodeMap

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._mapping)


class _Items(ItemsView[Any, Any]):
    """``items()``, read by many at once."""

    _mapping: NodeMap

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._mapping._pairs()

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        return zip(reversed(self._mapping), self._mapping._numbers_back(), strict=True)


class _Values(ValuesView[Any]):
    """``values()``, read by many at once."""

    _mapping: NodeMap

    def __iter__(self) -> Iterator[Any]:
        return self._mapping._numbers()

    def __reversed__(self) -> Iterator[Any]:
        return self._mapping._numbers_back()

    def __contains__(self, value: object) -> bool:
        return any(value == each for each in self)


def _by_set(name: str) -> Callable[..., Any]:
    """Return the method of that name that set has, and collections.abc.Set has not."""

    def method(self: NodeSet, *others: Iterable[Any]) -> Any:
        return getattr(self.copy(), name)(*others)

    method.__name__ = name
    method.__doc__ = f"Do as ``set.{name}``."
    return method


class NodeSet(Set[Any]):
    """Some nodes of a graph file: those of a component, those that are reached.

    Parameters
    ----------
    nodes
        All that there are.
    numbers
        Those of the nodes in the set, ascending.
    """

    __slots__ = ("_nodes", "_numbers")

    def __init__(self, nodes: FileNodes, numbers: np.ndarray) -> None:
        self._nodes, self._numbers = nodes, numbers

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        """Return what operators make: a plain set."""
        return set(it)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, node: object) -> bool:
        number = self._nodes.number(node)
        if number is None:
            return False
        numbers = self._numbers.data
        place = bisect_left(numbers, number)
        return place < len(numbers) and numbers[place] == number

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self._nodes.of, _chunks(self._numbers)))

    def copy(self) -> set[Any]:
        """Return a plain set."""
        return set(self)

    union, intersection, difference, symmetric_difference, issubset, issuperset = map(
        _by_set, ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset")
    )

    def __repr__(self) -> str:
        return _text(self, [repr(node) for node in islice(self, _SHOWN)])

    def __reduce__(self) -> tuple[Any, ...]:
        if self._nodes.names is not None:  # those of the whole graph lie in one piece
            return set, (list(self),)
        return _set_of, (self._nodes.ids(self._numbers),)


def _map_of(ids: np.ndarray, order: np.ndarray, values: np.ndarray) -> NodeMap:
    """Return a map that was pickled."""
    return NodeMap(FileNodes(len(ids), labels=ids), order, values)


def _set_of(ids: np.ndarray) -> NodeSet:
    """Return a set that was pickled."""
    return NodeSet(FileNodes(len(ids), labels=ids), np.arange(len(ids)))


def _chunks(numbers: np.ndarray) -> Iterator[np.ndarray]:
    """Return the numbers by as many as are made at once."""
    return (numbers[first : first + _CHUNK] for first in range(0, len(numbers), _CHUNK))


def _chunks_back(numbers: np.ndarray) -> Iterator[np.ndarray]:
    """Return the same parts, the last one first."""
    return (numbers[first : first + _CHUNK] for first in reversed(range(0, len(numbers), _CHUNK)))


def _text(view: NodeMap | NodeSet, shown: list[str]) -> str:
    """Return a text of the first entries, and how many there are in all."""
    more = f", ... {len(view):,} nodes" if len(view) > len(shown) else ""
    return f"{type(view).__name__}({{{', '.join(shown)}{more}}})"
