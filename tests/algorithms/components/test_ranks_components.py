"""Components over ranks against the reference: threads play the ranks, over the zoo, with every partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wide
import zoo

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.ranks.merge import Merge
from bigbfs.algorithms.components.reference import components as reference
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import threads
from bigbfs.errors import UsageError, VerificationError
from bigbfs.graph.graph import Graph


def over_ranks(graph: Graph, size: int, kind: str = "words", *, count: int = 1, **how: Any) -> ComponentsResult:
    def rank(group: Any) -> ComponentsResult:
        with RankedEngine(graph, group=group, threads=count, partition=kind) as engine:
            options = ComponentsOptions(**how)
            result = engine.run(options)
            engine.program(options).verify(options, result)
            return engine.run(options)

    everyone = threads.run(size, rank)
    assert len({str(result.record.ranks) for result in everyone}) == 1
    return everyone[0]


@pytest.mark.parametrize("turn", wide.split(range(10), lambda turn: turn < 2))
def test_zoo(turn: int) -> None:
    for number, name in enumerate(name for name in zoo.names() if "wide" not in name):
        graph, at = zoo.shared()[name], number + turn
        size, kind = (2, 3, 1, 8, 5)[at % 5], ("words", "ranges")[(at + turn) % 2]
        labels = reference(graph)
        result = over_ranks(graph, size, kind)
        np.testing.assert_array_equal(result.labels, labels, err_msg=name)
        assert result.record.components == len(np.unique(labels))
        assert result.record.largest == (np.bincount(labels).max() if graph.n else 0)


@pytest.mark.parametrize("kind", ["words", "ranges"])
@pytest.mark.parametrize("size", [5, 8])
def test_a_tree_that_comes_into_the_giant_takes_vertices_of_others_along(size: int, kind: str) -> None:
    """One end of an edge stored: a vertex is in the giant for two other ranks, and its owner must hear of it."""
    graph = zoo.shared()["directed-out-only"]
    np.testing.assert_array_equal(over_ranks(graph, size, kind).labels, reference(graph))


def test_compressed_wide_ids_and_threads_of_a_rank() -> None:
    graph = zoo.shared()["wide-ids-hub"]
    result = over_ranks(graph.compress(), 3, count=2, skip_giant=False)
    np.testing.assert_array_equal(result.labels, reference(graph))


def test_bytes_are_those_of_the_formula() -> None:
    """Of a graph that is one tree on each rank: bits for the other's words, and the name of the giant."""
    graph = zoo.shared()["clique"]
    result = over_ranks(graph, 2)
    bits = 8  # 65 vertices: a word each
    lengths, counts, names = 16, 8, 2 * 4
    assert [rank.sent for rank in result.record.ranks] == [bits + lengths + counts + names] * 2


def test_other_algorithms_are_refused() -> None:
    with pytest.raises(UsageError, match="found by Afforest"):
        over_ranks(zoo.shared()["clique"], 2, algorithm="sv")


@pytest.mark.parametrize("lost", ["bits", "pairs", "roots"])
def test_planted_bugs_are_caught(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not arrive: the giant's bits, a vertex with its root, or names united by no one.

    Where every edge is stored with both ends the bits only save pairs; with one end, they alone tell the other owner.
    """
    if lost == "roots":
        monkeypatch.setattr("bigbfs.algorithms.components.ranks.merge.forest.unite", lambda parents, left, right: None)
    elif lost == "bits":
        monkeypatch.setattr(Merge, "_join", lambda self, trees, hub: False)
    else:
        messages = Merge._messages
        monkeypatch.setattr(Merge, "_messages", lambda self, some, roots: messages(self, some[:0], roots[:0]))
    with pytest.raises(VerificationError, match=r"rank \d \(host here\): wrong result"):
        for name in ("path", "directed-out-only"):
            over_ranks(zoo.shared()[name], 3)
