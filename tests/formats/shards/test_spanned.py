"""The edges of a whole graph as one array, of which some shards are there: mapped, or copied."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.errors import FormatError
from bigbfs.formats.shards import split
from bigbfs.formats.shards.layout import EDGES
from bigbfs.formats.shards.manifest import read_manifest
from bigbfs.formats.shards.mapped import Lot
from bigbfs.formats.shards.spanned import copied_bytes, spanned
from bigbfs.graph.graph import Graph

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def edges_of(graph: Graph) -> dict[str, np.ndarray]:
    """Return the sections of edges of a graph, by name."""
    name, backward = "blob" if graph.codec == "varint" else "indices", graph.in_adjacency
    twins = backward is not None and backward is not graph.adjacency
    return {name: graph.adjacency.edges} | ({f"in_{name}": backward.edges} if twins and backward is not None else {})


def look(folder: Path, graph: Graph, parts: range) -> int:
    """Hold each section of edges against that of the graph; return the bytes that were copied."""
    manifest, copied = read_manifest(folder), 0
    lot = Lot(folder, manifest, parts)
    for name, whole in edges_of(graph).items():
        prefix = name.removesuffix(name.removeprefix("in_"))
        offsets = (graph.in_adjacency if prefix else graph.adjacency).indptr
        starts = [int(offsets[piece.header.first_row]) for piece in lot.pieces]
        first, last = int(offsets[lot.rows.start]), int(offsets[lot.rows.stop])
        found = spanned(folder, manifest, lot, name, starts, len(whole))
        assert (found.dtype, len(found), found.flags.writeable) == (whole.dtype, len(whole), False)
        np.testing.assert_array_equal(found[first:last], whole[first:last])
        beyond = -(-last * whole.itemsize // 4096) * 4096 // whole.itemsize
        assert not found[beyond:].any()
        copied += copied_bytes(lot, name, starts)
    lot.close()
    return copied


@pytest.fixture(params=["plain", "varint"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A directed graph with in-neighbours, of 600 KB of edges."""
    drawn = zoo.random(3_000, 150_000, seed=5)
    graph = Graph.from_edges(*drawn, directed=True)
    path = tmp_path / ("g.csrbin" if request.param == "plain" else "g.ccsr")
    (graph if request.param == "plain" else graph.compress()).save(path)
    return path


def test_pages_are_mapped_but_for_those_of_two_shards(path: Path) -> None:
    bigbfs.split(path, shards=7)
    with bigbfs.open(path) as graph:
        total = sum(each.nbytes for each in edges_of(graph).values())
        for parts in (range(7), range(2, 5), range(6, 7)):
            copied = look(path.with_suffix(".shards"), graph, parts)
            assert copied <= 2 * 4096 * len(parts) * len(edges_of(graph)) < total / 2


def test_other_shards_are_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "EDGES", ())
    bigbfs.split(path, shards=3)
    with bigbfs.open(path) as graph:
        total = sum(each.nbytes for each in edges_of(graph).values())
        assert look(path.with_suffix(".shards"), graph, range(3)) > total / 2


def test_version_1(tmp_path: Path) -> None:
    for name in ("directed.shards", "directed-2.shards"):
        with bigbfs.open(GOLDEN / "directed.csrbin") as graph:
            look(GOLDEN / name, graph, range(2))
            look(GOLDEN / name, graph, range(1, 2))


def test_a_shard_that_another_one_has_replaced(path: Path) -> None:
    """Between the look at its header and its mapping."""
    bigbfs.split(path, shards=3)
    folder = path.with_suffix(".shards")
    manifest = read_manifest(folder)
    lot = Lot(folder, manifest, range(3))
    shutil.copy(folder / "00001.shard", folder / "00002.shard")
    name = "blob" if path.suffix == ".ccsr" else "indices"
    counts = [piece.sections[name].count for piece in lot.pieces]
    with pytest.raises(FormatError, match=r"00002\.shard"):
        spanned(folder, manifest, lot, name, [0, counts[0], counts[0] + counts[1]], sum(counts))


def test_sections_of_edges_lie_as_in_the_graph(path: Path) -> None:
    bigbfs.split(path, shards=5)
    folder = path.with_suffix(".shards")
    lot, before = Lot(folder, read_manifest(folder), range(5)), dict.fromkeys(EDGES, 0)
    for piece in lot.pieces:
        for name, section in piece.sections.items():
            wanted = before[name] if name in EDGES else 0
            assert section.offset % 4096 == wanted % 4096
            if name in EDGES:
                before[name] += section.length
