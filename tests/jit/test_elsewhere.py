"""Helpers keep off the processor of the thread that they help, and respect what they were given."""

import os
import threading
import time

import numba
import numpy as np
import pytest
from jit.test_team import rounds, run
from numba import njit

from bigbfs.jit.elsewhere import MASK, MASKS, keep_off, processor
from bigbfs.jit.team import Team

several = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT) or not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="one processor, or nobody to ask",
)


@njit
def off(masks, taken):
    return keep_off(masks, taken)


@njit
def here():
    return processor()


def in_a_thread(work):
    """Run ``work`` in a thread of its own, whose processors nobody else has."""
    failed = []

    def guarded():
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def fresh():
    return np.zeros((MASKS, MASK), np.uint64)


@several
def test_it_leaves_one_processor_after_another_and_comes_back():
    def work():
        given, masks = os.sched_getaffinity(0), fresh()
        for taken in sorted(given)[:3]:
            assert off(masks, np.uint64(taken))
            assert os.sched_getaffinity(0) == given - {taken}
            assert here() != taken
        for nowhere in (64 * MASK, 2**64 - 1):
            assert off(masks, np.uint64(nowhere))
            assert os.sched_getaffinity(0) == given

    in_a_thread(work)


@several
def test_the_only_processor_is_not_left():
    def work():
        (taken, *_), masks = sorted(os.sched_getaffinity(0)), fresh()
        os.sched_setaffinity(0, {taken})
        for _ in range(2):
            assert not off(masks, np.uint64(taken))
            assert os.sched_getaffinity(0) == {taken}
        assert off(masks, np.uint64(taken + 1))

    in_a_thread(work)


@several
def test_what_others_set_is_what_it_was_given():
    def work():
        (first, second, *_), masks = sorted(os.sched_getaffinity(0)), fresh()
        assert off(masks, np.uint64(first))
        os.sched_setaffinity(0, {first, second})
        assert off(masks, np.uint64(second))
        assert os.sched_getaffinity(0) == {first}
        os.sched_setaffinity(0, {second})
        assert off(masks, np.uint64(first))
        assert os.sched_getaffinity(0) == {second}

    in_a_thread(work)


def helpers_of(team):
    return [each.native_id for each in team._helpers]


@several
def test_a_helper_that_sleeps_is_not_woken_on_the_processor_of_its_caller():
    given, team = os.sched_getaffinity(0), Team()
    claim, times, mine = (np.zeros(length, np.uint64) for length in (8, 10, 64))
    try:
        words = team.start(2)
        for taken in sorted(given)[:2]:
            os.sched_setaffinity(0, {taken})
            for _ in range(1000):  # until it sleeps
                rounds(words, np.uint64(200), 1, claim, times, mine)
                time.sleep(0.02)
                if os.sched_getaffinity(helpers_of(team)[0]) == given - {taken}:
                    break
            assert os.sched_getaffinity(helpers_of(team)[0]) == given - {taken}
    finally:
        os.sched_setaffinity(0, given)
        team.stop()


@several
def test_helpers_that_have_but_their_callers_processor_help_all_the_same():
    def work():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        team = Team()
        try:
            run(team.start(3))
            assert all(os.sched_getaffinity(each) == os.sched_getaffinity(0) for each in helpers_of(team))
        finally:
            team.stop()

    in_a_thread(work)
