"""Shards on the GPUs of several ranks, emulated: each rank in a folder that has its own shards alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zoo
from shard_folders import folders
from wide import CODECS

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus
from bigbfs.engines.cpu.sharded import open_shards
from bigbfs.engines.ranks.threads import run
from emulated.loader import machine
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]

WAYS = [("vram", "auto"), ("mapped", "auto"), ("vram", "mpi"), ("mapped", "mpi"), ("streamed", "mpi")]
"""Where edges lie, and what carries words between ranks."""


def over(places: list[Path], asked: Any, work: Any, **how: Any) -> list[Any]:
    """Return what ``work(engine)`` returns on each emulated GPU, of which each opens the shards in its own folder."""
    machine(BUILD)

    def rank(group: Any) -> Any:
        runtime = SimtRuntime(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        with (
            open_shards(places[group.rank], group) as graph,
            ranked_on_gpus(graph, group, asked, runtime=runtime, **how) as engine,
        ):
            return work(engine)

    return run(len(places), rank, limit=120.0)


@pytest.mark.parametrize(("residency", "transport"), WAYS)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["two-hubs", "directed-in-rows"])
def test_trees(name: str, codec: str, residency: str, transport: str, tmp_path: Path) -> None:
    plain = zoo.shared()[name]
    places = folders(plain, codec, tmp_path, shards=5, ranks=2)
    sources = zoo.sources(plain, 3)

    def search(engine: Any) -> Any:
        assert engine.residency == residency
        found = []
        for source in sources:
            found.append(engine.run_internal(BfsOptions(source)))
            engine.verify_internal(BfsOptions(source), found[-1])
        return found

    trees = over(places, (BfsOptions(),), search, residency=residency, transport=transport)[0]
    for source, tree in zip(sources, trees, strict=True):
        np.testing.assert_array_equal(tree.levels, reference_bfs(plain, source)[0])
        validate_tree(plain, source, tree.levels, tree.parents)


@pytest.mark.parametrize(("residency", "transport"), WAYS)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["two-components", "directed-in-rows"])
def test_labels(name: str, codec: str, residency: str, transport: str, tmp_path: Path) -> None:
    plain = zoo.shared()[name]
    places = folders(plain, codec, tmp_path, shards=7, ranks=3)

    def find(engine: Any) -> Any:
        result = engine.run_internal(ComponentsOptions())
        engine.verify_internal(ComponentsOptions(), result)
        return result.labels

    labels = over(places, (ComponentsOptions(),), find, residency=residency, transport=transport)[0]
    np.testing.assert_array_equal(labels, reference_components(plain))
