"""A frontier whose edges come in windows of their numbers: each id in one window, and rows of other windows not read.

What a search counts does not show whether a row is read once more for nothing; here a kernel counts every id it reads.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zoo
from studies.bed import Bed, specs
from studies.tree import tree_of

from bigbfs import generate
from bigbfs.algorithms.plain_rows import plain_rows
from emulated.runtime import SimtRuntime, builds_here

KERNELS = Path(__file__).parent / "kernels" / "windows.cu"
CAPACITY = 8192
SEAM = 31 * 256
"""Ids that two windows may both read where they meet: a chunk, a row, or the short rows of a tile."""


def kronecker():
    with generate.graph("kronecker", scale=11, edge_factor=16, seed=1) as made:
        return made


GRAPHS = {"kronecker": (kronecker, 1), "star": (lambda: zoo.shared()["star"], 0)}
"""Level with rows of all classes but hubs; a hub of 129 chunks."""
CASES = [(build, name) for build in builds_here() for name in GRAPHS if build == "plain" or name == "kronecker"]


@pytest.mark.parametrize(("build", "name"), CASES)
def test_windows_hold_every_id_once_and_read_no_other_rows(build, name):
    make, level = GRAPHS[name]
    graph = make()
    tree = tree_of(graph, int(graph.degrees().argmax()))
    indptr, indices = plain_rows(graph)
    ends = np.concatenate([indices[indptr[v] : indptr[v + 1]] for v in np.flatnonzero(tree.levels == level)])
    found, read = [], 0
    with Bed(SimtRuntime(build=build), graph, tree, CAPACITY) as bed:
        kernel = bed.kernel(specs(str(KERNELS), "gather_window")[0])
        for begin in range(0, len(ends), CAPACITY):
            bed.begin()
            kernel(level, 1, np.uint64(begin))
            read += int(bed.records()[level]["checked"])
            found.append(bed.runtime.download(bed.arrays["edges"]).copy())
    assert len(found) > 4
    assert np.array_equal(np.sort(np.concatenate(found)[: len(ends)]), np.sort(ends))
    assert read <= len(ends) + (len(found) - 1) * SEAM, "rows of other windows are read"
    assert read < 1.5 * len(ends)
