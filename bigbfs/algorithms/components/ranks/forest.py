"""The forest of one rank, as kernels: a tree for every vertex of the graph, linked along own rows alone.

``trees`` (id dtype, one per vertex of the whole graph): ``trees[v] <= v``, and a root is its own tree. Roots only get
smaller, so the last root of a tree is its smallest vertex. Kernels are serial and work on a stretch of own words, so
that a rank's threads can share them; links are those of :mod:`bigbfs.algorithms.components.cpu.forest`.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.forest import link
from bigbfs.engines.cpu.bits import ONE, SHIFT, WORD, ZERO
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.engines.ranks.numbering import global_vertex
from bigbfs.jit.atomics import load, store
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit


@njit(nogil=True, cache=True)
def plant(trees):
    """Make every vertex a tree of its own."""
    for v in range(len(trees)):
        trees[v] = v


@njit
def find(trees, v):
    """Return the root above ``v``, which is put right under it."""
    root = np.uint64(load(trees, v))
    above = np.uint64(load(trees, root))
    if above == root:
        return root
    while above != root:
        root, above = above, np.uint64(load(trees, above))
    store(trees, v, root)
    return root


@njit(nogil=True, cache=True)
def link_heads(part, heads, place, trees, first, last):
    """Link own vertices to their heads number ``place``."""
    for i in range(first, last):
        base = (part.first + i * part.stride) << SHIFT
        for b in range(WORD):
            head = np.uint64(heads[place, (i << SHIFT) + b])
            if head < part.n:
                link(trees, np.uint64(load(trees, base + b)), np.uint64(load(trees, head)))


@njit(nogil=True, cache=True)
def link_own_rows(rows, part, trees, hub, skips, first, last, counts):
    """Link own vertices to all neighbours, those in the tree of ``hub`` left out if ``skips``.

    ``counts`` receives the ids read and those that are no vertices.
    """
    read, faults = ZERO, ZERO
    for i in range(first, last):
        base = (part.first + i * part.stride) << SHIFT
        for b in range(WORD):
            u = base + b
            if u >= part.n or degree(rows, u) == ZERO:
                continue
            if skips and find(trees, u) == find(trees, hub):
                continue
            position = seek(rows, u, ZERO)
            v = ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= part.n:
                    faults += ONE
                else:
                    link(trees, np.uint64(load(trees, u)), np.uint64(load(trees, v)))
            read += degree(rows, u)
    counts[0], counts[1] = read, faults


@njit(nogil=True, cache=True)
def flatten(trees, hub, aside, bits, named):
    """Point every vertex at its root, and fill ``bits`` with those in the tree of ``hub``; return that tree's root.

    ``aside`` (bits) are vertices without edges. ``named`` receives the bits of roots of other trees that have more
    vertices than their root.

    One pass in ascending order: whatever lies above a vertex is smaller, and points at its root already.
    """
    giant = find(trees, hub)
    named[:] = ZERO
    for w in range(np.uint64(len(bits))):
        word, base = ZERO, w << SHIFT
        todo = ~aside[w]
        while todo != ZERO:
            b = trailing_zeros(todo)
            todo &= todo - ONE
            v = base + b
            root = np.uint64(trees[np.uint64(trees[v])])
            trees[v] = root
            if root == giant:
                word |= ONE << b
            elif root != v:
                named[root >> SHIFT] |= ONE << (root & np.uint64(63))
        bits[w] = word
    return giant


@njit(nogil=True, cache=True)
def join(part, trees, hub, more, named):
    """Unite with the tree of ``hub`` those of the vertices of ``part`` whose bit in ``more`` (its words) is set.

    Vertices of which nothing is known here are left alone: their owner knows.
    """
    for i in range(part.words):
        todo = more[i]
        while todo != ZERO:
            v = global_vertex(part, (i << SHIFT) + trailing_zeros(todo))
            todo &= todo - ONE
            if np.uint64(trees[v]) != v or (named[v >> SHIFT] >> (v & np.uint64(63))) & ONE != ZERO:
                link(trees, v, hub)


@njit(nogil=True, cache=True)
def pairs(trees, aside, bits, owners, mine, vertices, roots, is_root, writes):
    """List the vertices of other ranks that lie in trees of several, and not in ``bits``: with their roots.

    ``aside`` as in :func:`flatten`, ``bits`` the vertices of which was told that they are in the giant; ``owners``
    (int32) is the rank of each word, ``mine`` this one; ``is_root`` is scratch of a bit for each vertex. The root of
    such a tree is listed too, for its owner to know that it is used as a name. Returns how many there are; without
    ``writes`` at most as many as twice the vertices.
    """
    count = 0
    for w in range(np.uint64(len(bits))):
        todo, base = ~(bits[w] | aside[w]), w << SHIFT
        while todo != ZERO:
            v = base + trailing_zeros(todo)
            todo &= todo - ONE
            root = np.uint64(trees[v])
            if root == v:
                continue
            at, bit = root >> SHIFT, ONE << (root & np.uint64(63))
            if not writes:
                count += 2
                continue
            if owners[at] != mine and is_root[at] & bit == ZERO:
                is_root[at] |= bit
                vertices[count], roots[count] = root, root
                count += 1
            if owners[w] != mine:
                vertices[count], roots[count] = v, root
                count += 1
    return count


@njit(nogil=True, cache=True)
def unite(parents, left, right):
    """Unite the classes of ``left[i]`` and ``right[i]`` (places in ``parents``), each called by its smallest place."""
    for i in range(len(left)):
        link(parents, np.uint64(left[i]), np.uint64(right[i]))
    for i in range(len(parents)):
        parents[i] = parents[parents[i]]
