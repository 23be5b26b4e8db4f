"""DIMACS .gr and .col: headers, comments, counts, ids out of range, told by content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigbfs.errors import InputError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.dimacs import read_dimacs
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.formats.streams.sources import Source


def read(path, text, *, block=None, chunk=None, skip=0):
    path.write_bytes(text)
    with Source(path) as source, BlockReader(source, block) as reader:
        return read_dimacs(reader, Rules(skip), chunk_bytes=chunk)


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


@given(block=st.integers(1, 60), chunk=st.integers(1, 40))
def test_shortest_path_graphs_cut_anywhere(tmp_path, block, chunk):
    text = b"c head\nc\n\np sp 12 4\na 1 2 803\nc inside\na\t12  1\t-4\r\n  a 3 4 0.5\na 3 3 1"
    edges = read(tmp_path / "g", text, block=block, chunk=chunk)
    assert pairs(edges) == [(1, 2), (12, 1), (3, 4), (3, 3)]
    assert (edges.first_id, edges.declared_n, edges.one_way_means_both, edges.comment_lines) == (1, 12, False, 4)


@pytest.mark.parametrize(
    "text",
    [
        b"p edge 3 2\ne 1 2\ne 2 3\n",
        b"c x\np col 3 1\ne 1 2\ne 2 3\n",
        b"p edges 3 2\ne 1 2\ne 2 3\n",
        b"p tw 3 2\n1 2\n2 3\n",
    ],
)
def test_edges_that_mean_both_directions(tmp_path, text):
    edges = read(tmp_path / "g", text)
    assert (pairs(edges), edges.one_way_means_both, edges.declared_n) == ([(1, 2), (2, 3)], True, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "empty"),
        (b"c only\n", "only comments"),
        (b"a 1 2 3\n", "line 1: 'a 1 2 3': expected the problem line"),
        (b"p sp 3\n", "line 1"),
        (b"p max 3 2\n", "line 1: 'p max 3 2'"),
        (b"p sp x 2\n", "'x' is no count"),
        (b"p sp 0 0\n", "0 vertices"),
        (b"p sp 3 2\na 1 2 5\n", "declares 2 arcs, but the file holds 1 .cut short"),
        (b"p sp 3 1\na 1 2 5\na 2 3 5\n", "holds 2 .a wrong header"),
        (b"p sp 3 1\na 1 4 5\n", "line 2: 'a 1 4 5': .*range 1 to 3"),
        (b"p sp 3 1\na 0 2 5\n", "range 1 to 3"),
        (b"p sp 3 1\na 1 2\n", "line 2: 'a 1 2': a column is missing"),
        (b"p sp 3 1\n1 2 5\n", "line 2: '1 2 5': expected 'a from to weight'"),
        (b"p sp 3 1\ne 1 2 5\n", "line 2"),
        (b"p sp 3 1\na1 2 5\n", "line 2"),
        (b"p sp 3 1\na x 2 5\n", "line 2"),
        (b"p edge 3 2\ne 1 2\ne 2 3\ne 3 1\n", "declares 2 edges, but the file holds 3"),
    ],
)
def test_bad_files(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path / "g.gr", text)


def test_told_by_content(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"c x\np sp 3 1\na 1 2 5\n")
    assert pairs(read_edges(file)) == [(1, 2)]
    assert estimate(file).declared_vertices == 3
