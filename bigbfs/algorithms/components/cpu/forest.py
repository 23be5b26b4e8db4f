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

``claim`` (uint64) is the counter of pieces taken, 0 when a pass begins; ``counts`` (uint64) is what a pass adds to: see
``FAULTS`` and its neighbours. ``own`` are the words of vertices that a pass goes over: those of the whole graph, or of
one rank of several.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, WORD, ZERO, bit_value, words_for
from bigbfs.engines.cpu.rows import degree, fetch_place, fetch_row, seek, step
from bigbfs.jit.atomics import compare_and_swap, fetch_add, fetch_min, load, store
from bigbfs.jit.bits import fetch_soon, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, pieces_of, share, take

FAULTS, READ, MERGED, OPEN = range(4)
"""Places in ``counts``: ids that are no vertices, ids read, trees hooked, links tried once whose ends differed."""

WORDS = np.uint64(64)
"""Words of vertices that a thread takes at once where each vertex costs little."""


AHEAD = 32
"""Vertices before whose turn the one above is asked for."""

_AHEAD = np.uint64(AHEAD)
_TWO = np.uint64(2)


class Own(NamedTuple):
    """Words of 64 vertices: ``first + i * stride`` for i below ``words``; all uint64."""

    first: np.uint64
    stride: np.uint64
    words: np.uint64


def everyone(n: int) -> Own:
    """Return the words of all ``n`` vertices."""
    return Own(np.uint64(0), np.uint64(1), np.uint64(words_for(n)))


@njit
def stretch_of(own):
    """Return how many words of a piece of ``own`` follow one another: one loop for all of their vertices is quicker."""
    return WORDS if own.stride == ONE else ONE


@njit(nogil=True, cache=True)
def plant(team, trees, claim):
    """Make every vertex a tree of its own."""
    share(team, pieces_of(np.uint64(trees.size), WORDS * WORD), _plant_some, (trees, claim))


@member
def _plant_some(trees, claim, t):
    """Take vertices for :func:`plant` until there are no more."""
    n, pieces = np.uint64(trees.size), pieces_of(np.uint64(trees.size), WORDS * WORD)
    while True:
        first = take(claim, pieces, t) * (WORDS * WORD)
        if first >= n:
            break
        for v in range(first, min(n, first + WORDS * WORD)):
            trees[v] = v


@njit(nogil=True, cache=True)
def flatten(team, own, labels, flat, claim):
    """Label every own vertex with its root; ``flat``: nearly all are already."""
    share(team, pieces_of(own.words, WORDS), _flatten, (own, labels, flat, claim))


@member
def _flatten(own, labels, flat, claim, t):
    """Take words for :func:`flatten` until there are no more."""
    n, pieces, stretch = np.uint64(labels.size), pieces_of(own.words, WORDS), stretch_of(own)
    while True:
        begin = take(claim, pieces, t) * WORDS
        if begin >= own.words:
            break
        end = min(own.words, begin + WORDS)
        for i in range(begin, end, stretch):
            first = (own.first + i * own.stride) << SHIFT
            for v in range(first, min(n, first + (min(stretch, end - i) << SHIFT))):
                above = np.uint64(load(labels, v))
                root = np.uint64(load(labels, above))
                if flat and root == above:  # without a branch for each vertex where no predictor could tell
                    continue
                further = np.uint64(load(labels, root))
                if further != root:
                    root = _climb(labels, above, further)
                store(labels, v, root)


@njit(nogil=True, cache=True)
def flatten_trees(team, own, trees, smallest, claim):
    """Put every own vertex right under its root, and lower ``smallest[root]`` to the smallest vertex of the tree."""
    share(team, pieces_of(own.words, WORDS), _flatten_trees, (own, trees, smallest, claim))


@member
def _flatten_trees(own, trees, smallest, claim, t):
    """Take words for :func:`flatten_trees` until there are no more."""
    n, pieces, stretch = np.uint64(trees.size), pieces_of(own.words, WORDS), stretch_of(own)
    while True:
        begin = take(claim, pieces, t) * WORDS
        if begin >= own.words:
            break
        end = min(own.words, begin + WORDS)
        for i in range(begin, end, stretch):
            first = (own.first + i * own.stride) << SHIFT
            for v in range(first, min(n, first + (min(stretch, end - i) << SHIFT))):
                fetch_soon(trees, np.uint64(load(trees, min(v + _AHEAD, n - ONE))))
                above = np.uint64(load(trees, v))
                root = np.uint64(load(trees, above))
                further = np.uint64(load(trees, root))
                if further != root:
                    root = _climb(trees, above, further)
                store(trees, v, root)
                if np.uint64(load(smallest, root)) > v:
                    fetch_min(smallest, root, v)


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
def link_rows(team, own, rows, aside, labels, giant, most, once, members, hub, claim, counts):
    """Link every own vertex that is not ``aside`` and whose label is not ``giant`` to its first ``most`` neighbours.

    With ``once`` each link hooks one label onto the other if that still is a root, and is not tried again. ``members``
    is a bitmap of vertices that somebody knows to be in one component with ``hub``: it is linked to in their stead. It
    has no words where there is nobody else to know.
    """
    arguments = (own, rows, aside, labels, giant, most, once, members, hub, claim, counts)
    share(team, own.words // WORDS + ONE, _link_rows, arguments)


@member
def _link_rows(own, rows, aside, labels, giant, most, once, members, hub, claim, counts, t):
    """Take own words for :func:`link_rows` until there are no more.

    Few vertices are outside the giant, and their rows in no cache: those of a word are asked for two words before they
    are read, first where they are and then they themselves.
    """
    while True:
        begin = fetch_add(claim, 0, WORDS)
        if begin >= own.words:
            break
        end = min(own.words, begin + WORDS)
        read, merged, there, next_there, base, next_base = ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
        for i in range(begin, end + _TWO):
            while there != ZERO:
                u = base + trailing_zeros(there)
                there &= there - ONE
                ids, hooks = _link_row(rows, u, giant, most, labels, once, members, hub, counts)
                read += ids
                merged += hooks
            there, base = next_there, next_base
            coming = there
            while coming != ZERO:
                fetch_row(rows, base + trailing_zeros(coming))
                coming &= coming - ONE
            next_there = ZERO
            if i < end:
                w = own.first + i * own.stride
                next_base = w << SHIFT
                next_there = _outside(rows, labels, ~aside[w], next_base, giant)
        if read != ZERO:
            fetch_add(counts, READ, read)
            fetch_add(counts, MERGED, merged)


@njit
def _outside(rows, labels, todo, base, giant):
    """Return which vertices of a word, of those in ``todo``, are not labelled ``giant``; ask where their rows are."""
    outside = ZERO
    while todo != ZERO:
        b = trailing_zeros(todo)
        todo &= todo - ONE
        if np.uint64(load(labels, base + b)) != giant:
            outside |= ONE << b
            fetch_place(rows, base + b)
    return outside


@njit
def _link_row(rows, u, giant, most, labels, once, members, hub, counts):
    """Link ``u`` to its first ``most`` neighbours, or up to the first of the giant; return ids read, and hooks.

    What comes into the giant is a member from there on: whoever else is at its edges reads them, or is one, too.
    """
    n, told = np.uint64(labels.size), len(members) > 0
    position = seek(rows, u, ZERO)
    v, read, merged, differed = ZERO, ZERO, ZERO, ZERO
    for k in range(min(degree(rows, u), most)):
        v, position = step(rows, position, k, v)
        read += ONE
        if v >= n:
            fetch_add(counts, FAULTS, ONE)
            continue
        its = hub if told and bit_value(members, v) != ZERO else v
        a, b = np.uint64(load(labels, u)), np.uint64(load(labels, its))
        if not once:
            merged += link(labels, a, b)
            if b == giant:
                break
        elif a != b:
            high, low = max(a, b), min(a, b)
            differed += ONE
            merged += ONE if np.uint64(compare_and_swap(labels, high, high, low)) == high else ZERO
    if differed != ZERO:
        fetch_add(counts, OPEN, differed)
    return read, merged
