"""Many searches, emulated: what levels bottom-up know before they look: who is full, where a row ends, who brings what.

Full vertices are left alone, and caught up before a level top-down.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.many.gpu.directions import BOTTOM_UP, TOP_DOWN, Choice, Directions
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.engines.gpu.engine import GpuEngine
from emulated.many_watch import FrontierWatch
from emulated.runtime import SimtRuntime, builds_here
from emulated.test_kernels_many import GRAPHS, TUNINGS, check

HERE = builds_here()


@pytest.mark.parametrize("build", [build for build in HERE if build in ("plain", "preempt")])
@pytest.mark.parametrize(("share", "level_cost"), [(0.0, 1e9), (0.0, 0.0), (2.0, 0.0)])
def test_full_vertices_stay_behind_until_a_level_goes_top_down(build, share, level_cost):
    """A dense core is full soon; on the path that hangs off it levels wait until catching up is the cheaper way.

    Who follows on the path is in a later word of the bitmaps: who is full by a level must not be so within it.
    """
    legs = np.arange(100, 1_660, 40)
    elsewhere = np.setdiff1d(np.arange(90, 1_691), legs).reshape(2, -1)  # they never have a source
    path = np.stack([np.append(89, legs[:-1]), legs])
    graph = zoo.build(1_691, zoo.join(zoo.random(90, 2_500, seed=7), path, elsewhere))
    tuning = replace(TUNINGS["in turn"], full_share=share, pull_level=level_cost, catch_up_vertex=60.0, pull_edge=0.1)
    sources, caught_up = np.arange(60), []

    def count(name, grid, block, args):
        if name == "many_catch_up" and grid > 1:
            caught_up.append(int(args[0]["by_full"]))

    runtime, watch = SimtRuntime(build=build, seed=build == "preempt"), FrontierWatch(graph, 64)
    runtime.watchers += [watch, count]
    work = ManyOptions(sources, fetch=True, width=64, tuning=tuning)
    with GpuEngine(graph, work=(work,), runtime=runtime) as engine:
        found = engine.run(work)
    np.testing.assert_array_equal(found.levels, many(graph, sources))
    steps = found.record.steps
    assert steps[TOP_DOWN] > 5 and watch.behind == (share < 1) * (steps[BOTTOM_UP] - 1)
    assert caught_up == [1] * (share < 1)
    if share < 1:
        assert (steps[BOTTOM_UP] > 4) == (level_cost == 0)


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_a_row_ends_with_the_heads_that_hold_it_whole(codec, groups):
    """Rows of every length about that of the heads, which end a row by the vertex's own id; a self-loop ends none."""
    hubs = np.arange(40)
    legs = np.repeat(hubs, hubs % 20)
    n = 40 + len(legs)
    pairs = (np.concatenate([hubs, hubs[1:], legs]), np.concatenate([hubs, hubs[:-1], np.arange(40, n)]))
    graph = zoo.build(n, pairs, keep=True)
    placed = graph.compress() if codec == "varint" else graph
    work = ManyOptions(np.arange(0, n, 4), fetch=True, width=128, tuning=TUNINGS["bottom-up"])
    with GpuEngine(placed, work=(work,), head_groups=groups, runtime=SimtRuntime()) as engine:
        found = engine.run(work)
    np.testing.assert_array_equal(found.levels, many(graph, np.arange(0, n, 4)))
    assert found.record.steps[BOTTOM_UP] > 5


@pytest.mark.covered("how+width")
@pytest.mark.parametrize("name", ["by degree", "three hubs and a path", "dense"])
@pytest.mark.parametrize(("how", "width"), [("bottom-up", 512), ("rows apart", 512), ("rows apart", 256)])
def test_rows_are_read_for_the_words_of_one_lane(name, how, width, monkeypatch):
    """All other sources are spread; each level asks for those of another lane, as far as any search still."""

    def choose(self, stand, state, arrays):
        active, level = np.array(stand["active"]), int(stand["level"])
        lane = np.repeat(np.arange(4), 2) == level % (width // 128)
        asked = np.where(lane, active, np.uint64(0))
        if not level or not asked.any():
            return Choice(TOP_DOWN if not level else BOTTOM_UP, active)
        return Choice(BOTTOM_UP, asked, int(np.bitwise_count(active & ~asked).sum()))

    monkeypatch.setattr(Directions, "choose", choose)
    record = check(GRAPHS[name], TUNINGS[how], width, sources=np.arange(width) * 7 % GRAPHS[name].n)
    assert record.steps[BOTTOM_UP] >= 1
