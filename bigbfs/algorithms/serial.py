"""One queue, one thread: the search that references of several algorithms begin with.

Source: Cormen et al., Introduction to Algorithms, section 20.2.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit


@njit(cache=True)
def search(indptr, indices, source, max_depth):
    """Return levels (int32) and parents (int64) of a search over plain rows down to ``max_depth``; -1: none."""
    n = indptr.size - 1
    levels = np.full(n, -1, np.int32)
    parents = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    queue[0] = source
    levels[source] = 0
    head, tail = 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        if levels[vertex] == max_depth:
            break
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            if levels[neighbour] < 0:
                levels[neighbour] = levels[vertex] + 1
                parents[neighbour] = vertex
                queue[tail] = neighbour
                tail += 1
    return levels, parents
