"""The engine of one of several GPUs on emulated devices: placed by its ledger, searched, proved, and left together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, split

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.ranked_gpus import levels_of_one, ranked_on_gpus
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.engines.ranks import partition
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DeviceError, DoesNotFitError, FormatError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]

USUAL = (BfsOptions(),)
JOINT = (ComponentsOptions(),)


def over(graph: Graph, size: int, work: Any, *, asked: Any = USUAL, device: int | None = None, **how: Any) -> list[Any]:
    """Return what ``work(engine)`` returns on each of so many emulated GPUs."""
    machine(BUILD)

    def rank(group: Any) -> Any:
        number = group.rank if device is None else device
        runtime = SimtRuntime(build=BUILD, device=number, sm_count=2, spin_limit=SPINS)
        with ranked_on_gpus(graph, group, asked, runtime=runtime, **how) as engine:
            found = work(engine)
        assert runtime.closed
        return found

    return run(size, rank, limit=120.0)


@pytest.mark.covered("residency+codec", "residency+kind")
@pytest.mark.parametrize(
    ("residency", "kind"), [("vram", "auto"), ("vram", "whole"), ("vram", "lines"), ("mapped", "auto")]
)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["two-hubs", "directed-in-rows", "two-components"])
def test_trees_are_exact_and_proved(
    name: str, codec: str, residency: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "lines":  # which are dealt whole where there are many
        monkeypatch.setattr(partition, "LEAST_LINES", 0)
        kind = "whole"
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    source = int(plain.degrees().argmax())

    def work(engine: Any) -> Any:
        assert (engine.backend, engine.residency) == ("gpu", residency)
        measured = engine.measure(BfsOptions(source), trials=2, verify=True)
        short = engine.measure(BfsOptions(source, 1), verify=True).internal
        placed = engine._placed
        return measured.internal, short, placed.buffers(), placed.plan

    everyone = over(graph, 3, work, residency=residency, kind=kind)
    levels = reference_bfs(plain, source)[0]
    told = {"nothing"} if kind == "whole" else {"claims", "bitmap", "bitmap claims"}
    for rank, (result, short, buffers, plan) in enumerate(everyone):
        record = result.record
        assert plan.whole == ("nothing" in told)
        assert record.verified and record.reached == (levels >= 0).sum() and record.depth == levels.max()
        assert [each.rank for each in record.ranks] == [0, 1, 2]
        assert record.seconds >= max(each.seconds for each in record.ranks)
        assert all(0 <= each.waited <= each.seconds and (each.sent > 0 or plan.whole) for each in record.ranks)
        assert len(record.exchanges) == len(record.levels) and set(record.exchanges) <= told
        counted = {buffer.name: buffer.bytes for buffer in plan.buffers if buffer.where == "vram"}
        for array, nbytes in buffers.items():
            if not (residency == "mapped" and array.endswith(("indices", "blob"))):
                assert nbytes <= counted[array], array
        if rank == 0:
            assert np.array_equal(result.levels, levels)
            validate_tree(plain, source, result.levels, result.parents)
            assert np.array_equal(short.levels, np.where(levels <= 1, levels, -1))
        else:
            assert (result.levels == -1).all() and (result.parents == -1).all()


@pytest.mark.covered("residency+codec")
@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["two-hubs", "directed-in-rows", "directed-out-only", "relabelled"])
def test_labels_are_exact_and_proved(name: str, codec: str, residency: str) -> None:
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain

    def work(engine: Any) -> Any:
        assert (engine.backend, engine.residency) == ("gpu", residency)
        measured = engine.measure(ComponentsOptions(), trials=2, verify=True)
        again = engine.measure(ComponentsOptions(rounds=0, skip_giant=False), verify=True).internal
        return measured.internal, again, engine._placed.buffers(), engine._placed.plan

    labels = reference_components(plain)
    for rank, (result, again, buffers, plan) in enumerate(over(graph, 3, work, asked=JOINT, residency=residency)):
        record = result.record
        assert record.verified and record.components == len(np.unique(labels))
        assert (record.largest, record.passes) == (np.bincount(labels).max(), 1)
        assert [each.rank for each in record.ranks] == [0, 1, 2]
        assert record.seconds >= max(each.seconds for each in record.ranks)
        assert all(0 <= each.waited <= each.seconds and each.sent > 0 for each in record.ranks)
        counted = {buffer.name: buffer.bytes for buffer in plan.buffers if buffer.where == "vram"}
        for array, nbytes in buffers.items():
            if not (residency == "mapped" and array.endswith(("indices", "blob"))):
                assert nbytes <= counted[array], array
        for found in (result, again):
            assert np.array_equal(found.labels, labels if rank == 0 else np.empty(0))


def test_trees_and_labels_by_turns() -> None:
    """One engine, both kinds of work: what one leaves in memory that both borrow is nothing to the other."""
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())

    def work(engine: Any) -> Any:
        found = []
        for options in (ComponentsOptions(), BfsOptions(source)) * 2:
            found.append(engine.run_internal(options))
            engine.verify_internal(options, found[-1])
        return found

    first = over(plain, 2, work, asked=(*USUAL, *JOINT))[0]
    for found in (first[:2], first[2:]):
        assert np.array_equal(found[0].labels, reference_components(plain))
        assert np.array_equal(found[1].levels, reference_bfs(plain, source)[0])


@pytest.mark.parametrize("name", ["empty", "one-vertex", "isolated"])
def test_labels_where_there_is_next_to_nothing(name: str) -> None:
    plain = zoo.shared()[name]

    def work(engine: Any) -> Any:
        return engine.measure(ComponentsOptions(), verify=True).internal

    result = over(plain, 3, work, asked=JOINT)[0]
    assert np.array_equal(result.labels, np.arange(plain.n)) and result.record.components == plain.n


def test_bytes_sent_are_those_of_letters_claims_and_bits() -> None:
    """A path shared by two: where it goes from rank to rank there is a claim each way; two letters for each level."""
    graph = zoo.build(256, zoo.path(256))
    work = (BfsOptions(strategy="topdown"),)
    for kind, crossings in (("words", 3), ("ranges", 1)):
        found = over(graph, 2, lambda engine: engine.run_internal(work[0]), asked=work, strategy="topdown", kind=kind)
        claims, letters = 2 * crossings, 2 * 2 * 256
        assert sum(rank.sent for rank in found[0].record.ranks) == 8 * claims + 80 * letters


@pytest.mark.parametrize("array", ["levels", "parents"])
def test_a_wrong_tree_is_not_proved(array: str) -> None:
    """A level, or a parent, of one rank's vertex is changed before the proof: a rank says so."""
    plain = zoo.shared()["two-hubs"]

    def work(engine: Any) -> Any:
        options = BfsOptions(0)
        result = engine.run_internal(options)
        program = engine._placed.program(options)
        if program.search.group.rank == 1:
            found = program.search._arrays[array]
            vertex = int(program.search.partition.vertices(1)[5])
            found[vertex] = 0 if array == "parents" else found[vertex] + 1
        with pytest.raises(VerificationError, match=r"rank \d \(host here\): wrong result: \d+ edges and \d+ vert"):
            engine.verify_internal(options, result)

    over(plain, 2, work)


def test_levels_and_parents_left_out() -> None:
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())
    levels = reference_bfs(plain, source)[0]

    def work(engine: Any) -> Any:
        return [engine.run_internal(BfsOptions(source, None, a, b)) for a, b in ((True, False), (False, True))]

    bare, deep = over(plain, 2, work)[0]
    assert np.array_equal(bare.levels, levels) and (bare.parents == -1).all()
    assert (deep.levels == -1).all() and ((deep.parents >= 0) == (levels > 0)).all()


def test_a_source_that_no_edge_leads_to_is_forgotten() -> None:
    """Also where the search between has left levels out."""
    plain = zoo.shared()["directed-in-rows"]
    first = int(np.flatnonzero(np.bincount(plain.adjacency.indices, minlength=plain.n) == 0)[0])
    second = int(plain.degrees().argmax())

    def work(engine: Any) -> Any:
        for source, wanted in ((first, True), (second, False), (second, True)):
            result = engine.run_internal(BfsOptions(source, None, wanted))
        return result

    assert np.array_equal(over(plain, 2, work)[0].levels, reference_bfs(plain, second)[0])


def test_damaged_rows_are_found_before_anything_runs() -> None:
    plain = zoo.shared()["kronecker"]
    for place in (3, -3):
        indices = plain.adjacency.indices.copy()
        indices[place] = plain.n
        damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
        with pytest.raises(FormatError):
            over(damaged, 2, lambda engine: None)


def test_what_does_not_fit_is_refused_on_all() -> None:
    plain = zoo.shared()["kronecker"]
    with pytest.raises(DoesNotFitError, match=r"does not fit 2 GPUs.*rank 0 \(host here\)") as caught:
        over(plain, 2, lambda engine: None, vram_budget=100_000)
    # nobody has looked whether more would have room: the plan of a command does
    assert "more GPUs, where `bigbfs plan` says that they have room" in str(caught.value)


def test_what_has_no_form_over_gpus_is_refused() -> None:
    plain = zoo.shared()["kronecker"]
    with pytest.raises(UsageError, match="runs on one GPU"):
        over(plain, 2, lambda engine: None, asked=(BfsOptions(strategy="queue"),))
    with pytest.raises(UsageError, match=r"toposort does not run on several GPUs; take one$"):
        over(plain, 2, lambda engine: None, asked=(TopologicalOptions(),))
    for how in ("sv", "labelprop"):
        with pytest.raises(UsageError, match=f"{how}.*several GPUs find components by Afforest"):
            over(plain, 2, lambda engine: None, asked=(ComponentsOptions(how),))
    with pytest.raises(UsageError, match=r"single_pass.*not on several"):
        over(plain, 2, lambda engine: engine.run_internal(ComponentsOptions(single_pass=True)), asked=JOINT)
    with pytest.raises(DeviceError, match=r"rank \d\) cannot reach the memory of GPU emulated 0 .*the same GPU"):
        over(plain, 2, lambda engine: None, device=0)


@pytest.mark.parametrize("codec", split(CODECS, lambda codec: codec == "varint"))
def test_a_deep_graph_stays_on_one(codec: str) -> None:
    side = 700
    u = np.arange(side * side).reshape(side, side)
    edges = (np.concatenate([u[:, :-1].ravel(), u[:-1].ravel()]), np.concatenate([u[:, 1:].ravel(), u[1:].ravel()]))
    grid = zoo.build(side * side, edges)
    grid = grid.compress() if codec == "varint" else grid
    wide = zoo.shared()["kronecker"]
    for kind in ("auto", "words"):
        for graph in (grid, wide):
            levels = run(2, lambda group, graph=graph, kind=kind: levels_of_one(graph, group, kind))
            assert levels[0] == levels[1]
            deep = graph is grid and kind == "auto"
            assert (levels[0] is not None) == deep
            assert not deep or side / 2 < levels[0] < 3 * side
    path = zoo.build(100_000, zoo.path(100_000))
    assert 30_000 < (run(2, lambda group: levels_of_one(path, group, "auto"))[0] or 0) < 200_000


def test_components_on_rows_of_all_vertices_dealt_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that was made for searches gives labels, too."""
    monkeypatch.setattr(partition, "LEAST_LINES", 0)
    plain = zoo.shared()["kronecker"]
    found = over(plain, 2, lambda engine: engine.run(ComponentsOptions()), kind="whole", residency="vram")
    np.testing.assert_array_equal(found[0].labels, reference_components(plain))
