"""Shares of the tests (``--share``): all of them have all tests, once; those that share kernels stay together."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from shares import share_of
from wide import covered, deal

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


def test_twelfths_differ_by_a_group_at_most():
    dealt = deal(NAMES, 12)
    counts = [dealt.count(share) for share in range(1, 13)]
    assert sum(counts) == len(NAMES) and min(counts) > 0 and max(counts) - min(counts) <= 2


def test_ci_takes_every_share_in_turn():
    """One more than the rest of a division by the number of shares: each of them, whatever the number of commits."""
    text = (Path(__file__).parents[1] / ".ci" / "run").read_text()
    [(divisor, shares)] = re.findall(r"share=.* % (\d+) \+ 1\)\)/(\d+)\"", text)
    assert divisor == shares and share_of(f"{shares}/{shares}")
    assert re.findall(r'make (\S+) SHARE="\$share"', text) == ["test-wide", "kernels"]


def test_tests_without_parameters_are_dealt_too():
    assert deal(["a.py::test_one", "a.py::test_two", "b.py::test_one"], 2) == [1, 2, 1]


CASES = [
    {"name": name, "codec": codec, "threads": threads, "options": {"heads": heads}}
    for name in ("path", "star", "empty", "two-hubs", "kronecker")
    for codec in ("plain", "varint")
    for threads in (1, 2, 4)
    for heads in (0, 2)
]


def test_what_is_covered_has_each_value_and_is_small():
    chosen = [CASES[place] for place in covered(CASES)]
    for name in CASES[0]:
        assert {repr(case[name]) for case in chosen} == {repr(case[name]) for case in CASES}
    assert len(chosen) == 5, "as many as the longest axis has values"
    counts = [sum(case["codec"] == codec for case in chosen) for codec in ("plain", "varint")]
    assert sorted(counts) == [2, 3], "the other values meet these in turn"


def test_pairs_that_are_named_are_all_there():
    chosen = [CASES[place] for place in covered(CASES, ["name+codec", "threads+codec"])]
    for pair in (("name", "codec"), ("threads", "codec")):
        there = {tuple(case[name] for name in pair) for case in CASES}
        assert {tuple(case[name] for name in pair) for case in chosen} == there
    assert len(chosen) == 10


def test_pairs_that_no_case_has_are_not_asked_for():
    cases = [{"build": "plain", "codec": "plain"}, {"build": "plain", "codec": "varint"}]
    cases.append({"build": "asan", "codec": "varint"})
    assert covered(cases, ["build+codec"]) == {0, 1, 2}
    assert covered([]) == set()


@pytest.mark.covered
@pytest.mark.parametrize("second", [1, 2, 3])
@pytest.mark.parametrize("first", [1, 2, 3])
def test_what_is_not_covered_is_wide(first, second, request):
    cases = [{"first": a, "second": b} for b in (1, 2, 3) for a in (1, 2, 3)]
    core = [cases[place] for place in covered(cases)]
    assert len(core) == 3
    if all(function_of(item) != function_of(request.node) or item is request.node for item in request.session.items):
        return  # asked for by its name: there is one value of each
    assert ({"first": first, "second": second} in core) == (request.node.get_closest_marker("wide") is None)


def function_of(item):
    return item.nodeid.partition("[")[0]


def test_what_a_share_is():
    assert share_of("2/3") == (2, 3)
    for text in ("", "1", "0/2", "3/2", "1/", "-1/2", "1/2/3", "a/b"):
        with pytest.raises(argparse.ArgumentTypeError, match="as in 1/2"):
            share_of(text)
