"""The Python door: what cannot be meant is refused by an error of ours that names the argument and its value."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import bigbfs
from bigbfs import Graph
from bigbfs.conversion import ConvertOptions
from bigbfs.errors import ArgumentError, BigBfsError, UsageError

SQUARE = csr_array(np.ones((2, 2)))


@pytest.fixture
def graph():
    return Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], labels=[7, 8, 9])


@pytest.fixture
def kept(tmp_path, graph):
    graph.save(tmp_path / "g.csrbin")
    return tmp_path / "g.csrbin"


WRONG = [
    ("max_depth=1.5", lambda g: bigbfs.bfs(g, 7, max_depth=1.5)),
    ("max_depth=True", lambda g: bigbfs.bfs(g, 7, max_depth=True)),
    ("source=1.5", lambda g: bigbfs.bfs(g, 1.5)),
    ("source=True", lambda g: bigbfs.bfs(g, True)),
    ("source=np.float64(7.0)", lambda g: bigbfs.bfs(g, np.float64(7.0))),
    ('source="7"', lambda g: bigbfs.bfs(g, "7")),
    ("source: .*not None", lambda g: bigbfs.bfs(g, None)),
    ('threads="2"', lambda g: bigbfs.bfs(g, 7, backend="cpu", threads="2")),
    ("threads=0", lambda g: bigbfs.engine(g, backend="cpu", threads=0)),
    ("vram_budget=-1", lambda g: bigbfs.engine(g, vram_budget=-1)),
    ('vram_budget="much"', lambda g: bigbfs.engine(g, vram_budget="much")),
    ("strategy=3", lambda g: bigbfs.bfs(g, 7, strategy=3)),
    ("rounds=1.0", lambda g: bigbfs.connected_components(g, rounds=1.0)),
    ("treads=2", lambda g: bigbfs.bfs(g, 7, treads=2)),
    ("targett=3: .*is target meant", lambda g: bigbfs.bfs(g, 7, targett=3)),
    ("treads=2", lambda g: bigbfs.connected_components(g, treads=2)),
    ("graph=7", lambda g: bigbfs.bfs(7, 0)),
    ("graph=<Compressed Sparse", lambda g: bigbfs.engine(SQUARE)),
    ('graph=""', lambda g: bigbfs.engine("")),
    ("matrix=array", lambda g: Graph.from_scipy(np.eye(3))),
    ("matrix=[[0, 1]", lambda g: Graph.from_scipy([[0, 1], [1, 0]])),
    ('ids="float', lambda g: Graph.from_csr([0, 1], [0], ids="float3")),
    ("directed=1", lambda g: Graph.from_csr([0, 1], [0], directed=1)),
    ("indptr is no array", lambda g: Graph.from_csr([[0], [1, 2]], [0])),
    ("indices must be integers", lambda g: Graph.from_csr([0, 1], ["a"])),
    ("original=1.5", lambda g: g.vertex(1.5)),
    ('path=".*x.txt"', lambda g: g.save("x.txt")),
    ("path: .*not None", lambda g: g.save(None)),
    ('path="": is empty', lambda g: bigbfs.open("")),
    ("path=3", lambda g: bigbfs.open(3)),
    ("path=b'x'", lambda g: bigbfs.open(b"x")),
    ("NUL", lambda g: bigbfs.open("a\0b")),
    ("memory=-1", lambda g: bigbfs.convert("a.txt", memory=-1)),
    ('memory="two"', lambda g: bigbfs.convert("a.txt", memory="two")),
    ("memory=1.5", lambda g: ConvertOptions(memory=1.5)),
    ('threads="2"', lambda g: bigbfs.convert("a.txt", threads="2")),
    ("directed=1", lambda g: bigbfs.convert("a.txt", directed=1)),
    ("skip_bad_lines=-1", lambda g: bigbfs.convert("a.txt", skip_bad_lines=-1)),
    ('order="best"', lambda g: bigbfs.convert("a.txt", order="best")),
    ("format=3", lambda g: bigbfs.convert("a.txt", format=3)),
    ("tmp=3", lambda g: bigbfs.convert("a.txt", tmp=3)),
    ("orders=.*is order meant", lambda g: bigbfs.convert("a.txt", orders="degree")),
    ("inputs=3", lambda g: bigbfs.convert(3)),
]


@pytest.mark.parametrize(("says", "call"), WRONG, ids=[f"{number} {says}" for number, (says, _) in enumerate(WRONG)])
def test_what_cannot_be_meant_is_refused_by_name(graph, says, call):
    with pytest.raises(BigBfsError, match=says.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")) as caught:
        call(graph)
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


def test_a_wrong_type_is_a_type_error_too(graph):
    with pytest.raises(TypeError):
        bigbfs.bfs(graph, 1.5)
    with pytest.raises(ValueError, match="source"):
        bigbfs.bfs(graph, 1.5)
    assert ArgumentError("x").exit_code == 2


def test_integers_of_all_kinds_and_sizes_as_written_are_taken(graph, tmp_path):
    for source in (7, np.int64(7), np.uint8(7), np.array(7)):
        assert bigbfs.bfs(graph, source, backend="cpu", max_depth=np.int32(1)).levels.tolist() == [0, 1, -1]
    assert ConvertOptions(memory="2GiB").memory == 2 << 30
    assert 0 < ConvertOptions(memory="10%").memory < ConvertOptions(memory="90%").memory
    assert bigbfs.distances(graph, [7], backend="cpu", memory="50%").levels.tolist() == [[0, 1, 2]]
    assert ConvertOptions(tmp=str(tmp_path)).tmp == tmp_path
    assert ConvertOptions(memory=np.int64(5), threads=np.int64(2)) == ConvertOptions(memory=5, threads=2)


def test_a_path_is_taken_where_a_graph_is(kept):
    for path in (kept, str(kept)):
        assert bigbfs.bfs(path, 7, backend="cpu").levels.tolist() == [0, 1, 2]
        assert bigbfs.connected_components(path, backend="cpu").labels.tolist() == [7, 7, 7]
        with bigbfs.engine(path, backend="cpu") as engine:
            assert engine.bfs(9).levels.tolist() == [2, 1, 0]


@pytest.mark.parametrize("order", ["original", "degree"])
def test_a_result_speaks_its_ids_after_the_graph_is_closed(tmp_path, monkeypatch, order):
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("7 8\n8 9\n8 11\n")
    bigbfs.convert("g.txt", order=order)
    with bigbfs.open("g.csrbin") as opened:
        found = bigbfs.bfs(opened, 7, backend="cpu")
        parts = bigbfs.connected_components(opened, backend="cpu")
    assert found.ids.tolist() == parts.ids.tolist() == [7, 8, 9, 11]
    assert found.to_numpy().tolist() == [(7, 0, -1), (8, 1, 7), (9, 2, 8), (11, 2, 8)]
    assert found.to_numpy().dtype.names == ("id", "level", "parent")
    assert parts.to_numpy()["label"].tolist() == [7] * 4


def test_a_closed_graph_refuses_ids(kept):
    with bigbfs.open(kept) as opened:
        assert opened.original_ids().tolist() == [7, 8, 9]
    for call in (
        opened.original_ids,
        lambda: opened.in_original_order(np.arange(3)),
        lambda: opened.original(0),
        lambda: opened.vertex(7),
        lambda: opened.vertices([7]),
        opened.degrees,
        lambda: pickle.dumps(opened),
    ):
        with pytest.raises(UsageError, match="has been closed"):
            call()


def test_a_graph_is_pickled_by_its_path_and_not_deepcopied(kept, graph):
    with bigbfs.open(kept) as opened:
        text = pickle.dumps(opened)
        assert len(text) < 400
        with pytest.raises(UsageError, match=r"g\.csrbin: .*not copied; share it, or open its file again"):
            copy.deepcopy({"graph": opened})
    with pickle.loads(text) as again:
        assert again.original_ids().tolist() == [7, 8, 9] and again.path == kept
    assert pickle.loads(pickle.dumps(graph)).original_ids().tolist() == [7, 8, 9]
    with pytest.raises(UsageError, match="share it"):
        copy.deepcopy(graph)


def test_exceptions_and_the_engine_are_public_and_importing_is_light():
    script = "import sys, bigbfs; assert not {'numpy', 'numba', 'click', 'inspect'} & set(sys.modules), sys.modules\n"
    script += "assert issubclass(bigbfs.FormatError, bigbfs.BigBfsError) and 'UsageError' in dir(bigbfs)\n"
    script += "assert 'numpy' not in sys.modules\nassert callable(bigbfs.engine)"
    subprocess.run([sys.executable, "-c", script], check=True)
