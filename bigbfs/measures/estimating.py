"""What sums over a sample of sources say of a vertex's centrality, and how far off that may be (no file, no graph).

Searches run along the edges from ``k`` of n vertices, drawn at random. ``hits`` of them, without the vertex itself,
reach a vertex, at distances of sum ``s``; all that could are ``others``, which is r - 1 of
:mod:`bigbfs.measures.closeness`.

Eppstein and Wang (Fast approximation of centrality, SODA 2001) take n / k times the sums, which is right where a graph
is connected. In a component that one source has hit by chance the sums are then far too large: of a pair, n / k times.
So here, in an undirected graph, ``others`` is counted, not estimated: the vertex's component less itself. The sources
in it are a sample of it, so that the mean of their distances, s / hits, estimates that of all. Distances are 1 to D, D
at most twice the depth of any search in the component. By the inequalities of Hoeffding and of Serfling (Probability
inequalities for the sum in sampling without replacement, Annals of Statistics 2, 1974) no mean is off by more than
``(D - 1) * sqrt((1 - (hits - 1) / others) * ln(2 n / p) / (2 hits))``, for all vertices at once, with probability
1 - p; no mean of reciprocals by more than that with 1 - 1 / D in place of D - 1.

In a directed graph nobody knows who reaches a vertex: ``others`` is estimated as (n - 1) / k of the hits. Then the sum
of reciprocals alone has a bound: its mean over all n - 1, 0 where there is no path, lies between 0 and 1.

Where fewer than ``least_of(k)`` sources reach a vertex, a value would say nothing: it is NaN. It is exact where every
other vertex of the component was a source, and in components of one or two vertices.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bigbfs.algorithms.many.result import ManyResult

DOUBT = 0.05
"""Probability with which the bound on a sample's error may fail."""
LEAST = 10
"""Sources that must reach a vertex for its value to be estimated; half of them where there are few."""


def least_of(sources: int) -> int:
    """Return how many of so many sources must reach a vertex for its value to be estimated."""
    return min(LEAST, max(1, sources // 2))


def enough_for(size: int, n: int) -> int:
    """Return how many of ``n`` vertices are to be sources, so that a component of ``size`` most likely has values."""
    return min(n, -(-2 * LEAST * n // size))


class Sums(NamedTuple):
    """What is known of each of n vertices (n,): see the module.

    ``known`` (bool): whether it has a value; ``sure`` (bool): whether that is exact; ``others`` int64 or float64.
    """

    hits: np.ndarray
    total: np.ndarray
    reciprocals: np.ndarray | None
    others: np.ndarray
    known: np.ndarray
    sure: np.ndarray


def sums_of_all(result: ManyResult) -> Sums:
    """Return the sums where every vertex was a source."""
    assert result.reach is not None and result.farness is not None
    every = np.broadcast_to(np.True_, result.reach.shape)
    return Sums(result.reach, result.farness, result.harmonic, result.reach, every, every)


def sums_undirected(result: ManyResult, sizes: np.ndarray) -> Sums:
    """Return the sums of a sample in an undirected graph; ``sizes``, int64 (n,): of each vertex's component."""
    assert result.reach is not None and result.farness is not None
    hits, total, reciprocals, others = result.reach, result.farness, result.harmonic, sizes - 1
    pair = sizes == 2
    if pair.any():  # whoever is alone with one other is 1 from it
        hits, total = np.where(pair, 1, hits), np.where(pair, 1, total)
        reciprocals = None if reciprocals is None else np.where(pair, 1.0, reciprocals)
    sure = hits >= others
    return Sums(hits, total, reciprocals, others, sure | (hits >= least_of(result.record.sources)), sure)


def sums_directed(result: ManyResult, n: int, m: int) -> Sums:
    """Return the sums of a sample in a directed graph of ``n`` vertices and ``m`` edges."""
    assert result.reach is not None and result.farness is not None
    asked = np.full(n, result.record.sources)
    asked[result.sources] -= 1
    others = result.reach * np.divide(n - 1, asked, out=np.zeros(n), where=asked > 0)
    sure = np.full(n, m == 0)
    known = sure | (result.reach >= least_of(result.record.sources))
    return Sums(result.reach, result.farness, result.harmonic, others, known, sure)


def values_of(sums: Sums, kind: str, wf_improved: bool) -> np.ndarray:
    """Return the centrality of every vertex, float64 (n,): NaN where it is not known."""
    hits, n = sums.hits, len(sums.hits)
    if kind == "closeness":
        values = np.divide(hits, sums.total, out=np.zeros(n), where=sums.total > 0)
        if wf_improved and n > 1:
            values *= sums.others / (n - 1)
    else:
        each = np.divide(sums.others, hits, out=np.zeros(n), where=hits > 0)  # vertices that a hit stands for
        if kind == "harmonic":
            assert sums.reciprocals is not None
            values = sums.reciprocals * each
        else:
            total = sums.total * each
            values = np.divide((sums.others + 1.0) ** 2, total, out=np.ones(n), where=total > 0)
    return np.asarray(np.where(sums.known, values, np.nan))


def errors_undirected(result: ManyResult, sums: Sums, labels: np.ndarray, kind: str) -> np.ndarray:
    """Return what the mean of every vertex may be off by, float64 (n,): NaN where it is not known.

    ``labels``, int64 (n,): a vertex of each vertex's component, the same for all of a component.
    """
    n = len(labels)
    deep = np.full(n, n)
    np.minimum.at(deep, labels[result.sources], 2 * result.depth)
    deep = np.maximum(1, np.minimum(deep[labels], sums.others))
    reach = 1 - 1 / deep if kind == "harmonic" else deep - 1.0
    return _errors(sums, reach, sums.hits, sums.others)


def errors_directed(result: ManyResult, sums: Sums) -> np.ndarray:
    """Return what the mean reciprocal of every vertex, over all n - 1 others, may be off by; as above."""
    n = len(sums.hits)
    asked = np.full(n, result.record.sources)
    asked[result.sources] -= 1
    return _errors(sums, np.ones(n), asked, np.full(n, n - 1))


def _errors(sums: Sums, reach: np.ndarray, drawn: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the bound of the module where ``drawn`` of ``of`` numbers are known, which differ by ``reach`` at most."""
    share = np.divide(drawn - 1, of, out=np.zeros(len(of)), where=of > 0)
    spread = np.divide(1 - share, 2 * drawn, out=np.zeros(len(of)), where=drawn > 0)
    found = reach * np.minimum(1.0, np.sqrt(spread * math.log(2 * len(of) / DOUBT)))
    return np.asarray(np.where(sums.known, np.where(sums.sure, 0.0, found), np.nan))
