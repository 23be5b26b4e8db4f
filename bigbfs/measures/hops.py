"""How many vertices lie within so many hops: of each source, and of all together (the neighbourhood function).

``counts[h]`` is the number of pairs of a source and a vertex within ``h`` hops of it, itself at 0. The effective
diameter is the smallest number of hops, interpolated between two whole ones, within which 90 % of these pairs lie, of
those with a path. It is read from the neighbourhood function, which has each vertex with itself at 0 (Palmer, Gibbons
and Faloutsos, ANF, KDD 2002), so these pairs count. The average distance is over pairs of two different vertices with a
path, so there they do not. With random sources both are estimates.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.placing import Sources, check_given, chosen, ended, placed
from bigbfs.measures.proving import prove

SHARE = Fraction(9, 10)
"""Share of the pairs that the effective diameter holds."""

EACH = 10_000
"""Sources for which the counts of each are kept."""

WORK = (ManyOptions(columns=True),)
"""What a graph is placed for."""


@dataclass(slots=True)
class Hops:
    """Vertices within so many hops.

    Attributes
    ----------
    sources
        int64, (S,): original ids of those that were searched from.
    within
        int64, (S, levels): vertices within 0, 1, ... hops of each source; None for more than ``EACH`` sources, and
        where sources times levels are too many.
    counts
        int64, (levels,): the sum over all sources.
    effective_diameter, average_distance
        As in the module: with pairs of a vertex with itself, and without. Where there are no others the first is 0.0,
        the second NaN.
    exact
        Whether every vertex was a source and no depth was given.
    record
        What was measured.
    """

    sources: np.ndarray
    within: np.ndarray | None
    counts: np.ndarray
    effective_diameter: float
    average_distance: float
    exact: bool
    record: ManyRecord


def hops(
    graph: Graph | str | Path | Engine,
    sources: Sources = "all",
    *,
    max_depth: int | None = None,
    seed: int = 1,
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[[int], object] | None = None,
    verify: bool = False,
    threads: int | None = None,
    backend: str = "auto",
) -> Hops:
    """Return how many vertices lie within 0, 1, ... hops of the sources.

    Parameters
    ----------
    sources
        Original ids, ``"all"`` or ``"random:K"``.
    max_depth
        Count no further than so many hops.
    seed
        Of ``"random:K"``.
    seconds, stop
        End after this time, or when ``stop()`` is true, with the sources searched by then.
    tell
        Told after each batch how many sources it had.
    verify
        Check the searches by the edge rule, and by single searches on a sample; not where ``stop()`` is true.
    threads, backend
        As for :func:`bigbfs.distances`.

    Raises
    ------
    UsageError
        Sources are not in the graph, or there are none.
    VerificationError
        A check found a difference.
    """
    check_given(seed=seed, max_depth=max_depth, seconds=seconds, stop=stop, tell=tell, verify=verify)
    with placed(graph, threads, backend, WORK) as engine:
        here = engine.graph
        timed = seconds is not None or stop is not None
        every = isinstance(sources, str) and sources == "all"
        drawn = chosen(here, f"random:{max(1, here.n)}" if every and timed else sources, seed)
        if not len(drawn):
            raise UsageError(f"{here.path or 'graph'}: there are no sources")
        options = ManyOptions(drawn, max_depth, columns=len(drawn) <= EACH, tell=tell, **ended(seconds, stop))
        result: ManyResult = engine.run_internal(options)
        if verify:
            prove(engine, options, result, stop)
        within = None if result.columns is None else np.cumsum(result.columns, axis=0).T
        counts = np.cumsum(result.found)
        exact = max_depth is None and len(np.unique(result.sources)) == here.n
        return Hops(
            np.asarray(here.original(result.sources)), within, counts, effective_diameter(counts),
            average_distance(result.found), exact, result.record,
        )  # fmt: skip


def effective_diameter(counts: np.ndarray, share: Fraction = SHARE) -> float:
    """Return the number of hops within which ``share`` of the pairs of ``counts`` lie, interpolated."""
    if not len(counts):
        return 0.0
    pairs = counts.tolist()
    goal = share * pairs[-1]  # exact, as are the comparisons: counts may be beyond 2**53
    at = bisect_left(pairs, goal)
    if at == 0:
        return 0.0
    below = pairs[at - 1]
    return float(at - 1 + (goal - below) / (pairs[at] - below))


def average_distance(found: np.ndarray) -> float:
    """Return the mean distance of the pairs ``found`` at each, those at 0 left out; NaN where there are no others."""
    pairs = int(found[1:].sum()) if len(found) else 0
    total = sum(distance * int(count) for distance, count in enumerate(found))
    return total / pairs if pairs else math.nan
