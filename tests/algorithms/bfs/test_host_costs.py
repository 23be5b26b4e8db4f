"""Which way a level goes over GPUs whose hosts run it, and what is told: by predicted time, and as forced."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.hosts.arguments import LEAST_LIST
from bigbfs.algorithms.bfs.gpu.hosts.costs import (
    MOST_PARTS,
    NCCL_BETWEEN,
    Model,
    choose,
    link_of,
    parts_of,
    rows_seconds,
)
from bigbfs.algorithms.bfs.ranks.costs import NEVER, OTHER_HOST, Forced, Frontier, Link
from bigbfs.engines.gpu.runtime.beside import Stream

N, M = 1 << 26, 1 << 31
MODEL = Model(
    n=N, m=M, ranks=8, id_bytes=4, link=NCCL_BETWEEN, control=OTHER_HOST, unit=costs(N, "vram"), heads=8,
    longest_list=N // 32, defer_from=1 << 17,
)  # fmt: skip
FREE = Forced()


def frontier(vertices: int, edges: int, reached: float, stale: float = 0.0) -> Frontier:
    """Return a frontier behind which a share of the vertices and edges is visited, a share of which nobody was told."""
    left, known = int(N * (1 - reached)), int(M * (1 - reached))
    return Frontier(3, vertices, edges, left, known, int(N * stale), int(M * stale))


def test_thin_levels_expand_and_wide_ones_pull() -> None:
    assert not choose(MODEL, frontier(100, 3000, 1e-4), FREE, pulls=True, missed=None).up
    wide = frontier(1 << 22, 1 << 30, 0.3)
    assert choose(MODEL, wide, FREE, pulls=True, missed=None).up
    assert not choose(MODEL, wide, FREE, pulls=False, missed=None).up


def test_lines_of_rows_that_heads_hold_cost_nothing() -> None:
    mapped = replace(MODEL, unit=costs(N, "mapped"))
    wide = frontier(1 << 20, 1 << 25, 0.1)
    held, far = (rows_seconds(replace(mapped, far_rows=share), wide) for share in (0.25, 1.0))
    lines = (1 << 25) * 4 / 128 + (1 << 20)
    assert far - held == pytest.approx(0.75 * lines * mapped.unit.line * 1e-12 / 8)


def test_few_are_told_one_by_one_and_many_by_bits() -> None:
    for vertices, kind in ((1000, "list"), (N // 33, "list"), (N // 31, "bitmap"), (N, "bitmap")):
        found = choose(MODEL, frontier(vertices, M // 2, 0.3), Forced(up=(True,)), pulls=True, missed=None)
        assert (found.up, found.sync) == (True, kind)


def test_what_is_forced_holds_but_for_lists_that_no_buffer_takes() -> None:
    up = (True,)
    for kind in ("list", "bitmap"):
        found = choose(MODEL, frontier(1000, M // 2, 0.3), Forced(kind, up), pulls=True, missed=None)
        assert found.sync == kind
    assert choose(MODEL, frontier(N, M, 0.3), Forced("list", up), pulls=True, missed=None).sync == "bitmap"
    small = replace(MODEL, n=100, m=300, longest_list=LEAST_LIST)
    assert choose(small, Frontier(0, 90, 200, 9, 90, 0, 0), Forced("list", up), pulls=True, missed=None).sync == "list"


def test_what_is_visited_is_told_where_that_saves_claims() -> None:
    stale = frontier(1 << 22, 1 << 29, 0.9, stale=0.89)
    assert choose(MODEL, stale, FREE, pulls=False, missed=None).sync == "bitmap"
    assert choose(MODEL, stale, Forced(NEVER), pulls=False, missed=None).sync is None
    assert choose(MODEL, frontier(10, 300, 0.9, stale=0.89), FREE, pulls=False, missed=None).sync is None
    assert choose(MODEL, frontier(1 << 22, 1 << 29, 0.9), FREE, pulls=False, missed=None).sync is None  # all is known
    assert choose(MODEL, frontier(10, 300, 0.1, stale=0.1), Forced("list"), pulls=False, missed=None).sync == "bitmap"


def test_one_alone_tells_nobody() -> None:
    alone = replace(MODEL, ranks=1)
    for up in (True, False):
        found = choose(alone, frontier(1000, M // 2, 0.3, 0.2), Forced("bitmap", (up,)), pulls=True, missed=None)
        assert (found.up, found.sync) == (up, None)


def test_heads_that_did_not_decide_are_counted_and_else_expected() -> None:
    now = frontier(1 << 20, 1 << 28, 0.5)
    assert MODEL.open_heads(now, 77) == 77
    assert MODEL.open_heads(now, None) == int(now.unvisited * 0.5**8)
    assert replace(MODEL, heads=0).open_heads(now, None) == now.unvisited


@pytest.mark.parametrize("one_host", [True, False])
def test_nccl_is_quicker_than_the_way_over_hosts(one_host: bool) -> None:
    nccl, mpi = (link_of(name, one_host) for name in ("nccl", "mpi"))
    assert nccl.bytes_per_second > 5 * mpi.bytes_per_second
    assert mpi.call > 2 * 10e-6


def test_parts_where_claims_and_rows_take_their_time() -> None:
    """A level of 2^20 vertices of a uniform graph whose rows are mapped: as long to read as its claims to travel."""
    mapped = replace(MODEL, ranks=2, unit=costs(N, "mapped"))
    wide, thin = frontier(1 << 20, 1 << 25, 0.02), frontier(1000, 32_000, 1e-4)
    assert 1 < parts_of(mapped, wide, told=True) <= MOST_PARTS
    assert parts_of(mapped, thin, told=True) == 1
    assert parts_of(replace(mapped, ranks=1), wide, told=True) == 1
    free = replace(mapped, link=Link(40e-6, 1e15))
    assert parts_of(free, wide, told=True) == 1  # nothing to hide
    down = Forced(up=(False,))
    rows, claims = (
        choose(each, wide, down, pulls=True, missed=None).seconds
        for each in (free, replace(mapped, unit=Costs(0, 0, 0, 0)))
    )
    both = choose(mapped, wide, down, pulls=True, missed=None).seconds
    assert max(rows, claims) < both < rows + claims - 2e-4


def test_a_second_stream_waits_for_the_usual_one_which_waits_for_it() -> None:
    said: list[tuple[str, ...]] = []

    class Fake:
        def __init__(self, name: str = "second", non_blocking: bool = True) -> None:
            assert non_blocking
            self.name = name

        def record(self) -> str:
            said.append((self.name, "recorded"))
            return self.name

        def wait_event(self, event: str) -> None:
            said.append((self.name, "waits for", event))

        def __enter__(self) -> None:
            current.append(self)

        def __exit__(self, *error: Any) -> None:
            current.pop()

    current = [Fake("usual")]
    beside = Stream(SimpleNamespace(Stream=Fake, get_current_stream=lambda: current[-1]))
    beside.launch(lambda: said.append((current[-1].name, "works")))
    said.append((current[-1].name, "carries"))
    beside.join()
    assert said == [
        ("usual", "recorded"), ("second", "waits for", "usual"), ("second", "works"), ("usual", "carries"),
        ("second", "recorded"), ("usual", "waits for", "second"),
    ]  # fmt: skip
