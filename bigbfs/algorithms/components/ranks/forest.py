"""What ranks do to the forest of one of them, as kernels, before and after they tell one another of it.

``labels`` (id dtype, one per vertex of the whole graph): ``labels[v] <= v``, and a root is its own label. The forest is
that of :mod:`bigbfs.algorithms.components.cpu.labels`, made of own rows. Vertices lie where links have left them, and
are looked up as they are asked for. Kernels are serial.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.forest import link
from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO
from bigbfs.engines.ranks.numbering import global_vertex
from bigbfs.jit.atomics import load, store
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit


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


@njit(cache=True)
def root_of(labels, v):
    """Return the root above ``v``."""
    return find(labels, v)


@njit(nogil=True, cache=True)
def roots_of(labels, vertices, roots):
    """Fill ``roots`` with those of ``vertices``."""
    for i in range(len(vertices)):
        roots[i] = find(labels, np.uint64(vertices[i]))


@njit(nogil=True, cache=True)
def mark(own, labels, giant, aside, bits):
    """Fill the words of ``bits`` that are ``own``: vertices in the tree of ``giant``, those ``aside`` left out."""
    for i in range(own.words):
        w = own.first + i * own.stride
        word, base, todo = ZERO, w << SHIFT, ~aside[w]
        while todo != ZERO:
            b = trailing_zeros(todo)
            todo &= todo - ONE
            above = np.uint64(labels[base + b])
            if above == giant or (above != base + b and find(labels, above) == giant):
                word |= ONE << b
        bits[w] = word


@njit(nogil=True, cache=True)
def join(part, labels, hub, more):
    """Unite with the tree of ``hub`` those of the vertices of ``part`` whose bit in ``more`` (its words) is set."""
    for i in range(part.words):
        todo = more[i]
        while todo != ZERO:
            v = global_vertex(part, (i << SHIFT) + trailing_zeros(todo))
            todo &= todo - ONE
            link(labels, v, hub)


@njit(nogil=True, cache=True)
def pairs(labels, aside, told, giant, owners, mine, vertices, roots, is_root, writes):
    """List the vertices of other ranks that links have been made to, and that were not told of: with their roots.

    ``aside`` (bits) are vertices without edges, ``told`` those of which all know that they are in the giant. Trees of
    the root ``giant`` are left out: :mod:`bigbfs.algorithms.components.ranks.merge` says why. ``owners`` (int32) is the
    rank of each word, ``mine`` this one; ``is_root`` is scratch of a bit for each vertex. The root of such a tree is
    listed too, for its owner to know that it is used as a name. Returns how many there are; without ``writes`` at most
    as many as twice the vertices.
    """
    count = 0
    for w in range(np.uint64(len(told))):
        todo, base = ~(told[w] | aside[w]), w << SHIFT
        while todo != ZERO:
            v = base + trailing_zeros(todo)
            todo &= todo - ONE
            if np.uint64(labels[v]) == v:
                continue
            root = find(labels, v)
            if root == giant:
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
