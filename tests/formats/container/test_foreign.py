"""Graph files of others: the raw CSR layout and GAP's .sg, good and bad."""

import struct

import numpy as np
import pytest
import zoo

from bigbfs.errors import FormatError
from bigbfs.formats.container.check import check
from bigbfs.formats.writers.export import export
from bigbfs.graph.graph import Graph


def raw_bytes(n, m, indptr, indices):
    return struct.pack("<QQ", n, m) + np.array(indptr, "<i8").tobytes() + np.array(indices, "<i4").tobytes()


def sg_bytes(directed, n, m, *parts):
    body = b"".join(np.array(p, "<i8").tobytes() + np.array(i, "<i4").tobytes() for p, i in parts)
    return struct.pack("<Bqq", directed, m, n) + body


PATH = [0, 1, 3, 4], [1, 0, 2, 1]
ARC = ([0, 2, 2, 2], [1, 2]), ([0, 0, 1, 2], [0, 0])


def test_raw_is_mapped_in_place(tmp_path):
    path = tmp_path / "g.csrbin"
    path.write_bytes(raw_bytes(3, 4, *PATH))
    with Graph.open(path) as graph:
        assert (graph.n, graph.m, graph.flags.directed, graph.flags.symmetric) == (3, 4, False, True)
        assert graph.adjacency.indices.tolist() == PATH[1] and not graph.adjacency.indices.flags.owndata
        assert graph.adjacency.indices.dtype == np.uint32 and graph.adjacency.indptr.dtype == np.uint64
    assert [step.name for step in check(path)] == ["size", "indptr", "indices", "edges"]


def test_unsorted_rows_duplicates_and_loops_are_seen(tmp_path):
    path = tmp_path / "g.csrbin"
    path.write_bytes(raw_bytes(3, 5, [0, 3, 4, 5], [2, 1, 1, 1, 0]))
    with Graph.open(path) as graph:
        assert graph.adjacency.indices.tolist() == [1, 1, 2, 1, 0]
        flags = graph.flags
        assert (flags.directed, flags.symmetric, flags.deduplicated, flags.loops_removed) == (True, False, False, False)


@pytest.mark.parametrize("content", [sg_bytes(0, 3, 4, PATH), sg_bytes(1, 3, 2, *ARC)])
def test_sg(tmp_path, content):
    path = tmp_path / "any-name"
    path.write_bytes(content)
    with Graph.open(path) as graph:
        assert graph.n == 3 and graph.flags.directed == bool(content[0])
        if graph.flags.directed:
            assert graph.in_adjacency.indptr.tolist() == ARC[1][0]
            assert graph.in_adjacency.indices.tolist() == ARC[1][1]
    list(check(path))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_no_edges(tmp_path, n):
    for content in (raw_bytes(n, 0, [0] * (n + 1), []), sg_bytes(0, n, 0, ([0] * (n + 1), []))):
        (tmp_path / "g").write_bytes(content)
        with Graph.open(tmp_path / "g") as graph:
            assert (graph.n, graph.m) == (n, 0)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (raw_bytes(3, 4, *PATH)[:-1], "no graph file"),
        (raw_bytes(3, 4, *PATH) + b"\0", "no graph file"),
        (raw_bytes(2**61, 4, *PATH), "no graph file"),
        (raw_bytes(2**64 - 1, 2**64 - 1, *PATH), "no graph file"),
        (raw_bytes(3, 4, PATH[0], [1, 0, 3, 1]), r"indices\[2\] = 3 \(row 1\)"),
        (raw_bytes(3, 4, PATH[0], [1, 0, -1, 1]), r"indices\[2\] = -1"),
        (raw_bytes(3, 4, [0, 3, 1, 4], PATH[1]), r"indptr\[2\] = 1"),
        (raw_bytes(3, 4, [0, 1, 3, 3], PATH[1]), "last entry of indptr is 3"),
        (raw_bytes(3, 4, [1, 1, 3, 4], PATH[1]), "start with 0"),
        (raw_bytes(3, 4, [0, -(2**63), 3, 4], PATH[1]), r"indptr\[1\]"),
        (sg_bytes(0, 3, 4, PATH)[:-1], "no graph file"),
        (sg_bytes(2, 3, 4, PATH), "no graph file"),
        (sg_bytes(1, 3, 4, PATH), "no graph file"),
        (sg_bytes(0, -1, 4, PATH), "no graph file"),
        (sg_bytes(0, 3, 4, (PATH[0], [1, 0, 2, 7])), r"indices\[3\] = 7"),
        (sg_bytes(0, 3, 2, ARC[0]), "some edge is stored one way only"),
        (b"", "empty"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, says):
    path = tmp_path / "bad.csrbin"
    path.write_bytes(content)
    for use in (Graph.open, lambda path: list(check(path))):
        with pytest.raises(FormatError, match=rf"bad\.csrbin: .*{says}"):
            use(path)


@pytest.mark.parametrize("to", ["raw", "sg"])
@pytest.mark.parametrize("name", zoo.names(big=False))
def test_export_and_open_give_the_same_rows(name, to, tmp_path):
    graph = zoo.shared()[name]
    path = tmp_path / "g"
    export(graph, to, path)
    with Graph.open(path) as back:
        plain = graph.decompress().adjacency
        assert np.array_equal(back.adjacency.indptr, plain.indptr)
        assert np.array_equal(back.adjacency.indices, plain.indices)
        assert back.flags.symmetric == graph.flags.symmetric or not plain.m
        if to == "sg":
            assert back.flags.directed == graph.flags.directed
