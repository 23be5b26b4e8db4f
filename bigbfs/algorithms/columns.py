"""Results as tables: a column of ids beside what was found for each vertex. Loads NumPy only when it is called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.graph.original_ids import VertexIds

    Table = tuple[VertexIds | None, dict[str, np.ndarray], tuple[str, ...]]


class Tabular(ABC):
    """A result that becomes a table of another library: a row for each vertex, names where vertices have some."""

    __slots__ = ()

    @abstractmethod
    def _table(self) -> Table:
        """Return whose rows these are, the columns, and the names of those that hold vertices."""

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``: ``id`` and what was found, in ascending order of original id.

        Raises
        ------
        UsageError
            pyarrow (the extra ``tables``) is not installed.
        """
        from bigbfs.formats.tables.results import to_arrow
        from bigbfs.graph.original_ids import VertexIds

        vertices, found, speaks = self._table()
        rows = VertexIds(len(next(iter(found.values()))), 0, None) if vertices is None else vertices
        return to_arrow(rows, found, speaks)

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``; see :meth:`to_arrow`. UsageError where pandas or pyarrow is not installed."""
        from bigbfs.formats.tables.library import library

        library("pandas", "to_pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame``; see :meth:`to_arrow`. UsageError where polars or pyarrow is not installed."""
        from bigbfs.formats.tables.library import library

        return library("polars", "to_polars").from_arrow(self.to_arrow())


def ids_of(vertices: VertexIds | None, n: int) -> np.ndarray:
    """Return the id of each of ``n`` entries, ascending (int64): original ids, or 0 to n - 1 where there are none."""
    import numpy as np

    return np.arange(n, dtype=np.int64) if vertices is None else vertices.array()


def columns(**arrays: np.ndarray) -> np.ndarray:
    """Return ``arrays`` of one length as a structured array with a field for each."""
    import numpy as np

    length = len(next(iter(arrays.values())))
    table = np.empty(length, [(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        table[name] = array
    return table
