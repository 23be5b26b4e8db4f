"""``bigbfs convert`` as a command."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from pathlib import Path

import numpy as np
import pytest
import zstandard

import bigbfs

KEYS = {
    *("schema", "command", "output", "vertices", "edges", "self_loops", "duplicates", "comment_lines"),
    *("input_bytes", "seconds", "edges_per_second", "peak_rss_bytes", "cached"),
}


def convert_json(run, *arguments):
    code, out, err = run("convert", *arguments, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    return json.loads(out)


def edges_in(path):
    with bigbfs.open(path) as graph:
        plain = graph.decompress().adjacency
        rows = np.repeat(np.arange(graph.n), graph.degrees())
        return list(zip(graph.original(rows).tolist(), graph.original(plain.indices).tolist(), strict=True))


def test_json_object(run, folder):
    Path("graph.txt").write_text("# comment\n1 2\n1 2\n3 3\n")
    result = convert_json(run, "graph.txt", "--compressed")
    assert result.keys() >= KEYS
    assert (result["schema"], result["command"], result["output"]) == (1, "convert", "graph.csrbin")
    assert (result["vertices"], result["edges"], result["self_loops"], result["duplicates"]) == (3, 2, 1, 1)
    assert (result["comment_lines"], result["input_bytes"], result["cached"]) == (1, 22, False)
    again = convert_json(run, "graph.txt", "--compressed")
    assert again["cached"] is True and again["compressed"] == "graph.ccsr"
    assert convert_json(run, "graph.txt", "--force")["cached"] is False


def test_summary(run, folder):
    Path("graph.txt").write_text("# comment\n1 2\n1 2\n3 3\n")
    code, out, err = run("convert", "graph.txt", "--compressed")
    assert (code, err) == (0, "")
    for line in (
        "output      graph.csrbin: ",
        "output      graph.ccsr: ",
        "vertices    3\n",
        "edges       2 stored, of 3 lines (22 B)\n",
        "self-loops  1 line\n",
        "duplicates  1 line\n",
        "reversed    0 lines\n",
        "skipped     1 comment or header line, 0 bad lines\n",
        "seconds     ",
        "memory      ",
    ):
        assert line in out
    code, out, _ = run("convert", "graph.txt")
    assert code == 0 and "cached      graph.csrbin" in out and "--force" in out and "seconds" not in out


def test_counts_add_up(run, folder):
    lines = [(1, 2), (2, 1), (2, 1), (2, 3), (4, 4), (5, 3), (3, 5), (1, 2)]
    Path("graph.txt").write_text("".join(f"{u} {v}\n" for u, v in lines))
    for memory in ([], ["--memory", "1GiB"]):
        found = convert_json(run, "graph.txt", "--force", *memory)
        assert (found["self_loops"], found["duplicates"], found["reversed"]) == (1, 2, 2)
        assert found["edges"] == 2 * (found["lines"] - found["self_loops"] - found["duplicates"] - found["reversed"])
    assert convert_json(run, "graph.txt", "--force", "--directed")["reversed"] == 0


def test_no_rates_of_tiny_inputs(run, folder):
    Path("graph.txt").write_text("1 2\n")
    out = run("convert", "graph.txt")[1]
    assert "rate" not in out and "bytes per edge" not in out
    Path("path.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(20_000)))
    out = run("convert", "path.txt")[1]
    assert "\nrate        " in out and "bytes per edge" in out


def test_a_source_that_is_newer_is_named(run, folder):
    Path("a.txt").write_text("1 2\n2 3\n")
    assert run("convert", "a.txt")[0] == 0
    assert run("bfs", "a.csrbin", "--source", 1, "--backend", "cpu")[2] == ""
    Path("a.txt").write_text("1 2\n2 3\n3 4\n")
    code, _, err = run("bfs", "a.csrbin", "--source", 1, "--backend", "cpu")
    assert code == 0 and "a.txt is newer than a.csrbin" in err
    Path("a.txt").unlink()
    assert run("bfs", "a.csrbin", "--source", 1, "--backend", "cpu")[2] == ""


def test_whoever_watches_is_told_that_kernels_are_compiled(folder, monkeypatch, capsys):
    from bigbfs.cli import main
    from bigbfs.jit import compiling

    def compile_one(*arguments, **options):
        compiling.begins()
        compiling.ends()

    monkeypatch.setattr(main.cli, "main", compile_one)
    assert main.run([]) == 0
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main.run([]) == 0
    assert "compiling kernels" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "edges"),
    [
        ([], [(1, 2), (2, 1), (2, 3), (3, 2)]),
        (["--keep-duplicates"], [(1, 2), (1, 2), (1, 2), (2, 1), (2, 1), (2, 1), (2, 3), (3, 2)]),
        (["--keep-self-loops"], [(1, 2), (2, 1), (2, 3), (3, 2), (3, 3)]),
        (["--directed"], [(1, 2), (2, 1), (2, 3)]),
        (["--directed", "--keep-duplicates", "--keep-self-loops"], [(1, 2), (1, 2), (2, 1), (2, 3), (3, 3)]),
        (["--order", "degree"], [(2, 1), (2, 3), (1, 2), (3, 2)]),
        (["--keep-ids"], [(1, 2), (2, 1), (2, 3), (3, 2)]),
    ],
    ids=str,
)
def test_options(run, folder, options, edges):
    Path("graph.txt").write_text("1 2\n1 2\n2 1\n2 3\n3 3\n")
    result = convert_json(run, "graph.txt", *options)
    assert edges_in("graph.csrbin") == edges
    assert result["vertices"] == (4 if "--keep-ids" in options else 3)
    assert (result["duplicates"], result["self_loops"]) == (1, 1)


@pytest.mark.parametrize("in_edges", [True, False])
def test_in_edges(run, folder, in_edges):
    Path("graph.txt").write_text("1 2\n2 3\n")
    convert_json(run, "graph.txt", "--directed", "--in-edges" if in_edges else "--no-in-edges")
    with bigbfs.open("graph.csrbin") as graph:
        assert (graph.in_adjacency is not None) == in_edges


TEXT = b"1 2\n2 3\n"
MATRIX = b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.txt", TEXT),
        ("g.csv", b"1,2\r\n2,3\r\n"),
        ("g.txt.gz", gzip.compress(TEXT, mtime=0)),
        ("g.el.bz2", bz2.compress(TEXT)),
        ("g.txt.xz", lzma.compress(TEXT)),
        ("g.txt.zst", zstandard.compress(TEXT)),
        ("g.mtx", MATRIX),
        ("g.mtx.gz", gzip.compress(MATRIX, mtime=0)),
        ("g.graph", b"3 2\n2\n1 3\n2\n"),
        ("g.gr", b"p sp 3 2\na 1 2 7\na 2 3 7\n"),
        ("g.npy", npy(np.array([[1, 2], [2, 3], [1, 2]]))),
        ("g.adjlist", b"# made\n1 2\n2 3\n"),
    ],
)
def test_every_input_gives_the_same_graph(run, folder, name, content):
    Path(name).write_bytes(content)
    result = convert_json(run, name)
    assert result["output"] == "g.csrbin" and result["input_bytes"] == len(content)
    assert edges_in("g.csrbin") == [(1, 2), (2, 1), (2, 3), (3, 2)]


def test_own_files_and_those_of_gap_are_inputs_too(run, folder):
    Path("graph.txt").write_text("10 20\n20 35\n")
    convert_json(run, "graph.txt", "--compressed")
    convert_json(run, "graph.ccsr", "-o", "again.csrbin")
    assert edges_in("again.csrbin") == edges_in("graph.csrbin")
    convert_json(run, "graph.csrbin", "-o", "by-degree.ccsr", "--order", "degree")
    assert sorted(edges_in("by-degree.ccsr")) == edges_in("graph.csrbin")


def test_standard_input(run, folder, monkeypatch):
    source = Path("pipe.txt")
    source.write_bytes(TEXT)
    for _ in range(2):
        with source.open("rb") as stream:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
            result = convert_json(run, "-", "-o", "g.csrbin")
        assert (result["edges"], result["cached"]) == (4, False)  # nobody knows what a pipe held last time


def test_format_can_be_forced(run, folder):
    Path("numbers.gr").write_text("1 2\n2 3\n")
    assert convert_json(run, "numbers.gr", "--format", "text")["edges"] == 4
    code, _, err = run("convert", "numbers.gr", "--format", "gexf")
    assert code == 2 and "gexf" in err and "text" in err


def test_bad_lines_that_may_be_skipped(run, folder):
    Path("graph.txt").write_text("1 2\nnonsense\n2 3\n")
    assert run("convert", "graph.txt")[0] == 1
    code, out, _ = run("convert", "graph.txt", "--skip-bad-lines", "1")
    assert code == 0 and "1 bad line" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing argument 'INPUT...'"),
        (["-"], "say -o OUT.csrbin"),
        (["graph.txt", "-o", "graph.dat"], ".csrbin (plain) or .ccsr (compressed)"),
        (["graph.txt", "--order", "random"], "'original', 'degree'"),
        (["graph.txt", "--memory", "much"], "is not a size"),
        (["graph.txt", "--skip-bad-lines", "-1"], "-1 is not in the range"),
        (["raw.csrbin"], "is an input and would be overwritten; name another output with -o"),
        (["raw.csrbin", "--compressed"], "overwritten; write the compressed rows alone with -o raw.ccsr"),
    ],
)
def test_impossible_options_end_with_2(run, folder, arguments, message):
    for name in ("graph.txt", "raw.csrbin"):
        Path(name).write_text("1 2\n")
    code, out, err = run("convert", *arguments)
    assert (code, out) == (2, "") and message in err
    assert sorted(path.name for path in folder.iterdir()) == ["graph.txt", "raw.csrbin"]


def test_too_little_memory_ends_with_5(run, folder):
    Path("graph.txt").write_text("1 2\n" * 1000)
    code, out, err = run("convert", "graph.txt", "--memory", "10kB")
    assert (code, out) == (5, "") and err.count("\n") == 1
    assert "9.76 KiB may be used, but Python" in err and "with --memory" in err
    assert [path.name for path in folder.iterdir()] == ["graph.txt"]
