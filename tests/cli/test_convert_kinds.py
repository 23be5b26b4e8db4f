"""``bigbfs convert`` of edge lists and arrays that say more, or less, than two ids a line: what options decide."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bigbfs
from bigbfs.errors import BigBfsError


def edges_in(path):
    with bigbfs.open(path) as graph:
        plain = graph.decompress().adjacency
        rows = np.repeat(np.arange(graph.n), graph.degrees())
        return list(zip(graph.original(rows).tolist(), graph.original(plain.indices).tolist(), strict=True))


def test_an_adjacency_list_is_refused_in_options_and_read_when_asked(run, folder):
    Path("g.txt").write_text("1 2 3 4\n2 3 5\n3 4\n")
    code, _, err = run("convert", "g.txt", "--skip-bad-lines", "9")
    assert code == 1 and "line 2: '2 3 5': 3 ids where the lines before have 4" in err
    assert "--format adjlist (or metis)" in err and "--columns 1,2" in err
    assert run("convert", "g.txt", "--format", "adjlist", "--directed")[0] == 0
    assert edges_in("g.csrbin") == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 5), (3, 4)]
    assert run("convert", "g.txt", "--columns", "1,2", "--directed")[0] == 0
    assert edges_in("g.csrbin") == [(1, 2), (2, 3), (3, 4)]


def test_the_index_column_of_pandas(run, folder):
    Path("g.csv").write_text(",source,target\n0,1,2\n1,3,4\n")
    code, out, _ = run("convert", "g.csv", "--directed")
    told = "note g.csv: line 1 is a header; the ids are read from the columns 2 ('source')"
    assert code == 0 and told in " ".join(out.split())
    assert edges_in("g.csrbin") == [(1, 2), (3, 4)]
    Path("h.csv").write_text(",a,b\n0,1,2\n")
    code, _, err = run("convert", "h.csv", "--skip-bad-lines", "1")
    assert code == 1 and "'a' (2), 'b' (3)" in err and "--columns 1,2 for example" in err
    assert run("convert", "h.csv", "--columns", "2,3", "--directed")[0] == 0
    assert edges_in("h.csrbin") == [(1, 2)]


@pytest.mark.parametrize("memory", ["1GiB", "330MiB"])
def test_one_way_edges_make_a_directed_graph_unless_asked(run, folder, memory):
    Path("out.one").write_text("% asym unweighted\n1 2\n3 1\n")
    code, out, err = run("convert", "out.one", "-o", "g.csrbin", "--memory", memory, "--json")
    assert code == 0, err
    assert json.loads(out)["notes"] == ["out.one: says '% asym': its edges are one-way"]
    assert edges_in("g.csrbin") == [(1, 2), (3, 1)]
    assert json.loads(run("convert", "out.one", "-o", "g.csrbin", "--json")[1])["cached"] is True
    assert run("convert", "out.one", "-o", "g.csrbin", "--undirected")[0] == 0
    assert len(edges_in("g.csrbin")) == 4
    code, _, err = run("convert", "out.one", "-o", "g.csrbin", "--undirected", "--directed")
    assert code == 2 and "exclude each other" in err


def test_one_way_edges_from_standard_input_ask(folder):
    command = [sys.executable, "-m", "bigbfs", "convert", "-", "-o", "g.csrbin"]
    text = "% asym unweighted\n1 2\n3 1\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 2 and "say --directed to store them so, or --undirected" in done.stderr
    assert list(folder.iterdir()) == []
    assert subprocess.run([*command, "--directed"], input=text, capture_output=True, text=True).returncode == 0
    assert edges_in("g.csrbin") == [(1, 2), (3, 1)]


def test_two_sides(run, folder):
    Path("out.bip").write_text("% bip unweighted\n% 3 3 2\n1 1\n3 2\n2 1\n")
    code, _, err = run("convert", "out.bip", "-o", "g.csrbin")
    assert code == 1 and "out.bip: line 1: '% bip unweighted'" in err and "--bipartite" in err
    code, out, _ = run("convert", "out.bip", "-o", "g.csrbin", "--bipartite", "--directed")
    assert code == 0 and "1 to 2 of the second side are 4 to 5 here" in out
    assert edges_in("g.csrbin") == [(1, 4), (2, 4), (3, 5)]
    Path("g.gr").write_text("p sp 2 1\na 1 2 3\n")
    code, _, err = run("convert", "g.gr", "--bipartite")
    assert code == 2 and "--bipartite: g.gr is dimacs, and this is for text, mtx; leave it out" in err


def test_an_array_that_may_lie_either_way(run, folder):
    np.save("a.npy", np.array([[1, 2, 3], [4, 5, 6]]))
    code, _, err = run("convert", "a.npy")
    assert code == 1 and "2 edges in rows or 3 edges in columns; say --columns 1,2 for rows, or --edge-index" in err
    assert run("convert", "a.npy", "--columns", "1,2", "--directed")[0] == 0
    assert edges_in("a.csrbin") == [(1, 2), (4, 5)]
    assert run("convert", "a.npy", "--edge-index", "--directed")[0] == 0
    assert edges_in("a.csrbin") == [(1, 4), (2, 5), (3, 6)]
    code, _, err = run("convert", "a.csrbin", "-o", "b.csrbin", "--edge-index")
    assert code == 2 and "a.csrbin is csrbin" in err


@pytest.mark.parametrize("columns", ["1", "1,2,3", "a,", "1;2", "-1,2"])
def test_columns_that_are_none(run, folder, columns):
    Path("g.txt").write_text("1 2\n")
    code, _, err = run("convert", "g.txt", f"--columns={columns}")
    assert code == 2 and "is not two columns; write 1,2 or source,target for example" in err


def test_damaged_parquet_is_named(run, folder):
    Path("g.parquet").write_bytes(b"PAR1" + bytes(20))
    code, _, err = run("convert", "g.parquet")
    assert code == 1 and "g.parquet: is damaged, or no Parquet file: " in err and "fetch or write it again" in err


def test_returns_alone_end_lines(run, folder):
    Path("g.txt").write_bytes(b"# old\r1 2\r3 4\r")
    assert run("convert", "g.txt", "--directed")[0] == 0
    assert edges_in("g.csrbin") == [(1, 2), (3, 4)]


def test_options_of_python_are_checked():
    for options, says in [
        ({"columns": "1,2"}, 'columns="1,2": must be two columns'),
        ({"columns": (1, 1)}, "give two different columns"),
        ({"columns": (1.5, 2)}, "columns"),
        ({"bipartite": "yes"}, "bipartite"),
        ({"directed": True, "undirected": True}, "exclude each other"),
    ]:
        with pytest.raises(BigBfsError) as caught:
            bigbfs.convert("none.txt", **options)
        assert says in str(caught.value)


def test_a_first_record_that_is_taken_for_a_header_is_said_with_the_option_that_decides(run, folder):
    """As pandas and polars take it; an edge was lost with "say no-header", which is none."""
    (folder / "g.csv").write_text("Person A,Person B\nalice,bob\n")
    code, out, _ = run("convert", "g.csv")
    said = " ".join(out.split())
    assert code == 0 and "'Person A' and 'Person B' are taken for a header, not for an edge: --no-header makes" in said
    code, out, _ = run("convert", "g.csv", "--no-header", "--json")
    assert code == 0 and json.loads(out)["lines"] == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.txt", "ann bob\nbob 'carol\n"), ("g.el", "# c\nann;bob\nbob;'carol\n")],
    ids=["blanks", "semicolons"],
)
def test_words_where_ids_are_expected_are_offered_as_names(run, folder, name, text):
    """An edge list of NetworkX: "correct the line, or skip such lines" was all that was said."""
    (folder / name).write_text(text)
    code, _, err = run("convert", name)
    assert code == 1 and "read every id as a name with --names, correct the line" in err
    assert run("convert", name, "--names")[0] == 0
    assert " ann -> bob -> 'carol: 2 edges" in run("bfs", "--source", "ann", "--target", "'carol")[1]


def test_names_of_a_tsv_may_hold_commas(run, folder):
    (folder / "g.tsv").write_text("a.org/?q=1,2\tb.org\nb.org\tc.org\n")
    assert run("convert", "g.tsv")[0] == 0
    assert "a.org/?q=1,2 -> b.org -> c.org" in run("path", "g.csrbin", "a.org/?q=1,2", "c.org")[1]
    (folder / "h.csv").write_text("one\ttwo,b\nb,c\n")  # and those of a CSV tabs
    assert run("convert", "h.csv")[0] == 0
    assert "one\\ttwo -> b -> c" in run("path", "h.csrbin", "one\ttwo", "c")[1]
