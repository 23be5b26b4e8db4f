"""What a result of each vertex takes on a disk, before it is there."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.cli import manyopts, outputs
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.graph import Graph
from bigbfs.graph.name_pages import names_of, stretch_of
from bigbfs.graph.original_ids import VertexIds
from bigbfs.measures import rows_room
from bigbfs.measures.rows_room import Rows

HEADER = 192
"""Bytes of the longest, that of an array."""


def graph_of(n, labels):
    return Graph.from_csr(np.zeros(n + 1, np.int64), np.zeros(0, np.int64), labels=labels)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("first", [None, 7, 10**12])
@pytest.mark.parametrize("n", [1, 9, 10, 11, 1_234])
def test_no_file_is_shorter_or_longer_than_was_said(tmp_path, n, first, suffix, dtype):
    graph = graph_of(n, None if first is None else [first + 3 * v for v in range(n)])
    least, most = rows_room._bytes(graph, Rows(Path(suffix[1:] + suffix), "output", dtype))
    long = np.nextafter(1e-4, 1) if dtype is np.float64 else -1
    for value in (0, long, n - 1):
        (wrote,) = manyopts.write_values(
            tmp_path / f"v{suffix}", "eccentricity", np.full(n, value, dtype), graph.original_ids(), graph
        )
        assert least <= wrote.bytes and (most is None or wrote.bytes <= most + HEADER)
    if suffix == ".csv" and first is None:
        assert most <= 5 * least  # close enough to be of use


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("first", [0, 7, 10**12])
@pytest.mark.parametrize("n", [1, 9, 10, 11, 1_234])
def test_nor_is_one_of_ids(tmp_path, n, first, suffix, named):
    ids = first + np.arange(n)
    names = names_of([stretch_of(sorted(map(str, ids)))]) if named else None
    vertices = VertexIds(n, first, ids, names)
    graph = SimpleNamespace(n=n, first_id=first, labels=ids, names=names)
    path = tmp_path / f"v{suffix}"
    for value in (-1, 0 if named else first):
        least, most = rows_room._bytes(graph, Rows(path, "parents", np.int64, speaks=True))
        wrote = outputs.write_result(path, "parents", np.full(n, value), "parent", vertices, speaks=True)
        assert least <= wrote.bytes and (most is None or wrote.bytes <= most + HEADER)
    least, most = rows_room._bytes(graph, Rows(path, "output", np.int64, alone=True))
    wrote = outputs.write_order(path, "output", np.arange(n) if named else ids[::-1], vertices)
    assert least <= wrote.bytes and (most is None or wrote.bytes <= most + HEADER)


def test_what_may_be_too_long_is_said_and_what_is_refused(tmp_path, monkeypatch):
    graph = graph_of(1_000, None)
    rows = Rows(tmp_path / "v.csv", "output", np.float64)
    least, most = rows_room._bytes(graph, rows)
    free = SimpleNamespace(free=most)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    assert rows_room.require_room_for_rows(graph, [rows]) == []
    for free.free in (most - 1, least):
        (said,) = rows_room.require_room_for_rows(graph, [rows])
        assert said.endswith("which may be too few")
    free.free = least - 1
    with pytest.raises(DoesNotFitError, match=r"^1,000 rows take at least .* are free in the disk of .*v\.csv; free"):
        rows_room.require_room_for_rows(graph, [rows])
    free.free = 7_999
    with pytest.raises(DoesNotFitError, match=r"^1,000 values take 7\.82 KiB"):
        rows_room.require_room_for_rows(graph, [rows._replace(path=tmp_path / "v.npy")])
