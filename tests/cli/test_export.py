"""``bigbfs export``: other tools read what it writes, and converting it back gives the same graph."""

import gzip
import io
import subprocess
import sys

import numpy as np
import pytest
import zoo
import zstandard
from scipy.io import mmread
from wide import CODECS, in_turn, split

from bigbfs.formats.writers import NAMES
from bigbfs.formats.writers import export as writing
from bigbfs.formats.writers.export import export
from bigbfs.graph import varint
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.chunks import chunks
from bigbfs.graph.graph import Graph


def lines(text):
    return [tuple(map(int, line.split())) for line in text.splitlines()]


def text_of(graph, to="el", **options):
    stream = io.BytesIO()
    done = export(graph, to, stream, **options)
    return stream.getvalue().decode(), done


def edges_of(graph):
    plain = graph.decompress().adjacency
    return np.repeat(np.arange(graph.n), plain.degrees()), plain.indices.astype(np.int64)


ZOO = split(
    [(name, codec) for name in zoo.names(big=False) for codec in CODECS], lambda name, codec: in_turn(codec, name)
)


@pytest.mark.parametrize(("name", "codec"), ZOO)
def test_edge_list_and_matrix_market_hold_every_edge(name, codec):
    graph = zoo.shared()[name]
    graph = graph.decompress() if codec == "plain" else graph.compress()
    u, v = edges_of(graph)
    a, b = np.asarray(graph.original(u)).tolist(), np.asarray(graph.original(v)).tolist()
    everything = sorted(zip(a, b, strict=True))
    text, done = text_of(graph, both_directions=True)
    assert sorted(lines(text)) == everything and done.lines == graph.m
    text, done = text_of(graph)
    found = lines(text)
    assert done.lines == len(found)
    if not graph.flags.directed:
        found += [(y, x) for x, y in found if x != y]
    assert sorted(found) == everything
    touched = {vertex for edge in everything for vertex in edge}
    assert done.isolated == graph.n - len(touched) == (graph.n - len(touched) if done.notes else 0)

    text, done = text_of(graph, "mtx")
    head, size, *rest = text.splitlines()
    half = not graph.flags.directed
    assert head == f"%%MatrixMarket matrix coordinate pattern {'symmetric' if half else 'general'}"
    assert size == f"{graph.n} {graph.n} {len(rest)}" and done.lines == len(rest)
    if graph.flags.deduplicated and graph.n:
        matrix = mmread(io.BytesIO(text.encode())).toarray() if rest else np.zeros((graph.n, graph.n))
        dense = np.zeros((graph.n, graph.n))
        dense[u, v] = 1
        assert (matrix == dense).all()
    if half:
        assert all(row >= column for row, column in lines("\n".join(rest)))


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_chunks_cut_rows_that_are_too_long(codec):
    graph = zoo.build(4000, ([7] * 4000 + list(range(3999)), [*range(4000), *range(1, 4000)]), keep=True)
    graph = graph if codec == "plain" else graph.compress()
    u, v = edges_of(graph)
    found = []
    for first, part in chunks(graph.adjacency, edges=100):
        assert part.m <= 200 and int(part.indptr[0]) == 0 and int(part.indptr[-1]) == part.m
        found += zip(np.repeat(np.arange(first, first + part.n), part.degrees()), part.indices, strict=True)
    assert np.array_equal(np.array(found), np.stack([u, v], axis=1))


def test_original_ids_of_every_length(folder):
    labels = np.array([0, 9, 10, 99, 100, 12345, 2**31, 2**32, 10**18, 2**63 - 1])
    graph = zoo.build(10, (range(9), range(1, 10)), labels=labels)
    assert lines(text_of(graph)[0]) == list(zip(labels[:-1].tolist(), labels[1:].tolist(), strict=True))


def test_names_of_the_output(run, folder):
    zoo.build(3, ([0, 1], [1, 2])).save("my.graph.csrbin")
    for to, name in (
        ("el", "my.graph.el"),
        ("mtx", "my.graph.mtx"),
        ("sg", "my.graph.sg"),
        ("raw", "my.graph.raw.csrbin"),
        ("adj", "my.graph.adj"),
        ("parquet", "my.graph.parquet"),
        ("csv", "my.graph.csv"),
        ("arrow", "my.graph.arrow"),
    ):
        code, out, err = run("export", "my.graph.csrbin", "--to", to)
        assert code == 0 and out == "" and name in err
        assert (folder / name).stat().st_size
    assert (folder / "my.graph.el").read_text() == "0 1\n1 2\n"


def test_standard_output_can_be_piped(folder):
    zoo.build(3, ([0], [1])).save("g.csrbin")
    command = [sys.executable, "-m", "bigbfs", "export", "g.csrbin", "--to", "el", "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0 1\n" and "1 are missing" in done.stderr


def test_usage_and_failures(run, folder):
    zoo.build(3, ([0], [1])).save("g.csrbin")
    before = (folder / "g.csrbin").read_bytes()
    (folder / "g.mtx").write_text("what the graph was made from")
    for arguments, code, says in [
        (("export", "g.csrbin"), 2, "no file is named whose suffix says the format: give --to (el, mtx, "),
        (("export", "g.csrbin", "-o", "-"), 2, "standard output has no suffix"),
        (("export", "g.csrbin", "--to", "pdf"), 2, "pdf"),
        (("export", "g.csrbin", "-o", "x.pdf"), 2, "-o x.pdf: the suffix is none of .el, .mtx, .sg, .raw.csrbin, .adj"),
        (("export", "g.csrbin", "-o", "x.gz"), 2, "-o x.gz: the suffix is none of .el"),
        (("export", "g.csrbin", "-o", "x.csrbin"), 2, "-o x.csrbin: the suffix is none of .el"),
        (("export", "g.csrbin", "-o", "x.sg", "--both-directions"), 2, "is for el"),
        (("export", "g.csrbin", "--to", "sg", "--both-directions"), 2, "is for el"),
        (("export", "g.csrbin", "--to", "el", "-o", "g.csrbin"), 2, "is the graph itself"),
        (("export", "g.csrbin", "--to", "el", "-o", "none/x"), 1, "the folder none does not exist; create it"),
        (("export", "g.csrbin", "--to", "el", "-o", "."), 1, "folder"),
        (
            ("export", "g.csrbin", "--to", "mtx"),
            2,
            "g.mtx: is there already, and nothing says that bigbfs wrote it and nobody changed it since; name",
        ),
        (("export", "none.csrbin", "--to", "el"), 1, "No such file"),
    ]:
        found, out, err = run(*arguments)
        assert found == code and says in err and out == "", err
    assert sorted(path.name for path in folder.iterdir()) == ["g.csrbin", "g.mtx"]
    assert (folder / "g.csrbin").read_bytes() == before
    assert (folder / "g.mtx").read_text() == "what the graph was made from"


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("to", NAMES)
def test_a_damaged_graph_leaves_no_file(run, folder, to, codec):
    """Damaged after it was written, or before, so that checksums fit."""
    graph = zoo.build(5, ([0, 1, 2], [1, 2, 3]))
    (graph if codec == "plain" else graph.compress()).save("g")
    data = bytearray((folder / "g").read_bytes())
    data[8192 if codec == "plain" else 12288] = 99
    (folder / "g").write_bytes(data)
    code, out, err = run("export", "g", "--to", to, "-o", "out")
    assert code == 1 and "g: section" in err and "is damaged" in err and out == ""
    rows = PlainAdjacency(graph.adjacency.indptr, np.append(graph.adjacency.indices[:-1], np.uint32(99)))
    Graph(rows if codec == "plain" else varint.encode(rows), graph.flags).save("g")
    code, out, err = run("export", "g", "--to", to, "-o", "out")
    assert code == 1 and "g: " in err and "corrupted" in err and out == ""
    assert [path.name for path in folder.iterdir()] == ["g"]


@pytest.mark.parametrize("to", NAMES)
def test_converting_it_again_gives_the_same_graph(run, folder, to):
    speaks_ids = to in ("el", "parquet", "csv", "arrow")
    labels = np.array([3, 5, 8, 2**40, 2**41]) if speaks_ids else None
    extra = {} if labels is None else {"labels": labels}
    graph = zoo.build(5, ([0, 1, 2, 0], [1, 2, 3, 4]), **extra)
    graph.save("g.csrbin")
    name = "x.csrbin" if to == "raw" else f"x.{to}"
    assert run("export", "g.csrbin", "--to", to, "-o", name)[0] == 0
    code, _, err = run("convert", name, "-o", "back.csrbin")
    assert code == 0, err
    with Graph.open(folder / "back.csrbin") as back:
        assert np.array_equal(back.adjacency.indptr, graph.adjacency.indptr)
        assert np.array_equal(back.adjacency.indices, graph.adjacency.indices)
        assert back.flags == graph.flags
        if speaks_ids:
            assert back.labels.tolist() == labels.tolist()
    if to == "el":
        (folder / "x.el.gz").write_bytes(gzip.compress((folder / "x.el").read_bytes()))
        assert run("convert", "x.el.gz", "-o", "zipped.csrbin")[0] == 0


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("to", NAMES)
def test_the_suffix_says_the_format_and_how_it_is_packed(run, folder, to, packing):
    zoo.build(4, ([0, 1, 2], [1, 2, 3])).save("g.csrbin")
    suffix = ".raw.csrbin" if to == "raw" else f".{to}"
    assert run("export", "g.csrbin", "--to", to, "-o", "said")[0] == 0
    code, out, err = run("export", "g.csrbin", "-o", f"X{suffix.upper()}{packing}")
    assert code == 0 and out == "", err
    found = (folder / f"X{suffix.upper()}{packing}").read_bytes()
    unpack = {
        "": bytes,
        ".gz": gzip.decompress,
        ".zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data).read(),
    }
    assert unpack[packing](found) == (folder / "said").read_bytes()


def test_to_overrides_the_suffix_but_not_the_packing(run, folder):
    zoo.build(3, ([0, 1], [1, 2])).save("g.csrbin")
    assert run("export", "g.csrbin", "--to", "el", "-o", "x.mtx.gz")[0] == 0
    assert gzip.decompress((folder / "x.mtx.gz").read_bytes()) == b"0 1\n1 2\n"


@pytest.mark.parametrize("name", ["x.el.bz2", "x.el.XZ", "x.zstd"])
@pytest.mark.parametrize("to", [["--to", "el"], []])
def test_what_is_read_packed_and_never_written_so_is_refused(run, folder, name, to):
    zoo.build(3, ([0, 1], [1, 2])).save("g.csrbin")
    code, out, err = run("export", "g.csrbin", *to, "-o", name)
    assert (code, out) == (2, "") and name in err and ".zst" in err and not (folder / name).exists()


def test_a_zst_is_packed_by_all_threads_with_the_same_bytes(run, folder, monkeypatch):
    edges = ([7 * i % 4001 for i in range(40_000)], [11 * i % 3989 for i in range(40_000)])
    zoo.build(4001, edges).save("g.csrbin")
    asked, whole = [], writing.packed
    monkeypatch.setattr(writing, "packed", lambda *given: asked.append(given[2]) or whole(*given))
    for threads in (1, 2):
        monkeypatch.setattr(writing, "thread_count", lambda threads=threads: threads)
        assert run("export", "g.csrbin", "-o", f"{threads}.el.zst")[0] == 0
    assert asked == [1, 2] and (folder / "1.el.zst").read_bytes() == (folder / "2.el.zst").read_bytes()
