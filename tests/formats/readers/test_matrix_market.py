"""Matrix Market: against SciPy's writer, every kind of header, wrong counts, indices out of range."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.mtx import read_matrix_market
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.formats.streams.sources import Source

BANNER = b"%%MatrixMarket matrix coordinate pattern general\n"


def read(path, text, *, block=None, chunk=None, skip=0):
    path.write_bytes(text)
    with Source(path) as source, BlockReader(source, block) as reader:
        return read_matrix_market(reader, Rules(skip), chunk_bytes=chunk)


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


@pytest.mark.parametrize("field", ["pattern", "real", "integer", "complex"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_what_scipy_writes(tmp_path, field, symmetry):
    matrix = scipy.sparse.random(50, 50, 0.1, random_state=3)
    matrix.data = np.arange(1, matrix.nnz + 1).astype({"integer": int, "complex": complex}.get(field, float))
    if symmetry == "symmetric":
        matrix = (matrix + matrix.T).tocoo()
    file = tmp_path / "m.mtx"
    scipy.io.mmwrite(file, matrix, field=field, symmetry=symmetry, comment="two\nlines")
    edges = read_edges(file)
    assert (edges.first_id, edges.declared_n, edges.mirrored) == (1, 50, False)
    assert edges.one_way_means_both == (symmetry == "symmetric")
    stored = matrix if symmetry == "general" else scipy.sparse.tril(matrix)
    assert sorted(pairs(edges)) == sorted(zip((stored.row + 1).tolist(), (stored.col + 1).tolist(), strict=True))


@given(block=st.integers(1, 80), chunk=st.integers(1, 40))
def test_header_and_body_cut_anywhere(tmp_path, block, chunk):
    text = BANNER.upper().replace(b"%%MATRIX", b"%%Matrix") + b"% c\n\n  9 9 3 \n1 2\n% c\n\n9 9\r\n3\t1"
    edges = read(tmp_path / "m", text, block=block, chunk=chunk)
    assert pairs(edges) == [(1, 2), (9, 9), (3, 1)]
    assert edges.comment_lines == 4


@pytest.mark.parametrize("symmetry", [b"symmetric", b"skew-symmetric", b"hermitian"])
def test_an_entry_of_a_symmetric_matrix_means_both(tmp_path, symmetry):
    text = b"%%MatrixMarket matrix coordinate real " + symmetry + b"\n3 3 1\n2 1 0\n"
    assert read(tmp_path / "m", text).one_way_means_both


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "empty"),
        (b"1 2\n", "line 1: '1 2': expected '%%MatrixMarket.*format=\"text\""),
        (b"%MatrixMarket matrix coordinate pattern general\n1 1 0\n", "line 1: .*expected '%%MatrixMarket"),
        (b"%%MatrixMarket matrix coordinate pattern\n1 1 0\n", "line 1"),
        (b"%%MatrixMarket vector coordinate pattern general\n", "line 1"),
        (b"%%MatrixMarket matrix array real general\n2 2\n", r"line 1: .*dense \(array\)"),
        (b"%%MatrixMarket matrix coordinate quaternion general\n", "line 1"),
        (b"%%MatrixMarket matrix coordinate real diagonal\n", "line 1"),
        (BANNER, "empty or holds only comments.*size line"),
        (BANNER + b"% c\n3 3\n", "line 3: '3 3': expected the size line"),
        (BANNER + b"3 3 x\n", "line 2: '3 3 x': 'x' is no count"),
        (BANNER + b"-3 -3 1\n", "'-3' is no count"),
        (BANNER + b"9999999999999999999 9999999999999999999 1\n1 1\n", "is no count"),
        (BANNER + b"0 0 0\n", "0 x 0"),
        (BANNER + b"3 4 1\n1 4\n", "line 2: '3 4 1': the matrix is 3 x 4; an adjacency matrix is square"),
        (BANNER + b"3 3 2\n1 2\n", r"declares 2 entries, but the file holds 1 \(cut short"),
        (BANNER + b"3 3 1\n1 2\n2 3\n", r"declares 1 entries, but the file holds 2 \(a wrong header"),
        (BANNER + b"3 3 1000000000000\n1 2\n", "holds 1 "),
        (BANNER + b"3 3 1\n0 2\n", "line 3: '0 2': a vertex id is outside the declared range 1 to 3"),
        (BANNER + b"3 3 1\n1 4\n", "line 3: '1 4': .*range 1 to 3"),
        (BANNER + b"3 3 1\n1\n", "line 3: '1': only one column"),
        (BANNER + b"3 3 1\n1 x\n", "line 3: '1 x'"),
        (BANNER + b"3 3 1\n# 1 2\n", "line 3: '# 1 2'"),
        (BANNER.replace(b"pattern", b"real") + b"3 3 2\n1 2 0.5\n1 3\n", "line 4: '1 3': a column is missing"),
    ],
)
def test_bad_files(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path / "m.mtx", text)


def test_skipped_lines_count_as_entries(tmp_path):
    text = BANNER + b"3 3 3\n1 2\nx\n2 3\n"
    edges = read(tmp_path / "m", text, skip=1)
    assert (pairs(edges), edges.skipped_lines) == ([(1, 2), (2, 3)], 1)


def test_the_banner_counts_more_than_the_suffix(tmp_path):
    file = tmp_path / "m.txt.gz"
    file.write_bytes(gzip.compress(BANNER + b"3 3 1\n1 2\n"))
    assert read_edges(file).declared_n == 3
    with pytest.raises(InputError, match="line 1"):
        file.with_suffix(".mtx").write_bytes(b"1 2\n")
        read_edges(file.with_suffix(".mtx"))
    assert pairs(read_edges(file.with_suffix(".mtx"), format="text")) == [(1, 2)]


def test_estimate_tells_what_the_header_declares(tmp_path):
    file = tmp_path / "m.mtx"
    file.write_bytes(BANNER + b"1000000000000 1000000000000 2\n1 2\n2 3\n")
    guess = estimate(file)
    assert (guess.declared_vertices, guess.edges_upper_bound) == (10**12, 2)


def test_a_matrix_with_no_entries_is_a_graph_of_isolated_vertices(tmp_path):
    edges = read(tmp_path / "m", BANNER + b"3 3 0\n")
    assert (len(edges.src), edges.declared_n) == (0, 3)


def test_no_memory_is_said_so(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("bigbfs.formats.readers.edge_buffer.allocated", refuse)
    with pytest.raises(DoesNotFitError, match="no memory for the edges"):
        read(tmp_path / "m", BANNER + b"3 3 1\n1 2\n")
