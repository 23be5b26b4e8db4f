"""Results as tables, with names and with numbers: .csv, .parquet, .arrow, .npy, standard output."""

import csv
import gzip
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bigbfs
from bigbfs.formats import ours
from bigbfs.formats.tables import results

NAMES = ["a,b", "bob", "carol", "dave", "erin"]


@pytest.fixture
def named(run, folder, monkeypatch):
    """graph.csrbin of five named vertices, written two rows at a time."""
    monkeypatch.setattr(results, "ROWS", 2)
    (folder / "graph.csv").write_text('source,target\nbob,carol\n"a,b",bob\ndave,erin\n')
    assert run("convert", "graph.csv")[0] == 0
    return folder


def rows_of(path):
    if path.suffix == ".csv":
        return [tuple(row) for row in csv.reader(io.StringIO(path.read_text()))]
    table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).read_all()
    columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in table.columns]
    return [tuple(table.column_names), *zip(*columns, strict=True)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_every_result_speaks_names(run, named, suffix):
    files = [f"{name}{suffix}" for name in ("levels", "parents", "labels", "sizes")]
    code, out, err = run("bfs", "--source", "carol", "--levels", files[0], "--parents", files[1], "--backend", "cpu")
    assert code == 0 and f"{files[0]}: " in out and ", 5 rows" in out, err
    assert run("cc", "--labels", files[2], "--sizes", files[3], "--backend", "cpu")[0] == 0
    found = [rows_of(Path(name)) for name in files]
    assert found[0] == [("id", "level"), *zip(NAMES, ["2", "1", "0", "-1", "-1"], strict=True)]
    assert found[1] == [("id", "parent"), *zip(NAMES, ["bob", "carol", "", "", ""], strict=True)]
    assert found[2] == [("id", "component"), *zip(NAMES, ["a,b"] * 3 + ["dave"] * 2, strict=True)]
    assert found[3] == [("component", "vertices"), ("a,b", "3"), ("dave", "2")]


@pytest.mark.parametrize("order", ["original", "degree"])
def test_numbers_stay_numbers(run, folder, monkeypatch, order):
    monkeypatch.setattr(results, "ROWS", 2)
    (folder / "graph.txt").write_text("10 20\n20 30\n40 50\n")
    bigbfs.convert("graph.txt", order=order)
    assert run("bfs", "--source", "30", "--parents", "p.csv", "--levels", "l.npy", "--backend", "cpu")[0] == 0
    assert rows_of(Path("p.csv")) == [
        ("id", "parent"), ("10", "20"), ("20", "30"), ("30", "-1"), ("40", "-1"), ("50", "-1")
    ]  # fmt: skip
    assert np.load("l.npy").tolist() == [2, 1, 0, -1, -1]
    assert run("cc", "--sizes", "s.npy", "--backend", "cpu")[0] == 0 and np.load("s.npy").tolist() == [3, 2]


def test_standard_output_has_the_table_alone(run, named):
    for arguments, first in (
        (("bfs", "--source", "bob", "--levels", "-"), "id,level\n"),
        (("cc", "--sizes", "-"), "component,vertices\n"),
        (("cc", "--labels", "-"), "id,component\n"),
    ):
        code, out, err = run(*arguments, "--backend", "cpu")
        assert code == 0 and out.startswith(first) and "backend" not in out and "backend" in err
    assert run("bfs", "--source", "bob", "--levels", "-", "--json")[0] == 2
    assert run("bfs", "--source", "bob", "--levels", "-", "--parents", "-")[0] == 2


def test_an_order_of_names(run, folder):
    (folder / "g.csv").write_text("source,target\nz,a\na,m\n")
    run("convert", "g.csv", "--directed")
    assert run("toposort", "-o", "order.csv", "--levels", "rounds.csv", "--backend", "cpu")[0] == 0
    assert Path("order.csv").read_text() == "id\nz\na\nm\n"
    assert Path("rounds.csv").read_text() == "id,round\na,1\nm,2\nz,0\n"


def test_other_suffixes_and_files_of_others_are_refused(run, named):
    code, _, err = run("cc", "--labels", "x.xlsx")
    assert code == 2 and "NumPy .npy, or a table: .csv" in err
    Path("x.csv").write_text("mine")
    assert run("cc", "--labels", "x.csv")[0] == 2 and Path("x.csv").read_text() == "mine"
    assert run("cc", "--labels", "x.csv", "--force", "--backend", "cpu")[0] == 0


def test_results_become_tables_of_other_libraries(named):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with bigbfs.open("graph.csrbin") as graph:
        result = bigbfs.bfs(graph, "carol", backend="cpu")
        components = bigbfs.connected_components(graph, backend="cpu")
        assert result.to_arrow().column("parent").to_pylist() == ["bob", "carol", None, None, None]
        assert components.to_polars()["component"].to_list() == ["a,b"] * 3 + ["dave"] * 2
        frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["level"].tolist() == [2, 1, 0, -1, -1]
    assert isinstance(components.to_polars(), polars.DataFrame)


def test_measures_become_tables_too(named):
    with bigbfs.open("graph.csrbin") as graph:
        near, far = bigbfs.closeness(graph, kind="harmonic"), bigbfs.eccentricity(graph)
    assert near.to_arrow().to_pydict() == {"id": NAMES, "harmonic": [1.5, 2.0, 1.5, 1.0, 1.0]}
    assert far.to_arrow().to_pydict() == {"id": NAMES[:3], "lower": [2, 1, 2], "upper": [2, 1, 2]}


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "duckdb"])
def test_tables_of_other_libraries_become_graphs(library, tmp_path):
    module = pytest.importorskip(library)
    numbers = {"target": [2, 3, 2**40], "weight": [0.5, 1.0, 2.0], "source": [1, 2, 3]}
    text = {"src": ["bob", "alice", "dave"], "dst": ["carol", "bob", "erin"]}
    for content, wanted in ((numbers, [1, 2, 3, 2**40]), (text, ["alice", "bob", "carol", "dave", "erin"])):
        if library == "pyarrow":
            table = module.table(content)
        elif library == "duckdb":
            frame = pa.table(content)  # noqa: F841  read by name
            table = module.sql("select * from frame")
        else:
            table = module.DataFrame(content)
        graph = bigbfs.Graph.from_arrow(table)
        found = [graph.called(int(each)) for each in graph.original_ids()]
        assert found == wanted and graph.m == 6
    assert bigbfs.bfs(graph, "carol", backend="cpu").levels.tolist() == [2, 1, 0, -1, -1]
    graph.save(tmp_path / "g.csrbin")
    assert bigbfs.open(tmp_path / "g.csrbin").names.name(4) == "erin"
    with pytest.raises(bigbfs.InputError, match="no column 'srcs'; is 'src' meant"):
        bigbfs.Graph.from_arrow(table, columns=("srcs", "dst"))


def test_integers_in_one_piece_are_not_copied():
    src, dst = np.arange(5, dtype=np.uint32), np.arange(1, 6, dtype=np.uint32)
    before = src.copy(), dst.copy()
    assert bigbfs.Graph.from_arrow(pa.table({"source": src, "target": dst})).m == 10
    assert np.array_equal(src, before[0]) and np.array_equal(dst, before[1])
    with pytest.raises(bigbfs.InputError, match="from_arrow: row 1: a null"):
        bigbfs.Graph.from_arrow(pa.table({"source": [1, None], "target": [1, 2]}))
    with pytest.raises(bigbfs.ArgumentError, match="must be a table"):
        bigbfs.Graph.from_arrow([[1, 2]])


def test_frames_with_columns_that_are_no_ids():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"weight": [1, "heavy"], "source": ["a", "b"], "target": ["b", "c"]})
    assert bigbfs.Graph.from_pandas(frame).n == 3  # what the other columns hold is no matter
    with pytest.raises(bigbfs.InputError, match=r"from_arrow: a column is neither integers nor text: .*; cast it"):
        bigbfs.Graph.from_pandas(frame, columns=("weight", "target"))
    with pytest.raises(bigbfs.InputError, match="no column 'sources'; is 'source' meant"):
        bigbfs.Graph.from_pandas(frame, columns=("sources", "target"))


def test_categories_whose_values_are_views():
    """As polars hands its columns of categories on; indices are those of a slice."""
    pa = pytest.importorskip("pyarrow", minversion="16")
    values = pa.array(["b", "unused", "a\xe4", "c"], pa.string_view())
    column = pa.DictionaryArray.from_arrays(pa.array([1, 3, 0, 2]), values).slice(1)
    graph = bigbfs.Graph.from_arrow(pa.table({"source": column, "target": ["c", "a\xe4", "b"]}))
    assert [graph.called(rank) for rank in range(graph.n)] == ["a\xe4", "b", "c"]
    column = pa.DictionaryArray.from_arrays(pa.array([1, None]), values)
    with pytest.raises(bigbfs.InputError, match="row 1: a null"):
        bigbfs.Graph.from_arrow(pa.table({"source": column, "target": ["b", "c"]}))


def test_categories_of_polars():
    polars = pytest.importorskip("polars")
    for kind in (polars.Categorical, polars.Enum(["x", "y", "z"])):
        frame = polars.DataFrame({"source": ["x", "y"], "target": ["y", "z"]}, schema={"source": kind, "target": kind})
        assert bigbfs.Graph.from_arrow(frame).m == 4


def test_frames_whose_columns_have_one_name_and_texts_that_are_no_text():
    pandas = pytest.importorskip("pandas")
    graph = bigbfs.Graph.from_pandas(pandas.DataFrame([[1, 2, 9]], columns=["a", "a", "b"]), columns=(2, 1))
    assert graph.original_ids().tolist() == [1, 2]
    frame = pandas.DataFrame({"source": pandas.Series(["\udcff"], dtype=object), "target": ["b"]})
    with pytest.raises(bigbfs.InputError, match=r"from_arrow: a column is neither integers nor text: .*surrogates"):
        bigbfs.Graph.from_pandas(frame)


def test_networkx_graphs():
    networkx = pytest.importorskip("networkx")
    path = networkx.path_graph(4)
    path.add_node(9)
    graph = bigbfs.Graph.from_networkx(path)
    assert graph.original_ids().tolist() == [0, 1, 2, 3, 9] and graph.m == 6
    words = networkx.DiGraph([("b", "a"), ("c", "b")])
    words.add_node("lonely")
    graph = bigbfs.Graph.from_networkx(words)
    assert graph.flags.directed and [graph.names.name(rank) for rank in range(4)] == ["a", "b", "c", "lonely"]
    with pytest.raises(bigbfs.ArgumentError, match="all integers from 0 on, or all strings"):
        bigbfs.Graph.from_networkx(networkx.Graph([(1, "a")]))


def test_components_of_a_table_in_one_command(run, named):
    pq.write_table(pa.table({"source": ["b", "c"], "target": ["a", "d"]}), "edges.parquet")
    code, _, err = run("cc", "edges.parquet", "-o", "labels.parquet", "--backend", "cpu")
    assert code == 0 and "made edges.csrbin of edges.parquet" in err
    assert rows_of(Path("labels.parquet"))[1:] == [("a", "a"), ("b", "a"), ("c", "c"), ("d", "c")]
    assert "found edges.csrbin" in run("cc", "edges.parquet", "--backend", "cpu")[2]


@pytest.mark.parametrize("name", ["e.txt", "e.txt.gz", "e.MTX"])
def test_any_file_that_convert_reads_is_converted_first(run, folder, name):
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n" if name == "e.MTX" else "1 2\n2 3\n"
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    code, out, err = run("bfs", name, "--source", "1", "--backend", "cpu")
    assert code == 0 and f"made e.csrbin of {name}" in err and "3: 2 edges from 1" in out, (out, err)
    assert "found e.csrbin" in run("cc", name, "--backend", "cpu")[2]


def test_a_graph_file_of_another_name_stays_one(run, folder):
    Path("e.txt").write_text("1 2\n2 3\n")
    assert run("convert", "e.txt")[0] == 0
    Path("e.csrbin").rename("e.dat")
    code, _, err = run("cc", "e.dat", "--backend", "cpu")
    assert code == 0 and "made" not in err and not Path("e.csrbin").exists()


def test_members_of_a_component(run, named):
    code, out, err = run("members", "graph.csrbin", "--vertex", "carol", "--backend", "cpu")
    assert code == 0 and out == 'id\n"a,b"\nbob\ncarol\n' and "3 of 5 vertices" in err
    assert run("members", "--vertex", "erin", "-o", "m.npy", "--backend", "cpu")[0] == 0
    assert np.load("m.npy").tolist() == [3, 4]
    assert run("members", "--vertex", "nobody", "--backend", "cpu")[0] == 2


def test_some_of_the_vertices_keep_their_own_names(run, folder):
    Path("e.csv").write_text("s,t\na1,a2\nb1,b2\nb2,b3\n")
    assert run("convert", "e.csv")[0] == 0
    assert run("eccentricity", "e.csrbin", "-o", "ecc.csv")[0] == 0  # of the largest component
    assert Path("ecc.csv").read_text().splitlines()[1:] == ["a1,-1", "a2,-1", "b1,2", "b2,1", "b3,2"]
    assert run("members", "e.csrbin", "--vertex", "b2", "-o", "m.csv")[0] == 0
    assert Path("m.csv").read_text().splitlines() == ["id", "b1", "b2", "b3"]


def test_a_carriage_return_in_a_name_is_quoted(run, folder):
    Path("e.csv").write_bytes(b's,t\n"c\rx",d\n')
    assert run("convert", "e.csv")[0] == 0
    assert run("cc", "e.csrbin", "--labels", "l.csv")[0] == 0
    with Path("l.csv").open(newline="") as stream:
        assert [row[0] for row in csv.reader(stream)] == ["id", "c\rx", "d"]
    assert b'"c\rx"' in Path("l.csv").read_bytes()


def test_a_table_replaces_no_graph_made_with_other_options(run, folder):
    Path("e.csv").write_text("source,target\n1,2\n2,3\n")
    assert run("convert", "e.csv", "--directed")[0] == 0
    before = Path("e.csrbin").read_bytes()
    code, _, err = run("cc", "e.csv")
    assert code == 0 and "bigbfs: found e.csrbin of e.csv, made with --directed\n" in err
    assert Path("e.csrbin").read_bytes() == before
    assert run("cc", "e.csrbin")[0] == 0
    Path("e.csrbin").unlink()
    assert run("cc", "e.csv")[0] == 0
    Path("e.csv").write_text("source,target\n1,2\n2,3\n3,4\n")  # changed, and no other file
    assert run("cc", "e.csv")[0] == 0


def test_two_outputs_are_two_files(run, folder):
    Path("e.txt").write_text("1 2\n")
    assert run("convert", "e.txt")[0] == 0
    code, _, err = run("cc", "e.csrbin", "--labels", "x.csv", "--sizes", "./x.csv")
    assert code == 2 and "--labels and --sizes both name" in err


def test_records_of_numpy_are_not_ours(tmp_path):
    fields = [("source", "<i8"), ("target", "<i8"), ("weight", "<f8")]
    np.save(tmp_path / "u.npy", np.zeros(10, fields))
    np.save(tmp_path / "v.npy", np.zeros((3, 4)))
    assert not ours.is_ours(tmp_path / "u.npy") and not ours.is_ours(tmp_path / "v.npy")
    mine = np.arange(5, dtype=np.int32)
    (tmp_path / "w.npy").write_bytes(ours.array_header(mine) + mine.tobytes())
    assert ours.is_ours(tmp_path / "w.npy")


@pytest.mark.parametrize(
    "line", [("path", "graph.csrbin", 1, 2), ("distances", "--source", 1), ("hops", "--sources", "0,1")], ids=str
)
def test_a_number_is_no_vertex_of_a_graph_with_names(run, named, line):
    """It was taken for the vertex of that rank."""
    code, _, err = run(*line)
    assert code == 2 and ("no vertex is called '1'" in err or "vertices have names here" in err)


def test_bounds_and_centrality_speak_names(run, named):
    code, out, err = run("diameter", "graph.csrbin")
    assert code == 0 and "2: a,b and carol are so far apart" in out.replace("carol and a,b", "a,b and carol"), out + err
    code, out, err = run("eccentricity", "graph.csrbin")
    assert code == 0 and "centre      1 vertex: bob" in out, out + err
    code, out, err = run("closeness", "graph.csrbin")
    assert code == 0 and "bob" in out, out + err


def test_names_are_asked_for_by_rank_and_paths_by_name(named):
    with bigbfs.open("graph.csrbin") as graph:
        result = bigbfs.bfs(graph, "a,b")
        assert result.path_to("carol").tolist() == [0, 1, 2]
        with pytest.raises(bigbfs.UsageError, match="no vertex has that name"):
            result.path_to("nobody")
        for rank in (-1, 5):
            with pytest.raises(bigbfs.UsageError, match="there are 5 names"):
                graph.names.name(rank)


def test_an_export_says_that_names_stay_behind(run, named):
    code, _, err = run("export", "graph.csrbin", "--to", "mtx")
    assert code == 0 and "has no names" in err


def test_columns_of_a_table_that_stands_where_a_graph_does(run, folder):
    """The first answer shows what was guessed; the second says which columns are meant, and the third finds that."""
    pq.write_table(pa.table({"w": [1, 2, 3], "my a": [4, 5, 8], "b": [5, 6, 9]}), "t.parquet")
    code, _, err = run("cc", "t.parquet", "--json")
    assert code == 0 and "from column 'w' to column 'my a' (the first two)" in err
    how = ("--columns", "my a,b")
    code, _, err = run("cc", "t.parquet", *how, "-o", "l.csv")
    assert code == 0 and "is replaced: it was made with other options (columns)" in err, err
    assert (folder / "l.csv").read_text().split("\n")[1:6] == ["4,4", "5,4", "6,4", "8,8", "9,8"]
    code, _, err = run("bfs", "t.parquet", *how, "--source", 4, "--backend", "cpu")
    assert code == 0 and "bigbfs: found t.csrbin" in err
    code, out, err = run("info", "t.parquet")  # named once, they hold: the default is a guess
    assert (
        code == 0 and "bigbfs: found t.csrbin of t.parquet, columns my a,b\n" in err and "--columns 'my a,b'\n" in out
    )
    code, _, err = run("info", "t.csrbin", *how)
    assert code == 2 and "--columns 'my a,b': t.csrbin is a graph already, and no table" in err
    assert run("convert", "t.parquet", "--order", "degree")[0] == 0
    code, _, err = run("cc", "t.parquet", *how)
    offered = shlex.split(re.search(r"`bigbfs ([^`]*)`", err)[1])
    assert code == 2 and run(*offered)[0] == 0
    assert offered == ["convert", "t.parquet", "--columns", "my a,b", "--order", "degree", "-o", "OUT.csrbin"]
    assert run("cc", "t.parquet", "--columns", "a,b")[0] == 2


def test_a_folder_of_tables_is_said_once(run, folder):
    """A note for each of its files was one for each of a thousand; and a lone component shows a name for a member."""
    (folder / "calls").mkdir()
    for part in range(3):
        pq.write_table(pa.table({"a": ["ann", "bob"], "b": ["bob", f"c{part}"]}), f"calls/{part}.parquet")
    code, out, err = run("cc", "calls")
    assert code == 0 and "\na member    ann\n" in out
    first = (
        "note: calls/0.parquet: edges lead from column 'a' to column 'b' (the first two) (and so of 2 more inputs)\n"
    )
    assert err == f"{first}bigbfs: made calls.csrbin of calls\n"
    assert run("cc", "calls")[2] == err.replace("made", "found")
