"""Graph files made a slice of their rows at a time are, byte for byte, those made in memory."""

import errno
import json
import os
import subprocess
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from wide import split

from bigbfs import generate
from bigbfs.conversion.orders.degree import CLASSES, degree_order, degree_order_by
from bigbfs.errors import DoesNotFitError, FileAccessError
from bigbfs.formats.container import moved
from bigbfs.generate import output, slice_kernels, sliced, slices
from bigbfs.generate.output import write_graph
from bigbfs.graph import pages
from bigbfs.jit.workers import Workers
from bigbfs.report.progress import Progress

SMALL = {
    "kronecker": {"scale": 10, "edge_factor": 8},
    "rmat": {"vertices": 1_000, "edges": 7_000, "a": 0.45, "b": 0.22, "c": 0.22, "permute": False},
    "uniform": {"vertices": 1_000, "edges": 7_000},
    "powerlaw": {"vertices": 2_000, "degree": 9, "exponent": 2.2, "max_degree": 200},
    "star": {"vertices": 2_000},
    "dag": {"vertices": 1_000, "edges": 5_000, "span": 40},
    "smallworld": {"vertices": 1_000, "links": 4, "rewire": 0.1},
    "preferential": {"vertices": 1_000, "links": 5},
    "web": {"vertices": 1_000, "links": 6, "span": 20},
    "comb": {"vertices": 1_000, "tooth": 3, "permute": True},
    "tree": {"vertices": 1_000, "span": 5},
}
GIB = 2**30


@pytest.fixture
def into_slices(monkeypatch):
    """Have graph files made in slices of so many keys, with buckets and stretches of a few."""

    def narrow(keys, bucket=50, stretch=997):
        monkeypatch.setattr(output, "_fits", lambda *arguments: False)
        monkeypatch.setattr(sliced.Shape, "room", lambda shape, memory: (keys, keys, 1 << 16))
        monkeypatch.setattr(sliced._Making, "_require", lambda *arguments: None)
        monkeypatch.setattr(slices, "KEYS", bucket)
        monkeypatch.setattr(slices, "STRETCH", stretch)

    return narrow


class Told(Progress):
    """Keeps the names of the steps."""

    def __init__(self):
        super().__init__(False)
        self.steps = []

    def now(self, name, *arguments, **options):
        self.steps.append(name)


def reports_and_bytes(folder, kind, into_slices, keys, suffix=".csrbin", told=None, threads=2, **options):
    """Return what is said of the graph and its file, made in memory and in slices."""
    whole, parts = folder / f"whole{suffix}", folder / f"parts{suffix}"
    first = write_graph(kind, whole, threads=threads, **options)
    into_slices(keys)
    second = write_graph(kind, parts, threads=threads, **options, **({} if told is None else {"told": told}))
    said = [(r.vertices, r.edges, r.self_loops, r.duplicates, r.parameters) for r in (first, second)]
    return said, (whole.read_bytes(), parts.read_bytes())


CORE = [(kind, seed, order, ".csrbin") for kind in SMALL for seed, order in ((1, "degree"),)]
CORE += [("kronecker", 7, "original", ".ccsr"), ("dag", 7, "original", ".csrbin"), ("dag", 7, "degree", ".ccsr")]
ALL = [(k, s, o, e) for k in SMALL for s in (1, 7) for o in ("degree", "original") for e in (".csrbin", ".ccsr")]


def test_every_kind_whose_edges_are_drawn_is_tried_here():
    assert set(SMALL) == {name for name, kind in generate.KINDS.items() if kind.drawn}


@pytest.mark.parametrize(("kind", "seed", "order", "suffix"), split(ALL, lambda *case: case in CORE))
def test_the_file_is_the_one_made_in_memory(tmp_path, into_slices, kind, seed, order, suffix):
    told = Told()
    how = {"seed": seed, "order": order, "suffix": suffix, **SMALL[kind]}
    said, (whole, parts) = reports_and_bytes(tmp_path, kind, into_slices, 700, told=told, **how)
    assert said[0] == said[1] and whole == parts
    assert sum("draw the edges of slice" in step for step in told.steps) > 1
    assert sum("find repeated edges" in step for step in told.steps) > 1


@pytest.mark.covered
@pytest.mark.parametrize("keys", [1, 10**9])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", ["degree", "original"])
def test_a_slice_for_each_row_and_one_for_all(tmp_path, into_slices, keys, threads, order):
    how = {"order": order, "threads": threads, "vertices": 60, "edges": 900, "suffix": ".csrbin"}
    for kind in ("rmat", "dag"):
        said, (whole, parts) = reports_and_bytes(tmp_path, kind, into_slices, keys, **how)
        assert said[0] == said[1] and whole == parts


@pytest.mark.covered
@pytest.mark.parametrize("order", ["degree", "original"])
@pytest.mark.parametrize("kind", ["kronecker", "uniform", "dag"])
def test_wide_ids(tmp_path, into_slices, monkeypatch, kind, order):
    monkeypatch.setattr("bigbfs.graph.adjacency.WIDE_FROM", 100)
    said, (whole, parts) = reports_and_bytes(tmp_path, kind, into_slices, 2_000, order=order, scale=9)
    assert said[0] == said[1] and whole == parts
    assert len(whole) > 8 * said[0][1]


@pytest.mark.parametrize(
    "given", [{"vertices": 1, "edges": 0}, {"vertices": 1, "edges": 5}, {"vertices": 7, "edges": 0}]
)
@pytest.mark.parametrize("kind", ["uniform", "dag"])
@pytest.mark.parametrize("order", ["degree", "original"])
def test_hardly_a_graph(tmp_path, into_slices, kind, order, given):
    if kind == "dag" and given["edges"]:
        pytest.skip("refused: one vertex can have no edge without a cycle")
    said, (whole, parts) = reports_and_bytes(tmp_path, kind, into_slices, 3, order=order, **given)
    assert said[0] == said[1] and whole == parts


def test_rows_of_all_lengths_with_many_repeated_edges(tmp_path, into_slices):
    how = {"scale": 7, "edge_factor": 400, "order": "degree"}
    said, (whole, parts) = reports_and_bytes(tmp_path, "kronecker", into_slices, 9_000, **how)
    assert said[0] == said[1] and whole == parts and said[0][3] > 20_000


# --- which way is taken -----------------------------------------------------------------------------------------


def test_what_fits_is_made_in_memory_and_what_does_not_in_slices(tmp_path, monkeypatch):
    ways = []
    monkeypatch.setattr(sliced, "write_sliced", lambda *arguments, **options: ways.append("slices") or 1 / 0)
    write_graph("kronecker", tmp_path / "g.csrbin", scale=8)
    write_graph("kronecker", tmp_path / "g.txt", scale=8, memory=GIB // 8)
    write_graph("kronecker", tmp_path / "g.csrbin", scale=16, order="degree", memory=GIB)
    assert ways == []
    with pytest.raises(ZeroDivisionError):
        write_graph("kronecker", tmp_path / "g.csrbin", scale=20, order="degree", memory=GIB // 2)
    monkeypatch.setattr(output, "SLICED_FROM", 2_000)
    with pytest.raises(ZeroDivisionError):
        write_graph("kronecker", tmp_path / "g.csrbin", scale=8, order="degree")
    write_graph("kronecker", tmp_path / "g.csrbin", scale=8)
    with pytest.raises(DoesNotFitError, match="may be used"):
        write_graph("grid2d", tmp_path / "g.csrbin", scale=20, memory=10**6)
    assert ways == ["slices"] * 2


def test_what_no_slices_fit_in_is_refused(tmp_path):
    with pytest.raises(DoesNotFitError, match=r"a slice at a time, takes about 1\d\d MiB of memory, and 50 MiB may"):
        write_graph("kronecker", tmp_path / "g.csrbin", scale=20, memory=50 << 20)
    with pytest.raises(DoesNotFitError, match="a slice at a time"):
        write_graph("kronecker", tmp_path / "g.csrbin", scale=40)
    with pytest.raises(DoesNotFitError, match=r"takes about \d+ MiB") as caught:
        write_graph("kronecker", tmp_path / "g.csrbin", scale=10, order="degree", memory=20 << 20)
    assert "a slice at a time" not in str(caught.value)  # in memory it takes less, and that is what is said
    assert list(tmp_path.iterdir()) == []


def test_a_row_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_fits", lambda *arguments: False)
    monkeypatch.setattr(sliced.Shape, "room", lambda shape, memory: (1_000, 1_000, 1 << 16))
    with pytest.raises(DoesNotFitError, match="the longest rows of this graph"):
        write_graph("star", tmp_path / "g.csrbin", scale=12)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_refused_before_a_byte_is_written(tmp_path, into_slices, monkeypatch):
    into_slices(10**6)
    status = os.statvfs(tmp_path)

    class Full:
        f_blocks, f_flag, f_frsize, f_bavail = status.f_blocks, status.f_flag, 4096, 10

    monkeypatch.setattr(os, "statvfs", lambda path: Full)
    with pytest.raises(DoesNotFitError, match="40 KiB are free there"):
        write_graph("kronecker", tmp_path / "g.csrbin", scale=12)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "no space")])
def test_what_ends_between_slices_leaves_nothing(tmp_path, into_slices, monkeypatch, error):
    into_slices(4_000)
    load, calls = slices.Sorter.load, []

    def ends(self, part):
        calls.append(part)
        if any(path.stat().st_size > 0 for path in tmp_path.iterdir()):
            raise error
        load(self, part)

    monkeypatch.setattr(slices.Sorter, "load", ends)
    with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else FileAccessError):
        write_graph("kronecker", tmp_path / "g.csrbin", order="degree", **SMALL["kronecker"])
    assert len(calls) > 2 and list(tmp_path.iterdir()) == []


def test_the_process_keeps_to_its_memory(tmp_path):
    """A graph that takes 420 MiB is made within 260, and is the same; but for the memory of the compiler."""

    def peak(name, memory):
        size = ("kronecker", "--scale", "19", "--order", "degree", "--json", "--threads", "2", "--force")
        line = [sys.executable, "-m", "bigbfs", "generate", *size, "--memory", memory, "-o", str(tmp_path / name)]
        # a shell between, or the peak of this process would count as that of the other
        done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *line], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["peak_rss_bytes"]

    assert peak("whole.csrbin", "4GiB") > 260 << 20
    assert any(peak("parts.csrbin", "260MiB") <= 260 << 20 for _ in range(3))  # the first one may have to compile
    assert (tmp_path / "whole.csrbin").read_bytes() == (tmp_path / "parts.csrbin").read_bytes()


def test_a_row_of_many_edges_is_counted_to_the_memory(tmp_path, monkeypatch):
    """What grows with the graph keeps to what is said, the hub's row, which is sorted and written whole, too."""
    monkeypatch.setattr(output, "_fits", lambda *arguments: False)
    monkeypatch.setattr(pages, "empty", np.empty)  # where tracemalloc sees it
    for module in (sliced, moved):
        monkeypatch.setattr(module, "STRETCH", 1 << 16)
        monkeypatch.setattr(module, "BUFFER", 1 << 16)
    monkeypatch.setattr(slices, "KEYS", 1 << 12)
    monkeypatch.setattr(sliced, "_LEAST_KEYS", 1 << 12)

    def need_and_peak(n):
        shape = sliced.Shape(n, False, False, 1)
        drawn = {"vertices": n, "edges": 5 * n}
        tracemalloc.start()
        try:
            write_graph("star", tmp_path / "g.csrbin", threads=1, memory=shape.need(), force=True, **drawn)
            return shape.need(), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    need_and_peak(1_000)  # what is there once
    (small, low), (large, high) = need_and_peak(50_000), need_and_peak(200_000)
    assert 0.5 * (large - small) < high - low <= large - small


# --- slices, units, order ---------------------------------------------------------------------------------------


@slice_kernels.njit
def _units_of(rows, units, out):
    for i in range(len(rows)):
        out[i] = slice_kernels.unit_of(rows[i], units)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 65, 4096, 4097, 70_000, 200_001])
def test_units_are_runs_of_rows(n):
    for units in (
        slices.linear_units(n),
        slices.growing_units(),
        slice_kernels.Units(np.uint64(0), np.uint64(3)),
        slice_kernels.Units(np.uint64(2), np.uint64(2)),
    ):
        rows = slices.unit_rows(n, units)
        found = np.zeros(n, np.int64)
        _units_of(np.arange(n, dtype=np.uint64), units, found)
        assert rows[0] == 0 and rows[-1] == n and (np.diff(rows) >= 0).all()
        assert np.array_equal(found, np.searchsorted(rows, np.arange(n), side="right") - 1)


@pytest.mark.parametrize("room", [1, 10, 1_000, 10**9])
def test_slices_are_few_and_even(room, monkeypatch):
    monkeypatch.setattr(slices, "KEYS", 5)
    keys = np.random.default_rng(1).integers(0, 20, 500)
    keys[100:120], keys[250] = 0, 3_000
    rows = np.arange(501) * 3
    parts = slices.cut(keys, rows, room)
    assert [part.rows[0] for part in parts] == [0, *(part.rows[-1] for part in parts[:-1])]
    assert parts[-1].rows[-1] == 1_500
    for part in parts:
        assert part.counts.tolist() == [keys[a:b].sum() for a, b in pairwise(part.units)]
        assert part.counts.sum() <= room or (np.diff(part.units).sum() == 1 and len(part.counts) == 1)
    assert room < 10**9 or len(parts) == 1


def test_the_order_by_counting_is_the_order_by_sorting():
    random = np.random.default_rng(3)
    for degree in (
        np.zeros(0, np.int64),
        np.zeros(9, np.int64),
        random.integers(0, 50, 10_000),
        random.integers(CLASSES - 3, CLASSES + 3, 5_000),
        (random.pareto(0.5, 20_000) * 10).clip(0, 2**40).astype(np.int64),
    ):
        offsets = np.zeros(len(degree) + 1, np.int64)
        np.cumsum(degree, out=offsets[1:])
        for threads in (1, 3):
            with Workers(threads) as workers:
                found = degree_order_by(workers, threads, degree)
            assert all(np.array_equal(a, b) for a, b in zip(found, degree_order(offsets), strict=True))
