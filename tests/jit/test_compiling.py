"""What is known of compiling: the seconds, and who is told that it begins."""

from __future__ import annotations

import numba
import pytest

from bigbfs.conversion.report import Stopwatch
from bigbfs.jit import compiling
from bigbfs.jit.njit import njit


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_compiling_is_a_phase_of_its_own_and_told_once():
    told = []
    compiling.tell(lambda: told.append(compiling.seconds()))
    kernels = [njit(lambda a, k=k: a + k) for k in range(2)]
    watch = Stopwatch()
    with watch.phase("build"):
        assert [kernel(1) for kernel in kernels] == [1, 2]
    assert len(told) == 1
    assert watch.phases["compile"] > 0
    assert watch.phases["build"] < watch.phases["compile"]
    assert watch.phases["compile"] <= compiling.seconds()
    before = dict(watch.phases)
    with watch.phase("build"):
        assert kernels[0](1) == 1
    assert watch.phases["compile"] == before["compile"]
