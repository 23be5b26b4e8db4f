"""Uncompressed .npy files, read in pieces by threads: any cut, short reads, wide ids half way, files that shrink."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from bigbfs.conversion.sampling import sample_ids
from bigbfs.errors import DoesNotFitError, FileAccessError, InputError
from bigbfs.formats.readers import pair_file
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.read import estimate, read_edges

LAYOUTS = {
    "rows": lambda array: array,
    "columns": lambda array: np.ascontiguousarray(array.T),
    "fortran": np.asfortranarray,
    "fortran columns": lambda array: np.asfortranarray(array.T),
}


@pytest.fixture
def small(monkeypatch):
    """Pieces of a few edges, blocks of a few pieces."""
    monkeypatch.setattr(pair_file, "PIECE_BYTES", 48)
    monkeypatch.setattr(pair_file, "BLOCK_BYTES", 1000)


def saved(path, array):
    np.save(path, array)
    return path


def same(edges, array):
    return np.array_equal(edges.src, array[:, 0]) and np.array_equal(edges.dst, array[:, 1])


@pytest.mark.covered("dtype+layout")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["i1", ">i2", "u4", "i4", ">u4", "i8", ">u8"])
@pytest.mark.parametrize("count", [1, 3, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_and_blocks_add_up(tmp_path, small, layout, dtype, count, threads):
    array = np.random.default_rng(count).integers(0, 100, (count, 2)).astype(dtype)
    rules = Rules(edge_index=layout.endswith("columns"), columns=None if layout.endswith("columns") else (1, 2))
    edges = read_edges(saved(tmp_path / "e.npy", LAYOUTS[layout](array)), rules=rules, threads=threads)
    assert same(edges, array) and edges.src.dtype == edges.dst.dtype == np.uint32


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("place", [0, 500, 999])
def test_ids_that_widen_half_way(tmp_path, small, layout, place):
    array = np.random.default_rng(2).integers(0, 2**32, (1000, 2))
    array[place, 1] = 2**40
    edges = read_edges(saved(tmp_path / "e.npy", LAYOUTS[layout](array)))
    assert same(edges, array) and edges.src.dtype == edges.dst.dtype == np.uint64


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dtype", "wrong"), [("i4", -1), ("i8", -(2**63)), ("i1", -5), (">i2", -3), ("u8", 2**63)])
def test_the_first_bad_id_is_named(tmp_path, small, layout, dtype, wrong):
    array = np.ones((1000, 2), dtype)
    array[700, 1] = array[900, 0] = wrong
    with pytest.raises(InputError, match=rf"e\.npy: edge 700: vertex id {wrong} is outside 0 to 2\^63-1"):
        read_edges(saved(tmp_path / "e.npy", LAYOUTS[layout](array)))


def test_short_reads_go_on(tmp_path, small, monkeypatch):
    array = np.random.default_rng(3).integers(0, 100, (500, 2))
    path = saved(tmp_path / "e.npy", array)
    whole = os.preadv
    monkeypatch.setattr(os, "preadv", lambda handle, into, at: whole(handle, [into[0][:5]], at))
    assert same(read_edges(path), array)


def test_a_file_cut_short_while_it_is_read_is_an_error(tmp_path, small, monkeypatch):
    path = saved(tmp_path / "e.npy", np.ones((5000, 2), np.uint32))
    whole = os.preadv

    def cutting(handle, into, at):
        if at > 20_000:
            os.truncate(path, 10_000)
        return whole(handle, into, at)

    monkeypatch.setattr(os, "preadv", cutting)
    with pytest.raises(InputError, match=r"e\.npy: changed while it was read; convert it again"):
        read_edges(path)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    path = saved(tmp_path / "e.npy", np.ones((50, 2), np.uint32))

    def broken(*arguments):
        raise OSError(5, "")

    monkeypatch.setattr(os, "preadv", broken)
    with pytest.raises(FileAccessError, match=r"e\.npy: cannot read: Input/output error"):
        read_edges(path)


def test_progress_adds_up_and_memory_is_kept_to(tmp_path, small):
    path = saved(tmp_path / "e.npy", np.ones((5000, 2), np.uint32))
    seen = []
    assert read_edges(path, progress=seen.append).input_bytes == sum(seen) == path.stat().st_size
    assert len(seen) > 10
    with pytest.raises(DoesNotFitError, match="allow more with memory="):
        read_edges(path, memory=30_000)


def test_the_sample_comes_from_all_over_the_file(tmp_path):
    array = np.arange(400_000, dtype=np.int64).reshape(-1, 2)
    array[17, 0] = -1
    for layout, arrange in LAYOUTS.items():
        path = saved(tmp_path / f"{layout}.npy", arrange(array))
        ids = sample_ids([path])
        assert ids.dtype == np.uint64 and ids[0] == 0 and ids[-1] > 390_000 and len(ids) > 50_000
        assert 17 * 2 not in ids
        assert estimate(path).memory_bytes == 8 * 200_000
    wide = saved(tmp_path / "wide.npy", array + 2**33)
    assert estimate(wide).memory_bytes == 16 * 200_000


def test_a_header_of_many_repeated_entries_is_refused_at_once(tmp_path):
    """Each could be read in two ways, and forty of them in a trillion."""
    text = b"{" + b"'descr':[]" * 40 + b"x"
    path = tmp_path / "g.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    started = time.process_time()
    with pytest.raises(InputError, match="header"):
        read_edges(path)
    assert time.process_time() - started < 5
