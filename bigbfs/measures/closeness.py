"""Closeness, harmonic and Lin centrality: exact, or sampled with a bound on the error.

Searches run along the edges, and each vertex adds up its distances *from* the sources, so in a directed graph these
are in-distances, as NetworkX has them. With ``r`` vertices that reach ``v`` (itself too) at distances of sum ``s``:

- closeness: ``(r - 1) / s``, times ``(r - 1) / (n - 1)`` with ``wf_improved`` (Wasserman and Faust); 0 where r is 1
- harmonic: the sum of the reciprocals of the distances
- lin: ``r * r / s``; 1 where r is 1 (Boldi and Vigna, Axioms for centrality, Internet Mathematics 10, 2014)

With ``k`` of n sources the sums are estimated as n / k times those of the sample (Eppstein and Wang, Fast approximation
of centrality, SODA 2001). By Hoeffding's inequality the estimate of the sum of distances over n is off by at most
``depth_bound * sqrt(ln(2 n / p) / (2 k))`` for all vertices at once, with probability 1 - p; sums stay integers until
the last division.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bigbfs.algorithms.columns import Tabular
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.graph.original_ids import VertexIds
from bigbfs.measures.placing import Sources, Until, check_given, chosen, placed, require_vertices
from bigbfs.measures.proving import prove
from bigbfs.sizes import choice, integer

if TYPE_CHECKING:
    from bigbfs.algorithms.columns import Table

KINDS = ("closeness", "harmonic", "lin")
DOUBT = 0.05
"""Probability with which the bound on a sample's error may fail."""


@dataclass(slots=True)
class Centrality(Tabular):
    """Centrality of every vertex.

    Attributes
    ----------
    kind
        One of ``KINDS``.
    ids
        int64, (n,): original ids, ascending.
    values
        float64, (n,): one for each of them.
    exact
        Whether all vertices were sources.
    error
        For a sample, what the estimate of a vertex's mean distance (its sum over n) may be off by, for all vertices at
        once with probability 0.95; None where exact, and where no bound is known: in a directed graph, and where no
        source reaches some vertices. Those of a small component with a source can then come out far too high.
    record
        What was measured.
    vertices
        What tables name the rows by.
    """

    kind: str
    ids: np.ndarray
    values: np.ndarray
    exact: bool
    error: float | None
    record: ManyRecord
    vertices: VertexIds | None = field(default=None, repr=False, compare=False)

    def _table(self) -> Table:
        return self.vertices, {self.kind: self.values}, ()

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return id and value of the ``count`` most central vertices, the smaller id first among equals.

        Raises
        ------
        UsageError
            ``count`` is no integer, or below 0.
        """
        count = integer("count", count, low=0)
        first = np.argsort(-self.values, kind="stable")[:count]
        return list(zip(self.ids[first].tolist(), self.values[first].tolist(), strict=True))


def work_of(kind: str) -> tuple[ManyOptions, ...]:
    """Return what a graph is placed for."""
    return (ManyOptions(sums=True, harmonic=kind == "harmonic"),)


def closeness(
    graph: Graph | str | Path | Engine,
    *,
    kind: str = "closeness",
    sources: Sources = "all",
    wf_improved: bool = True,
    seed: int = 1,
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[[int], object] | None = None,
    verify: bool = False,
    threads: int | None = None,
    backend: str = "auto",
) -> Centrality:
    """Return how central every vertex is; see the module for the definitions.

    Parameters
    ----------
    kind
        ``"closeness"``, ``"harmonic"`` or ``"lin"``.
    sources
        ``"all"``: exact; ``"random:K"``: estimated from K of them.
    wf_improved, seed
        Of closeness: scale by the share of vertices that reach the vertex, as NetworkX does by default; of the order in
        which sources are drawn.
    seconds, stop
        End after this time, or when ``stop()`` is true: what has been searched by then is a sample.
    tell
        Told after each batch how many sources it had.
    verify
        Check the searches by the edge rule, and by single searches on a sample; not where ``stop()`` is true.
    threads, backend
        As for :func:`bigbfs.distances`.

    Raises
    ------
    UsageError
        The kind is unknown, or the graph has no vertices.
    VerificationError
        A check found a difference.
    """
    choice("kind", kind, KINDS)
    check_given(seed=seed, seconds=seconds, stop=stop, tell=tell, verify=verify, wf_improved=wf_improved)
    with placed(graph, threads, backend, work_of(kind)) as engine:
        here = engine.graph
        require_vertices(here, "centrality")
        drawn = _drawn(here, sources, seed)
        until = Until(seconds, stop).after_one() if seconds is not None or stop is not None else None
        options = ManyOptions(drawn, sums=True, harmonic=kind == "harmonic", stop=until, tell=tell)
        result: ManyResult = engine.run_internal(options)
        if verify:
            prove(engine, options, result, stop)
        values = np.asarray(here.in_original_order(_values(result, here.n, kind, wf_improved)))
        exact = len(np.unique(result.sources)) == here.n
        error = None if exact or here.flags.directed else error_bound(result, here.n)
        ids = here.vertex_ids()
        return Centrality(kind, ids.array(), values, exact, error, result.record, ids)


def _drawn(graph: Graph, sources: Sources, seed: int) -> np.ndarray:
    """Return what is searched from (internal), in random order whatever the sources: a stopped run must be a sample."""
    drawn = chosen(graph, f"random:{graph.n}" if isinstance(sources, str) and sources == "all" else sources, seed)
    if not len(drawn):
        raise UsageError(f"{graph.path or 'graph'}: no sources are given")
    return drawn


def _values(result: ManyResult, n: int, kind: str, wf_improved: bool) -> np.ndarray:
    """Return the values of all vertices (internal): sums of a sample are scaled up, those of all sources stay."""
    assert result.reach is not None and result.farness is not None
    if not result.record.sources:
        return np.zeros(n)
    scale = n / result.record.sources
    if kind == "harmonic":
        assert result.harmonic is not None
        return result.harmonic * scale
    reached = result.reach + np.bincount(result.sources, minlength=n)  # a source reaches itself
    others, total = np.maximum(reached * scale - 1, 0), result.farness * scale
    if kind == "lin":
        return np.divide((others + 1) ** 2, total, out=np.ones(n), where=total > 0)
    closer = np.divide(others, total, out=np.zeros(n), where=total > 0)
    return closer * (others / (n - 1)) if wf_improved and n > 1 else closer


def error_bound(result: ManyResult, n: int) -> float | None:
    """Return the bound of the module for a sample in an undirected graph; None without a source."""
    done = result.record.sources
    if not done:
        return None
    # a source reaches its whole component: no distance in it is more than twice the source's own farthest. Of vertices
    # that no source reaches nothing is known, so there is no bound for all vertices then.
    assert result.reach is not None
    unseen = (result.reach + np.bincount(result.sources, minlength=n)) == 0
    if unseen.any():
        return None
    depth = 2 * int(result.depth.max())
    return depth * math.sqrt(math.log(2 * n / DOUBT) / (2 * done))
