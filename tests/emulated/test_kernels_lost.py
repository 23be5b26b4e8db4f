"""A rank that leaves a search over several emulated GPUs: the others name it, and the level in which it was missed.

It ends its own kernel after some levels and comes to no meeting any more, whichever phase the others meet behind.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from wide import CODEC_OF, CODECS, split

from bigbfs.errors import DeviceError
from emulated.peer_rules import RULES
from emulated.peers import search
from emulated.runtime import builds_here
from emulated.test_kernels_peers import graph

HERE = builds_here()
TOLD = [
    (build, rule, depth, thin)
    for build in HERE for rule in RULES if not rule.startswith("whole")
    for depth in (0, 1, 2) for thin in (1, 0) if build == "plain" or depth == 1
]  # fmt: skip
SHARED = [(build, rule, depth)
    for build in HERE for rule in ("whole, bottom-up", "whole, alike in turn", "whole, marks", "whole, mixed")
    for depth in (0, 1, 2) if build == "plain" or depth == 1
]  # fmt: skip
PATIENCE = {"plain": 0.4, "preempt": 1.0, "asan": 2.0, "tsan": 4.0}


def leaves(depth):
    """Return what lets rank 1 end its kernel where so many levels are done."""

    def touch(state):
        if state.group.rank != 1:
            return
        traverse = state._traverse

        def launch(blocks, team, arguments):
            early = arguments[0].copy()
            early["s"]["max_depth"] = depth
            traverse(blocks, team, (early, *arguments[1:]))

        state._traverse = launch

    return touch


def missed_in(level, build, peers, depth):
    """Search with a rank that leaves after ``depth`` levels; the others are to miss it in ``level``."""
    peers = replace(peers, patience=PATIENCE[build], touch=leaves(depth))
    with pytest.raises(DeviceError, match=rf"rank 1 \(host here\) has not come to meeting \d+, in level {level}:"):
        search(rows(build, depth), build, peers, [(0, None)])


def rows(build, depth):
    """Return the graph in the codec of the build, or in one or the other."""
    return graph("kronecker", CODEC_OF.get(build, CODECS[depth % 2]))


@pytest.mark.parametrize(
    ("build", "rule", "depth", "thin"), split(TOLD, lambda build, _, depth, thin: build == "plain" and thin != depth)
)
def test_a_rank_that_leaves_is_named_in_every_phase(build, rule, depth, thin):
    """Levels of few edges, too (``thin``), which the first blocks go through alone."""
    peers = RULES[rule]
    missed_in(depth, build, peers if thin else replace(peers, tuning=replace(peers.tuning, thin_to=0)), depth)


@pytest.mark.parametrize(("build", "rule", "depth"), split(SHARED, lambda build, *_: build == "plain"))
def test_a_rank_that_leaves_is_named_where_the_next_level_is_shared(build, rule, depth):
    """Where all have all rows nobody misses it before."""
    (searched,) = search(rows(build, depth), build, RULES[rule], [(0, None)])
    shared = (level for level, told in enumerate(searched.found[0].told) if told in ("marks", "bitmap marks", "bitmap"))
    missed_in(next(level for level in shared if level >= depth), build, RULES[rule], depth)
