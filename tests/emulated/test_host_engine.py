"""The engine of one of several emulated GPUs that reach nobody's memory: placed by its ledger, searched, proved."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, split

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DoesNotFitError, FormatError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.nccl import NcclOfThreads
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]
TWO_HOSTS = ("h1", "h1", "h2")


IN_FILES = tuple(product(("two-hubs", "directed-in-rows", "directed-out-only", "wide-ids-hub"), CODECS))
PLACED = tuple(product(("two-hubs", "directed-in-rows", "relabelled"), CODECS, ("vram", "mapped")))


def trees(name: str, codec: str, residency: str = "") -> bool:
    """Return whether ``make test`` searches this: each graph in each place in one codec; labels take the other."""
    return in_turn(codec, name, int(residency == "mapped"))


@pytest.fixture
def with_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every rank have NCCL, between threads."""
    monkeypatch.setattr(nccl, "lack", lambda: None)
    monkeypatch.setattr(
        nccl, "NcclTransport", lambda runtime, group, patience: NcclOfThreads(runtime, group, 0, patience)
    )


@pytest.fixture
def without_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no rank have NCCL."""
    monkeypatch.setattr(nccl, "lack", lambda: "none here")


def over(graph: Graph, size: int, work: Any, *, hosts: tuple[str, ...] | None = None, **how: Any) -> list[Any]:
    """Return what ``work(engine)`` returns on each of so many emulated GPUs."""
    machine(BUILD)

    def rank(group: Any) -> Any:
        runtime = SimtRuntime(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        options = {"asked": (BfsOptions(),)} | how
        with ranked_on_gpus(graph, group, options.pop("asked"), runtime=runtime, **options) as engine:
            found = work(engine)
        assert runtime.closed
        return found

    return run(size, rank, limit=120.0, hosts=hosts)


def measured_and_planned(record: Any, buffers: dict[str, int], plan: Any, transport: str) -> None:
    """Hold what three ranks measured, and what they have placed, against what it should be."""
    assert record.verified and [each.rank for each in record.ranks] == [0, 1, 2]
    assert record.seconds >= max(each.seconds for each in record.ranks)
    assert all(0 <= each.waited <= each.seconds and each.sent > 0 for each in record.ranks)
    counted = {buffer.name: buffer.bytes for buffer in plan.buffers if buffer.where == "vram"}
    staged = [buffer.bytes for buffer in plan.buffers if buffer.name == "staging"]
    assert len(staged) == (transport == "mpi") and all(staged)
    for array, nbytes in buffers.items():
        if not (plan.residency == "mapped" and array.endswith(("indices", "blob"))):
            assert nbytes <= counted[array], array


def proved(graph: Graph, plain: Graph, transport: str, how: dict[str, Any]) -> None:
    """Search twice on three ranks, and hold trees, records and ledger against what they should be."""
    source = int(plain.degrees().argmax())

    def work(engine: Any) -> Any:
        placed = engine._placed
        assert (engine.backend, placed.transport) == ("gpu", transport)
        measured = engine.measure(BfsOptions(source), trials=2, verify=True)
        short = engine.measure(BfsOptions(source, 1), verify=True).internal
        return measured.internal, short, placed.buffers(), placed.plan

    levels = reference_bfs(plain, source)[0]
    for rank, (result, short, buffers, plan) in enumerate(over(graph, 3, work, **how)):
        record = result.record
        assert record.reached == (levels >= 0).sum() and record.depth == levels.max()
        assert len(record.exchanges) == len(record.levels)
        assert set(record.exchanges) <= {"claims", "list", "bitmap", "bitmap claims"}
        measured_and_planned(record, buffers, plan, transport)
        if rank == 0:
            assert np.array_equal(result.levels, levels)
            validate_tree(plain, source, result.levels, result.parents)
            assert np.array_equal(short.levels, np.where(levels <= 1, levels, -1))
        else:
            assert (result.levels == -1).all() and (result.parents == -1).all()


@pytest.mark.parametrize(("name", "codec", "residency"), split(PLACED[:8], trees))
def test_trees_by_way_of_hosts(name: str, codec: str, residency: str, without_nccl: None) -> None:
    """Asked for on one machine, and what several machines without NCCL get."""
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    proved(
        graph,
        plain,
        "mpi",
        {"residency": residency, "transport": "mpi", "exchange": ("list", "auto")[codec == "plain"]},
    )
    if residency == "vram":
        proved(graph, plain, "mpi", {"hosts": TWO_HOSTS, "exchange": "bitmap"})


@pytest.mark.parametrize(("name", "codec"), split(IN_FILES, trees))
def test_trees_of_rows_in_the_file(name: str, codec: str, without_nccl: None) -> None:
    """Streamed, on one machine and on two; ranges, whatever the graph."""
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    proved(graph, plain, "mpi", {"residency": "streamed", "hosts": (None, TWO_HOSTS)[codec == "plain"]})


def test_auto_falls_to_the_file(with_nccl: None) -> None:
    """Where no more may be page-locked than stages take, on any rank; words become ranges, and that is said."""
    plain = zoo.build(3_000, zoo.random(3_000, 400_000, seed=5))
    source = int(plain.degrees().argmax())
    sizes = {"vram_budget": 3 << 19, "ram_budget": 1 << 20}

    def work(engine: Any) -> Any:
        placed = engine._placed
        result = engine.run_internal(BfsOptions(source))
        engine.verify_internal(BfsOptions(source), result)
        return result, placed.residency, placed.transport, placed.plan

    for kind, said in (("words", 1), ("ranges", 0)):
        found = over(plain, 2, work, kind=kind, **sizes)
        for _, residency, transport, plan in found:
            assert (residency, transport) == ("streamed", "nccl")
            assert plan.fits and plan.host_bytes <= sizes["ram_budget"]
            assert sum("ranges, not words" in line for line in plan.why) == said
        assert np.array_equal(found[0][0].levels, reference_bfs(plain, source)[0])
    with pytest.raises(DoesNotFitError, match='use residency="streamed"'):
        over(plain, 2, work, residency="mapped", **sizes)
    with pytest.raises(DoesNotFitError, match="does not fit 2 GPUs"):
        over(plain, 2, work, transport="peers", **sizes)
    with pytest.raises(DoesNotFitError, match="does not fit 2 GPUs"):
        over(plain, 2, lambda engine: None, asked=(ComponentsOptions(),), transport="peers", **sizes)


def test_components_fall_to_the_file(with_nccl: None) -> None:
    plain = zoo.build(3_000, zoo.random(3_000, 400_000, seed=5))
    sizes = {"vram_budget": 3 << 19, "ram_budget": 1 << 20}

    def work(engine: Any) -> Any:
        return engine.measure(ComponentsOptions(), verify=True).internal, engine._placed.residency

    found = over(plain, 2, work, asked=(ComponentsOptions(),), **sizes)
    assert {residency for _, residency in found} == {"streamed"}
    assert np.array_equal(found[0][0].labels, reference_components(plain))


def test_what_rows_in_the_file_do_not_go_with(without_nccl: None) -> None:
    plain = zoo.shared()["kronecker"]
    for how, said in (
        ({"transport": "peers"}, r'run by hosts.*; use transport="auto"'),
        ({"exchange": "list", "transport": "mpi"}, r'one way to tell what is visited; use exchange="auto"'),
        ({"kind": "words"}, r'one stretch of the file.*; use partition="ranges"'),
        ({"residency": "elsewhere"}, r'or in the file; use residency="vram"'),
    ):
        with pytest.raises(UsageError, match=said):
            over(plain, 2, lambda engine: None, **({"residency": "streamed"} | how))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("asked", [(BfsOptions(),), (ComponentsOptions(),)])
def test_damaged_rows_in_the_file_are_refused_by_all(asked: Any, codec: str, without_nccl: None) -> None:
    """Each rank's host looks at its own rows, and only at these; all ranks refuse what any has found."""
    plain = zoo.shared()["kronecker"]
    for place in (3, plain.m - 3):
        indices = plain.adjacency.indices.copy()
        indices[place] = plain.n
        wrong = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
        if codec == "varint":
            blob = plain.compress().adjacency
            where = place if place == 3 else len(blob.blob) - 3
            broken = blob.blob.copy()
            broken[where] = 0xFF
            wrong = Graph(replace(blob, blob=broken), plain.flags)
        with pytest.raises(FormatError, match=r"no vertex|corrupted|bytes"):
            over(wrong, 3, lambda engine: None, residency="streamed", asked=asked)


def test_trees_by_nccl(with_nccl: None) -> None:
    plain = zoo.shared()["two-hubs"]
    proved(plain, plain, "nccl", {"hosts": TWO_HOSTS})
    proved(plain.compress(), plain, "nccl", {"transport": "nccl", "exchange": "list", "kind": "ranges"})


def labelled(graph: Graph, plain: Graph, transport: str, how: dict[str, Any]) -> None:
    """Find the components in two ways on three ranks, and hold labels, records and ledger against what they should
    be."""

    def work(engine: Any) -> Any:
        placed = engine._placed
        assert (engine.backend, placed.transport) == ("gpu", transport)
        measured = engine.measure(ComponentsOptions(), trials=2, verify=True).internal
        again = engine.measure(ComponentsOptions(rounds=0, skip_giant=False), verify=True).internal
        return measured, again, placed.buffers(), placed.plan

    labels = reference_components(plain)
    asked = (ComponentsOptions(),)
    for rank, (result, again, buffers, plan) in enumerate(over(graph, 3, work, asked=asked, **how)):
        assert result.record.components == len(np.unique(labels))
        assert (result.record.largest, result.record.passes) == (np.bincount(labels).max(), 1)
        measured_and_planned(result.record, buffers, plan, transport)
        for found in (result, again):
            assert np.array_equal(found.labels, labels if rank == 0 else np.empty(0))


@pytest.mark.parametrize(("name", "codec", "residency"), split(PLACED, lambda *case: not trees(*case)))
def test_labels_by_way_of_hosts(name: str, codec: str, residency: str, without_nccl: None) -> None:
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    labelled(graph, plain, "mpi", {"residency": residency, "transport": "mpi"})
    if residency == "vram":
        labelled(graph, plain, "mpi", {"hosts": TWO_HOSTS, "kind": "ranges"})


@pytest.mark.parametrize(("name", "codec"), split(IN_FILES, lambda *case: not trees(*case)))
def test_labels_of_rows_in_the_file(name: str, codec: str, without_nccl: None) -> None:
    """Streamed, on one machine and on two; ranges, whatever the graph."""
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    labelled(graph, plain, "mpi", {"residency": "streamed", "hosts": (None, TWO_HOSTS)[codec == "plain"]})


def test_labels_by_nccl(with_nccl: None) -> None:
    plain = zoo.shared()["two-hubs"]
    labelled(plain, plain, "nccl", {"hosts": TWO_HOSTS, "residency": "streamed"})
    labelled(plain, plain, "nccl", {"hosts": TWO_HOSTS})
    labelled(plain.compress(), plain, "nccl", {"transport": "nccl", "kind": "ranges"})


@pytest.mark.parametrize("residency", ["auto", "streamed"])
@pytest.mark.parametrize("name", ["empty", "one-vertex", "isolated"])
def test_labels_where_there_is_next_to_nothing(name: str, residency: str) -> None:
    plain = zoo.shared()[name]

    def work(engine: Any) -> Any:
        return engine.measure(ComponentsOptions(), verify=True).internal

    result = over(plain, 3, work, asked=(ComponentsOptions(),), transport="mpi", residency=residency)[0]
    assert np.array_equal(result.labels, np.arange(plain.n)) and result.record.components == plain.n


@pytest.mark.parametrize("residency", ["auto", "streamed"])
def test_trees_and_labels_by_turns(residency: str, with_nccl: None) -> None:
    """One engine, both kinds of work, each with a transport of its own."""
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())

    def work(engine: Any) -> Any:
        found = []
        for options in (ComponentsOptions(), BfsOptions(source)) * 2:
            found.append(engine.run_internal(options))
            engine.verify_internal(options, found[-1])
        return found

    both = (BfsOptions(), ComponentsOptions())
    first = over(plain, 3, work, asked=both, hosts=TWO_HOSTS, residency=residency)[0]
    for found in (first[:2], first[2:]):
        assert np.array_equal(found[0].labels, reference_components(plain))
        assert np.array_equal(found[1].levels, reference_bfs(plain, source)[0])


def test_one_machine_is_for_peers(with_nccl: None) -> None:
    plain = zoo.shared()["kronecker"]
    assert over(plain, 2, lambda engine: engine._placed.transport) == ["peers"] * 2


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
        with pytest.raises(VerificationError, match=r"rank \d \(host h\d\): wrong result: \d+ edges and \d+ vert"):
            engine.verify_internal(options, result)

    over(plain, 3, work, hosts=TWO_HOSTS, transport="mpi")


def test_levels_and_parents_left_out(without_nccl: None) -> None:
    """What a search leaves out does not show in the next, nor does its source that no edge leads to."""
    plain = zoo.shared()["directed-in-rows"]
    source = int(np.flatnonzero(np.bincount(plain.adjacency.indices, minlength=plain.n) == 0)[0])
    other = int(plain.degrees().argmax())
    runs = [
        (source, True, True),
        (other, False, True),
        (other, True, False),
        (source, False, False),
        (other, True, True),
    ]

    def work(engine: Any) -> Any:
        return [engine.run_internal(BfsOptions(first, None, a, b)) for first, a, b in runs]

    for (first, a, b), result in zip(runs, over(plain, 2, work, transport="mpi")[0], strict=True):
        levels = reference_bfs(plain, first)[0]
        assert np.array_equal(result.levels, levels if a else np.full(plain.n, -1))
        assert np.array_equal(result.parents >= 0, (levels > 0) & b)


def test_what_has_no_form_over_hosts_is_refused(without_nccl: None) -> None:
    plain = zoo.shared()["kronecker"]
    both = (BfsOptions(), TopologicalOptions())
    with pytest.raises(UsageError, match=r"toposort does not run on several GPUs; take one$"):
        over(plain, 3, lambda engine: None, hosts=TWO_HOSTS, asked=both)
    over(plain, 3, lambda engine: engine.run_internal(BfsOptions(0)), hosts=TWO_HOSTS, asked=both, usual=True)
    for how, said in (
        (ComponentsOptions("sv"), "by Afforest"),
        (ComponentsOptions(single_pass=True), "not on several"),
    ):
        with pytest.raises(UsageError, match=said):
            over(plain, 3, lambda engine: None, hosts=TWO_HOSTS, asked=(how,))
    with pytest.raises(UsageError, match=r'components have one way to tell .*; use exchange="auto"'):
        over(plain, 3, lambda engine: None, hosts=TWO_HOSTS, asked=(ComponentsOptions(),), exchange="list")
    with pytest.raises(UsageError, match="runs on one GPU"):
        over(plain, 2, lambda engine: None, asked=(BfsOptions(strategy="queue"),), transport="mpi")
