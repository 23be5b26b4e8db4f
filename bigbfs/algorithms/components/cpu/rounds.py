"""The rounds of Afforest that link heads, as kernels: the strongest neighbour of every vertex first, then the others.

``heads`` is the head table (:mod:`bigbfs.engines.cpu.heads`) by local number: bit b of own word i is vertex 64 i + b.
``others`` and ``roots`` (id dtype) are vertices that others own, in whose trees own vertices come to lie, and their
roots: with them a rank has the same trees as all other ranks, of its own vertices. ``trees`` has them from the start.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.forest import (
    WORDS,
    Own,
    link,
    stretch_of,
)
from bigbfs.engines.cpu.bits import ONE, SHIFT, WORD
from bigbfs.jit.atomics import fetch_add, load, store
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, pieces_of, share, take

PARTS = 8
"""Parts of the vertices, for round two."""

_PARTS = np.uint64(PARTS)
_CHUNK = np.uint64(16)
"""Words whose vertices are of the same part."""


def vertices_of(own: Own, local: np.ndarray) -> np.ndarray:
    """Return the vertices of the ``local`` numbers: int64 both."""
    return (int(own.first) + (local >> 6) * int(own.stride)) * 64 + (local & 63)


@njit(nogil=True, cache=True)
def tie(team, own, heads, ranks, trees, labels, claim):
    """Put every own vertex under its first head where that one beats it, and label it with itself."""
    share(team, pieces_of(own.words, WORDS), _tie, (own, heads, ranks, trees, labels, claim))


@member
def _tie(own, heads, ranks, trees, labels, claim, t):
    """Put every vertex under its first head if that one beats it by rank, then by smaller id: no cycle can close."""
    n, pieces, stretch = np.uint64(labels.size), pieces_of(own.words, WORDS), stretch_of(own)
    while True:
        begin = take(claim, pieces, t) * WORDS
        if begin >= own.words:
            break
        end = min(own.words, begin + WORDS)
        for i in range(begin, end, stretch):
            first, local = (own.first + i * own.stride) << SHIFT, i << SHIFT
            last = min(n, first + (min(stretch, end - i) << SHIFT))
            for v in range(first, last):
                labels[v] = v
            for v in range(first, last):
                head = np.uint64(heads[0, local + (v - first)])
                # Without a branch: which way it goes is a toss-up, and ``absent`` has a rank, the lowest.
                mine, its = ranks[v], ranks[head]
                trees[v] = head if (its > mine) | ((its == mine) & (head < v)) else v


@njit(nogil=True, cache=True)
def settle(team, own, trees, labels, claim):
    """Label every own vertex as its root is labelled: ``trees`` are flat."""
    share(team, pieces_of(own.words, WORDS), _settle, (own, trees, labels, claim))


@member
def _settle(own, trees, labels, claim, t):
    """Label every vertex as its root is labelled: no label of a root changes, and no other is read."""
    n, pieces, stretch = np.uint64(labels.size), pieces_of(own.words, WORDS), stretch_of(own)
    while True:
        begin = take(claim, pieces, t) * WORDS
        if begin >= own.words:
            break
        end = min(own.words, begin + WORDS)
        for i in range(begin, end, stretch):
            first = (own.first + i * own.stride) << SHIFT
            for v in range(first, min(n, first + (min(stretch, end - i) << SHIFT))):
                store(labels, v, load(labels, np.uint64(trees[v])))


@njit(cache=True)
def lower(labels, others, roots):
    """Lower the label of each of ``roots`` to the one of ``others`` that lies under it."""
    for k in range(len(others)):
        labels[roots[k]] = min(labels[roots[k]], others[k])


@njit(nogil=True, cache=True)
def link_heads(team, own, heads, labels, begin, end, claim):
    """Link own vertices to their heads but the first, where the chunk's number is in begin..end - 1 modulo PARTS."""
    pieces = own.words // (_CHUNK * _PARTS) * (end - begin) + ONE
    share(team, pieces, _link_some_heads, (own, heads, labels, begin, end, claim))


@member
def _link_some_heads(own, heads, labels, begin, end, claim, t):
    """Take chunks for :func:`link_heads` until there are no more."""
    n = np.uint64(labels.size)
    while True:
        chunk = fetch_add(claim, 0, _CHUNK)
        if chunk >= own.words:
            break
        part = (chunk // _CHUNK) % _PARTS
        if part < begin or part >= end:
            continue
        for i in range(chunk, min(own.words, chunk + _CHUNK)):
            first, local = (own.first + i * own.stride) << SHIFT, i << SHIFT
            for u in range(first, min(n, first + WORD)):
                for j in range(ONE, np.uint64(len(heads))):
                    v = np.uint64(heads[j, local + (u - first)])
                    if v < n:
                        link(labels, np.uint64(load(labels, u)), np.uint64(load(labels, v)))
