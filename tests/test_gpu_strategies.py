"""The catalogue of strategies, and when a level goes bottom-up."""

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from bigbfs.gpu.cuda import SOURCES
from bigbfs.gpu.strategies import STRATEGIES


def test_names_are_keys_and_files_exist():
    assert set(STRATEGIES) >= {"auto", "topdown"}
    assert next(iter(STRATEGIES)) == "auto"
    for name, strategy in STRATEGIES.items():
        assert strategy.name == name
        assert strategy.summary and strategy.source and strategy.frontier and strategy.mapping
        assert all((SOURCES / file).is_file() for file in strategy.kernels)
        assert ("bfs_bottomup.cu" in strategy.kernels) == strategy.bottom_up
        with pytest.raises(FrozenInstanceError):
            strategy.name = "other"


def test_the_catalogue_loads_nothing_heavy():
    code = "import sys, bigbfs.gpu.strategies\nprint([m for m in ('numpy', 'numba', 'cupy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def level(**changes):
    usual = {"was": False, "frontier": 100, "frontier_before": 10, "edges": 1000, "edges_left": 10_000, "n": 1000}
    return usual | changes


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (level(), True),
        (level(edges=600), False),  # 15 x 600 < 10,000
        (level(frontier_before=100), False),  # does not grow
        (level(was=True, frontier_before=200), True),  # shrinks, but is above n / 18
        (level(was=True, frontier=50, frontier_before=200), False),
        (level(was=True, frontier=50, frontier_before=49), True),
        (level(edges=0, edges_left=0), False),
    ],
)
def test_direction(case, expected):
    assert STRATEGIES["auto"].goes_bottom_up(**case) is expected
    assert STRATEGIES["topdown"].goes_bottom_up(**case) is False
