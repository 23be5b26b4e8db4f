"""Text -> .csrbin -> .ccsr -> text is the input, sorted, without duplicates: every reader, real and made graphs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from itertools import cycle, pairwise
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse
import zstandard
from wide import split

import bigbfs
from bigbfs import generate
from bigbfs.formats.readers import NAMES
from bigbfs.formats.readers.detect import detect_format
from bigbfs.formats.readers.read import read_edges
from bigbfs.formats.writers.export import export
from bigbfs.graph.graph import Graph

BIG = 4_000_000
"""Lines above which a graph goes through once only, undirected."""


def distinct(src, dst, *, directed):
    """The edges as pairs without self-loops and duplicates, sorted, each once: (sources, targets), uint64."""
    src, dst = src.astype(np.uint64), dst.astype(np.uint64)
    keep = src != dst
    src, dst = src[keep], dst[keep]
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    if int(dst.max(initial=0)) >= 2**32 or int(src.max(initial=0)) >= 2**32:
        pairs = np.unique(np.stack([src, dst], axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]
    keys = np.unique(src << np.uint64(32) | dst)
    return keys >> np.uint64(32), keys & np.uint64(2**32 - 1)


def require_round_trip(path, folder, edges, *, directed):
    """``edges`` (src, dst) are what the file ``path`` holds; the text at the other end is the same, sorted."""
    output = folder / "g.csrbin"
    bigbfs.convert(path, output, compressed=True, directed=directed, force=True)
    sources, targets = distinct(*edges, directed=directed)
    suffixes = (".csrbin", ".ccsr") if len(sources) < BIG else (".ccsr",)
    for suffix in suffixes:
        again = folder / f"again{suffix}.txt"
        with Graph.open(output.with_suffix(suffix)) as graph, again.open("wb") as stream:
            export(graph, "el", stream)
        found = read_edges(again)
        assert np.array_equal(found.src, sources) and np.array_equal(found.dst, targets)
        again.unlink()


REAL = (
    *("USA-road-d.NY.gr.zst", "as-caida20071105.txt", "cnr-2000.txt.zst", "com-dblp.txt.gz", "email-Enron.txt.zst"),
    *("epfl-hyp.txt.zst", "git-objects.txt.zst", "liechtenstein-highways.txt.zst", "luxembourg_osm.txt.zst"),
    *("mdual.graph.zst", "p2p-Gnutella08.txt", "p2p-Gnutella31.txt", "soc-slashdot0902.txt.zst", "wiki-Vote.txt"),
    "world_highways.txt.zst",
)


LONG = ("cnr-2000.txt.zst", "com-dblp.txt.gz", "git-objects.txt.zst", "world_highways.txt.zst")
"""What takes longer than all the others together."""
NO_GRAPHS = {"README.md", "bad-comment-as-caida.txt"}


@pytest.mark.parametrize("name", split(REAL, lambda name: name not in LONG))
def test_every_real_graph(name, data, tmp_path):
    edges = read_edges(data / name)
    require_round_trip(data / name, tmp_path, (edges.src, edges.dst), directed=False)
    if len(edges.src) < BIG:
        require_round_trip(data / name, tmp_path, (edges.src, edges.dst), directed=True)


def test_no_real_graph_is_left_out(data):
    assert {path.name for path in data.iterdir()} - NO_GRAPHS == set(REAL)


@pytest.mark.parametrize("kind", ["kronecker", "uniform", "grid2d", "road", "powerlaw", "star", "dag"])
def test_generated_graphs(kind, tmp_path):
    parameters = {"grid2d": {"rows": 50, "columns": 70}}.get(kind, {"vertices": 3000})
    if kind == "kronecker":
        parameters = {"scale": 11}
    edges = generate.generate(kind, seed=5, **parameters)
    text = "".join(f"{u} {v}\n" for u, v in zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    (tmp_path / "g.txt").write_text(text)
    for directed in (False, True):
        require_round_trip(tmp_path / "g.txt", tmp_path, (edges.src, edges.dst), directed=directed)


RNG = np.random.default_rng(11)
N = 300
SRC, DST = np.r_[RNG.integers(0, N, 4000), 0], np.r_[RNG.integers(0, N, 4000), N - 1]


def both_ways():
    """The graph as SciPy has it: symmetric, without loops."""
    matrix = scipy.sparse.coo_array((np.ones(len(SRC), np.int8), (SRC, DST)), shape=(N, N)).tocsr()
    matrix = ((matrix + matrix.T) > 0).astype(np.int8).tolil()
    matrix.setdiag(0)
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _lines(pattern, first=0):
    pairs = zip((SRC + first).tolist(), (DST + first).tolist(), strict=True)
    return "".join(pattern.format(u=u, v=v) for u, v in pairs).encode()


def _saved(save, *arguments, **named):
    stream = io.BytesIO()
    save(stream, *arguments, **named)
    return stream.getvalue()


def _metis():
    matrix = both_ways()
    rows = [" ".join(str(v + 1) for v in matrix.indices[a:b]) for a, b in pairwise(matrix.indptr)]
    return (f"{N} {matrix.nnz // 2}\n" + "\n".join(rows) + "\n").encode()


def _adjacency():
    """Ligra's form of the graph as SciPy has it."""
    matrix = both_ways()
    words = ["AdjacencyGraph", N, matrix.nnz, *matrix.indptr[:-1].tolist(), *matrix.indices.tolist()]
    return "".join(f"{word}\n" for word in words).encode()


def _csr(header, dtype):
    matrix = both_ways()
    return header + matrix.indptr.astype(np.int64).tobytes() + matrix.indices.astype(dtype).tobytes()


def _own(*, compressed):
    matrix = both_ways()
    graph = Graph.from_scipy(matrix)
    path = Path("own")
    (graph.compress() if compressed else graph).save(path)
    return path.read_bytes()


def _table(write):
    write(pyarrow.table({"source": SRC, "target": DST}), "table")
    return Path("table").read_bytes()


FILES = {
    "g.txt": lambda: _lines("{u} {v}\n"),
    "g.csv": lambda: _lines("{u},{v},0.5\r\n"),
    "g.tsv": lambda: _lines("{u}\t{v}\n"),
    "g.mtx": lambda: (
        f"%%MatrixMarket matrix coordinate pattern general\n{N} {N} {len(SRC)}\n".encode() + _lines("{u} {v}\n", 1)
    ),
    "g.gr": lambda: f"p sp {N} {len(SRC)}\n".encode() + _lines("a {u} {v} 3\n", 1),
    "g.graph": _metis,
    "g.adj": _adjacency,
    "g.adjlist": lambda: _lines("{u} {v}\n"),
    "g.npy": lambda: _saved(np.save, np.stack([SRC, DST], axis=1)),
    "g.npz": lambda: _saved(np.savez_compressed, src=SRC, dst=DST),
    "s.npz": lambda: _saved(scipy.sparse.save_npz, both_ways()),
    "g.sg": lambda: _csr(b"\0" + np.array([both_ways().nnz, N], np.int64).tobytes(), np.int32),
    "raw.csrbin": lambda: _csr(np.array([N, both_ways().nnz], np.int64).tobytes(), np.int32),
    "g.parquet": lambda: _table(pyarrow.parquet.write_table),
    "g.arrow": lambda: _table(pyarrow.feather.write_feather),
    "own.csrbin": lambda: _own(compressed=False),
    "own.ccsr": lambda: _own(compressed=True),
}


BOTH_WAYS = ("g.graph", "g.adj", "s.npz", "g.sg", "raw.csrbin", "own.csrbin", "own.ccsr")
"""Files that list every edge in both directions."""
TABLES = ("g.parquet", "g.arrow")
"""Files that are compressed inside."""
FROM_ONE = ("g.mtx", "g.gr", "g.graph")
PACKS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


@pytest.mark.covered
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", FILES)
def test_every_reader(name, directed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(FILES[name]())
    first = int(name in FROM_ONE)
    edges = SRC + first, DST + first
    if directed and name in BOTH_WAYS:
        edges = np.concatenate(edges), np.concatenate(edges[::-1])
    require_round_trip(tmp_path / name, tmp_path / ".", edges, directed=directed)


PACKED = list(
    zip([name for name in FILES if not name.startswith("own") and name not in TABLES], cycle(PACKS), strict=False)
)


@pytest.mark.parametrize(("name", "pack"), PACKED)
def test_every_reader_of_compressed_files(name, pack, tmp_path):
    path = tmp_path / f"{name}{pack}"
    path.write_bytes(PACKS[pack](FILES[name]()))
    first = int(name in FROM_ONE)
    require_round_trip(path, tmp_path, (SRC + first, DST + first), directed=False)


def test_no_reader_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs_of_files = {"bvgraph"}  # tests/formats/readers/test_bvgraph.py
    assert {detect_format(name, content()) for name, content in FILES.items()} == set(NAMES) - pairs_of_files
