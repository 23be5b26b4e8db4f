"""Shares of the tests (``--share``): all of them have all tests, once; those that share kernels stay together."""

from __future__ import annotations

import pytest
from wide import deal, share_of

NAMES = [
    f"test_kernels.py::test_{what}[{build}-{codec}-{graph}]"
    for what in ("bfs", "components")
    for build in ("plain", "tsan", "asan")
    for codec in ("plain", "varint")
    for graph in ("path", "two-hubs")
]


@pytest.mark.parametrize("shares", [1, 2, 3])
def test_each_test_is_in_one_share_and_groups_are_spread(shares):
    dealt = deal(NAMES, shares)
    assert {dealt.count(share) for share in range(1, shares + 1)} == {len(NAMES) // shares}
    assert dealt[::2] == dealt[1::2], "graphs of one build and codec"


def test_tests_without_parameters_are_dealt_too():
    assert deal(["a.py::test_one", "a.py::test_two", "b.py::test_one"], 2) == [1, 2, 1]


def test_what_a_share_is():
    assert share_of("2/3") == (2, 3)
    for text in ("", "1", "0/2", "3/2", "1/", "-1/2", "1/2/3", "a/b"):
        with pytest.raises(pytest.UsageError, match="--share"):
            share_of(text)
