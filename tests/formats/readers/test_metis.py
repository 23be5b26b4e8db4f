"""METIS: weights of every kind passed over, blank lines are vertices, counts and ids checked, cut anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigbfs.errors import InputError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.metis import read_metis
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.formats.streams.sources import Source


def read(path, text, *, block=None, chunk=None):
    path.write_bytes(text)
    with Source(path) as source, BlockReader(source, block) as reader:
        return read_metis(reader, chunk_bytes=chunk)


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


PATH = [(1, 2), (2, 1), (2, 3), (3, 2)]


@pytest.mark.parametrize(
    "text",
    [
        b"3 2\n2\n1 3\n2\n",
        b"%c\n 3 2 \n%c\n2\n% c\n1 3\n  % c\n2",
        b"3 2 0\n 2 \r\n1\t3\r\n2\r\n",
        b"3 2 1\n2 7\n1 7 3 9\n2 9\n",
        b"3 2 001\n2 7\n1 7 3 9\n2 9\n",
        b"3 2 10\n5 2\n5 1 3\n5 2\n",
        b"3 2 11\n5 2 7\n5 1 7 3 9\n5 2 9\n",
        b"3 2 100\n5 2\n5 1 3\n5 2\n",
        b"3 2 110 2\n1 5 6 2\n1 5 6 1 3\n1 5 6 2\n",
        b"3 2 111 3\n1 5 6 7 2 0.5\n1 5 6 7 1 0.5 3 -9\n1 5 6 7 2 8\n",
        b"3 2 000\n2\n1 3\n2\n\n\n% end\n\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, None])
def test_every_kind_of_weights(tmp_path, text, size):
    edges = read(tmp_path / "g", text, block=size, chunk=size)
    assert pairs(edges) == PATH
    assert (edges.first_id, edges.declared_n, edges.mirrored) == (1, 3, True)


@pytest.mark.parametrize("text", [b"5 1\n\n3\n2\n\n\n", b"5 1\n\n3\n2\n \n\t", b"5 1\n\n3\n2\n", b"5 1\n\n3\n2"])
def test_blank_lines_are_isolated_vertices_and_trailing_ones_may_be_missing(tmp_path, text):
    edges = read(tmp_path / "g", text)
    assert (pairs(edges), edges.declared_n) == ([(2, 3), (3, 2)], 5)


@given(data=st.data(), block=st.integers(1, 200), chunk=st.integers(1, 100))
def test_random_graphs_cut_anywhere(tmp_path, data, block, chunk):
    n = data.draw(st.integers(1, 12))
    upper = [(u, v) for u in range(1, n + 1) for v in range(u + 1, n + 1)]
    chosen = data.draw(st.lists(st.sampled_from(upper), unique=True)) if upper else []
    neighbours = {v: sorted({a + b - v for a, b in chosen if v in (a, b)}) for v in range(1, n + 1)}
    lines = [b" ".join(b"%d" % u for u in neighbours[v]) for v in range(1, n + 1)]
    for position in sorted(data.draw(st.lists(st.integers(0, n), max_size=3)), reverse=True):
        lines.insert(position, b"% comment 1 2")
    edges = read(tmp_path / "g", b"%d %d\n" % (n, len(chosen)) + b"\n".join(lines), block=block, chunk=chunk)
    assert pairs(edges) == [(v, u) for v in range(1, n + 1) for u in neighbours[v]]
    assert edges.comment_lines == sum(line.startswith(b"%") for line in lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "empty"),
        (b"% only\n", "empty or holds only comments; expected the header"),
        (b"3\n", "line 1: '3': expected the header"),
        (b"3 2 1 1 1\n", "line 1"),
        (b"three 2\n", "'three' is no count"),
        (b"0 0\n", "0 vertices"),
        (b"3 2 12\n", "fmt must be"),
        (b"3 2 0011\n", "fmt must be"),
        (b"3 2 1 2\n", "ncon 2 does not go with fmt 1"),
        (b"3 2 10 999999999999\n", "ncon"),
        (b"3 2\n2\n1 3\n", "declares 2 edges, so 4 neighbours .* holds 3 in 2 of 3 lines .cut short"),
        (b"3 1\n2\n1 3\n2\n", "holds 4 in 3 of 3 lines .a wrong header"),
        (b"3 2\n2\n1 4\n2\n", "line 3: '1 4': a vertex id is outside the declared range 1 to 3"),
        (b"3 2\n2\n1 0\n2\n", "line 3: '1 0': .*range 1 to 3"),
        (b"3 2\n2\n1 x\n2\n", "line 3: '1 x': expected the ids"),
        (b"3 2\n2\n1 3a\n2\n", "line 3: '1 3a'"),
        (b"3 2\n2\n1 -3\n2\n", "line 3: '1 -3': a vertex id is negative"),
        (b"3 2\n2\n1 2.5\n2\n", "line 3"),
        (b"3 2\n2\n1 3\r2\n", "line 3: .*carriage return"),
        (b"3 2\n2\n1 3\n2\n1\n", "line 5: '1': neighbours after the line of the last vertex, 3"),
        (b"3 2 1\n2 7\n1 7 3\n2 9\n", "line 3: '1 7 3': a column is missing"),
        (b"3 2 11\n5 2 7\n5 1 7 3 9\n5 2\n", "line 4: '5 2': a column is missing"),
        (b"3 2 10 3\n5\n5 1 3\n5 2\n", "line 2: '5': a column is missing"),
    ],
)
@pytest.mark.parametrize("size", [5, None])
def test_bad_files(tmp_path, text, says, size):
    with pytest.raises(InputError, match=says):
        read(tmp_path / "g.graph", text, block=size, chunk=size)


def test_a_hub_with_a_line_of_many_blocks(tmp_path):
    n = 20_000
    text = b"%d %d\n" % (n, n - 1) + b" ".join(b"%d" % v for v in range(2, n + 1)) + b"\n" + b"1\n" * (n - 1)
    edges = read(tmp_path / "g", text, block=1000, chunk=500)
    assert np.array_equal(edges.dst[: n - 1], np.arange(2, n + 1))
    assert np.array_equal(edges.src[n - 1 :], np.arange(2, n + 1))


def test_vertices_beyond_32_bits(tmp_path):
    edges = read(tmp_path / "g", b"5000000000 1\n2 4999999999\n")
    assert edges.src.dtype == edges.dst.dtype == np.uint64
    assert pairs(edges) == [(1, 2), (1, 4999999999)]


def test_by_suffix(tmp_path):
    file = tmp_path / "g.graph"
    file.write_bytes(b"3 2\n2\n1 3\n2\n")
    assert pairs(read_edges(file)) == PATH
    assert (estimate(file).declared_vertices, estimate(file).edges_upper_bound) == (3, 4)
