"""What the tests of shards share."""

import numpy as np
import pytest

import bigbfs


@pytest.fixture
def graph(tmp_path):
    """A directed graph with in-neighbours, labels, hubs of several blocks and rows without edges, compressed."""
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 700, 5000) * 3, rng.integers(0, 700, 5000) * 3
    src[:2500], dst[2500:4000] = 300, 1500
    dst[:2500] = np.arange(2500) * 2
    np.savetxt(tmp_path / "g.txt", np.column_stack([src, dst]), "%d")
    bigbfs.convert(tmp_path / "g.txt", directed=True, compressed=True)
    return tmp_path / "g.ccsr"
