"""Searches over several emulated GPUs that each have all rows: levels of hubs, shared by whom their edges lead to.

Each rank reads all of the frontier's edges and marks its own vertices; alone, or behind heads.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import on_hosts

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.ranks.partition import LINE_WORDS
from emulated.peers import Peers, search
from emulated.runtime import builds_here
from emulated.test_kernels_whole import lines_of_kronecker, told


def marked(plain, build, source, *, alike, blocks=(2, 1, 3), seed=0, **options):
    """Return searches from a source, twice, whose levels of a row or more may be marked."""
    tuning = Tuning(costs=Costs(0, 60, 10**6, 0, 0, 9, 9), wide=plain.n, thin_to=0, alike=alike, **options)
    peers = Peers(3, together=LINE_WORDS, head_groups=2, whole=True, blocks=blocks, seed=seed, tuning=tuning)
    return search(plain, build, peers, 2 * [(source, None)])


@pytest.mark.covered
@pytest.mark.parametrize("asks", [0, 1])
@pytest.mark.parametrize("build", builds_here())
def test_levels_of_hubs_are_marked_by_the_owners_of_whom_they_lead_to(build, asks):
    """By marks, then bottom-up: hubs of several chunks, whom two of them lead to, edges back."""
    plain = lines_of_kronecker()
    source = int(plain.degrees().argmax())
    assert plain.degrees()[source] > 1024
    levels = reference_bfs(plain, source)[0]
    for searched in marked(plain, build, source, alike=plain.n + 1, seed=3 if build == "preempt" else 0, asks=asks):
        assert np.array_equal(searched.levels, levels)
        validate_tree(plain, source, searched.levels, searched.parents)
        assert told(searched)[:2] == ("marks", "bitmap")
        for found in searched.found:
            assert [level.frontier for level in found.levels] == np.bincount(levels[levels >= 0]).tolist()
            assert [level.direction for level in found.levels][:2] == ["top-down", "bottom-up"]
            assert found.sent > 0 and found.invalid == 0


@pytest.mark.covered
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("build", builds_here())
def test_levels_that_heads_begin_and_marks_end(build, far):
    """A vertex is counted once, whether its head or an edge of the frontier has found it: from a hub of two chunks, a
    head of all its neighbours, and from a lesser one, whose neighbours are few of the heads."""
    plain = lines_of_kronecker()
    source = int(np.argsort(-plain.degrees())[30 * far])
    levels = reference_bfs(plain, source)[0]
    tuning = Tuning(costs=Costs(0, 0, 10**6, 1000, 0, 10**6, 0, 1), wide=plain.n, thin_to=16 * far, alike=plain.n + 1)
    peers = Peers(3, together=LINE_WORDS, head_groups=1, whole=True, blocks=(2, 1, 3), tuning=tuning)
    if build == "preempt":
        peers = replace(peers, seed=3)
    for searched in search(plain, build, peers, 2 * [(source, None)]):
        assert np.array_equal(searched.levels, levels)
        validate_tree(plain, source, searched.levels, searched.parents)
        for found in searched.found:
            assert [level.frontier for level in found.levels] == np.bincount(levels[levels >= 0]).tolist()
            assert found.told[far] == "bitmap marks"
            assert found.levels[int(far)].direction == "bottom-up"
            assert found.reached == (levels >= 0).sum() and found.invalid == 0


@pytest.mark.parametrize("build", on_hosts(builds_here()))
def test_levels_of_hubs_that_are_not_shared_claim(build):
    """Few are left to be found: nobody marks, nobody tells."""
    plain = lines_of_kronecker()
    source = int(plain.degrees().argmax())
    for searched in marked(plain, build, source, alike=1):
        assert np.array_equal(searched.levels, reference_bfs(plain, source)[0])
        assert set(told(searched)) == {"nothing"}


@pytest.mark.parametrize("build", on_hosts(builds_here()))
def test_marks_then_claims_then_bits(build):
    """Of edges one way: behind marks the frontier is a bitmap that all have, from which a queue is collected; bits come
    again in the level behind that."""
    hubs, leaves, few, last = np.arange(1, 9), np.arange(64, 3064), np.arange(3064, 3071), np.arange(3071, 3771)
    edges = ((np.zeros(8, int), hubs), (1 + leaves % 8, leaves), (leaves[:7], few), (few[last % 7], last))
    plain = zoo.build(4096, zoo.join(*edges), directed=True)
    levels = reference_bfs(plain, 0)[0]
    assert np.bincount(levels[levels >= 0]).tolist() == [1, 8, 3000, 7, 700]
    tuning = Tuning(costs=Costs(0, 1, 10, 0, 0, 0, 0), wide=1, thin_to=2, alike=plain.n + 1)
    peers = Peers(2, together=LINE_WORDS, head_groups=0, whole=True, tuning=tuning)
    for searched in search(plain, build, peers, [(0, None), (0, None), (64, None), (0, None)]):
        source = int(np.flatnonzero(searched.levels == 0)[0])
        assert np.array_equal(searched.levels, reference_bfs(plain, source)[0])
        validate_tree(plain, source, searched.levels, searched.parents)
        if source == 0:
            assert told(searched) == ("nothing", "marks", "nothing", "bitmap", "nothing")
