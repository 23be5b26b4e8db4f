"""Which vertices a graph has and how they are numbered."""

from __future__ import annotations

import numpy as np
import pytest

from bigbfs.conversion.in_memory import relabel
from bigbfs.conversion.in_memory.build import build
from bigbfs.conversion.in_memory.relabel import Bitmap, HashTable, find_vertices, number_lines
from bigbfs.conversion.numbering.ids import set_bits
from bigbfs.conversion.options import ConvertOptions
from bigbfs.graph.edges import EdgeList


def edge_list(src, dst, dtype=np.uint64, **facts):
    return EdgeList(np.array(src, dtype), np.array(dst, dtype), **facts)


def numbered(lists, *, keep_ids=False, reuse=False):
    vertices, numbering = find_vertices(lists, keep_ids=keep_ids, threads=2)
    lines = number_lines(lists, vertices, numbering, 2, reuse=reuse)
    return vertices, lines


ID_SETS = {
    "dense with gaps": (np.uint32, lambda rng: rng.integers(10, 5000, 3000)),
    "word boundaries": (np.uint32, lambda rng: rng.choice([0, 63, 64, 127, 128, 4095, 4096], 100)),
    "close to 2^32": (np.uint32, lambda rng: 2**32 - 1 - rng.integers(0, 9, 100) * 7),
    "sparse": (np.uint64, lambda rng: rng.integers(0, 2**63 - 1, 3000)),
    "sparse with repeats": (np.uint64, lambda rng: rng.choice(rng.integers(0, 2**63 - 1, 50), 3000)),
    "multiples of 2^40": (np.uint64, lambda rng: rng.integers(0, 2**22, 3000) << 40),
    "around 2^32": (np.uint64, lambda rng: 2**32 + rng.integers(-5, 5, 100) * 3),
    "the largest": (np.uint64, lambda rng: rng.choice([0, 2**63 - 1, 2**63 - 2], 100)),
}


@pytest.mark.parametrize("kind", ID_SETS)
@pytest.mark.parametrize("reuse", [False, True])
def test_numbers_are_ranks(kind, reuse):
    dtype, make = ID_SETS[kind]
    ids = make(np.random.default_rng(3)).astype(dtype).reshape(2, -1)
    vertices, lines = numbered([edge_list(ids[0], ids[1], dtype)], reuse=reuse)
    distinct, ranks = np.unique(ids, return_inverse=True)
    assert vertices.n == len(distinct)
    assert vertices.labels.dtype == np.int64
    assert np.array_equal(vertices.labels, distinct)
    assert np.array_equal(lines.src, ranks.reshape(2, -1)[0]) and np.array_equal(lines.dst, ranks.reshape(2, -1)[1])
    assert lines.src.dtype == np.uint32


@pytest.mark.parametrize(
    ("table", "own_maps"), [(Bitmap, 1 << 26), (Bitmap, 0), (HashTable, 0)], ids=["own maps", "one map", "hash"]
)
def test_all_tables_agree(table, own_maps, monkeypatch):
    monkeypatch.setattr(relabel, "OWN_MAPS_BYTES", own_maps)
    rng = np.random.default_rng(4)
    ids = rng.integers(1000, 60_000, 20_000).astype(np.uint64)
    declared = [(1001, 1003), (30_000, 30_130), (60_000, 60_001)]
    low, end = 1000, 60_001
    numbering = table([ids], declared, low, end - low, 3)
    expected = np.unique(np.concatenate([ids, *[np.arange(*span, dtype=np.uint64) for span in declared]]))
    assert numbering.n == len(expected) and np.array_equal(numbering.labels(), expected)
    out = np.empty(len(ids), np.uint32)
    numbering.ranks(ids, out)
    assert np.array_equal(out, np.searchsorted(expected, ids))


def test_hash_table_grows_until_every_id_finds_a_slot():
    ids = np.arange(100_000, dtype=np.uint64) * np.uint64(10**13)
    numbering = HashTable([ids], [], 0, 10**18, 2)
    assert numbering.n == len(ids) and len(numbering._table) >= len(ids)


@pytest.mark.parametrize(
    ("first", "end"), [(0, 1), (0, 8), (1, 8), (7, 9), (3, 5), (8, 16), (5, 64), (63, 65), (0, 130)]
)
def test_bit_ranges(first, end):
    words = np.zeros(3, np.uint64)
    set_bits(words, first, end)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    assert np.flatnonzero(bits).tolist() == list(range(first, end))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("first", [0, 1, 77])
def test_consecutive_ids_need_no_labels(first, dtype):
    vertices, lines = numbered([edge_list([first, first + 1], [first + 1, first + 2], dtype)], reuse=True)
    assert (vertices.n, vertices.first_id, vertices.labels) == (3, first, None)
    assert lines.src.tolist() == [0, 1] and lines.src.dtype == np.uint32


def test_keep_ids():
    vertices, lines = numbered([edge_list([3], [9])], keep_ids=True)
    assert (vertices.n, vertices.first_id, vertices.labels) == (10, 0, None)
    assert (lines.src.tolist(), lines.dst.tolist()) == ([3], [9])
    vertices, _ = numbered([edge_list([3], [4], first_id=1, declared_n=6)], keep_ids=True)
    assert vertices.n == 7  # ids 1 to 6 are declared, 0 is kept


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([edge_list([], [])], []),
        ([edge_list([2], [3], first_id=1, declared_n=5)], [1, 2, 3, 4, 5]),
        ([edge_list([], [], first_id=3, declared_n=0), edge_list([8], [9])], [8, 9]),
        # several inputs: the union of what is declared and what occurs
        ([edge_list([0], [1], declared_n=3), edge_list([2], [5], first_id=2, declared_n=4)], [0, 1, 2, 3, 4, 5]),
        ([edge_list([0], [1], declared_n=6), edge_list([2], [3], first_id=1, declared_n=3)], [0, 1, 2, 3, 4, 5]),
        ([edge_list([0], [1], declared_n=2), edge_list([], [], first_id=4, declared_n=2)], [0, 1, 4, 5]),
        ([edge_list([0], [1], declared_n=4), edge_list([2], [3])], [0, 1, 2, 3]),
        ([edge_list([0], [1], declared_n=3), edge_list([9], [10**12])], [0, 1, 2, 9, 10**12]),
        ([edge_list([0], [1], np.uint32), edge_list([5], [2**40])], [0, 1, 5, 2**40]),
        ([edge_list([10**15], [0]), edge_list([7], [7], np.uint32)], [0, 7, 10**15]),
    ],
)
def test_vertices_of_several_inputs(lists, expected):
    src = [int(u) for edges in lists for u in edges.src]
    vertices, lines = numbered(lists)
    ids = range(vertices.first_id, vertices.first_id + vertices.n) if vertices.labels is None else vertices.labels
    assert list(ids) == expected
    assert [int(ids[u]) for u in lines.src] == src
    assert lists == []


def test_arrays_of_a_read_only_input_are_not_written_to():
    edges = edge_list([5, 9], [9, 30], np.uint32)
    src = edges.src
    src.flags.writeable = False
    edges.dst.flags.writeable = False
    graph, _ = build([edges], ConvertOptions())
    assert src.tolist() == [5, 9]
    assert graph.labels.tolist() == [5, 9, 30]
