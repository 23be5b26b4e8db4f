"""Every real graph of the data folder against the counts in its README; graph files as input; archives."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from bigbfs.errors import FormatError, InputError
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.graph.graph import Graph

DECLARED = {"USA-road-d.NY.gr.zst": 264_346, "mdual.graph.zst": 258_569}


def table(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return file -> (vertices, lines, self-loops) out of the README."""
    found = {}
    for line in (folder / "README.md").read_text().splitlines():
        cells = [cell.strip().replace(",", "") for cell in line.split("|")]
        if len(cells) > 6 and cells[3].isdigit():
            found[cells[1]] = (int(cells[3]), int(cells[4]), int(cells[5]))
    return found


def distinct(*arrays: np.ndarray) -> int:
    if max(int(array.max()) for array in arrays) >= 1 << 26:
        return len(np.unique(np.concatenate(arrays)))
    seen = np.zeros(1 << 26, bool)
    for array in arrays:
        seen[array] = True
    return int(np.count_nonzero(seen))


def test_counts_of_every_real_graph(data):
    wanted = table(data)
    assert len(wanted) == 15
    for name, (vertices, lines, loops) in wanted.items():
        edges = read_edges(data / name)
        assert (len(edges.src), len(edges.dst)) == (lines, lines), name
        assert distinct(edges.src, edges.dst) == vertices, name
        assert int(np.count_nonzero(edges.src == edges.dst)) == loops, name
        assert edges.declared_n == DECLARED.get(name), name
        assert edges.first_id == (1 if name in DECLARED else 0), name
        assert edges.mirrored == (name == "mdual.graph.zst"), name
        assert edges.input_bytes == (data / name).stat().st_size, name
        assert edges.skipped_lines == 0
        assert 0.98 * lines <= estimate(data / name).edges_upper_bound <= 2 * lines, name


def test_comment_and_wide_ids_of_real_graphs(data):
    assert read_edges(data / "as-caida20071105.txt").comment_lines == 8
    wide = read_edges(data / "liechtenstein-highways.txt.zst")
    assert wide.src.dtype == np.uint64
    assert int(wide.src[0]) == 30604007


def test_the_comment_that_lost_its_mark(data):
    file = data / "bad-comment-as-caida.txt"
    with pytest.raises(InputError) as caught:
        read_edges(file)
    assert str(caught.value).startswith(f"{file}: line 4: '           -1 (<FromNodeId> is a customer of")
    assert "skip_bad_lines=" in str(caught.value)
    edges = read_edges(file, skip_bad_lines=1)
    assert (edges.skipped_lines, edges.comment_lines) == (1, 8)
    good = read_edges(data / "as-caida20071105.txt")
    assert np.array_equal(edges.src, good.src) and np.array_equal(edges.dst, good.dst)


INDPTR, INDICES = np.array([0, 2, 3, 3, 4]), np.array([1, 3, 0, 0])
PAIRS = [(0, 1), (0, 3), (1, 0), (3, 0)]


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


@pytest.mark.parametrize("suffix", [".csrbin", ".ccsr"])
def test_our_own_files_as_input(tmp_path, suffix):
    graph = Graph.from_csr(INDPTR, INDICES)
    file = tmp_path / f"g{suffix}"
    (graph if suffix == ".csrbin" else graph.compress()).save(file)
    packed = tmp_path / f"g{suffix}.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    for path in (file, packed):
        edges = read_edges(path)
        assert (pairs(edges), edges.first_id, edges.declared_n, edges.mirrored) == (PAIRS, 0, 4, True)


def test_our_own_file_with_labels_and_an_isolated_vertex(tmp_path):
    labels = np.array([5, 2**40, 7, 9])
    Graph.from_csr(INDPTR, INDICES, labels=labels).save(tmp_path / "g.csrbin")
    edges = read_edges(tmp_path / "g.csrbin")
    assert pairs(edges) == [(int(labels[a]), int(labels[b])) for a, b in PAIRS]
    assert edges.declared_n is None and edges.isolated.tolist() == [7]


def test_our_own_file_with_a_first_id(tmp_path):
    base = Graph.from_csr(INDPTR, INDICES)
    Graph(base.adjacency, base.flags, first_id=1).save(tmp_path / "g.csrbin")
    edges = read_edges(tmp_path / "g.csrbin")
    assert (pairs(edges), edges.first_id, edges.declared_n) == ([(a + 1, b + 1) for a, b in PAIRS], 1, 4)


def test_estimates_of_files_with_a_header_are_exact(tmp_path):
    graph = Graph.from_csr(np.arange(0, 100_001, 2), np.zeros(100_000, int) + np.arange(100_000) % 2)
    graph.save(tmp_path / "g.csrbin")
    graph.compress().save(tmp_path / "g.ccsr")
    np.save(tmp_path / "e.npy", np.zeros((1000, 2), np.int64))
    np.savez_compressed(tmp_path / "e.npz", src=np.zeros(1000, np.int64), dst=np.zeros(1000, np.int64))
    for name in ("g.csrbin", "g.ccsr"):
        guess = estimate(tmp_path / name)
        assert (guess.edges_upper_bound, guess.declared_vertices) == (100_000, 50_000)
        assert guess.memory_bytes >= 8 * 100_000
    guess = estimate(tmp_path / "e.npy")
    assert (guess.edges_upper_bound, guess.memory_bytes, guess.streams) == (1000, 8000, True)
    guess = estimate(tmp_path / "e.npz")
    assert guess.edges_upper_bound == 1000
    assert 16_000 + 8_000 <= guess.memory_bytes <= 40_000
    assert not guess.streams


def test_raw_and_sg_files(tmp_path):
    raw = np.array([4, 4, *INDPTR], np.int64).tobytes() + INDICES.astype(np.int32).tobytes()
    (tmp_path / "g.csrbin").write_bytes(raw)
    sg = b"\0" + np.array([4, 4, *INDPTR], np.int64).tobytes() + INDICES.astype(np.int32).tobytes()
    (tmp_path / "g.sg").write_bytes(sg)
    for name in ("g.csrbin", "g.sg"):
        edges = read_edges(tmp_path / name)
        assert (pairs(edges), edges.declared_n, edges.mirrored) == (PAIRS, 4, True)


def test_damaged_graph_files_are_named_as_given(tmp_path):
    file = tmp_path / "g.csrbin.gz"
    file.write_bytes(gzip.compress(b"\x89BFS\r\n\x1a\n" + bytes(100)))
    with pytest.raises(FormatError, match=r"g\.csrbin\.gz"):
        read_edges(file)
    raw = np.array([4, 4, *INDPTR], np.int64).tobytes() + np.array([1, 3, 0, 4], np.int32).tobytes()
    (tmp_path / "g.csrbin").write_bytes(raw)
    with pytest.raises((FormatError, InputError), match=r"g\.csrbin"):
        read_edges(tmp_path / "g.csrbin")


@pytest.mark.parametrize("name", ["g.npy", "g.npz", "g.csrbin", "g.sg", "g.txt", "g.mtx", "g.graph", "g.gr"])
def test_empty_files_of_every_kind(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=rf"{name}.*empty"):
        read_edges(tmp_path / name)


def test_tar_archives(tmp_path):
    file = tmp_path / "m.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        info = tarfile.TarInfo("m/m.mtx")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"1 2\n"))
    with pytest.raises(InputError, match="tar archive; unpack it"):
        read_edges(file)
