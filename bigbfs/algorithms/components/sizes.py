"""How many vertices components have: counted in one pass over the labels, and told in one over the counts.

A graph of half a billion vertices has its labels in a millisecond on a GPU; what is printed of them must not take a
minute. So no array of the sizes is sorted, and each array is gone through once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.graph import pages
from bigbfs.jit.njit import njit

TOP = 5
"""Largest components that are told apart."""
_BITS = 64


@dataclass(frozen=True, slots=True)
class SizeClass:
    """``components`` of ``smallest`` to ``largest`` vertices each (2^k to 2^(k+1) - 1), ``vertices`` in all."""

    smallest: int
    largest: int
    components: int
    vertices: int


@dataclass(frozen=True, slots=True)
class ComponentSizes:
    """Sizes of the components of a graph.

    Attributes
    ----------
    classes
        The classes of sizes that occur, smallest sizes first.
    top
        (label, vertices) of the ``TOP`` largest components, larger ones and then lower labels first.
    """

    classes: tuple[SizeClass, ...]
    top: tuple[tuple[int, int], ...]

    @property
    def components(self) -> int:
        """How many components there are."""
        return sum(each.components for each in self.classes)

    @property
    def largest(self) -> int:
        """Vertices of the largest; 0 in a graph without vertices."""
        return self.top[0][1] if self.top else 0


def sizes_of(labels: np.ndarray, ids: np.ndarray | None = None) -> ComponentSizes:
    """Return the sizes of the components that ``labels`` tell.

    Parameters
    ----------
    labels
        int64, shape (n,), 0 to n - 1: any vertex of its component, the same for all of it.
    ids
        int64, shape (n,), ascending: what each label is called in the result; None: as it is.
    """
    components, vertices = np.zeros(_BITS, np.int64), np.zeros(_BITS, np.int64)
    top, most = np.zeros(TOP, np.int64), np.zeros(TOP, np.int64)
    if len(labels):
        _survey(_counts(labels), components, vertices, top, most)
    classes = (
        SizeClass(1 << int(bit), (2 << int(bit)) - 1, int(components[bit]), int(vertices[bit]))
        for bit in np.flatnonzero(components)
    )
    named = top[most > 0] if ids is None else ids[top[most > 0]]
    return ComponentSizes(tuple(classes), tuple(zip(named.tolist(), most[most > 0].tolist(), strict=True)))


def size_of_each(labels: np.ndarray, ids: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the label of every component, ascending, and its vertices: int64 both, one for each component.

    ``labels`` and ``ids`` as for :func:`sizes_of`.
    """
    counts = _counts(labels) if len(labels) else np.empty(0, np.int64)
    found = np.flatnonzero(counts)
    return found if ids is None else ids[found], counts[found].astype(np.int64)


def _counts(labels: np.ndarray) -> np.ndarray:
    """Return how many vertices each of the labels 0 to n - 1 has: uint32 where it holds them, shape (n,), n > 0."""
    counts = pages.empty(len(labels), np.uint32 if len(labels) < 1 << 32 else np.uint64)
    _count(labels, counts)
    return counts


def first_members(labels: np.ndarray, ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the vertex of the smallest id in each of the components ``wanted``: int64, one for each.

    Parameters
    ----------
    labels
        int64, shape (n,).
    ids
        int64, shape (n,): the id of each vertex.
    wanted
        int64, shape (k,): labels that occur.
    """
    found = np.full(len(wanted), -1, np.int64)
    _first_members(labels, ids, wanted, found)
    return found


@njit(nogil=True, cache=True)
def _count(labels, sizes):
    """Count the vertices of each label in ``sizes``, all 0 before.

    A run of the same label, as a giant component has them, is one sum: to add to the same word again and again would
    wait for it each time.
    """
    last, run = labels[0], 0
    for v in range(labels.size):
        label = labels[v]
        if label == last:
            run += 1
        else:
            sizes[last] += run
            last, run = label, 1
    sizes[last] += run


@njit(nogil=True, cache=True)
def _survey(sizes, components, vertices, top, most):
    """Add up the sizes by their bits, and keep the largest: ``top`` their labels, ``most`` their vertices."""
    singles, keep = 0, most.size
    for label in range(sizes.size):
        size = np.int64(sizes[label])
        if size > most[keep - 1]:
            place = keep - 1
            while place > 0 and size > most[place - 1]:
                top[place], most[place] = top[place - 1], most[place - 1]
                place -= 1
            top[place], most[place] = label, size
        if size > 1:
            bit = 1
            while size >> (bit + 1):
                bit += 1
            components[bit] += 1
            vertices[bit] += size
        else:
            singles += size
    components[0] += singles
    vertices[0] += singles


@njit(nogil=True, cache=True)
def _first_members(labels, ids, wanted, found):
    """Find for each label of ``wanted`` the vertex that has the smallest of ``ids``; -1 where there is none."""
    for v in range(labels.size):
        for k in range(wanted.size):
            if labels[v] == wanted[k]:
                if found[k] < 0 or ids[v] < ids[found[k]]:
                    found[k] = v
                break
