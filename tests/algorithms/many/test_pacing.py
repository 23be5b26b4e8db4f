"""Batches that end in time: each as large as there is time for, by what the last one took."""

from __future__ import annotations

import math

import numpy as np
import zoo

from bigbfs import api
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.pacing import GROWTH, Pace


def test_a_batch_is_as_large_as_there_is_time_for():
    left = 10.0
    pace = Pace(lambda: left)
    assert pace.next(512, 0) == 1
    left -= 0.001
    assert pace.next(512, 1) == GROWTH
    left -= 0.008
    assert pace.next(512, GROWTH) == GROWTH**2
    left -= 6.4  # 0.1 s each, and there are 3.591 s left
    assert pace.next(512, GROWTH**2) == 35
    left -= 3.5
    assert pace.next(512, 35) == 1  # who asks goes on all the same
    left -= 1
    assert pace.next(512, 1) == 1
    left = math.inf
    assert Pace(lambda: left).next(512, 3) == 3 * GROWTH
    assert Pace(None).next(512, 0) == Pace(None).next(512, 1) == 512


def test_searches_in_growing_batches_find_the_same():
    graph = zoo.shared()["kronecker"]
    sources = np.arange(min(graph.n, 200))
    with api.engine(graph, backend="cpu", threads=1, work=(ManyOptions(),)) as engine:
        how = {"sums": True, "columns": True, "width": 64}
        at_once = engine.run_internal(ManyOptions(sources, **how))
        paced = engine.run_internal(ManyOptions(sources, left=lambda: 1e9, **how))
        ended = engine.run_internal(ManyOptions(sources, left=lambda: 0.0, stop=iter([False, False, True]).__next__))
    assert paced.record.batches > at_once.record.batches
    for name in ("sources", "depth", "far", "found", "columns", "reach", "farness", "reached"):
        np.testing.assert_array_equal(getattr(paced, name), getattr(at_once, name), err_msg=name)
    assert ended.sources.tolist() == list(range(1 + GROWTH))
