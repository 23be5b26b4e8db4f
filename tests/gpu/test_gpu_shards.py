"""Shards on one device: page-locked where they lie, in several files; and trees and labels from wherever they are."""

from pathlib import Path

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs import generate
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.gpu.runtime import device
from bigbfs.formats.shards import split
from bigbfs.graph.graph import Graph


@pytest.fixture(scope="module", params=["plain", "varint"])
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Path]:
    """A Kronecker graph of some million edges, and its file."""
    path = tmp_path_factory.mktemp("shards") / ("g.csrbin" if request.param == "plain" else "g.ccsr")
    graph = generate.graph("kronecker", scale=17, edge_factor=16, seed=2)
    (graph.compress() if request.param == "varint" else graph).save(path)
    return graph, path


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
def test_trees_and_labels(
    stored: tuple[Graph, Path], residency: str, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of version 1, whose edges lie at other places in their pages, they are copied to memory first."""
    plain, path = stored
    if version == 1:
        monkeypatch.setattr(split, "EDGES", ())
    bigbfs.split(path, tmp_path / "g.shards", shards=16)
    with bigbfs.engine(tmp_path / "g.shards", backend="gpu", residency=residency) as engine:
        assert engine.residency == residency
        if residency == "mapped" and device.probe().registers_read_only:
            assert engine.edges_kind == "file"
        for source in zoo.sources(plain, 3):
            tree = engine.run_internal(BfsOptions(source))
            engine.verify_internal(BfsOptions(source), tree)
            np.testing.assert_array_equal(tree.levels, reference_bfs(plain, source)[0])
        found = engine.run_internal(ComponentsOptions())
        engine.verify_internal(ComponentsOptions(), found)
        np.testing.assert_array_equal(found.labels, reference_components(plain))
