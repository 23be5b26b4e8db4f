"""Proof that levels of many searches are right, by the edge rule on all of them and single searches on a sample.

The edge rule, for each source: it alone has level 0; no edge leads from a reached vertex to an unreached one or down
more than one level; and to every other reached vertex an edge leads from the level above. Together these leave only the
true levels. What was collected while the searches ran (counts, sums, last levels) must be what the levels say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.result import ManyResult
from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.rules import fail, first_difference, name_of
from bigbfs.errors import BigBfsError
from bigbfs.graph.graph import Graph
from bigbfs.jit import workers
from bigbfs.jit.njit import njit


class Unproved(BigBfsError, RuntimeError):
    """A proof was ended, by ``stop`` of its options, before all was proved; no rule has been broken."""


NARROW = 64
"""Sources of a batch whose levels are looked at."""

SAMPLE = 2
"""Sources of a batch that are searched from singly."""


def validate_levels(
    graph: Graph, sources: np.ndarray, levels: np.ndarray, *, max_depth: int | None = None, threads: int = 1
) -> None:
    """Prove that ``levels``, int32 (n, sources), are those of searches of ``graph`` from ``sources``.

    Raises
    ------
    VerificationError
        Names the rule, the source, and the vertex that breaks it.
    """
    indptr, indices = plain_rows(graph)
    limit = graph.n if max_depth is None else max_depth
    wrong = np.full(len(sources), -1, np.int64)
    tasks = [
        (indptr, indices, sources, np.ascontiguousarray(levels[:, first:last]), limit, wrong, first)
        for first, last in workers.ranges(len(sources), threads)
    ]
    workers.run(threads, _first_offenders, tasks)
    for column in np.flatnonzero(wrong >= 0):
        vertex, source = int(wrong[column]), int(sources[column])
        fail(
            "levels of an edge's ends differ by at most one, and every level hangs on the one above",
            f"source {name_of(graph, source)}: vertex {name_of(graph, vertex)} has level {levels[vertex, column]}",
        )
    sample = np.unique(np.linspace(0, len(sources) - 1, SAMPLE).astype(np.int64)).tolist()
    for place in sample:
        expected = many(graph, sources[place : place + 1], max_depth=max_depth)[0]
        if differs := first_difference("level", levels[:, place], expected):
            fail("a single search finds the same", f"source {name_of(graph, int(sources[place]))}: {differs}")


@njit(cache=True, nogil=True)
def _first_offenders(indptr, indices, sources, levels, limit, wrong, first):
    """Write a vertex that breaks the edge rule to ``wrong`` for each column of ``levels``, where there is one."""
    n, columns = levels.shape
    joined = np.zeros((n, columns), np.bool_)
    for c in range(columns):
        joined[sources[first + c], c] = True
        if levels[sources[first + c], c] != 0:
            wrong[first + c] = sources[first + c]
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            for c in range(columns):
                above, below = levels[u, c], levels[v, c]
                if above < 0 or above >= limit:
                    continue
                if below < 0 or below > above + 1:
                    wrong[first + c] = v
                if below == above + 1:
                    joined[v, c] = True
    for v in range(n):
        for c in range(columns):
            # level 0 is the source's alone: it has joined, another vertex of level 0 never does
            if levels[v, c] >= 0 and not joined[v, c]:
                wrong[first + c] = v


def differences_of_sums(result: ManyResult, levels: np.ndarray) -> list[str]:
    """Return in words where what ``result`` collected is not what ``levels``, int32 (sources, n), say."""
    positive = np.where(levels > 0, levels, 0).astype(np.int64)
    expected: dict[str, np.ndarray] = {
        "depth": levels.max(axis=1, initial=0),
        "found": np.bincount(levels[levels >= 0].astype(np.int64)),
        "reach": (levels > 0).sum(axis=0),
        "reached": (levels >= 0).sum(axis=1),
        "farness": positive.sum(axis=0),
    }
    wrong = []
    for name, want in expected.items():
        have = getattr(result, name)
        if have is not None and not np.array_equal(have, want):
            wrong.append(f"{name} is {have}, by the levels {want}")
    if len(levels) and (levels[np.arange(len(levels)), result.far] != result.depth).any():
        wrong.append("a witness is not in the last level")
    if result.columns is not None:
        counts = [np.bincount(row[row >= 0], minlength=len(result.columns)) for row in levels]
        if not np.array_equal(result.columns, np.array(counts).reshape(len(levels), -1).T):
            wrong.append("vertices in each level of each source are not those of the levels")
    if result.harmonic is not None:
        reciprocal = np.divide(1.0, levels, out=np.zeros(levels.shape), where=levels > 0).sum(axis=0)
        if not np.allclose(result.harmonic, reciprocal, rtol=1e-12, atol=0):
            wrong.append("sums of reciprocals are not those of the levels")
    return wrong


class Recount:
    """Sums of levels that come batch by batch, to be held against a result."""

    def __init__(self, n: int) -> None:
        self.depth: list[int] = []
        self.reached: list[int] = []
        self.reach, self.farness = np.zeros((2, n), np.int64)
        self.pairs = 0

    def add(self, levels: np.ndarray) -> None:
        """Add ``levels`` (n, sources)."""
        self.depth += levels.max(axis=0, initial=0).tolist()
        self.reached += (levels >= 0).sum(axis=0).tolist()
        self.reach += (levels > 0).sum(axis=1)
        self.farness += np.where(levels > 0, levels, 0).sum(axis=1, dtype=np.int64)
        self.pairs += int((levels >= 0).sum())

    def require(self, result: ManyResult) -> None:
        """Refuse a result that says otherwise.

        Raises
        ------
        VerificationError
            Names what differs.
        """
        pairs: Sequence[tuple[str, np.ndarray | None, np.ndarray]] = (
            ("depth", result.depth, np.array(self.depth, np.int64)),
            ("reached", result.reached, np.array(self.reached, np.int64)),
            ("reach", result.reach, self.reach),
            ("farness", result.farness, self.farness),
            ("pairs", np.array([result.record.pairs]), np.array([self.pairs])),
        )
        for name, have, want in pairs:
            if have is not None and (differs := first_difference(name, have, want)):
                fail("what was collected is what the levels say", differs)


def verify_by(
    search: Callable[[ManyOptions], object], graph: Graph, options: ManyOptions, result: ManyResult, threads: int = 1
) -> None:
    """Have ``search`` search again, prove its levels right, and that ``result`` is what they say.

    Parameters
    ----------
    search
        Runs options as those of ``result``, which have the levels of each batch visited.
    graph
        Plain rows.

    Raises
    ------
    VerificationError
        A rule is broken.
    Unproved
        ``options.stop`` says, after a batch, that there is to be no further one.
    """
    recount, sources = Recount(graph.n), np.asarray(result.sources)
    rows = backward_of(graph) if options.backward else graph

    def check(first: int, levels: np.ndarray) -> None:
        here = sources[first : first + levels.shape[1]]
        validate_levels(rows, here, levels, max_depth=options.max_depth, threads=threads)
        recount.add(levels)
        if options.stop is not None and options.stop():
            raise Unproved("the proof was stopped")

    search(ManyOptions(sources, options.max_depth, options.backward, visit=check, width=NARROW))
    recount.require(result)


def backward_of(graph: Graph) -> Graph:
    """Return the graph whose edges are the in-edges of ``graph``."""
    incoming = graph.in_adjacency
    assert incoming is not None
    return Graph(incoming, replace(graph.flags), labels=graph.labels, first_id=graph.first_id, m=graph.m)
