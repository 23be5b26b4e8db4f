"""Rows that are placed while they are written: the same as those in memory, in order, with any number of threads."""

import threading
import zlib
from itertools import pairwise

import numpy as np
import pytest

from bigbfs.conversion.sorting.lines import Lines, rows_from_lines
from bigbfs.formats.container.csrbin import save_graph
from bigbfs.formats.writeback import start_writeback
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.coming import coming_rows
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.graph.transposing import transpose

ITEMS = 1024
N = 40_000


def loose(threads):
    src, dst = np.random.default_rng(5).integers(0, N, (2, 200_000)).astype(np.uint32)
    src[:50_000] = 7  # a row that is longer than a piece
    return rows_from_lines(Lines(src, dst, N), threads, undirected=True, copies=1, keep_loops=False)[::2]


@pytest.mark.parametrize("threads", [1, 4])
def test_pieces_come_in_order_and_are_the_transpose(threads):
    indptr, indices = transpose(loose(threads)[0], threads, head=True)
    rows = coming_rows(*_with_threads(threads))
    pieces, busy = [], threading.Lock()

    def take(ids, checksum):
        assert busy.acquire(blocking=False), "two at once"
        assert checksum == zlib.crc32(ids.data)
        pieces.append(ids.copy())
        busy.release()

    rows.come(ITEMS, lambda ids: zlib.crc32(ids.data), take)
    assert [len(each) for each in pieces[:-1]] == [ITEMS] * (len(indices) // ITEMS) and len(pieces[-1]) <= ITEMS
    assert np.array_equal(np.concatenate(pieces), indices)
    assert np.array_equal(rows.indptr, indptr.view(np.uint64))


def _with_threads(threads):
    rows, spare = loose(threads)
    return rows, threads, spare


def test_the_file_is_that_of_rows_in_memory(tmp_path):
    indptr, indices = transpose(loose(2)[0], 2, head=True)
    flags = GraphFlags(directed=False, symmetric=True)
    for name, rows in (
        ("memory", PlainAdjacency(indptr.view(np.uint64), indices)),
        ("coming", coming_rows(*_with_threads(2))),
    ):
        save_graph(Graph(rows, flags), tmp_path / name, {"made": "here"})
    assert (tmp_path / "memory").read_bytes() == (tmp_path / "coming").read_bytes()


def test_what_rows_were_made_of_is_let_go_on_the_way(monkeypatch):
    given = []
    monkeypatch.setattr("bigbfs.graph.pages.let_go", lambda array, first, last: given.append((array, first, last)))
    found, threads, spare = _with_threads(4)
    rows = coming_rows(found, threads, spare)
    rows.come(ITEMS, len, lambda ids, seen: None)
    edges = int(np.sum(found.ends - found.begins[:-1]))
    for memory, length in ((found.indices, found.begins[-1]), (spare, edges), (rows.indices, rows.m)):
        runs = sorted((a, b) for array, a, b in given if np.shares_memory(array, memory))
        assert runs[0][0] == 0 and all(before[1] == after[0] for before, after in pairwise(runs))
        assert runs[-1][1] == length


@pytest.mark.parametrize("fails", ["look", "take"])
def test_what_cannot_be_taken_ends_it(fails):
    rows = coming_rows(*_with_threads(4))

    def fail(*_):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        rows.come(ITEMS, fail if fails == "look" else len, fail if fails == "take" else lambda ids, seen: None)


def test_writing_back_asks_for_nothing_and_breaks_nothing(tmp_path):
    with (tmp_path / "f").open("w+b") as file:
        data = bytes(range(256)) * (2 << 12)
        file.write(data)
        file.flush()
        start_writeback(file.fileno(), 0, len(data))
        file.seek(0)
        assert file.read() == data
    start_writeback(-1, 0, 2 << 20)
