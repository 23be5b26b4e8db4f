"""Shares of the tests (``--share``): all of them have all tests, once; those that share kernels stay together."""

from __future__ import annotations

import re
from pathlib import Path

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


def test_eighths_differ_by_a_group_at_most():
    dealt = deal(NAMES, 8)
    counts = [dealt.count(share) for share in range(1, 9)]
    assert sum(counts) == len(NAMES) and min(counts) > 0 and max(counts) - min(counts) <= 2


def test_ci_takes_every_share_in_turn():
    """One more than the rest of a division by the number of shares: each of them, whatever the number of commits."""
    text = (Path(__file__).parents[1] / ".ci" / "run").read_text()
    [(divisor, shares)] = re.findall(r"share=.* % (\d+) \+ 1\)\)/(\d+)\"", text)
    assert divisor == shares and share_of(f"{shares}/{shares}")
    assert re.findall(r'make (\S+) SHARE="\$share"', text) == ["test-wide", "kernels"]


def test_tests_without_parameters_are_dealt_too():
    assert deal(["a.py::test_one", "a.py::test_two", "b.py::test_one"], 2) == [1, 2, 1]


def test_what_a_share_is():
    assert share_of("2/3") == (2, 3)
    for text in ("", "1", "0/2", "3/2", "1/", "-1/2", "1/2/3", "a/b"):
        with pytest.raises(pytest.UsageError, match="--share"):
            share_of(text)
