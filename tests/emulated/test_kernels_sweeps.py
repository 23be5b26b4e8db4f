"""The kernels of sweeps, emulated: they count, list and keep what the CPU does; diameters are those of the CPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs import api
from bigbfs.algorithms.sweeps.options import FAR, LISTED, SweepOptions
from bigbfs.engines.cpu.engine import CpuEngine
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.graph.graph import Graph
from bigbfs.measures import eccentricity as eccentric
from bigbfs.measures import sweeping
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
STAR = (np.zeros(30, int), np.arange(1, 31))
GRAPHS = {
    "random": zoo.build(170, zoo.random(170, 200, seed=3)),
    "a hub, and a longer path": zoo.build(90, zoo.join(STAR, zoo.path(80, first=32))),
    "dense": zoo.build(90, zoo.random(90, 2_500, seed=7)),
    "a tree and loops": zoo.build(60, zoo.join((np.arange(1, 60), np.arange(1, 60) // 3), ([5, 5], [5, 9]))),
    "wide ids": zoo.shared()["wide-ids-hub"],
}


def cases():
    """Yield (build, graph, codec, residency)."""
    for build in HERE:
        for i, name in enumerate(GRAPHS):
            if build == "plain" or i == 0:
                yield build, name, ("plain", "varint")[i % 2], ("vram", "mapped")[i // 2 % 2]
            if build == "plain":
                yield build, name, ("varint", "plain")[i % 2], "streamed"


def placed(graph: Graph, build: str = "plain", residency: str = "vram") -> GpuEngine:
    """Return ``graph`` placed on the emulation for a diameter."""
    return GpuEngine(graph, work=eccentric.DIAMETER, residency=residency, runtime=SimtRuntime(build=build, seed=1))


@pytest.mark.covered("codec+residency")
@pytest.mark.parametrize(("build", "name", "codec", "residency"), list(cases()))
def test_sweeps_are_those_of_the_cpu(build, name, codec, residency):
    """Field by field; vertices half-way may differ, as parents do, and lie at half the depth; a GPU tells no rim."""
    graph = GRAPHS[name].compress() if codec == "varint" else GRAPHS[name]
    with CpuEngine(graph, work=()) as here, placed(graph, build, residency) as there:
        hub = here.run(SweepOptions())
        assert there.run(SweepOptions()) == hub
        work = SweepOptions(hub.vertex, anew=True, keep=0, central=True)
        for number in range(7):
            one, other = (engine.run(work) for engine in (here, there))
            assert other.rim is None
            same = (replace(each, halfway=0, seconds=0, listed=None, rim=None) for each in (one, other))
            assert next(same) == next(same)
            for each in ("ids", "upper", "levels"):
                np.testing.assert_array_equal(getattr(one.listed, each), getattr(other.listed, each))
            kept = [k for k in range(3) if one.left[k] is not None]
            np.testing.assert_array_equal(one.listed.kept[kept], other.listed.kept[kept])
            last = kept[-1] if work.keep is None else work.keep
            ours, theirs = (engine.run(SweepOptions(keep=last)) for engine in (here, there))
            inside = ours[1] >= 0
            np.testing.assert_array_equal(theirs[1] >= 0, inside)
            for mine, its in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(mine[inside], its[inside])
            if work.halfway and work.keep is not None:
                assert ours[2][other.halfway] == ours[2][one.halfway] == one.depth // 2
            inner = np.flatnonzero(inside)
            source = (one.far, one.central, max(one.next), int(inner[number % len(inner)]))[number % 4]
            work = SweepOptions(
                source if source >= 0 else hub.vertex,
                anew=number == 5,
                keep=(1, 2, None, None)[number % 4],
                halfway=number % 3 == 0,
                central=number % 2 == 0,
            )


@pytest.mark.parametrize("residency", ["vram", "streamed"])
@pytest.mark.parametrize("name", GRAPHS)
def test_diameters_are_those_of_the_cpu(name, residency):
    graph = GRAPHS[name]
    with api.Engine(graph, placed(graph, residency=residency), "auto") as there:
        one = bigbfs.eccentricity(graph, goal="diameter", backend="cpu")
        other = bigbfs.eccentricity(there, goal="diameter", verify=True)
        alone = bigbfs.eccentricity(there, goal="diameter", each=False)
    assert one.exact and other.exact and one.diameter == other.diameter == alone.diameter
    np.testing.assert_array_equal(one.ids, other.ids)
    assert (one.vertices, len(alone.ids)) == (other.vertices, 0)


def test_more_open_vertices_than_are_listed_and_a_hand_over(monkeypatch):
    """Nothing is listed, and batches go on after four sweeps."""
    monkeypatch.setattr(sweeping, "FEW", 1)
    monkeypatch.setattr(sweeping, "ROUND", 4)
    n = LISTED + 1_000
    with placed(zoo.build(n, zoo.path(n))) as engine:
        found = engine.run(SweepOptions(n // 2, anew=True, keep=0))
        assert (found.listed, found.reached, found.open, found.left[0]) == (None, n, n - 1, n - 1 - 2 * (n // 4))
    cycle = zoo.build(140, (np.arange(140), np.roll(np.arange(140), 1)))
    monkeypatch.setattr(sweeping, "PAIRS", 0)
    with api.Engine(cycle, placed(cycle), "auto") as there:
        found = bigbfs.eccentricity(there, goal="diameter", verify=True)
    assert found.exact and found.diameter == (70, 70) and found.record.width > 1


def test_distances_are_kept_in_16_bits():
    n = FAR + 90
    with placed(zoo.build(n, zoo.path(n))) as engine:
        engine.run(SweepOptions(0, anew=True, keep=2))
        lower, upper, distances = engine.run(SweepOptions(keep=2))
    assert distances[FAR - 1] == FAR - 1 and (distances[FAR:] > n).all()
    np.testing.assert_array_equal(upper, n - 1 + np.arange(n))
    np.testing.assert_array_equal(lower, np.maximum(np.arange(n), n - 1 - np.arange(n)))
