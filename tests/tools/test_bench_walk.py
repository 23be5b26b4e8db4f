"""The bench of walks: what it times is a whole walk."""

import bench_walk
import pytest
from bench_deep import open_graph


def test_a_walk_is_timed_beside_a_search():
    graph = open_graph("comb:vertices=30000,tooth=1")  # more than the first columns of a buffer
    searches, walks = bench_walk.measure(graph, 0, 3, 2, 64)
    assert len(searches) == len(walks) == 2 and min(*searches, *walks) > 0


def test_a_walk_that_does_not_get_to_the_end_is_no_time():
    with pytest.raises(SystemExit, match="too wide"):
        bench_walk.measure(open_graph("star:vertices=20000,edges=19999"), 0, 1, 1)
