"""Even rows of mapped graphs over ranks: as many heads as on one GPU, and what they hold is read there alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zoo
from wide import split

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus
from bigbfs.engines.gpu.planning import DEVICE_SHARE, Limits, head_ladder
from bigbfs.engines.gpu.ranks.plan import own_bytes, plan_of, ways, with_hot_rows
from bigbfs.engines.ranks import partition as partitions
from bigbfs.engines.ranks.threads import run
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.peers import SPINS, Peers, search
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]

ENOUGH = Limits(1 << 40, 1 << 40)


def ring(neighbours: int, size: int = 600) -> Graph:
    """Return a ring whose vertices are joined to so many."""
    here = np.arange(size)
    return zoo.build(size, zoo.join(*((here, (here + step) % size) for step in range(1, neighbours // 2 + 1))))


def spoilt(engine: Any) -> None:
    """Spoil every copy of own rows but the heads."""
    for each in engine._placed._placed:
        each._mapping.array[:] = 0
        if "near" in each.arrays:
            each.arrays["near"][:] = 0


@pytest.mark.covered
@pytest.mark.parametrize(
    ("neighbours", "groups", "strategy", "transport"),
    split(
        [
            (*each, strategy, transport)
            for each in ((16, 6), (24, 8), (32, 8))
            for strategy in ("auto", "topdown")
            for transport in ("peers", "mpi")
        ],
        lambda neighbours, groups, strategy, transport: (
            (strategy == "auto") == ((transport == "mpi") ^ (neighbours == 24))
        ),
    ),
)
def test_rows_that_heads_hold_are_read_from_them(neighbours: int, groups: int, strategy: str, transport: str) -> None:
    graph = ring(neighbours)
    machine(BUILD)

    def rank(group: Any) -> Any:
        runtime = SimtRuntime(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        how = {"strategy": strategy, "transport": transport, "residency": "mapped", "runtime": runtime}
        with ranked_on_gpus(graph, group, (BfsOptions(strategy=strategy),), **how) as engine:
            spoilt(engine)
            found = [engine.run_internal(BfsOptions(source, strategy=strategy)) for source in (0, 299)]
            return found, engine._placed.plan, engine._placed.buffers()

    for number, (found, plan, taken) in enumerate(run(3, rank, limit=120.0)):
        assert plan.head_groups == groups
        heads = next(buffer.bytes for buffer in plan.buffers if buffer.name == "heads")
        assert taken["heads"] == groups * 4 * graph.n * graph.ids.itemsize <= heads
        for source, result in zip((0, 299), found, strict=True):
            if number == 0:
                assert np.array_equal(result.levels, reference_bfs(graph, source)[0])
                validate_tree(graph, source, result.levels, result.parents)


def test_ranks_try_what_one_gpu_tries() -> None:
    graph = ring(24)
    for work in ((BfsOptions(),), (ComponentsOptions(),), (BfsOptions(), ComponentsOptions())):
        for residency in ("vram", "mapped", "streamed"):
            tried = list(dict.fromkeys(groups for _, groups, *_ in ways(graph, residency, work)))
            assert tried == list(head_ladder(graph, residency, work))
    assert [groups for _, groups, *_ in ways(graph, "mapped", (ComponentsOptions(),))] == [2, 1, 0]


def test_heads_and_hot_rows_of_a_rank_take_no_more_than_on_one_gpu() -> None:
    graph = ring(32, 60_000)
    partition = partitions.deal(graph.n, 2)
    groups = head_ladder(graph, "mapped")[0]
    plan = plan_of(graph, partition, 1, "mapped", groups, ENOUGH, True, ())
    most = int(DEVICE_SHARE * graph.adjacency.edges.nbytes)
    heads = sum(buffer.bytes for buffer in plan.buffers if buffer.name == "heads")
    for share in (0.5, 1.0):
        hot = with_hot_rows(plan, graph, partition, 1, share).hot_bytes
        assert 0 < hot <= min(share * own_bytes(graph.adjacency, partition, 1), most - heads + 4096)


def test_lines_of_rows_that_heads_hold_cost_nothing() -> None:
    """A line of a row outweighs all else: top-down wins where no row is read, and where all are, bottom-up does."""
    graph, costs = ring(32), Costs(0, 1000, 0, 10**9)
    for groups, turns in ((8, False), (1, True)):
        peers = Peers(2, mapped=True, head_groups=groups, tuning=Tuning(costs=costs, thin_to=0))
        (searched,) = search(graph, BUILD, peers, [(0, None)])
        assert np.array_equal(searched.levels, reference_bfs(graph, 0)[0])
        assert ("bottom-up" in {level.direction for level in searched.found[0].levels}) == turns
