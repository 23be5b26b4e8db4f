"""``bigbfs export --to parquet|csv|arrow``: edges as tables, with numbers and with names, and back."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zoo
from wide import CODECS, in_turn, split

import bigbfs
from bigbfs.conversion import ConvertOptions, convert
from bigbfs.formats.writers import edge_tables, export
from bigbfs.graph import chunks, names
from bigbfs.graph.graph import Graph

KINDS = ("parquet", "csv", "arrow")
NASTY = ["a,b", "bob", 'say "hi"', "line\none", "ünï", "c\rx", " blank ", "#", "zoë" * 300]


def rows_of(content, kind):
    """Return the rows of a table as pairs."""
    if kind == "csv":
        head, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
        assert head == ["source", "target"]
        return [tuple(row) for row in rows]
    table = pq.read_table(io.BytesIO(content)) if kind == "parquet" else pa.ipc.open_file(content).read_all()
    assert table.column_names == ["source", "target"]
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def written(graph, kind, **options):
    stream = io.BytesIO()
    done = export.export(graph, kind, stream, **options)
    return stream.getvalue(), done


ZOO = split(
    [(name, codec, kind) for name in zoo.names(big=False) for codec in CODECS for kind in KINDS],
    lambda name, codec, kind: in_turn(codec, name) and KINDS.index(kind) == len(name) % len(KINDS),
)


@pytest.mark.parametrize(("name", "codec", "kind"), ZOO)
def test_a_table_holds_every_edge(name, codec, kind):
    graph = zoo.shared()[name]
    graph = graph.decompress() if codec == "plain" else graph.compress()
    plain = graph.decompress().adjacency
    u, v = np.repeat(np.arange(graph.n), plain.degrees()), plain.indices.astype(np.int64)
    everything = list(zip(np.asarray(graph.original(u)).tolist(), np.asarray(graph.original(v)).tolist(), strict=True))
    content, done = written(graph, kind, both_directions=True)
    assert [tuple(map(int, row)) for row in rows_of(content, kind)] == everything and done.lines == graph.m
    content, done = written(graph, kind)
    found = [tuple(map(int, row)) for row in rows_of(content, kind)]
    assert done.lines == len(found)
    if not graph.flags.directed:
        found += [(b, a) for a, b in found if a != b]
    assert sorted(found) == sorted(everything)
    assert any("lead one way" in note for note in done.notes) == graph.flags.directed
    assert (done.isolated > 0) == any(f"{done.isolated:,} are missing" in note for note in done.notes)


@pytest.fixture
def named(folder):
    """graph.csrbin of nasty names, and the edges in it."""
    choice = np.random.default_rng(7)
    pairs = [(NASTY[a], NASTY[b]) for a, b in choice.integers(0, len(NASTY), (40, 2)) if a != b]
    pq.write_table(pa.table({"source": [a for a, _ in pairs], "target": [b for _, b in pairs]}), "graph.parquet")
    convert(["graph.parquet"])
    return folder, {frozenset(pair) for pair in pairs}


@pytest.mark.covered("kind+compressed")
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["original", "degree"])
@pytest.mark.parametrize("kind", KINDS)
def test_names_go_out_and_come_back(run, named, kind, order, compressed):
    folder, edges = named
    convert(["graph.parquet"], options=ConvertOptions(order=order, compressed=compressed))
    source = "graph.ccsr" if compressed else "graph.csrbin"
    code, _, err = run("export", source, "--to", kind, "-o", f"x.{kind}")
    assert code == 0 and f"{len(edges)} edges" in err and "no names" not in err
    found = rows_of((folder / f"x.{kind}").read_bytes(), kind)
    assert len(found) == len(edges) and {frozenset(pair) for pair in found} == edges
    assert run("convert", f"x.{kind}", "-o", "back.csrbin", "--order", order)[0] == 0
    with Graph.open("graph.csrbin") as one, Graph.open("back.csrbin") as other:
        assert one.flags == other.flags
        for graphs in (one.adjacency.arrays(), one.names.arrays()):
            theirs = other.adjacency.arrays() | other.names.arrays()
            assert all(np.array_equal(array, theirs[name]) for name, array in graphs.items())


@pytest.mark.parametrize("kind", KINDS)
def test_portions_and_names_that_memory_cannot_hold_change_nothing(run, named, monkeypatch, kind):
    with Graph.open("graph.csrbin") as graph:
        whole, done = written(graph, kind, both_directions=True)
    monkeypatch.setattr(edge_tables, "NAMED_ROWS", 7)
    monkeypatch.setattr(names, "free_memory", lambda: 0)
    with Graph.open("graph.csrbin") as graph:
        parts, _ = written(graph, kind, both_directions=True)
        assert graph.names._whole is None
    assert rows_of(parts, kind) == rows_of(whole, kind)
    if kind == "parquet":
        groups = pq.ParquetFile(io.BytesIO(parts)).metadata
        assert groups.num_row_groups == -(-done.lines // 7)
        assert max(groups.row_group(i).num_rows for i in range(groups.num_row_groups)) == 7


def test_numbers_come_a_chunk_a_row_group(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_EDGES", 100)
    graph = Graph.from_edges(np.arange(1000), np.arange(1, 1001))
    content, done = written(graph, "parquet")
    groups = pq.ParquetFile(io.BytesIO(content)).metadata
    assert done.lines == groups.num_rows == 1000 and groups.num_row_groups > 9


def test_tables_are_written_to_standard_output(folder):
    Graph.from_edges([1, 2], [2, 3]).save("g.csrbin")
    for kind in KINDS:
        command = [sys.executable, "-m", "bigbfs", "export", "g.csrbin", "--to", kind, "-o", "-"]
        done = subprocess.run(command, capture_output=True, check=True)
        assert [tuple(map(int, row)) for row in rows_of(done.stdout, kind)] == [(1, 2), (2, 3)]


def test_without_pyarrow_csv_is_left(folder):
    Graph.from_edges([1, 2], [2, 3]).save("g.csrbin")
    code = (
        "import sys; sys.modules['pyarrow'] = None\nfrom bigbfs.cli.main import run\n"
        "sys.exit(run(['export', 'g.csrbin', '--to', sys.argv[1]]))"
    )
    for kind, wanted in (("parquet", 2), ("arrow", 2), ("csv", 0)):
        done = subprocess.run([sys.executable, "-c", code, kind], capture_output=True, text=True)
        assert done.returncode == wanted, done.stderr
        assert ("pip install 'bigbfs[tables]'" in done.stderr) == (wanted == 2)
    assert sorted(path.name for path in folder.iterdir()) == ["g.csrbin", "g.csv"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_without_room_is_refused_before_anything_is_written(run, named, monkeypatch, kind):
    folder, _ = named
    before = sorted(path.name for path in folder.iterdir())
    monkeypatch.setattr(edge_tables.os, "statvfs", lambda path: SimpleNamespace(f_blocks=1, f_bavail=1, f_frsize=100))
    code, _, err = run("export", "graph.csrbin", "--to", kind, "-o", f"x.{kind}")
    assert code == 5 and f"error: x.{kind}: the table needs about" in err and "100 B are free there" in err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_table_will_take_is_known_from_some_of_its_rows(monkeypatch, kind):
    monkeypatch.setattr(edge_tables, "_SAMPLED_EDGES", 1 << 12)
    choice = np.random.default_rng(1)
    graph = Graph.from_edges(*choice.integers(0, 10**6, (2, 150_000)))
    content, _ = written(graph, kind)
    assert 0.6 * len(content) < edge_tables.expected_bytes(graph, kind, False) < 1.6 * len(content)


def test_names_that_look_like_numbers_are_told_in_csv(run, folder):
    (folder / "g.csv").write_text("source,target\n10,9\n9,x\n")
    convert(["g.csv"], options=ConvertOptions(names=True))
    code, _, err = run("export", "g.csrbin", "--to", "csv", "-o", "x.csv")
    assert code == 0 and "look like numbers" in err
    assert "look like numbers" not in run("export", "g.csrbin", "--to", "parquet", "-o", "x.parquet")[2]
    for name in ("x.csv", "x.parquet"):
        said = {"names": True} if name == "x.csv" else {}
        convert([name], "back.csrbin", options=ConvertOptions(force=True, **said))
        with bigbfs.open("back.csrbin") as back:
            assert [back.names.name(rank) for rank in range(back.n)] == ["10", "9", "x"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_somebody_else_stays(run, folder, kind):
    Graph.from_edges([1], [2]).save("g.csrbin")
    (folder / f"g.{kind}").write_text("mine")
    code, _, err = run("export", "g.csrbin", "--to", kind)
    assert code == 2 and f"g.{kind}: is there already" in err and (folder / f"g.{kind}").read_text() == "mine"
    assert run("export", "g.csrbin", "--to", kind, "--force")[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_without_edges_is_a_header(kind):
    graph = Graph.from_csr([0, 0, 0], [])
    content, done = written(graph, kind)
    assert rows_of(content, kind) == [] and done.lines == 0 and done.isolated == 2
