"""The nodes of a graph file: integers, or names, numbered as they ascend; kept in arrays, not as Python objects."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import Any

import numpy as np

from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names

_HASHES = 2**61 - 1
"""Python's hash of an integer is what is left of it by this: five integers below 2**63 have one hash."""
_MANY = 64
"""Names that are looked up after which all are unpacked, if memory has room for them: a tenth of a second a million."""


class FileNodes:
    """Nodes and their numbers, 0 to n - 1 in ascending order; lives on when the graph is closed.

    Parameters
    ----------
    n
        How many there are.
    first
        The id of the first where there are no ``labels``: the others follow it.
    labels
        int64, ascending: the id of each; None where they follow ``first``.
    names
        What the node of each id is called; None where it is the id itself.
    """

    def __init__(self, n: int, first: int = 0, labels: np.ndarray | None = None, names: Names | None = None) -> None:
        self.n, self.first, self.labels, self.names = n, first, labels, names
        self._asked = 0

    @classmethod
    def of_graph(cls, graph: Graph) -> FileNodes:
        """Return the nodes of a graph; labels that are in another order are put in that of the ids, in memory."""
        labels = None if graph.labels is None else np.asarray(graph.in_original_order(graph.labels))
        return cls(graph.n, graph.first_id, labels, graph.names)

    def __len__(self) -> int:
        return self.n

    def ids(self, numbers: np.ndarray) -> np.ndarray:
        """Return the ids (int64) of some of the nodes."""
        return numbers.astype(np.int64) + self.first if self.labels is None else self.labels[numbers].astype(np.int64)

    def only(self, numbers: np.ndarray) -> FileNodes:
        """Return some of the nodes, whose numbers ascend, by themselves."""
        return FileNodes(len(numbers), 0, self.ids(numbers), self.names)

    def of(self, numbers: np.ndarray) -> list[Any]:
        """Return the nodes that have ``numbers``, as Python's own objects."""
        ids = self.ids(numbers)
        if self.names is None:
            return ids.tolist()
        data, ends = self.names.taken(ids)
        whole = data.tobytes()
        return [whole[begin:end].decode("utf-8", "backslashreplace") for begin, end in pairwise(ends.tolist())]

    def number(self, node: Any) -> int | None:
        """Return the number of a node, or of what is equal to one, as a dictionary finds it; None: it is none.

        Raises
        ------
        TypeError
            It has no hash, so it is in no dictionary.
        """
        if type(node) is int and self.names is None:
            return self._place(node)
        key = hash(node)
        if self.names is not None:
            rank = self._rank(node) if isinstance(node, str) else None
            return None if rank is None else self._place(rank)
        # 1.0, True, numpy.int64(1): equal objects have equal hashes
        return next((self._place(each) for each in range(key, 2**63, _HASHES) if each == node), None)

    def _rank(self, name: str) -> int | None:
        """Return which name it is, in byte order."""
        assert self.names is not None
        self._asked += 1
        if self._asked == _MANY:
            self.names.hold()
        try:
            return self.names.find(name)
        except UnicodeEncodeError:  # half a character is in no name
            return None

    def _place(self, original: int) -> int | None:
        """Return which node has the id ``original``."""
        if self.labels is None:
            place = original - self.first
            return place if 0 <= place < self.n else None
        labels = self.labels.data  # gives integers of Python, and quicker than an array
        place = bisect_left(labels, original)
        return place if place < self.n and labels[place] == original else None
