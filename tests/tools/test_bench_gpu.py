"""What the tools that measure a GPU say of components: of all vertices, where those with edges have other numbers."""

import shutil

import bench_gpu
import numpy as np
import peer_sides
import pytest
import zoo
from emulated.runtime import SimtRuntime

from bigbfs.algorithms.components.reference import components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu import engine as engines

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: the kernels cannot be emulated")


def test_components_are_those_of_the_file(monkeypatch):
    """The largest component has neither the first vertex nor the first that has edges."""
    monkeypatch.setattr(engines, "renumbers", lambda graph: True)
    a, b = zoo.random(100, 800, seed=1, first=200)
    plain = zoo.build(300, zoo.join((np.array([7]), np.array([9])), (a, b)))
    sizes = np.bincount(components(plain))
    with GpuEngine(plain, residency="vram", runtime=SimtRuntime()) as engine:
        assert engine.placed.numbers is not None
        side = peer_sides.GpuSide.__new__(peer_sides.GpuSide)
        side._engine = engine
        for found in (bench_gpu.run_cc(engine, 1, "afforest"), side.cc(verify=True)):
            assert found["components"] == np.count_nonzero(sizes)
            assert found["largest"] == sizes.max()
