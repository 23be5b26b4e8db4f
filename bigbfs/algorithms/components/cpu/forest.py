"""The forest of labels that all algorithms for components share, as compiled kernels.

``labels`` (id dtype, one per vertex): ``labels[v] <= v``, and a root is its own label. Roots only ever get smaller, so
the last root of a component is its smallest vertex: the label promised.

Why the races are harmless. Arrays that several threads touch are read and written by the atomics of
:mod:`bigbfs.jit.atomics` only. (1) A tree is hooked by compare-and-swap on its root, which succeeds only if that
vertex still is a root: no hook overwrites another. A link that fails goes on from the value found until both ends
meet or its own hook succeeds: no link is lost. It ends, because the larger of its two ends shrinks each time. (2)
Flattening and halving overwrite entries of vertices that are no roots, with a vertex further up the same tree. A
vertex that is no root never becomes one again, so this undoes no hook, and whoever reads the old or the new value is
in the same tree.

``counts`` (uint64) is what a pass adds to: see ``FAULTS`` and its neighbours.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.jit.atomics import compare_and_swap, fetch_add, fetch_min, load, store
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

FAULTS, READ, MERGED, OPEN = range(4)
"""Places in ``counts``: ids that are no vertices, ids read, trees hooked, links tried once whose ends differed."""

_WORDS = np.uint64(64)

VERTICES = np.uint64(4096)
"""Vertices that a thread takes at once where each costs little."""


@njit(nogil=True, cache=True)
def flatten(team, trees, smallest, claim):
    """Point every vertex of ``trees`` at its root, and lower ``smallest[root]`` to the smallest vertex of the tree.

    With the labels as both, whose roots are the smallest vertices already, it only flattens.
    """
    claim[0] = ZERO
    share(team, np.uint64(trees.size) // VERTICES + ONE, _flatten, (trees, smallest, claim))


def _flatten(trees, smallest, claim, t):
    """Take vertices for :func:`flatten` until there are no more."""
    n = np.uint64(trees.size)
    while True:
        first = fetch_add(claim, 0, VERTICES)
        if first >= n:
            break
        for v in range(first, min(n, first + VERTICES)):
            above = np.uint64(load(trees, v))
            root = np.uint64(load(trees, above))
            further = np.uint64(load(trees, root))
            if further != root:
                root = _climb(trees, above, further)
            store(trees, v, root)
            if np.uint64(load(smallest, root)) > v:
                fetch_min(smallest, root, v)


_flatten, flatten_apart = njit(_flatten), member(_flatten, name="flatten_apart")


@njit
def _climb(trees, below, root):
    """Return the root above ``root``, and put ``below`` right under it: most chains go through a few hubs.

    Under the root and nothing else: the hub's own thread may have put it there already, and a vertex on the way would
    undo that.
    """
    above = np.uint64(load(trees, root))
    while above != root:
        root, above = above, np.uint64(load(trees, above))
    store(trees, below, root)
    return root


@njit
def link(labels, a, b):
    """Unite the trees of the vertices ``a`` and ``b``; return whether this call hooked one (0 or 1, uint64)."""
    while a != b:
        high, low = max(a, b), min(a, b)
        above = np.uint64(load(labels, high))
        if above == high:
            above = np.uint64(compare_and_swap(labels, high, high, low))
            if above == high:
                return ONE
        if above == low:
            return ZERO
        further = np.uint64(load(labels, above))
        if further != above:
            store(labels, high, further)  # halves the path for those who come after
        a, b = further, low
    return ZERO


@njit(nogil=True, cache=True)
def link_rows(team, rows, isolated, labels, giant, most, once, claim, counts):
    """Link every vertex that is not ``isolated`` and whose label is not ``giant`` to its first ``most`` neighbours.

    With ``once`` each link hooks one label onto the other if that still is a root, and is not tried again.
    """
    claim[0] = ZERO
    pieces = np.uint64(isolated.size) // _WORDS + ONE
    share(team, pieces, _link_rows, (rows, isolated, labels, giant, most, once, claim, counts))


@member
def _link_rows(rows, isolated, labels, giant, most, once, claim, counts, t):
    """Take words of the bitmap for :func:`link_rows` until there are no more."""
    words = np.uint64(isolated.size)
    while True:
        first = fetch_add(claim, 0, _WORDS)
        if first >= words:
            break
        read, merged = ZERO, ZERO
        for w in range(first, min(words, first + _WORDS)):
            todo = ~isolated[w]
            while todo != ZERO:
                u = (w << SHIFT) + trailing_zeros(todo)
                todo &= todo - ONE
                if np.uint64(load(labels, u)) != giant:
                    ids = min(degree(rows, u), most)
                    read += ids
                    merged += _link_row(rows, u, ids, labels, once, counts)
        if read != ZERO:
            fetch_add(counts, READ, read)
            fetch_add(counts, MERGED, merged)


@njit
def _link_row(rows, u, ids, labels, once, counts):
    """Link ``u`` to its first ``ids`` neighbours; return the number of hooks."""
    n = np.uint64(labels.size)
    position = seek(rows, u, ZERO)
    v, merged, differed = ZERO, ZERO, ZERO
    for k in range(ids):
        v, position = step(rows, position, k, v)
        if v >= n:
            fetch_add(counts, FAULTS, ONE)
            continue
        a, b = np.uint64(load(labels, u)), np.uint64(load(labels, v))
        if not once:
            merged += link(labels, a, b)
        elif a != b:
            high, low = max(a, b), min(a, b)
            differed += ONE
            merged += ONE if np.uint64(compare_and_swap(labels, high, high, low)) == high else ZERO
    if differed != ZERO:
        fetch_add(counts, OPEN, differed)
    return merged
