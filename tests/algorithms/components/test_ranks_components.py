"""Components over ranks against the reference: threads play the ranks, over the zoo, with every partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wide
import zoo

from bigbfs.algorithms.components.cpu.labels import Components
from bigbfs.algorithms.components.cpu.whole import WholeComponents
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.ranks import ancestors as asking
from bigbfs.algorithms.components.ranks import merge
from bigbfs.algorithms.components.ranks.common import CommonForest
from bigbfs.algorithms.components.ranks.merge import Merge
from bigbfs.algorithms.components.reference import components as reference
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.engines.cpu.engine import CpuEngine
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import threads
from bigbfs.errors import UsageError, VerificationError
from bigbfs.graph.graph import Graph


def over_ranks(
    graph: Graph, size: int, kind: str = "words", *, count: int = 1, exchange: str = "messages", **how: Any
) -> ComponentsResult:
    def rank(group: Any) -> ComponentsResult:
        with RankedEngine(graph, group=group, threads=count, partition=kind, exchange=exchange) as engine:
            options = ComponentsOptions(**how)
            result = engine.run(options)
            engine.program(options).verify(options, result)
            return engine.run(options)

    everyone = threads.run(size, rank)
    assert len({str(result.record.ranks) for result in everyone}) == 1
    return everyone[0]


@pytest.mark.parametrize("turn", wide.split(range(10), lambda turn: turn < 1))
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


@pytest.mark.parametrize("exchange", ["messages", "common"])
def test_one_rank_reads_what_a_process_reads(exchange: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One form: the same rounds, the same giant, the same rows left."""
    monkeypatch.setattr(WholeComponents, "choose", lambda components: None)  # by heads, as ranks
    for name in ("kronecker", "grid-2d", "random-sparse", "directed-in-rows", "directed-out-only"):
        graph = zoo.shared()[name]
        with CpuEngine(graph, threads=1) as engine:
            alone = engine.run(ComponentsOptions())
        result = over_ranks(graph, 1, exchange=exchange)
        assert result.record.edges_read == alone.record.edges_read, name
        np.testing.assert_array_equal(result.labels, alone.labels)


@pytest.mark.parametrize("kind", ["words", "ranges"])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_own_vertices_have_the_trees_of_all(size: int, kind: str) -> None:
    """Round one: what a rank knows of others' vertices is what its own ones lie under, and no more."""
    graph = zoo.shared()["kronecker"]
    with CpuEngine(graph, threads=1) as engine:
        alone = engine.program(ComponentsOptions())._components
        alone.tie()
        trees = alone.trees.copy()

    def rank(group: Any) -> tuple[np.ndarray, np.ndarray, int]:
        with RankedEngine(graph, group=group, threads=1, partition=kind, exchange="messages") as engine:
            made = engine.program(ComponentsOptions())._forest
            made.local.tie()
            own, others = made.partition.vertices(group.rank), made.local.others[0]
            assert not np.isin(others, own).any() and len(others) < len(own)
            np.testing.assert_array_equal(made.local.trees[own], trees[own])
            left = np.setdiff1d(np.arange(graph.n), np.concatenate([own, others]))
            np.testing.assert_array_equal(made.local.trees[left], left)
            return own, others, made.hub

    found = threads.run(size, rank)
    assert len({hub for _, _, hub in found}) == 1
    assert sum(len(others) for _, others, _ in found) > 0


def test_long_chains_are_asked_along_for_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, dealt in words: no more is kept than a rank owns, and what is not known goes by name."""
    graph = zoo.shared()["path"]
    for rounds in (0, 1, 8):
        monkeypatch.setattr(asking, "ROUNDS", rounds)
        np.testing.assert_array_equal(over_ranks(graph, 3).labels, reference(graph))


@pytest.mark.parametrize("lost", ["bits", "pairs", "roots", "members", "ancestors"])
def test_planted_bugs_are_caught(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not arrive, or is not used.

    The giant's bits, a vertex with its root, names united by no one, a neighbour of which was told that it is in the
    giant, and an ancestor under the wrong vertex.
    """
    if lost == "roots":
        monkeypatch.setattr(merge.forest, "unite", lambda parents, left, right: None)
    elif lost == "bits":
        monkeypatch.setattr(merge.forest, "join", lambda part, labels, hub, more: None)
    elif lost == "members":
        link_all = Components.link_all
        none = np.empty(0, np.uint64)
        monkeypatch.setattr(asking, "ROUNDS", 0)
        monkeypatch.setattr(
            Components, "link_all", lambda self, aside, giant, told, hub: link_all(self, aside, giant, none, hub)
        )
    elif lost == "ancestors":
        monkeypatch.setattr(asking, "_ask", lambda group, owners, trees, asked: np.maximum(asked, 1) - 1)
    else:
        messages = Merge._messages
        monkeypatch.setattr(Merge, "_messages", lambda self, some, roots: messages(self, some[:0], roots[:0]))
    with pytest.raises(VerificationError, match=r"rank \d \(host here\): wrong result"):
        for name in ("path", "directed-out-only", "random-sparse", "grid-2d", "two-hubs"):
            over_ranks(zoo.shared()[name], 3)


@pytest.mark.parametrize("turn", wide.split(range(5), lambda turn: turn < 1))
def test_zoo_in_one_forest(turn: int) -> None:
    """Ranks that share memory; nothing is sent."""
    for number, name in enumerate(name for name in zoo.names() if "wide" not in name):
        graph, at = zoo.shared()[name], number + turn
        result = over_ranks(graph, (2, 3, 1, 8, 5)[at % 5], ("words", "ranges")[at % 2], exchange="common")
        np.testing.assert_array_equal(result.labels, reference(graph), err_msg=name)
        assert {rank.sent for rank in result.record.ranks} == {0}


def test_one_forest_of_compressed_wide_ids_and_threads_of_a_rank() -> None:
    graph = zoo.shared()["wide-ids-hub"]
    result = over_ranks(graph.compress(), 3, count=2, skip_giant=False, exchange="common")
    np.testing.assert_array_equal(result.labels, reference(graph))


def test_pieces_of_one_forest_that_nobody_takes_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: the counter stands at the end when a pass begins."""
    begin = CommonForest._begin

    def ended(self: Any) -> np.ndarray:
        return begin(self) | np.uint64(1 << 31)

    monkeypatch.setattr(CommonForest, "_begin", ended)
    with pytest.raises((VerificationError, AssertionError)):
        for name in ("path", "random-sparse", "grid-2d"):
            np.testing.assert_array_equal(
                over_ranks(zoo.shared()[name], 3, exchange="common").labels, reference(zoo.shared()[name])
            )
