"""Many searches at once, emulated, where memory is short: levels of few sources at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bigbfs
from bigbfs import api
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.many.gpu import program
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.words import usual_work
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.placement.arrays import Sizes
from bigbfs.engines.gpu.placement.ledger import reachable
from bigbfs.engines.gpu.planning import make_plan
from bigbfs.errors import DoesNotFitError
from bigbfs.measures import eccentricity as eccentric
from emulated.runtime import SimtRuntime
from emulated.test_kernels_many import GRAPHS


def roomy(monkeypatch, graph, work, kept):
    """Return an engine whose device has room for the levels of so many sources, and for nothing else afterwards."""
    arrays = program.GpuMany.arrays(replace(work[0], levels_kept=kept), "vram")
    sizes = Sizes(graph.n, graph.m, 0, graph.ids.itemsize, reachable(graph))
    monkeypatch.setattr(SimtRuntime, "free_bytes", lambda self: sum(spec.bytes(sizes) for spec in arrays))
    engine = GpuEngine(graph, work=work, residency="mapped", vram_budget=1 << 30, runtime=SimtRuntime())
    monkeypatch.setattr(SimtRuntime, "free_bytes", lambda self: 100)
    return engine


def test_levels_of_few_sources_at_a_time_where_memory_holds_no_more(monkeypatch):
    graph = GRAPHS["random"]
    work = (ManyOptions(fetch=True, width=64),)
    most = make_plan(graph, "vram", 1 << 30, work=work)
    budget = most.device_bytes
    for kept in (32, 16, 8, 4, 2, 1):
        plan = make_plan(graph, "vram", budget - 1, work=work, head_groups=2)
        assert (plan.work[0].bits, plan.work[0].kept) == (64, kept) and f"levels of {kept} sources" in plan.ledger()
        budget = plan.device_bytes
    with pytest.raises(DoesNotFitError, match="does not fit"):
        make_plan(graph, "vram", budget - 1, work=work, head_groups=2)
    sources = np.arange(0, 170, 3)
    for kept in (16, 1):
        with roomy(monkeypatch, graph, work, kept) as engine:
            found = engine.run(ManyOptions(sources, fetch=True, width=64))
            np.testing.assert_array_equal(found.levels, many(graph, sources))
            assert (found.record.batches, found.record.width) == (-(-len(sources) // kept), 64)


def test_where_others_search_too_heads_come_before_more_sources_at_a_time():
    graph = GRAPHS["random"]
    for others, expected in (((), (512, 1)), ((BfsOptions(),), (256, 2))):
        work = (ManyOptions(sums=True), *others)
        budget = make_plan(graph, "vram", 1 << 30, work=work).device_bytes
        plan = make_plan(graph, "vram", budget - 1, work=work)
        assert (plan.work[0].bits, plan.head_groups) == expected
    budget = make_plan(graph, "vram", 1 << 30, head_groups=0, work=(ManyOptions(),)).device_bytes
    assert make_plan(graph, "vram", budget, work=(ManyOptions(),)).head_groups, "none is worth less than half the bits"


def test_a_search_behind_many_has_the_levels_of_all_vertices_and_no_more():
    """Both call an array of theirs `levels`, and that of many searches is longer."""
    graph = GRAPHS["random"]
    with GpuEngine(graph, work=usual_work(), residency="vram", runtime=SimtRuntime()) as engine:
        expected = engine.run(BfsOptions(3))
        engine.run(ManyOptions(np.array([0, 5]), fetch=True))
        found = engine.run(BfsOptions(3))
        np.testing.assert_array_equal(found.levels, expected.levels)
        assert found.parents.shape == expected.parents.shape == (graph.n,)


def test_a_diameter_whose_levels_do_not_fit_at_once(monkeypatch):
    graph = GRAPHS["random"]
    with api.Engine(graph, roomy(monkeypatch, graph, eccentric.WORK, 8), "auto") as engine:
        one, other = (bigbfs.eccentricity(each, backend="cpu") for each in (graph, engine))
        np.testing.assert_array_equal(one.lower, other.lower)
        assert one.exact and other.exact and one.diameter == other.diameter
