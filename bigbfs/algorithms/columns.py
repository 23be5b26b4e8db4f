"""Results as tables: a column of ids beside what was found for each vertex. Loads NumPy only when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.graph.original_ids import VertexIds


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
