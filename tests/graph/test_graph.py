"""Graph: original ids, encodings, other libraries' matrices, what is shared and what is copied."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import zoo
from scipy.sparse import coo_array, csr_array

import bigbfs
from bigbfs.algorithms.many.vertices import vertices_of
from bigbfs.errors import FormatError, InputError, UsageError
from bigbfs.formats.container import csrbin
from bigbfs.graph import rows, structure
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph


def test_from_csr_uses_right_arrays_in_place_and_finds_the_flags():
    indptr, indices = np.array([0, 1, 2], np.uint64), np.array([1, 0], np.uint32)
    graph = Graph.from_csr(indptr, indices)
    assert graph.proved
    assert np.shares_memory(graph.adjacency.indices, indices) and np.shares_memory(graph.adjacency.indptr, indptr)
    assert graph.flags == GraphFlags()
    assert graph.in_adjacency is graph.adjacency
    one_way = Graph.from_csr([0, 2, 2], [1, 1])
    assert one_way.flags == GraphFlags(directed=True, symmetric=False, deduplicated=False)
    assert one_way.in_adjacency is None
    assert Graph.from_csr([0, 1], [0]).flags == GraphFlags(loops_removed=False)
    assert Graph.from_csr(indptr, indices, directed=True).flags == GraphFlags(directed=True)
    assert Graph.from_csr(indptr, indices, ids=np.uint64).ids == np.uint64


def test_from_csr_refuses():
    with pytest.raises(InputError, match="lacks its twin"):
        Graph.from_csr([0, 1, 1], [1], directed=False)
    for labels in ([1], [1, 1], [[1, 2]]):
        with pytest.raises(InputError, match="labels must be 2 different ids"):
            Graph.from_csr([0, 1, 2], [1, 0], labels=labels)


def test_scipy_both_ways():
    matrix = coo_array(([1, 1, 1], ([0, 1, 2], [1, 2, 0])), (3, 3))
    graph = Graph.from_scipy(matrix)
    assert graph.flags.directed and graph.m == 3
    back = graph.to_scipy()
    assert isinstance(back, csr_array) and back.dtype == np.int8
    assert (back.toarray() == matrix.toarray()).all()
    assert (graph.compress().to_scipy().toarray() == matrix.toarray()).all()
    with pytest.raises(InputError, match="2 x 3"):
        Graph.from_scipy(coo_array((2, 3)))


@pytest.mark.parametrize("name", zoo.names(big=False))
def test_encodings_of_the_zoo(name):
    graph = zoo.shared()[name]
    packed, plain = graph.compress(), graph.decompress()
    assert (packed.codec, plain.codec) == ("varint", "plain")
    assert packed.compress() is packed and plain.decompress() is plain
    assert packed.m == plain.m == graph.m and np.array_equal(packed.degrees(), plain.degrees())
    assert np.array_equal(packed.adjacency.edge_offsets(), plain.adjacency.indptr)
    again = packed.decompress()
    assert np.array_equal(again.adjacency.indices, plain.adjacency.indices)
    assert (again.in_adjacency is None) == (graph.in_adjacency is None)
    if graph.in_adjacency is not None:
        assert packed.in_adjacency.codec == "varint"


def ids_of(labels=None, first_id=0, relabelled=False):
    adjacency = Graph.from_csr([0, 1, 2, 2], [1, 0]).adjacency
    names = None if labels is None else np.array(labels, np.int64)
    return Graph(adjacency, GraphFlags(relabelled=relabelled), labels=names, first_id=first_id)


@pytest.mark.parametrize(
    ("graph", "ids"),
    [
        (ids_of(), [0, 1, 2]),
        (ids_of(first_id=1), [1, 2, 3]),
        (ids_of([5, 2**40, 2**63 - 1]), [5, 2**40, 2**63 - 1]),
        (ids_of([9, 3, 7], relabelled=True), [9, 3, 7]),
    ],
)
def test_original_ids(graph, ids):
    assert graph.original([0, 1, 2, -1]).tolist() == [*ids, -1]
    assert int(graph.original(2)) == ids[2]
    assert [graph.vertex(i) for i in ids] == [0, 1, 2]
    assert graph.original_ids().tolist() == sorted(ids)
    assert graph.in_original_order(np.array(ids)).tolist() == sorted(ids)
    for missing in (-1, 4, 8, 2**62):
        with pytest.raises(UsageError, match=f"no vertex {missing}"):
            graph.vertex(missing)


def test_a_graph_without_vertices():
    graph = Graph.from_csr([0], [], labels=[])
    assert (graph.n, graph.m) == (0, 0) and graph.original([-1]).tolist() == [-1]
    for empty in (graph, Graph.from_csr([0], [])):
        with pytest.raises(UsageError, match="no vertices"):
            empty.vertex(0)
    assert graph.compress().decompress().m == 0


def test_closing_a_graph_in_memory_does_nothing():
    with Graph.from_csr([0, 1, 2], [1, 0]) as graph:
        pass
    assert graph.adjacency.m == 2


def test_public_names(tmp_path):
    graph = bigbfs.Graph.from_csr([0, 1, 2], [1, 0])
    graph.save(tmp_path / "g.csrbin")
    with bigbfs.open(tmp_path / "g.csrbin") as back:
        assert back.m == 2 and "undirected plain uint32" in repr(back) and back.path == tmp_path / "g.csrbin"


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_an_index_out_of_range_stops_before_any_traversal(codec, tmp_path):
    path = tmp_path / "g.csrbin"
    graph = zoo.build(5, ([0, 1, 2], [1, 2, 3]))
    (graph if codec == "plain" else graph.compress()).save(path)
    section = csrbin.open_container(path).sections["indices" if codec == "plain" else "blob"]
    data = bytearray(path.read_bytes())
    data[section.offset] = 77
    path.write_bytes(data)
    with bigbfs.open(path) as damaged:
        for run in (lambda: bigbfs.bfs(damaged, 0, backend="cpu"), damaged.require_valid):
            with pytest.raises(FormatError, match=r"g\.csrbin: .*corrupted"):
                run()
    directed = zoo.build(3, ([0, 1], [1, 2]), directed=True)
    bad = Graph(
        directed.adjacency,
        directed.flags,
        in_adjacency=PlainAdjacency(directed.in_adjacency.indptr, np.array([9, 9], np.uint32)),
    )
    with pytest.raises(FormatError, match="in-neighbours"):
        bad.require_valid()
    directed.require_valid()


def damaged(path, graph, section, at, value):
    """Save ``graph`` and put ``value`` into item ``at`` of a section."""
    graph.save(path)
    with csrbin.open_container(path).mapped.path.open("r+b") as stream:
        found = csrbin.open_container(path).sections[section]
        stream.seek(found.offset + at * found.length // found.count)
        stream.write(value.to_bytes(found.length // found.count, "little"))


def in_a_process(code, *arguments):
    """Run Python code that must not die of a signal; return what it printed."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


@pytest.mark.covered("use")
@pytest.mark.parametrize(
    "use",
    [
        "opened.compress()",
        "bigbfs.topological_order(opened)",
        "export(opened, 'sg', io.BytesIO())",
    ],
)
@pytest.mark.parametrize(("section", "at", "value"), [("indptr", 100, 2**40), ("indices", 7, 4_000_000_000)])
def test_a_damaged_file_is_refused_by_whoever_reads_its_edges(tmp_path, use, section, at, value):
    path = tmp_path / "g.csrbin"
    damaged(path, zoo.build(300, zoo.path(300), directed=True, in_rows=False), section, at, value)
    code = (
        "import io, sys, bigbfs\nfrom bigbfs.errors import FormatError\n"
        "from bigbfs.formats.writers.export import export\n"
        f"opened = bigbfs.open(sys.argv[1])\ntry:\n    {use}\nexcept FormatError as error:\n    print(error)"
    )
    says = rf"section {section} .* is damaged" if "export" in use else r"corrupted: (indptr descends|indices\[7\])"
    assert re.match(rf".*g\.csrbin: .*{says}", in_a_process(code, path))


@pytest.mark.parametrize("labels", [[1, -2], [1.5, 2.5], [1, 2**63]])
def test_labels_that_no_file_could_hold(labels):
    with pytest.raises(InputError, match=r"2 different ids from 0 to 2\^63-1"):
        Graph.from_csr([0, 1, 2], [1, 0], labels=labels)


def test_relabelled_without_labels_is_not_saved(tmp_path):
    graph = Graph(Graph.from_csr([0, 1, 2], [1, 0]).adjacency, GraphFlags(relabelled=True))
    with pytest.raises(UsageError, match="no labels"):
        graph.save(tmp_path / "g.csrbin")
    assert not list(tmp_path.iterdir())


def test_a_closed_graph_knows_no_ids(tmp_path):
    Graph.from_csr([0, 1, 2], [1, 0], labels=[1, 0]).save(tmp_path / "g.csrbin")
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        assert graph.vertex(0) == 1
    for use in (lambda: graph.vertex(0), lambda: graph.original(0), lambda: graph.in_adjacency):
        with pytest.raises(UsageError, match="closed"):
            use()


@pytest.mark.parametrize("labels", [[5, 5, 9], [-1, 3, 9], [9, 3, 5]])
def test_labels_that_are_no_ids_are_refused_before_a_traversal(labels):
    adjacency = Graph.from_csr([0, 1, 2, 2], [1, 0]).adjacency
    with pytest.raises(FormatError, match="labels are not 3 different ids"):
        Graph(adjacency, labels=np.array(labels)).require_valid()
    Graph(adjacency, GraphFlags(relabelled=True), labels=np.array([9, 3, 5])).require_valid()


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_the_structure_is_checked_without_a_look_at_the_rows(codec, monkeypatch):
    """What a GPU run asks for before it places a graph."""
    graph = zoo.shared()["directed-in-rows"]
    graph = graph.compress() if codec == "varint" else graph
    monkeypatch.setattr(rows, "require_ids", lambda *_: pytest.fail("the rows were read"))
    forward, backward = graph.adjacency, graph.in_adjacency
    Graph(forward, graph.flags, in_adjacency=backward).require_structure()
    fallen = np.array(backward.indptr)
    fallen[3] = fallen[4] + np.uint64(1)
    bad = {
        r"in-neighbours.*indptr descends at entry 4": {"in_adjacency": replace(backward, indptr=fallen)},
        r"99 edges in the header": {"m": 99},
        "different ids": {"labels": np.zeros(graph.n, np.int64)},
    }
    for message, changes in bad.items():
        with pytest.raises(FormatError, match=message):
            Graph(forward, graph.flags, **({"in_adjacency": backward} | changes)).require_structure()


def test_a_descent_is_found_wherever_pieces_meet(monkeypatch):
    for piece in (1, 2, 7, 1 << 22):
        monkeypatch.setattr(structure, "STRETCH", piece)
        for place in range(1, 9):
            offsets = np.arange(9, dtype=np.uint64) + np.uint64(5)
            assert structure.first_descent(offsets) is None
            offsets[place] = 0
            assert structure.first_descent(offsets) == place


@pytest.mark.parametrize("far", [0, 10**15])
def test_labels_of_a_relabelled_graph_are_checked_whatever_their_spread(far):
    adjacency = Graph.from_csr([0, 1, 2, 2], [1, 0]).adjacency
    flags = GraphFlags(relabelled=True)
    Graph(adjacency, flags, labels=np.array([9 + far, 3, 5])).require_valid()
    for labels in ([3, 5 + far, 3], [-1, 5 + far, 3]):
        with pytest.raises(FormatError, match="labels are not 3 different ids"):
            Graph(adjacency, flags, labels=np.array(labels)).require_valid()


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_values_that_ascend_and_that_differ(monkeypatch, count, piece):
    monkeypatch.setattr(structure, "STRETCH", piece)
    rng = np.random.default_rng(count)
    values = rng.permutation(count)
    assert structure.all_different(values)
    assert structure.all_different(values * 10**6)
    assert structure.ascending(np.sort(values))
    if count > 1:
        for at in (0, count // 2, count - 1):
            twice = values.copy()
            twice[at] = twice[at - 1]
            assert not structure.all_different(twice)
            assert not structure.all_different(twice * 10**6)
            assert not structure.ascending(np.sort(twice))


def test_looking_up_ids_puts_labels_in_order_only_where_it_pays():
    graph = Graph.from_csr([0, 1, 2, 2], [1, 0], labels=[30, 10, 20])
    assert [graph.vertex(original) for original in (10, 20, 30)] == [1, 2, 0]
    assert "_ascending" not in graph.__dict__
    for missing in (-1, 15, 31, 2**63):
        with pytest.raises(UsageError, match=f"no vertex {missing}: 3 ids between 10 and 30"):
            graph.vertex(missing)
    many = [10, 20, 30] * 30
    assert graph.vertices(many) == [1, 2, 0] * 30
    assert "_ascending" in graph.__dict__
    for missing in (-1, 15, 31, 2**63):
        with pytest.raises(UsageError, match=f"no vertex {missing}: 3 ids between 10 and 30"):
            graph.vertices([missing])


@pytest.mark.parametrize("labels", [None, [10, 20, 30], [30, 10, 20]])
@pytest.mark.parametrize("beyond", [2**63, 2**64 - 1, 2**64, -(2**63) - 1])
def test_ids_beyond_64_bits_are_no_vertices(labels, beyond):
    graph = Graph.from_csr([0, 1, 2, 2], [1, 0], labels=labels)
    _ = graph._ascending
    with pytest.raises(UsageError, match=f"no vertex {beyond}: "):
        graph.vertex(beyond)
    first = int(graph.original(0))
    for given in ([beyond], [first, beyond]):  # NumPy makes floats of the second
        with pytest.raises(UsageError, match=f"no vertex {beyond}"):
            vertices_of(graph, given)
