"""Pairs of graph and rule that the suites of several devices deal: every rule and every graph is met in every build."""

from __future__ import annotations

import pytest
import zoo
from wide import CODEC_OF, CODECS, met

from emulated import test_kernels_far as far
from emulated import test_kernels_hosts as hosts
from emulated import test_kernels_joint as joint
from emulated import test_kernels_peers as peers

SUITES = {"far": far, "hosts": hosts, "joint": joint, "peers": peers}


def dealt(suite, build):
    """Return (graph, number of the rule, codec) of each case, as a process of ``build`` has them."""
    return [
        (name, number, codec)
        for name in zoo.names() for number in range(len(suite.RULES)) for codec in CODECS
        if suite.there(build, codec, name, number)
    ]  # fmt: skip


@pytest.mark.parametrize("build", ["plain", "preempt", "asan", "tsan"])
@pytest.mark.parametrize("suite", SUITES)
def test_every_rule_and_graph_is_met(suite, build):
    cases = dealt(SUITES[suite], build)
    assert {number for _, number, _ in cases} == set(range(len(SUITES[suite].RULES)))
    assert {name for name, _, _ in cases} == set(zoo.names() if build == "plain" else SUITES[suite].FEW)
    assert {codec for _, _, codec in cases} == ({CODEC_OF[build]} if build in CODEC_OF else set(CODECS))


@pytest.mark.parametrize("suite", SUITES)
def test_each_few_graph_meets_every_rule_in_the_plain_build(suite):
    cases = {(name, number) for name, number, _ in dealt(SUITES[suite], "plain")}
    assert {(n, k) for n in SUITES[suite].FEW for k in range(len(SUITES[suite].RULES))} <= cases


def test_turns_are_rules_counted_from_the_graph_s_own():
    own = [number for number in range(5) if met("plain", "path", number, 5, (0,))]
    both = [number for number in range(5) if met("plain", "path", number, 5, (0, 2))]
    assert len(own) == 1 and sorted(both) == sorted([own[0], (own[0] + 2) % 5])
