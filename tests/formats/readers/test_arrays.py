"""NumPy and SciPy files: what they write is read, and nothing hostile, cut short or of another kind passes."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import zipfile

import numpy as np
import pytest
import scipy.sparse
import zstandard

from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.readers.read import estimate, read_edges

EDGES = [(0, 1), (5, 2), (7, 7), (2, 5), (2, 5)]
ARRAY = np.array(EDGES)
SRC, DST = ARRAY.T


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


def npy(array, **options) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i4", "<u4", "<i8", ">u8", "<u8"])
@pytest.mark.parametrize("layout", ["rows", "columns", "fortran"])
def test_npy_of_every_integer_dtype_and_layout(tmp_path, dtype, layout):
    array = ARRAY.astype(dtype)
    array = {"rows": array, "columns": np.ascontiguousarray(array.T), "fortran": np.asfortranarray(array)}[layout]
    file = tmp_path / "e.npy"
    np.save(file, array)
    edges = read_edges(file)
    assert pairs(edges) == EDGES
    assert (edges.src.dtype, edges.declared_n, edges.first_id) == (np.uint32, None, 0)
    assert edges.src.flags.c_contiguous and edges.dst.flags.c_contiguous
    assert edges.input_bytes == file.stat().st_size


def test_wide_ids(tmp_path):
    np.save(tmp_path / "e.npy", np.array([[1, 2**63 - 1]]))
    edges = read_edges(tmp_path / "e.npy")
    assert (edges.src.dtype, edges.dst.dtype) == (np.uint64, np.uint64)
    assert pairs(edges) == [(1, 2**63 - 1)]


@pytest.mark.parametrize(
    "arrays",
    [
        {"src": SRC, "dst": DST},
        {"source": SRC, "target": DST, "weight": SRC * 0.5},
        {"row": SRC.astype(np.int32), "col": DST},
        {"u": SRC, "v": DST},
        {"arr_0": SRC, "arr_1": DST},
        {"edges": ARRAY},
        {"edge_index": ARRAY.T},
        {"arr_0": ARRAY},
    ],
)
def test_npz_of_edges(tmp_path, arrays):
    (tmp_path / "e.npz").write_bytes(npz(**arrays))
    edges = read_edges(tmp_path / "e.npz")
    assert pairs(edges) == EDGES
    assert edges.declared_n is None


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
@pytest.mark.parametrize("family", [scipy.sparse.coo_matrix, scipy.sparse.coo_array])
def test_what_scipy_saves(tmp_path, kind, family):
    matrix = family((np.array([1.0, 0.0, 2.0]), ([0, 4, 4], [3, 1, 2])), shape=(6, 6)).asformat(kind)
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    edges = read_edges(tmp_path / "m.npz")
    assert sorted(pairs(edges)) == [(0, 3), (4, 1), (4, 2)]
    assert (edges.first_id, edges.declared_n) == (0, 6)


def test_bare_csr_arrays(tmp_path):
    (tmp_path / "m.npz").write_bytes(npz(indptr=np.array([0, 2, 2, 3]), indices=np.array([1, 2, 0])))
    edges = read_edges(tmp_path / "m.npz")
    assert (pairs(edges), edges.declared_n) == ([(0, 1), (0, 2), (2, 0)], 3)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed_and_from_standard_input(tmp_path, monkeypatch, pack):
    for name, content in (("e.npy.x", npy(ARRAY)), ("e.npz.x", npz(edges=ARRAY))):
        (tmp_path / name).write_bytes(pack(content))
        assert pairs(read_edges(tmp_path / name)) == EDGES
        with (tmp_path / name).open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            assert pairs(read_edges("-")) == EDGES


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.array([[0.0, 1.0]]), r"shape \(1, 2\) and dtype float64; vertex ids are integers; if .*astype\(np.int64\)"),
        (np.array([[True, False]]), r"shape \(1, 2\) and dtype bool; vertex ids are integers; save integers"),
        (np.array([["a", "b"]]), r"shape \(1, 2\) and dtype <U1; .* two columns of text to a .csv or .parquet"),
        (np.array([[b"a", b"b"]]), r"shape \(1, 2\) and dtype \|S1; .* two columns of text to a .csv or .parquet"),
        (np.array([[1, -2]]), "edge 0: vertex id -2 is outside 0 to"),
        (np.array([[1, 2], [2**63, 1], [3, 4]], np.uint64), "edge 1: vertex id 9223372036854775808 is outside"),
        (np.arange(6), r"shape \(6,\)"),
        (np.zeros((3, 3), int), r"shape \(3, 3\)"),
        (np.zeros((2, 2, 2), int), "shape"),
        (np.zeros((0, 2), int), r"no edge in it, an array of shape \(0, 2\) and dtype int64; .* by an edge to itself"),
        (np.array([]), r"no edge in it, an array of shape \(0,\) and dtype float64"),
        (np.zeros(3, [("a", int), ("b", int)]), r"shape \(3,\) and dtype .*vertex ids are integers; save two columns"),
        (np.array(1), r"shape \(\)"),
    ],
)
def test_arrays_that_are_no_edges(tmp_path, array, says):
    np.save(tmp_path / "e.npy", array)
    (tmp_path / "e.npy.gz").write_bytes(gzip.compress((tmp_path / "e.npy").read_bytes()))
    for name in ("e.npy", "e.npy.gz"):  # read by blocks, and as a whole
        with pytest.raises(InputError, match=says):
            read_edges(tmp_path / name)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_objects_are_never_unpickled(tmp_path):
    bomb = np.array([[Bomb(), 1]], dtype=object)
    np.save(tmp_path / "e.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "e.npz", src=bomb[0], dst=bomb[0])
    (tmp_path / "p.npy").write_bytes(pickle.dumps(Bomb()))
    for name in ("e.npy", "e.npz", "p.npy"):
        with pytest.raises(InputError):
            read_edges(tmp_path / name)


@pytest.mark.parametrize("name", ["e.npy", "e.npz", "m.npz"])
def test_files_cut_anywhere(tmp_path, name):
    whole = {"e.npy": npy(ARRAY), "e.npz": npz(src=SRC, dst=DST), "m.npz": npz(edges=ARRAY)}[name]
    random.seed(name)
    for length in random.sample(range(len(whole)), 40):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(InputError, match=name):
            read_edges(tmp_path / name)


def test_a_changed_byte_is_an_error_or_makes_no_difference(tmp_path):
    whole = npz(src=SRC, dst=DST)
    file = tmp_path / "e.npz"
    random.seed(3)
    for position in random.sample(range(len(whole)), 150):
        bad = bytearray(whole)
        bad[position] ^= 1 << random.randrange(8)
        file.write_bytes(bad)
        try:
            assert pairs(read_edges(file)) == EDGES
        except InputError as error:
            assert "e.npz" in str(error)


def test_bytes_too_many_or_a_header_that_lies(tmp_path):
    file = tmp_path / "e.npy"
    file.write_bytes(npy(ARRAY) + b"x")
    with pytest.raises(InputError, match=r"declares 80 bytes of data .* and holds 81"):
        read_edges(file)
    huge = npy(ARRAY).replace(b"(5, 2)", b"(9999999999, 2)", 1)
    file.write_bytes(huge)
    with pytest.raises(InputError, match=r"declares 159999999984 bytes|bad .npy header"):
        read_edges(file)
    packed = tmp_path / "e.npy.gz"
    packed.write_bytes(gzip.compress(npy(ARRAY)[:-3]))
    with pytest.raises(InputError, match="is cut short: 77 of 80 bytes"):
        read_edges(packed)
    packed.write_bytes(gzip.compress(npy(ARRAY) + b"x"))
    with pytest.raises(InputError, match="more bytes than its"):
        read_edges(packed)
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d, 2), }" % 10**17
    header += b" " * (117 - len(header)) + b"\n"
    packed.write_bytes(gzip.compress(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header))
    with pytest.raises(DoesNotFitError, match="no memory for the"):
        read_edges(packed)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[" * 900,
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1, 2), }",
        b"{'descr': '<a8', 'fortran_order': False, 'shape': (3, 2), }",  # NumPy warns of this name
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), 'x': '\\d', }",  # Python warns of this escape
        b"{'descr': '<1 2\ni8', 'fortran_order': False, 'shape': (3, 2), }",
        b"{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (3, 2), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (%s, 2), }" % (b"9" * 5000),
        b"{'descr': '<i8', 'fortran_order': False" + b" " * 9000 + b"x",
    ],
)
def test_hostile_headers(tmp_path, header):
    file = tmp_path / "e.npy"
    for version in (1, 2, 3, 9):
        length = len(header).to_bytes(2 if version == 1 else 4, "little")
        file.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + header + bytes(64))
        with pytest.raises(InputError, match=r"e\.npy") as caught:
            read_edges(file)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"a": SRC}, "holds a; expected src and dst"),
        ({"src": SRC, "dst": DST[:-1]}, r"shapes \(5,\) and \(4,\)"),
        ({"src": ARRAY, "dst": ARRAY}, "shapes"),
        ({"format": np.bytes_(b"bsr"), "shape": [3, 3]}, "SciPy bsr matrix is not read"),
        ({"format": np.bytes_(b"coo"), "shape": [3, 4], "row": SRC, "col": DST}, r"shape \[3, 4\]"),
        ({"format": np.bytes_(b"coo"), "shape": [3, 3], "row": SRC, "col": DST}, "vertex id 7 is outside 0 to 2"),
        ({"format": np.bytes_(b"coo"), "shape": [0, 0], "row": [], "col": []}, "0 x 0"),
        ({"format": np.bytes_(b"coo"), "shape": [3, 3]}, "without col and row"),
        ({"format": np.bytes_(b"csr"), "shape": [3, 3], "indptr": [0, 1], "indices": [0]}, "indptr has 2 entries"),
        ({"format": np.bytes_(b"csr"), "shape": [2, 2], "indptr": [0, 2, 1], "indices": [0]}, "does not rise"),
        ({"format": np.bytes_(b"csr"), "shape": [2, 2], "indptr": [0, 1, 9], "indices": [0]}, "does not rise"),
        ({"format": np.bytes_(b"csr"), "shape": [2, 2], "indptr": [0.0, 1, 1], "indices": [0]}, "integers|float"),
        ({"indptr": [0, 0, 0], "indices": np.array([])}, r"indices\].* dtype float64; vertex ids are integers"),
        (
            {"format": np.bytes_(b"csr"), "shape": [2, 2], "indptr": [0, 0, 0], "indices": np.array([])},
            r"indices\].* dtype float64; vertex ids are integers",
        ),
        ({"src": np.array([]), "dst": np.array([])}, "no edge in it"),
        ({"indptr": np.array([0, 2**63, 1], np.uint64), "indices": [0]}, r"above 2\^63-1"),
        ({"format": np.arange(3), "shape": np.array("x")}, "SciPy|format"),
    ],
)
def test_npz_that_is_no_graph(tmp_path, arrays, says):
    (tmp_path / "m.npz").write_bytes(npz(**arrays))
    with pytest.raises(InputError, match=says):
        read_edges(tmp_path / "m.npz")


def test_zip_archives_of_other_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "graph.zip", "w") as archive:
        archive.writestr("graph.txt", "1 2\n")
    with pytest.raises(InputError, match=r"zip archive without arrays .in it: 'graph.txt'.; unpack it"):
        read_edges(tmp_path / "graph.zip")


def test_a_zip_bomb_is_seen_by_the_estimate(tmp_path):
    file = tmp_path / "bomb.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("src.npy", "w") as member:
        member.write(npy(np.zeros((0,), int)))
        for _ in range(50):
            member.write(bytes(1 << 20))
    assert estimate(file).memory_bytes >= 50 << 20
    with pytest.raises(InputError):
        read_edges(file)


@pytest.mark.parametrize("dtype", ["|S0", "<U0"])
def test_items_of_no_bytes(dtype, tmp_path):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': (5, 2), }}".encode().ljust(117) + b"\n"
    path = tmp_path / "empty.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(InputError, match="vertex ids are integers"):
        read_edges(path)
