"""Several inputs at once: their order, their errors, an interrupt, and pipes one after the other."""

from __future__ import annotations

import gzip
import os
import threading

import numpy as np
import pytest

from bigbfs.conversion import inputs
from bigbfs.conversion.inputs import read_all
from bigbfs.errors import FileAccessError, InputError


def write(folder, count):
    """Files 0.txt to (count - 1).txt.gz; number i holds the edges (i, 0) to (i, i)."""
    paths = []
    for number in range(count):
        text = b"".join(b"%d %d\n" % (number, other) for other in range(number + 1))
        path = folder / (f"{number}.txt" if number % 2 else f"{number}.txt.gz")
        path.write_bytes(text if number % 2 else gzip.compress(text))
        paths.append(path)
    return paths


@pytest.mark.parametrize("threads", [1, 3])
def test_edges_come_in_the_order_of_the_inputs(tmp_path, threads):
    paths = write(tmp_path, 9)
    seen = []
    lists = read_all(paths, seen.append, threads)
    assert [edges.src.tolist() for edges in lists] == [[number] * (number + 1) for number in range(9)]
    assert sum(seen) == sum(path.stat().st_size for path in paths)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_error_is_that_of_the_first_bad_input(tmp_path, threads):
    paths = write(tmp_path, 6)
    paths[2].write_text("bad\n")
    paths[4].write_text("worse\n")
    for _ in range(5):
        with pytest.raises(InputError, match=r"2\.txt\.gz: line 1"):
            read_all(paths, lambda count: None, threads)
    with pytest.raises(FileAccessError, match="missing"):
        read_all([tmp_path / "missing", *paths], lambda count: None, threads)


def test_two_files_are_read_at_once(tmp_path, monkeypatch):
    both = threading.Barrier(2, timeout=30)
    read_edges = inputs.read_edges

    def meeting(path, **rules):
        both.wait()
        return read_edges(path, **rules)

    monkeypatch.setattr(inputs, "read_edges", meeting)
    assert len(read_all(write(tmp_path, 2), lambda count: None, 2)) == 2


def test_an_interrupt_stops_all(tmp_path):
    paths = write(tmp_path, 8)

    def interrupted(count):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_all(paths, interrupted, 3)


def test_pipes_are_read_one_after_the_other(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"1 2\n",))
    writer.start()
    threads = []
    read_edges = inputs.read_edges

    def noting(path, **rules):
        threads.append(threading.get_ident())
        return read_edges(path, **rules)

    monkeypatch.setattr(inputs, "read_edges", noting)
    (tmp_path / "plain").write_text("3 4\n")
    lists = read_all([tmp_path / "pipe", tmp_path / "plain"], lambda count: None, 4)
    writer.join()
    assert set(threads) == {threading.get_ident()}
    assert np.concatenate([edges.src for edges in lists]).tolist() == [1, 3]
