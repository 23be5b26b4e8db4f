"""Shards on the GPUs of several ranks, emulated: each rank in a folder that has its own shards alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zoo
from shard_folders import folders
from wide import CODECS

import bigbfs
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.ranked_gpus import as_one, planned_on_gpus, ranked_on_gpus
from bigbfs.engines.cpu.sharded import open_shards
from bigbfs.engines.gpu import engine as placing
from bigbfs.engines.gpu.planning import Limits
from bigbfs.engines.gpu.ranks import devices
from bigbfs.engines.gpu.ranks import engine as ranked
from bigbfs.engines.gpu.ranks.streamed import own_range
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks.threads import alone, run
from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.shards.files import Shard
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]

WAYS = [("vram", "auto"), ("mapped", "auto"), ("vram", "mpi"), ("mapped", "mpi"), ("streamed", "mpi")]
"""Where edges lie, and what carries words between ranks."""


@cache
def graph_of(name: str) -> Graph:
    """Return a graph of the zoo, or one with hubs of several chunks in every shard."""
    if name != "hubs":
        return zoo.shared()[name]
    n, hubs = 3_000, np.arange(100, 3_000, 250)
    others = np.concatenate([np.arange(at, at + 1_100 + 90 * (at % 7)) % n for at in hubs])
    tails = np.repeat(hubs, [1_100 + 90 * (at % 7) for at in hubs])
    return Graph.from_edges(np.concatenate([tails, others]), np.concatenate([others, tails]))


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


@pytest.mark.covered("residency+codec", "residency+transport")
@pytest.mark.parametrize(("residency", "transport"), WAYS)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["hubs", "directed-in-rows"])
def test_trees(name: str, codec: str, residency: str, transport: str, tmp_path: Path) -> None:
    plain = graph_of(name)
    places = folders(plain, codec, tmp_path, shards=5, ranks=2)
    sources = zoo.sources(plain, 3)

    def search(engine: Any) -> Any:
        assert engine.residency == residency and (residency != "streamed" or engine.edges_kind == "file")
        found = []
        for source in sources:
            found.append(engine.run_internal(BfsOptions(source)))
            engine.verify_internal(BfsOptions(source), found[-1])
        return found

    trees = over(places, (BfsOptions(),), search, residency=residency, transport=transport)[0]
    for source, tree in zip(sources, trees, strict=True):
        np.testing.assert_array_equal(tree.levels, reference_bfs(plain, source)[0])
        validate_tree(plain, source, tree.levels, tree.parents)


@pytest.mark.covered("residency+codec", "residency+transport")
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


@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
@pytest.mark.parametrize("codec", CODECS)
def test_one_gpu_takes_all_shards(codec: str, residency: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every strategy, as of a file: all rows are there."""
    plain = zoo.shared()["directed-in-rows"]
    place = folders(plain, codec, tmp_path, shards=5, ranks=1)[0]
    monkeypatch.setattr(device, "available", lambda: True)
    monkeypatch.setattr(placing, "cuda_runtime", lambda limit: SimtRuntime(build=BUILD))
    source = int(plain.degrees().argmax())
    for strategy in ("auto", "topdown"):
        found = bigbfs.bfs(place, source, residency=residency, strategy=strategy, verify=True)
        np.testing.assert_array_equal(found.levels, reference_bfs(plain, source)[0])
    labels = bigbfs.connected_components(place, residency=residency, backend="gpu", verify=True).labels
    np.testing.assert_array_equal(labels, reference_components(plain))


def test_python_takes_a_folder_for_ranks_on_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = zoo.shared()["two-hubs"]
    places = folders(plain, "plain", tmp_path, shards=5, ranks=2)
    monkeypatch.setattr(devices, "require_own", lambda group, form: None)
    monkeypatch.setattr(
        ranked, "own_gpu", lambda group, *_: SimtRuntime(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
    )

    def search(group: Any) -> Any:
        where: dict[str, Any] = {"ranks": group, "backend": "gpu"}
        with bigbfs.engine(places[group.rank], **where) as engine:
            assert engine.backend == "gpu"
            levels, labels = engine.bfs(0, verify=True).levels, engine.connected_components().labels
        graph = open_shards(places[group.rank], group)
        graph.close()
        with pytest.raises(UsageError, match="has been closed"):
            bigbfs.engine(graph, **where)
        return levels, labels

    levels, labels = run(2, search)[0]
    np.testing.assert_array_equal(levels, reference_bfs(plain, 0)[0])
    np.testing.assert_array_equal(labels, reference_components(plain))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["hubs", "directed-in-rows"])
def test_a_rank_has_its_own_edges_and_no_others(name: str, codec: str, tmp_path: Path) -> None:
    """Where others' are there is nothing; offsets and tables are those of the whole graph."""
    plain = graph_of(name)
    whole = plain.compress() if codec == "varint" else plain
    places = folders(plain, codec, tmp_path, shards=5, ranks=3)

    def look(group: Any) -> None:
        with open_shards(places[group.rank], group) as graph:
            found = as_one(graph)
            own = own_range(graph.partition, group.rank)
            for mine, wanted in ((found.adjacency, whole.adjacency), (found.in_adjacency, whole.in_adjacency)):
                assert mine is not None and wanted is not None
                for name, array in wanted.arrays().items():
                    if name not in ("indices", "blob"):
                        np.testing.assert_array_equal(mine.arrays()[name], array, err_msg=name)
                first, last = int(wanted.indptr[own.start]), int(wanted.indptr[own.stop])
                np.testing.assert_array_equal(mine.edges[first:last], wanted.edges[first:last])
                page = 4096 // mine.edges.itemsize
                assert not mine.edges[: first // page * page].any() and not mine.edges[last + page :].any()
            with pytest.raises(UsageError, match=r"bigbfs.join"):
                found.require_whole()

    run(3, look)


@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
def test_a_run_is_as_planned(residency: str, tmp_path: Path) -> None:
    places = folders(zoo.shared()["two-hubs"], "plain", tmp_path, shards=5, ranks=2)
    limits, work = Limits(64 << 20, 64 << 20), (BfsOptions(), ComponentsOptions())
    how: dict[str, Any] = {"residency": residency, "transport": "mpi"}
    with open_shards(tmp_path / "g.shards", alone()) as graph:
        agreed = planned_on_gpus(as_one(graph), ("here",) * 2, work, limits, **how)
    given = how | {"vram_budget": limits.vram, "ram_budget": limits.ram}
    plans = over(places, work, lambda engine: engine._placed.plan, **given)
    assert plans == list(agreed.plans) and agreed.partition.kind == "shards"


def test_damaged_shards_are_named_on_all(tmp_path: Path) -> None:
    """Ids that are none, by the device that looks at them; offsets, by the host of the rank."""
    for name, item, said in (("indices", b"\xff\xff\xff\x7f", "is no vertex"), ("indptr", b"\x07", "does not ascend")):
        (at := tmp_path / name).mkdir()
        places = folders(zoo.shared()["kronecker"], "plain", at, shards=4, ranks=2)
        path = places[1] / "00003.shard"
        with Shard(path) as shard:
            place = shard.sections[name].offset
        content = bytearray(path.read_bytes())
        content[place : place + len(item)] = item
        path.write_bytes(content)
        with pytest.raises(FormatError, match=rf"(?s)rank 1 \(host .*00003\.shard.*{said}"):
            over(places, (BfsOptions(),), lambda engine: None)


def test_what_shards_do_not_take(tmp_path: Path) -> None:
    places = folders(zoo.shared()["kronecker"], "plain", tmp_path, shards=4, ranks=2)
    with pytest.raises(UsageError, match="a rank owns the rows of its shards"):
        over(places, (BfsOptions(),), lambda engine: None, kind="words")
    (places[1] / "00003.shard").unlink()
    with pytest.raises(FormatError, match=r"rank 1 \(host .*00003\.shard"):
        over(places, (BfsOptions(),), lambda engine: None)
