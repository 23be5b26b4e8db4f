"""Memory that is given back: whole huge pages of its own, nothing else, nothing of other memory."""

from itertools import pairwise

import numpy as np
import pytest

from bigbfs.graph import pages

HUGE = 2 << 20
ITEMS = HUGE // 4


def test_what_is_given_back_is_zero_and_the_rest_stays():
    array = pages.empty(4 * ITEMS, np.uint32)
    array[:] = 7
    pages.let_go(array, 0, 3 * ITEMS + 5)
    assert array[3 * ITEMS + 5 :].all()
    assert not array[ITEMS : 2 * ITEMS].any(), "nothing was given back"


def test_runs_one_after_the_other_leave_nothing_between_them():
    array = pages.empty(6 * ITEMS, np.uint32)
    array[:] = 7
    cuts = [0, ITEMS // 3, 2 * ITEMS + 9, 2 * ITEMS + 9, 5 * ITEMS]
    for first, last in pairwise(cuts):
        pages.let_go(array, first, last)
    assert not array[: 5 * ITEMS].any()
    assert array[5 * ITEMS :].all()


def test_of_a_part_of_an_array_nothing_in_front_of_it_is_given_back():
    whole = pages.empty(4 * ITEMS, np.uint32)
    whole[:] = 7
    pages.let_go(whole[ITEMS + 3 :].view(np.uint8), 0, 2 * HUGE)
    assert whole[: ITEMS + 3].all()
    assert not whole[2 * ITEMS : 3 * ITEMS].any()


def test_other_memory_is_left_alone():
    array = np.full(4 * ITEMS, 7, np.uint32)
    pages.let_go(array, 0, len(array))
    assert array.all()
    assert pages.with_rest(array) is array


def test_what_lies_behind_an_array():
    memory = pages.allocated(1000)
    array = np.frombuffer(memory, np.uint32, 10, 20)
    rest = pages.with_rest(array)
    assert len(rest) == (1000 - 20) // 4
    rest[3] = 9
    assert array[3] == 9


def test_no_memory_is_said_so():
    with pytest.raises(MemoryError):
        pages.empty(1 << 56, np.uint64)
