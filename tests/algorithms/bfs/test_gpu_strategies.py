"""The catalogue of strategies."""

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.engines.gpu.runtime.cuda import SOURCES


def test_names_are_keys_and_files_exist():
    assert set(STRATEGIES) >= {"auto", "topdown"}
    assert next(iter(STRATEGIES)) == "auto"
    for name, strategy in STRATEGIES.items():
        assert strategy.name == name
        assert strategy.summary and strategy.source and strategy.frontier and strategy.mapping
        assert all((SOURCES / file).is_file() for file in strategy.kernels)
        with pytest.raises(FrozenInstanceError):
            strategy.name = "other"


def test_the_catalogue_loads_nothing_heavy():
    heavy = "[m for m in ('numpy', 'numba', 'cupy') if m in sys.modules]"
    code = f"import sys, bigbfs.algorithms.bfs.strategies\nprint({heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
