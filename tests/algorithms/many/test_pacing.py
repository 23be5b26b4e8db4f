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
    left -= 1.0  # 125 times what an eighth of the sources took: more than a power of 1.5
    assert pace.next(512, GROWTH**2) == 276  # (8.991 / 1)^(2 / 3) of them
    left -= 8.9
    assert pace.next(512, 276) == 12  # (0.091 / 8.9)^(1 / 1.49) of them
    left -= 1
    assert pace.next(512, 12) == 1  # a single source has taken a thousandth of a second
    left = math.inf
    assert Pace(lambda: left).next(512, 3) == 3 * GROWTH


def test_the_second_batch_is_judged_by_the_worst_that_is_known():
    """Nothing shows yet how a batch grows: eight sources would take 22 times one."""
    left = 5.0
    pace = Pace(lambda: left)
    assert pace.next(512, 0) == 1
    left -= 1.0
    assert pace.next(512, 1) == 2  # 4^(2 / 3)


def test_a_source_that_would_end_too_late_does_not_begin():
    for took, then in ((3.0, 0), (2.7, 1)):  # 6 of 5 seconds, 5.4
        left = 5.0
        pace = Pace(lambda: left)
        assert pace.next(512, 0) == 1
        left -= took
        assert pace.next(512, 1) == then


def seconds_of(took, seconds):
    """Return the sources that come to their turn, and the seconds; ``took``: of a batch of so many."""
    spent, searched, count = 0.0, 0, 0
    pace = Pace(lambda: seconds - spent)
    while spent < seconds:
        count = pace.next(512, count)
        if not count:
            break
        spent, searched = spent + took(count), searched + count
    return searched, spent


def test_batches_that_share_their_rows_are_full_soon_and_such_as_do_not_end_in_time():
    """A batch of R-MAT takes four times what a source takes, on a road fifteen times with eight of them."""
    for took, seconds, least in (
        (lambda count: 1 + 3 * count**0.5 / 512**0.5, 10.0, 400),
        (lambda count: 1 + count / 16, 5.0, 18),  # a power of 0.09 between one and two, of 0.7 between 16 and 128
        (lambda count: 0.19 * count**1.3, 10.0, 20),
        (lambda count: 0.19 * count**1.3, 1.0, 3),
        (lambda count: 0.7 * count**1.5, 5.0, 5),
        (lambda count: 3.0 * count, 5.0, 1),
        (lambda count: 1e-4 * count, 0.5, 4000),
    ):
        searched, spent = seconds_of(took, seconds)
        assert searched >= least and spent < 1.2 * seconds, (searched, spent, seconds)
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


def test_batches_of_another_way_say_nothing_of_how_this_one_grows():
    """A cycle: 64 bits a vertex take as long for 64 sources as for 32, and 512 bits eight times that."""
    left = 1.0
    pace = Pace(lambda: left)
    assert pace.next(64, 0, "bounds") == 1
    for count, took in ((1, 0.02), (8, 0.06)):
        left -= took
        assert pace.next(64, count, "bounds") >= 8
    left -= 0.18
    assert pace.next(64, 32, "bounds") == 64
    left -= 0.18
    assert pace.next(512, 64, "counted") == 136  # 64 (0.56 / 0.18)^(2 / 3), as if nothing else were known
    left -= 0.5
    assert pace.next(512, 136, "counted") == 33  # 136 (0.06 / 0.5)^(2 / 3): what was before is no point of that line
