"""Rows in other numbers: whatever the buffers, they are the old rows renumbered and sorted."""

from itertools import pairwise

import numpy as np
import pytest
import zoo

from bigbfs.errors import FormatError
from bigbfs.formats.container import checksum, csrbin, moved, part
from bigbfs.formats.container import moved_kernels as kernels
from bigbfs.formats.container.gatherer import Moved
from bigbfs.formats.container.moved import MovedGraph, gathered, save_moved, sides_of
from bigbfs.graph import varint
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen

N = 9000


def graph_with_hubs():
    """Rows of all lengths: two hubs, one of them longer than several buffers, and many short rows."""
    generator = np.random.default_rng(3)
    sources, targets = generator.integers(0, N, (2, 3 * N))
    hubs = np.repeat([17, 4000], [6000, 700])
    ends = np.concatenate([generator.permutation(N)[:6000], generator.permutation(N)[:700]])
    return zoo.build(N, (np.concatenate([sources, hubs]), np.concatenate([targets, ends])))


@pytest.fixture
def small(monkeypatch):
    """Stretches of 4 KiB, so that a graph of 300 KB has many."""
    monkeypatch.setattr(checksum, "STRETCH", 4096)
    monkeypatch.setattr(moved, "STRETCH", 4096)
    monkeypatch.setattr(moved, "BUFFER", 10_000)


@pytest.mark.covered("target+source")
@pytest.mark.parametrize("source", ["plain", "varint"])
@pytest.mark.parametrize("target", ["plain", "varint"])
@pytest.mark.parametrize("room", [0, 1 << 40])
def test_rows_are_the_old_ones_in_other_numbers(source, target, room, small, tmp_path):
    graph, path = graph_with_hubs(), tmp_path / "a.csrbin"
    plain = graph.adjacency
    (graph if source == "plain" else graph.compress()).save(path)
    order = np.random.default_rng(5).permutation(N).astype(np.uint32)
    rank = np.empty_like(order)
    rank[order] = np.arange(N, dtype=np.uint32)
    told = []
    with Graph.open(path) as old:
        what = MovedGraph({"labels": order.astype(np.int64)}, sides_of(old), csrbin.flag_names(old.flags))
        edges = save_moved(what, Moved(order, rank), tmp_path / "b", target, threads=2, room=room, advance=told.append)
    csrbin.require_checksums(tmp_path / "b")
    with Graph.open(tmp_path / "b") as new:
        assert (new.codec, new.m, edges, sum(told)) == (target, graph.m, graph.m, graph.m)
        found = varint.decode(new.adjacency)
        for row in range(N):
            old_row = plain.indices[int(plain.indptr[order[row]]) : int(plain.indptr[order[row] + 1])]
            here = found.indices[int(found.indptr[row]) : int(found.indptr[row + 1])]
            assert np.array_equal(here, np.sort(rank[old_row])), row


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("bits", [12, 16, 31])
def test_a_row_of_any_length_is_sorted(ids, bits):
    """Registers of all widths, digits of both, and as many passes from the one array to the other as back."""
    generator, n = np.random.default_rng(bits), 5000
    lengths = [*range(131), 255, 256, kernels.LONG - 1, kernels.LONG, n - 1, n]
    numbers = np.sort(generator.choice(2**bits if bits > 12 else n, n, replace=False)).astype(ids)
    numbers[:] = generator.permutation(numbers)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(generator.permutation(n)[:length]) for length in lengths]).astype(ids)
    out = np.full(indptr[-1] + 1, 7, ids)
    rows, none = np.arange(len(lengths), dtype=ids), np.empty(0, np.int64)
    arrays = [frozen(array) for array in (none, rows, numbers, indptr, indices)]
    turn, rows, numbers, indptr, indices = arrays
    found = kernels.gather_plain(turn, 0, len(lengths), rows, numbers, indptr, 0, indptr, indices, out)
    assert (found, out[-1]) == (-1, 7)
    for first, last in pairwise(indptr.tolist()):
        assert np.array_equal(out[first:last], np.sort(numbers[indices[first:last]])), last - first


def test_some_of_the_vertices(small, tmp_path):
    """The two components of a graph, one of which is kept."""
    graph = zoo.build(1500, (np.r_[0:999, 1000:1499], np.r_[1:1000, 1001:1500]))
    part.save_part(graph, np.arange(1500) >= 1000, tmp_path / "tail.ccsr")
    with Graph.open(tmp_path / "tail.ccsr") as kept:
        assert (kept.n, kept.m, kept.original_ids()[[0, -1]].tolist()) == (500, 998, [1000, 1499])
        assert varint.decode(kept.adjacency).indices[:3].tolist() == [1, 0, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["tail.ccsr"]


@pytest.mark.parametrize("wrong", ["no vertex", "descends"])
def test_an_old_row_that_is_wrong_is_refused(wrong):
    indptr = np.array([0, 2, 4], np.uint64)
    indices = np.array([0, 1, 0, 2] if wrong == "no vertex" else [0, 1, 1, 0], np.uint32)
    same = np.arange(2, dtype=np.uint32)
    with pytest.raises(FormatError, match=r"g: corrupted: (indices\[3\] = 2 is no vertex|row 1 does not ascend)"):
        gathered(Moved(same, same), PlainAdjacency(indptr, indices), 1, "g")
