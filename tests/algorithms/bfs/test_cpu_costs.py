"""Which direction a level takes: that which took less time where both were tried."""

import pytest

from bigbfs.algorithms.bfs.cpu.costs import bottom_up_is_cheaper
from bigbfs.algorithms.bfs.cpu.frontier import Frontier

# frontier, its edges, unvisited, edges unexplored, reach, in bitmap; ms top-down and bottom-up, two threads
LEVELS = {
    "preferential, second level": (3502, 302_922, 2_093_628, 50_020_200, 0.99, False, 3.4, 43.6),
    "preferential, third": (263_199, 11_076_204, 1_830_429, 38_943_996, 0.87, False, 57.0, 9.7),
    "preferential, third, from a lonely source": (84_753, 4_565_946, 2_011_780, 45_671_259, 0.95, False, 94.0, 22.9),
    "web, third": (4671, 204_192, 2_092_170, 48_776_728, 0.52, False, 4.2, 45.0),
    "web, fourth": (153_729, 4_985_564, 1_938_441, 43_791_164, 0.75, False, 41.0, 20.3),
    "web, third, from a page that links to many": (60_889, 2_171_265, 2_034_721, 46_744_781, 0.84, False, 19.8, 29.4),
    "uniform, third": (31_269, 1_031_503, 2_064_862, 66_043_252, 0.96, False, 14.8, 49.1),
    "uniform, fourth": (783_512, 25_672_831, 1_281_350, 40_370_421, 0.76, False, 125.7, 9.4),
    "small world, on the rise": (211_535, 3_389_468, 1_688_343, 27_003_175, 0.13, False, 11.2, 21.2),
    "small world, past the middle": (531_081, 8_499_101, 782_274, 12_498_155, 0.09, True, 24.4, 11.4),
    "Kronecker, first": (81, 643_435, 2_396_597, 127_660_520, 1.0, False, 6.3, 66.2),
    "Kronecker, first, of a strong vertex": (3093, 9_844_508, 2_393_585, 118_456_435, 1.0, False, 58.0, 20.2),
    "Kronecker, last but one": (68_394, 73_469, 1800, 1900, 1.0, True, 4.1, 0.8),
    "Kronecker, last": (341, 343, 30, 30, 1.0, True, 0.3, 1.0),
}


@pytest.mark.parametrize("level", LEVELS)
def test_the_direction_is_the_one_that_took_less(level: str) -> None:
    vertices, edges, unvisited, unexplored, reach, in_bitmap, down, up = LEVELS[level]
    n = 4_194_304 if level.startswith("Kronecker") else 2_097_152
    frontier = Frontier(3, 0, vertices, 0, vertices, edges, unvisited, unexplored, in_bitmap, reach)
    assert bottom_up_is_cheaper(frontier, n // 64) is (up < down)


def test_nothing_left_and_nothing_known() -> None:
    """No division by what is not there: an empty frontier, nobody unvisited, edges that no estimate left over."""
    for edges in (0, 5, 10**9):
        for unvisited, unexplored in ((0, 0), (7, 0), (0, 7), (7, -(10**9)), (0, -7)):
            assert bottom_up_is_cheaper(Frontier(1, 0, 1, 0, 1, edges, unvisited, unexplored), 1) in (True, False)
