"""Ligra's adjacency graphs: read, cut anywhere, written, damaged; the golden files keep their meaning and bytes."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st

from bigbfs.conversion import ConvertOptions, convert
from bigbfs.errors import InputError
from bigbfs.formats.readers import adj
from bigbfs.formats.readers.adj import read_adjacency
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.read import estimate, read_edges, sample_ids
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.writers.export import export
from bigbfs.graph.graph import Graph

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
INDPTR, INDICES = [0, 2, 2, 4, 5], [1, 3, 0, 3, 2]


def text(indptr, indices, weights=None, *, end="\n", name=None) -> bytes:
    words = [name or ("WeightedAdjacencyGraph" if weights else "AdjacencyGraph"), len(indptr) - 1, len(indices)]
    return "".join(f"{word}{end}" for word in [*words, *indptr[:-1], *indices, *(weights or [])]).encode()


def read(path, content, *, block=None, chunk=None):
    path.write_bytes(content)
    with Source(path) as source, BlockReader(source, block) as reader:
        return read_adjacency(reader, chunk_bytes=chunk)


def rows(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


@settings(max_examples=80)
@given(
    degrees=st.lists(st.sampled_from([0, 0, 1, 2, 7, 50]), min_size=1, max_size=40),
    seed=st.integers(0, 99),
    weighted=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", " \n", "\n\n"]),
    block=st.integers(1, 300),
    chunk=st.integers(1, 60),
)
def test_any_graph_cut_anywhere(tmp_path, degrees, seed, weighted, end, block, chunk):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    indices = rng.integers(0, len(degrees), int(indptr[-1]))
    weights = rng.integers(-9, 99, len(indices)).tolist() if weighted and len(indices) else None
    found = read(tmp_path / "g", text(indptr.tolist(), indices.tolist(), weights, end=end), block=block, chunk=chunk)
    owner = np.repeat(np.arange(len(degrees)), degrees)
    assert rows(found) == list(zip(owner.tolist(), indices.tolist(), strict=True))
    assert (found.declared_n, found.first_id, found.mirrored) == (len(degrees), 0, False)
    assert len(found.notes) == (weights is not None)


def test_rows_that_are_looked_up_piece_by_piece(tmp_path, monkeypatch):
    """Many rows, the offsets on disk, a few at a time."""
    monkeypatch.setattr(adj, "_ROWS", 3)
    monkeypatch.setattr(adj, "_HELD", 64)
    degrees = np.tile([0, 0, 0, 0, 1, 9], 40)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    found = read(tmp_path / "g", text(indptr.tolist(), [5] * int(indptr[-1])), block=100, chunk=20)
    assert np.array_equal(found.src, np.repeat(np.arange(240), degrees))


def test_words_may_share_lines_and_the_file_may_be_packed(tmp_path):
    content = b"AdjacencyGraph\n4\n5\n0 2\t2 4\n\n 1 3 0 3\r\n2"
    assert rows(read(tmp_path / "g", content)) == [(0, 1), (0, 3), (2, 0), (2, 3), (3, 2)]
    (tmp_path / "g.adj.gz").write_bytes(gzip.compress(content))
    assert rows(read_edges(tmp_path / "g.adj.gz")) == [(0, 1), (0, 3), (2, 0), (2, 3), (3, 2)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((b"AdjacencyGraph\n", b""), "line 1: '4': expected AdjacencyGraph"),
        ((b"\n4\n5\n", b"\n4 5\n"), "line 2: '4 5': '4 5' is no count"),
        ((b"\n4\n5\n", b"\n-4\n5\n"), "line 2: '-4': '-4' is no count"),
        ((b"\n0\n2\n2\n4\n", b"\n1\n2\n2\n4\n"), "line 4: '1': offset 1 of vertex 0; the first is 0"),
        ((b"\n0\n2\n2\n4\n", b"\n0\n2\n1\n4\n"), "line 6: '1': offset 1 of vertex 2, below the one before it"),
        ((b"\n0\n2\n2\n4\n", b"\n0\n2\n2\n6\n"), "line 7: '6': an offset is outside 0 to 5"),
        ((b"\n0\n2\n2\n4\n", b"\n0\n2\n2\nx\n"), "line 7: 'x': expected an offset, a whole number from 0 to 5"),
        ((b"\n1\n3\n0\n3\n2\n", b"\n1\n3\n4\n3\n2\n"), "line 10: '4': a neighbour is outside 0 to 3"),
        ((b"\n1\n3\n0\n3\n2\n", b"\n1\n3\n-1\n3\n2\n"), "line 10: '-1': a vertex id is negative"),
        ((b"\n1\n3\n0\n3\n2\n", b"\n1\n3\n1.5\n3\n2\n"), "line 10: '1.5': expected a neighbour"),
        ((b"\n1\n3\n0\n3\n2\n", b"\n1\n3\n0\n3\n"), r"file holds 8 of 9 words \(cut short\?\)"),
        ((b"\n1\n3\n0\n3\n2\n", b"\n1\n3\n0\n3\n2 7\n"), "line 12: '2 7': a word after the last of 9"),
        ((b"\n4\n5\n", b"\n0\n5\n"), "declares 0 vertices"),
    ],
)
def test_damage_is_named_by_line_and_value(tmp_path, change, says):
    good = text(INDPTR, INDICES)
    assert good.count(change[0]) == 1
    for block in (None, 4):
        with pytest.raises(InputError, match=says) as caught:
            read(tmp_path / "g.adj", good.replace(*change), block=block, chunk=3)
        assert str(caught.value).startswith(str(tmp_path / "g.adj"))


@pytest.mark.parametrize("cut", range(1, 34))
def test_a_file_cut_anywhere_is_refused(tmp_path, cut):
    content = text(INDPTR, INDICES, [7] * 5).rstrip(b"\n")
    with pytest.raises(InputError):
        read(tmp_path / "g", content[:-cut] if content[-cut - 1 : -cut] != b"7" else content[: -cut - 1])


def test_estimate_and_sample(tmp_path):
    (tmp_path / "g.adj").write_bytes(text(INDPTR, INDICES))
    guess = estimate(tmp_path / "g.adj")
    assert (guess.declared_vertices, guess.edges_upper_bound, guess.streams) == (4, 5, True)
    assert set(sample_ids(tmp_path / "g.adj").tolist()) <= {0, 1, 2, 3}


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", zoo.names(big=False))
def test_what_is_written_is_read_again(tmp_path, name, codec):
    graph = zoo.shared()[name]
    graph = graph.decompress() if codec == "plain" else graph.compress()
    stream = io.BytesIO()
    done = export(graph, "adj", stream)
    assert done.lines == graph.m
    if not graph.n:
        return
    found = read(tmp_path / "g", stream.getvalue())
    plain = graph.decompress().adjacency
    assert np.array_equal(found.src, np.repeat(np.arange(graph.n), plain.degrees()))
    assert np.array_equal(found.dst, plain.indices)


@pytest.mark.parametrize("memory", [None, 300 << 20])
def test_weights_are_counted_dropped_and_told(tmp_path, memory):
    path = tmp_path / "w.adj"
    path.write_bytes(text(INDPTR, INDICES, [3, -1, 4, 1, 5]))
    options = ConvertOptions(directed=True, memory=memory)
    report = convert([path], options=options)
    assert report.notes == (f"{path}: 5 weights dropped",)
    assert convert([path], options=options).notes == report.notes  # also where nothing was to be done
    with Graph.open(tmp_path / "w.csrbin") as graph:
        assert graph.adjacency.indptr.tolist() == INDPTR


def test_golden_files(tmp_path):
    """What Ligra's converter writes of 0 - 1 - 2, 0 -> 3; and that export writes the same, to the byte."""
    for name, notes in (("path.adj", 0), ("weighted.adj", 1)):
        edges = read_edges(GOLDEN / name)
        assert rows(edges) == [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1)]
        assert (edges.declared_n, len(edges.notes)) == (4, notes)
    stream = io.BytesIO()
    export(Graph.from_csr([0, 2, 4, 5, 5], [1, 3, 0, 2, 1], directed=True), "adj", stream)
    assert stream.getvalue() == (GOLDEN / "path.adj").read_bytes()
