"""What is planned for ranks on GPUs that are not there is what ranks on emulated ones agree on, and keep to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, split

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.gpu.peers.program import PeerComponents
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.ranked_gpus import planned_on_gpus, ranked_on_gpus
from bigbfs.engines.gpu.placement.ledger import adjacencies
from bigbfs.engines.gpu.planning import Limits
from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.gpu.ranks.plan import placing_reads
from bigbfs.engines.ranks import partition as partitions
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]
ONE, TWO = ("h1",) * 3, ("h1", "h1", "h2")
AMPLE = Limits(64 << 20, 64 << 20)
SEARCH, LABELS = (BfsOptions(),), (ComponentsOptions(),)
BOTH = (*SEARCH, *LABELS)


@pytest.fixture(autouse=True)
def without_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no rank have NCCL."""
    monkeypatch.setattr(nccl, "lack", lambda: "none here")


def run_and_planned(graph: Graph, hosts: tuple[str, ...], work: Any, limits: Limits, **how: Any) -> list[Any]:
    """Hold the plans of a run against those made without it; return the ranks' plan, bytes placed, and bytes read."""
    machine(BUILD)
    agreed = planned_on_gpus(graph, hosts, work, limits, **how)

    def rank(group: Any) -> Any:
        runtime = SimtRuntime(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        given = how | {"vram_budget": limits.vram, "ram_budget": limits.ram, "runtime": runtime}
        with ranked_on_gpus(graph, group, work, **given) as engine:
            placed = engine._placed
            for each in work:
                engine.run_internal(each)
            assert (placed._form, placed.transport) == (agreed.form, agreed.transport)
            assert placed._partition.kind == agreed.partition.kind
            assert np.array_equal(placed._partition.bounds, agreed.partition.bounds)
            read = [rows.traffic.bytes for rows in placed._placed] if placed.residency == "streamed" else []
            return placed.plan, placed.buffers(), placed.bytes, sum(read)

    found = run(len(hosts), rank, limit=120.0, hosts=hosts)
    assert [plan for plan, *_ in found] == list(agreed.plans)
    return found


PLANNED = ("two-hubs", "directed-in-rows", "directed-out-only", "kronecker")


def begin(graph: Graph, hosts: tuple[str, ...], limits: Limits) -> None:
    """Begin a search that will not fit."""

    def rank(group: Any) -> None:
        runtime = SimtRuntime(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        given = {"vram_budget": limits.vram, "ram_budget": limits.ram, "runtime": runtime}
        ranked_on_gpus(graph, group, SEARCH, **given).close()

    run(len(hosts), rank, limit=120.0, hosts=hosts)


@pytest.mark.covered
@pytest.mark.parametrize(
    ("number", "name", "codec"),
    split(
        product(range(3), PLANNED, CODECS),
        lambda number, name, codec: in_turn(codec, number, name) and (number + PLANNED.index(name)) % 2 == 0,
    ),
)
def test_streamed(number: int, name: str, codec: str) -> None:
    """Device and host memory are no more than planned, and placing reads what it was to read, to the byte."""
    work = (SEARCH, LABELS, BOTH)[number]
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    for hosts in (ONE, TWO):
        found = run_and_planned(graph, hosts, work, AMPLE, residency="streamed")
        whole = sum(rows.edges.nbytes for _, rows in adjacencies(graph))
        assert sum(placing_reads(plan) for plan, *_ in found) == whole
        for plan, buffers, taken, read in found:
            assert plan.head_groups and read == placing_reads(plan)
            counted: Counter[str] = Counter()
            for each in plan.buffers:
                counted[each.name] += each.bytes if each.where == "vram" else 0
            assert all(nbytes <= counted[array] for array, nbytes in buffers.items())
            assert taken.device <= plan.device_bytes
            assert plan.stage_bytes <= taken.host <= plan.host_bytes + plan.bytes_in("host")


@pytest.mark.parametrize("hosts", [ONE, TWO])
def test_edges_in_memory(hosts: tuple[str, ...]) -> None:
    plain = zoo.shared()["kronecker"]
    for residency in ("auto", "vram", "mapped"):
        for work in (SEARCH, BOTH):
            found = run_and_planned(plain, hosts, work, AMPLE, residency=residency)
            assert {placing_reads(plan) for plan, *_ in found} == {0}


def test_all_rows_on_each_gpu_are_planned_and_refused_where_there_is_no_form(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = zoo.shared()["kronecker"]
    edges = plain.adjacency.edges.nbytes
    for work in (SEARCH, BOTH):
        for plan, buffers, *_ in run_and_planned(plain, ONE, work, AMPLE, kind="whole"):
            assert plan.whole and plan.residency == "vram" and buffers["indices"] == edges
    monkeypatch.setattr(PeerComponents, "TAKES_ALL_ROWS", False)
    for work, hosts, residency, why in (
        (BOTH, ONE, "auto", "not all of this work has a form"),
        (SEARCH, TWO, "auto", "those of one machine"),
        (SEARCH, ONE, "mapped", "edges that are mapped lie outside"),
        (SEARCH, ONE, "streamed", "each rank reads one stretch"),
    ):
        with pytest.raises(UsageError, match=why):
            planned_on_gpus(plain, hosts, work, AMPLE, kind="whole", residency=residency)
    with pytest.raises(DoesNotFitError, match=r"partition=.auto"):
        planned_on_gpus(plain, ONE, SEARCH, Limits(edges, 64 << 20), kind="whole")
    with pytest.raises(UsageError, match="on GPUs of one machine alone"):
        partitions.choose(np.asarray(plain.adjacency.indptr), (np.zeros(0, np.int64),) * 2, 2, "whole")


def test_what_auto_falls_to() -> None:
    """Budgets between what streaming and what mapping takes: the plan falls and is refused as the run is."""
    plain = zoo.build(3_000, zoo.random(3_000, 400_000, seed=5))
    limits = Limits(3 << 19, 1 << 20)
    for kind, lines in (("words", 1), ("ranges", 0)):
        for work in (SEARCH, LABELS):
            for plan, *_ in run_and_planned(plain, ("h1", "h1"), work, limits, kind=kind):
                assert (plan.residency, len(plan.why)) == ("streamed", lines) and plan.fits
    tight = replace(limits, vram=1 << 10)
    for hosts in (("h1", "h2"), ("here", "here")):
        with pytest.raises(DoesNotFitError) as error:
            planned_on_gpus(plain, hosts, SEARCH, tight)
        said = str(error.value)
        with pytest.raises(DoesNotFitError) as error:
            begin(plain, hosts, tight)
        assert str(error.value) == said
