"""Closeness, harmonic and Lin centrality: exact, or sampled with a bound on the error.

Searches run along the edges, and each vertex adds up its distances *from* the sources, so in a directed graph these
are in-distances, as NetworkX has them. With ``r`` vertices that reach ``v`` (itself too) at distances of sum ``s``:

- closeness: ``(r - 1) / s``, times ``(r - 1) / (n - 1)`` with ``wf_improved`` (Wasserman and Faust); 0 where r is 1
- harmonic: the sum of the reciprocals of the distances
- lin: ``r * r / s``; 1 where r is 1 (Boldi and Vigna, Axioms for centrality, Internet Mathematics 10, 2014)

With a sample of sources they are estimates, whose rule and bounds stand in :mod:`bigbfs.measures.estimating`: in an
undirected graph the sources of a vertex's own component are a sample of it, and its size is counted. Sums stay integers
until the last division.
"""

from __future__ import annotations

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
from bigbfs.measures import estimating
from bigbfs.measures.estimating import DOUBT
from bigbfs.measures.labels import labels_of
from bigbfs.measures.placing import Sources, check_given, chosen, ended, placed, require_vertices
from bigbfs.measures.proving import prove
from bigbfs.sizes import choice, integer

if TYPE_CHECKING:
    from bigbfs.algorithms.columns import Table

KINDS = ("closeness", "harmonic", "lin")

__all__ = ["DOUBT", "KINDS", "Centrality", "closeness", "work_of"]


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
        float64, (n,): one for each of them; NaN where a sample says nothing of it.
    exact
        Whether all vertices were sources.
    error
        The largest of ``errors``; None where there are none.
    errors
        For a sample, float64, (n,): what the mean distance of each vertex to the others of its component may be off by,
        or of harmonic centrality the mean reciprocal (in a directed graph that over all n - 1 others), for all vertices
        at once with probability 0.95; 0 where a value is exact, NaN where there is none. None where all are exact, and
        for closeness and lin in a directed graph, where no bound is known.
    record
        What was measured.
    largest
        Of a sample in an undirected graph: how many vertices the largest component has, and how many of them have no
        value. None elsewhere.
    vertices
        What tables name the rows by.
    """

    kind: str
    ids: np.ndarray
    values: np.ndarray
    exact: bool
    error: float | None
    record: ManyRecord
    errors: np.ndarray | None = None
    largest: tuple[int, int] | None = None
    vertices: VertexIds | None = field(default=None, repr=False, compare=False)

    def _table(self) -> Table:
        return self.vertices, {self.kind: self.values}, ()

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return id and value of the ``count`` most central vertices, the smaller id first among equals.

        Those of which a sample says nothing are left out.

        Raises
        ------
        UsageError
            ``count`` is no integer, or below 0.
        """
        count = integer("count", count, low=0)
        first = self.first(count)
        return list(zip(self.ids[first].tolist(), self.values[first].tolist(), strict=True))

    def first(self, count: int) -> np.ndarray:
        """Return the places of the ``count`` most central vertices, int64; see :meth:`top`."""
        return np.argsort(-self.values, kind="stable")[: min(count, len(self.values) - self.unknown)]

    @property
    def unknown(self) -> int:
        """Vertices of which a sample says nothing: too few of the sources reach them."""
        return int(np.isnan(self.values).sum())


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
        Of ``"closeness"`` alone: scale by the share of vertices that reach the vertex, as NetworkX does by default; of
        the order in which sources are drawn.
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
        The kind is unknown, or another than ``"closeness"`` without ``wf_improved``; or the graph has no vertices.
    VerificationError
        A check found a difference.
    """
    choice("kind", kind, KINDS)
    check_given(seed=seed, seconds=seconds, stop=stop, tell=tell, verify=verify, wf_improved=wf_improved)
    if not wf_improved and kind != KINDS[0]:
        ways = ("leave it out", ("kind", KINDS[0]))
        raise UsageError(f"{kind} centrality has no such factor", about=(("wf_improved", False),), remedies=ways)
    with placed(graph, threads, backend, work_of(kind)) as engine:
        here = engine.graph
        require_vertices(here, "centrality")
        drawn = _drawn(here, sources, seed)
        options = ManyOptions(drawn, sums=True, harmonic=kind == "harmonic", tell=tell, **ended(seconds, stop))
        result: ManyResult = engine.run_internal(options)
        if verify:
            prove(engine, options, result, stop)
        exact = len(result.sources) == here.n
        values, errors, largest = _estimated(engine, result, kind, wf_improved)
        error = None if errors is None or np.isnan(errors).all() else float(np.nanmax(errors))
        ids = here.vertex_ids()
        return Centrality(kind, ids.array(), values, exact, error, result.record, errors, largest, ids)


def _drawn(graph: Graph, sources: Sources, seed: int) -> np.ndarray:
    """Return what is searched from (internal), in random order whatever the sources: a stopped run must be a sample."""
    drawn = chosen(graph, f"random:{graph.n}" if isinstance(sources, str) and sources == "all" else sources, seed)
    if not len(drawn):
        raise UsageError(f"{graph.path or 'graph'}: no sources are given")
    _, first = np.unique(drawn, return_index=True)  # twice the same source says nothing new
    return drawn[np.sort(first)] if len(first) < len(drawn) else drawn


def _estimated(
    engine: Engine, result: ManyResult, kind: str, wf_improved: bool
) -> tuple[np.ndarray, np.ndarray | None, tuple[int, int] | None]:
    """Return values of all vertices, what they may be off by, ascending by original id, and ``Centrality.largest``."""
    graph, errors, largest = engine.graph, None, None
    if len(result.sources) == graph.n:
        sums = estimating.sums_of_all(result)
    elif graph.flags.directed:
        sums = estimating.sums_directed(result, graph.n, graph.m)
        errors = estimating.errors_directed(result, sums) if kind == "harmonic" else None
    else:
        labels = _components(engine, result)
        sizes = np.bincount(labels, minlength=graph.n)
        sums = estimating.sums_undirected(result, sizes[labels])
        inside = labels == int(sizes.argmax())
        largest = int(inside.sum()), int((inside & ~sums.known).sum())
        errors = estimating.errors_undirected(result, sums, labels, kind)
    values = np.asarray(graph.in_original_order(estimating.values_of(sums, kind, wf_improved)))
    return values, None if errors is None else np.asarray(graph.in_original_order(errors)), largest


def _components(engine: Engine, result: ManyResult) -> np.ndarray:
    """Return the component of each vertex (internal) of an undirected graph: int64 (n,), a vertex of it."""
    assert result.reach is not None
    met = result.reach.copy()
    met[result.sources] += 1
    if (met == result.record.sources).all():  # each source reaches everybody
        return np.zeros(len(met), np.int64)
    return labels_of(engine)
