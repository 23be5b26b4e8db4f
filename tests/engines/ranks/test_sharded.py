"""Searches over shards: threads play ranks, each in a folder that has its own shards alone; and what is refused."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wide
import zoo
from ranked import DIRECTIONS, expected, force

import bigbfs
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.cpu.sharded import ShardedGraph, open_shards
from bigbfs.engines.ranks import threads
from bigbfs.errors import BigBfsError, DoesNotFitError, FormatError, UsageError
from bigbfs.formats.shards.files import Shard
from bigbfs.formats.shards.mapped import parts_of
from bigbfs.formats.shards.split import split
from bigbfs.graph.graph import Graph


def folders(graph: Path, shards: int, ranks: int) -> list[Path]:
    """Split ``graph``; return a folder for each rank that holds its shards, the rest and the manifest."""
    whole = graph.with_suffix(".shards")
    split(graph, whole, shards=shards)
    made = []
    for rank in range(ranks):
        made.append(graph.parent / f"machine{rank}" / "g.shards")
        made[-1].mkdir(parents=True)
        for name in ["manifest.json", "rest.shard", *(f"{part:05}.shard" for part in parts_of(shards, rank, ranks))]:
            shutil.copy(whole / name, made[-1])
    return made


def over(places: list[Path], work: list[Any], **how: Any) -> list[Any]:
    """Return what rank 0 has of each piece of work, verified."""

    def rank(group: Any) -> list[Any]:
        with open_shards(places[group.rank], group) as graph:
            assert not graph.proved
            graph.require_valid()
            with RankedEngine(graph, group=group, threads=1, **how) as engine:
                results = [engine.run(each) for each in work]
                for each, result in zip(work, results, strict=True):
                    engine.program(each).verify(each, engine.run(each))
                    assert result.record.ranks[0].rank == 0
                return results

    return list(threads.run(len(places), rank)[0])


@pytest.mark.parametrize("turn", wide.split(range(6), lambda turn: turn < 1))
def test_zoo(turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each graph meets another number of ranks and of shards, another encoding and order of directions in each turn."""
    turns = count(turn)
    for name in wide.CORE if turn == 0 else zoo.names(big=False):
        at = next(turns)
        graph = zoo.shared()[name].compress() if at % 2 else zoo.shared()[name].decompress()
        size = (2, 3, 1, 5)[at % 4]
        path = tmp_path / f"{name}" / ("g.ccsr" if at % 2 else "g.csrbin")
        path.parent.mkdir()
        graph.save(path)
        places = folders(path, size + (0, 1, 4)[at % 3], size)
        force(monkeypatch, list(DIRECTIONS)[at % 5])
        sources = zoo.sources(graph, 2)
        *trees, labels = over(places, [*(BfsOptions(source) for source in sources), ComponentsOptions()])
        for source, tree in zip(sources, trees, strict=True):
            np.testing.assert_array_equal(tree.levels, expected(name, source), err_msg=name)
            validate_tree(graph, source, tree.levels, tree.parents)
            assert tree.record.edges == graph.degrees()[tree.levels >= 0].sum()
        np.testing.assert_array_equal(labels.labels, reference_components(graph), err_msg=name)
        shutil.rmtree(path.parent)


@pytest.fixture
def relabelled(tmp_path: Path) -> Path:
    """Directed, with in-neighbours, in another order than that of its ids, which have gaps; a hub of several blocks."""
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 900, 6000) * 3, rng.integers(0, 900, 6000) * 3
    src[:2000], dst[:2000] = 300, np.arange(2000) * 3
    np.savetxt(tmp_path / "g.txt", np.column_stack([src, dst]), "%d")
    bigbfs.convert(tmp_path / "g.txt", directed=True, order="degree", output=tmp_path / "g.csrbin")
    return tmp_path / "g.csrbin"


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_original_ids(codec: str, relabelled: Path) -> None:
    graph = bigbfs.open(relabelled)
    if codec == "varint":
        relabelled = relabelled.with_suffix(".ccsr")
        graph.compress().save(relabelled)
    places = folders(relabelled, 5, 3)

    def rank(group: Any) -> Any:
        with bigbfs.engine(places[group.rank], ranks=group, threads=1) as engine:
            assert engine.graph.degrees().sum() == graph.m
            return engine.bfs(300, verify=True), engine.connected_components(verify=True)

    found = threads.run(3, rank)
    want, labels = bigbfs.bfs(graph, 300, backend="cpu"), bigbfs.connected_components(graph, backend="cpu")
    tree, components = found[0]
    np.testing.assert_array_equal(tree.levels, want.levels)
    np.testing.assert_array_equal(tree.ids, want.ids)
    assert tree.parents[tree.ids == 300] == -1
    np.testing.assert_array_equal(components.labels, labels.labels)
    for other, _ in found:
        assert (other.record.source, other.record.deepest) == (300, want.record.deepest)
    whole = threads.run(2, lambda group: bigbfs.connected_components(graph, ranks=group, threads=1).labels)
    np.testing.assert_array_equal(whole[0], labels.labels)
    alone = bigbfs.bfs(relabelled.with_suffix(".shards"), 300, verify=True)
    np.testing.assert_array_equal(alone.levels, want.levels)


def test_names(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("source,target\nann,bob\nbob,eve\neve,dan\nzoe,kim\n")
    bigbfs.convert(tmp_path / "g.csv", names=True, output=tmp_path / "g.csrbin")
    places = folders(tmp_path / "g.csrbin", 2, 2)

    def rank(group: Any) -> Any:
        with bigbfs.engine(places[group.rank], ranks=group, threads=1) as engine:
            return engine.bfs("ann").levels, engine.graph.called(engine.bfs("ann").record.deepest)

    levels, deepest = threads.run(2, rank)[0]
    assert levels.tolist() == [0, 1, 3, 2, -1, -1] and deepest == "dan"


def refused(places: list[Path], kind: type[BigBfsError] = FormatError) -> str:
    """Return what all ranks say of these folders, which is the same."""

    def rank(group: Any) -> str:
        with pytest.raises(kind) as caught, open_shards(places[group.rank], group) as graph:
            graph.require_valid()
        assert caught.value.has_lines or "\n" not in str(caught.value)  # else a command escapes them
        return str(caught.value)

    said = threads.run(len(places), rank)
    assert len(set(said)) == 1
    return str(said[0])


@pytest.fixture
def places(tmp_path: Path) -> list[Path]:
    zoo.shared()["kronecker"].save(tmp_path / "g.csrbin")
    return folders(tmp_path / "g.csrbin", 4, 2)


@pytest.mark.parametrize("name", ["00003.shard", "rest.shard", "manifest.json"])
def test_a_missing_file_is_named_with_rank_host_and_path(name: str, places: list[Path]) -> None:
    (places[1] / name).unlink()
    said = refused(places)
    assert said.startswith("rank 1 (host here): ") and str(places[1]) in said and name in said
    assert ("is missing" if name.endswith("shard") else "the shards are not complete") in said
    shutil.rmtree(places[1])
    assert f"rank 1 (host here): {places[1]}: there is no such folder" in refused(places, BigBfsError)


def test_what_all_ranks_find_in_one_folder_is_said_of_no_rank(places: list[Path]) -> None:
    (places[1] / "manifest.json").unlink()
    assert refused([places[1]] * 2).startswith(f"{places[1]}: there is no manifest.json; ")


def test_a_shard_that_another_rank_has_is_not_missed(places: list[Path]) -> None:
    assert not (places[0] / "00002.shard").exists()
    assert over(places, [BfsOptions(0)])[0].record.reached > 1


def test_damage_is_found_by_the_rank_that_has_it(places: list[Path]) -> None:
    path = places[1] / "00002.shard"
    whole = path.read_bytes()
    for at, kind in ((20, "header"), (4096 + 8, "indptr"), (len(whole) - 4096 - 200, "")):
        damaged = bytearray(whole)
        damaged[at : at + 8] = b"\xff" * 8
        path.write_bytes(damaged)
        if kind:
            said = refused(places)
            assert said.startswith("rank 1 (host here): ") and "00002.shard" in said and kind in said
    path.write_bytes(whole[:-4096])
    assert "cut short" in refused(places)
    shutil.copy(places[0] / "00001.shard", path)
    assert "belongs in" in refused(places)


@pytest.mark.parametrize("order", ["original", "degree"])
@pytest.mark.parametrize("by", [1, -600])  # in order still, and out of it
def test_an_original_id_that_became_another(order: str, by: int, tmp_path: Path) -> None:
    """Nothing but its checksum tells it; each rank looks at those of its own shards."""
    np.savetxt(tmp_path / "g.txt", 3 * np.column_stack([np.arange(300), np.arange(1, 301)]), "%d")
    bigbfs.convert(tmp_path / "g.txt", order=order, output=tmp_path / "g.csrbin")
    places = folders(tmp_path / "g.csrbin", 3, 2)
    path = places[1] / "00001.shard"
    with Shard(path) as shard:
        section, label = shard.sections["labels"], int(shard.whole("labels")[2]) + by
    with path.open("r+b") as stream:
        stream.seek(section.offset + 2 * 8)
        stream.write(label.to_bytes(8, "little", signed=True))
    said = refused(places)
    assert said.startswith(f"rank 1 (host here): {path}: section labels (bytes {section.offset} to ")
    assert "of shard 1 of 3 is damaged: its checksum does not match; fetch this shard again" in said
    (alone := tmp_path / "alone").mkdir()
    shutil.copytree(tmp_path / "g.shards", alone / "g.shards")
    shutil.copy(path, alone / "g.shards")
    with pytest.raises(FormatError, match=r"00001\.shard: section labels .* is damaged"):
        bigbfs.bfs(alone / "g.shards", 3)


def test_an_id_that_is_no_vertex(tmp_path: Path) -> None:
    zoo.shared()["kronecker"].save(tmp_path / "g.csrbin")
    [place] = folders(tmp_path / "g.csrbin", 1, 1)
    with Shard(place / "00000.shard") as shard:
        at = shard.sections["indices"].offset
    with (place / "00000.shard").open("r+b") as stream:
        stream.seek(at)
        stream.write(b"\xff\xff\xff\x7f")
    assert "indices[0] = 2147483647 is no vertex" in refused([place])


def test_shards_of_two_graphs(places: list[Path], tmp_path: Path) -> None:
    zoo.shared()["path"].save(tmp_path / "other.csrbin")
    split(tmp_path / "other.csrbin", tmp_path / "other.shards", shards=4)
    said = refused([places[0], tmp_path / "other.shards"], UsageError)
    assert "ranks have opened different graphs" in said and "other.shards" in said and "rank 1 (host here)" in said


def test_fewer_shards_than_ranks(tmp_path: Path) -> None:
    zoo.shared()["kronecker"].save(tmp_path / "g.csrbin")
    split(tmp_path / "g.csrbin", tmp_path / "g.shards", shards=2)
    assert "3 ranks for 2 shards: each rank needs one at least; take 2 ranks" in refused(
        [tmp_path / "g.shards"] * 3, UsageError
    )


def test_words_cannot_be_dealt_and_rows_not_be_compressed(places: list[Path]) -> None:
    with pytest.raises(UsageError, match="ranges"):
        over(places, [BfsOptions(0)], partition="words")

    def rank(group: Any) -> None:
        with open_shards(places[group.rank], group) as graph:
            saved = places[0].parent / f"part{group.rank}.csrbin"
            for use in (graph.compress, lambda: graph.save(saved), lambda: bigbfs.shortest_path(graph, 0, 1)):
                with pytest.raises(UsageError, match="as they are"):
                    use()
            assert not saved.exists()

    threads.run(2, rank)


def test_memory_is_asked_for(places: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from bigbfs.engines.cpu import ranked_memory

    monkeypatch.setattr(ranked_memory, "free_memory", lambda: 100)
    assert "take ranks on more machines" in refused(places, DoesNotFitError)


def test_arrays_outlive_the_graph_and_its_files(places: list[Path]) -> None:
    """Rows that are mapped stay so while an array of them is alive."""

    def rank(group: Any) -> tuple[np.ndarray, bytes]:
        graph = open_shards(places[group.rank], group)
        assert isinstance(graph, ShardedGraph)
        kept = graph.adjacency.edges
        before = kept.tobytes()
        graph.close()
        for path in places[group.rank].iterdir():
            path.unlink()
        return kept, before

    for kept, before in threads.run(2, rank):
        assert kept.tobytes() == before


def test_as_many_shards_as_a_process_may_open_files(tmp_path: Path) -> None:
    """No file stays open: a graph of 3,000 shards is opened where 256 descriptors are allowed."""
    import resource

    graph = Graph.from_edges(np.arange(64 * 700), np.arange(64 * 700) + 1)
    graph.save(tmp_path / "g.csrbin")
    split(tmp_path / "g.csrbin", tmp_path / "g.shards", shards=700)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        with open_shards(tmp_path / "g.shards", threads.alone()) as found:
            found.require_valid()
            np.testing.assert_array_equal(found.degrees(), graph.degrees())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
