"""BFS over several emulated GPUs that each have all rows: what ranks write of one another's knowledge, and when."""

import numpy as np
import pytest
import zoo
from wide import on_hosts

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from emulated.peers import Peers, search
from emulated.runtime import builds_here

LOCAL = Tuning(thin_to=0)
UPWARDS = Tuning(costs=Costs(0, 0, 10**6, 0), defer_from_vram=10**9, thin_to=0)


@pytest.mark.parametrize("build", builds_here())
def test_whom_chunks_have_found_is_visited_where_others_find_more(build):
    """Each word has some of the vertices found beside a hub, which chunks find, and some of those found behind it."""
    n, hubs = 4096, np.arange(3)
    others = np.arange(64, n)
    plain = zoo.build(n, zoo.join((hubs[:-1], hubs[1:]), (np.where(others % 32 < 12, 1, 2), others)))
    levels = reference_bfs(plain, 0)[0]
    assert (plain.degrees()[1:3] > 1024).all() and np.bincount(levels[levels >= 0])[2:].min() > 1024
    peers = Peers(2, head_groups=0, whole=True, blocks=(2, 2), tuning=UPWARDS)
    for searched in search(plain, build, peers, 2 * [(0, None)]):
        assert np.array_equal(searched.levels, levels)
        validate_tree(plain, 0, searched.levels, searched.parents)


@pytest.mark.parametrize("thin_to", [0, 64])
@pytest.mark.parametrize("build", on_hosts(builds_here()))
def test_edges_of_levels_that_all_go_through_are_counted_once(build, thin_to):
    plain = zoo.shared()["kronecker-dense"]
    source = int(plain.degrees().argmax())
    levels, degrees = reference_bfs(plain, source)[0], plain.degrees()
    (searched,) = search(plain, build, Peers(3, whole=True, tuning=Tuning(thin_to=thin_to)), [(source, None)])
    for found in searched.found:
        assert set(found.told) == {"nothing"}
        counted = [int(degrees[levels == depth].sum()) for depth in range(levels.max() + 1)]
        assert [level.edges for level in found.levels] == counted


def ladder(length, seed=3):
    """Return a strip of vertices with near neighbours, and some rows of more than eight: hundreds of thin levels."""
    here = np.arange(length)
    far = np.random.default_rng(seed).integers(0, length - 6, length // 4)
    near = [(here[:-step], here[step:]) for step in (1, 2, 3)]
    return zoo.build(length, zoo.join(*near, (far, far + 5), (far, far + 6), (far, far + 4)))


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("build", builds_here())
def test_where_levels_are_many_and_thin_each_searches_for_itself(build, ranks):
    plain = ladder(1500)
    assert plain.degrees().max() > 8
    peers = Peers(ranks, whole=True, alone=True, blocks=tuple(1 + rank for rank in range(ranks)), tuning=LOCAL)
    searches = [(700, None), (0, None), (1499, 40)]
    for (source, depth), searched in zip(searches, search(plain, build, peers, searches), strict=True):
        levels = reference_bfs(plain, source)[0]
        assert np.array_equal(searched.levels, levels if depth is None else np.where(levels <= depth, levels, -1))
        validate_tree(plain, source, searched.levels, searched.parents, max_depth=depth)
        for found in searched.found:
            assert set(found.told) == {"nothing"} and not found.sent
