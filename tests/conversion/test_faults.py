"""Faults: after each the old file is whole or there is none, and a second run succeeds and tidies up.

Every system call that writes fails once (in this process, for each call in turn, without a file system that is really
full); a small tmpfs is really full; strace lets fsync and read fail where it is installed; reads are short; inputs
change under the reader. Killed processes: test_kills.py.
"""

from __future__ import annotations

import errno
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse
import zoo
from folders import names, require_whole

import bigbfs
from bigbfs.errors import BigBfsError, FileAccessError, InputError
from bigbfs.formats import atomic
from bigbfs.formats.container import layout, sections
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.graph import Graph

TEXT = "".join(f"{i} {i * 7919 % 20011}\n" for i in range(20_000))


class Disk:
    """Stands for the os module where graph files are written: the ``fail_at``-th call that writes fails."""

    def __init__(self, fail_at, error):
        self.fail_at, self.error, self.calls = fail_at, error, 0

    def step(self):
        self.calls += 1
        if self.calls == self.fail_at:
            raise OSError(self.error, os.strerror(self.error))

    def __getattr__(self, name):
        return getattr(os, name)

    def fdopen(self, handle, mode):
        return io.BufferedWriter(Raw(handle, self))

    def fsync(self, handle):
        self.step()
        os.fsync(handle)

    def fchmod(self, handle, mode):
        self.step()
        os.fchmod(handle, mode)

    def pwrite(self, handle, data, place):
        self.step()
        return os.pwrite(handle, memoryview(data)[: max(4096, len(data) // 2)], place)

    def ftruncate(self, handle, size):
        self.step()
        os.ftruncate(handle, size)


class Raw(io.FileIO):
    """A file that takes half of a large piece at a time, as a disk that fills up does, and fails when told."""

    def __init__(self, handle, disk):
        super().__init__(handle, "wb")
        self._disk = disk

    def write(self, data):
        self._disk.step()
        view = memoryview(data)
        return super().write(view[: max(4096, len(view) // 2)])

    def truncate(self, size=None):
        self._disk.step()
        return super().truncate(size)


WRITERS = {
    "plain": lambda graph, path: graph.save(path),
    "compressed": lambda graph, path: graph.compress().save(path),
    "directed": lambda graph, path: graph.save(path),
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("old", [False, True])
def test_every_call_that_writes_a_graph_fails_once(tmp_path, monkeypatch, kind, old):
    graph = zoo.shared()["directed-multi" if kind == "directed" else "two-hubs"]
    path = tmp_path / "g.csrbin"
    fail_at = 0
    while True:
        fail_at += 1
        if old:
            path.write_bytes(b"old")
        disk = Disk(fail_at, [errno.ENOSPC, errno.EIO, errno.EDQUOT][fail_at % 3])
        monkeypatch.setattr(atomic, "os", disk)
        monkeypatch.setattr(sections, "os", disk)
        try:
            WRITERS[kind](graph, path)
        except FileAccessError as error:
            assert "g.csrbin: cannot write: " in str(error)
            assert names(tmp_path) == (["g.csrbin"] if old else [])
            assert not old or path.read_bytes() == b"old"
            continue
        break
    assert fail_at > 6  # as many calls did fail
    assert names(tmp_path) == ["g.csrbin"]
    require_whole(path)


def test_a_short_write_is_no_lost_byte(tmp_path, monkeypatch):
    graph = zoo.shared()["two-hubs"]
    graph.save(tmp_path / "whole.csrbin")
    monkeypatch.setattr(atomic, "os", Disk(0, 0))
    monkeypatch.setattr(sections, "os", Disk(0, 0))
    graph.save(tmp_path / "pieces.csrbin")
    assert (tmp_path / "pieces.csrbin").read_bytes() == (tmp_path / "whole.csrbin").read_bytes()


@contextmanager
def small_disk(path, size):
    """A tmpfs of ``size`` bytes at ``path``; skips where this process may not mount."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a tmpfs needs root and the right to mount")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def test_a_disk_that_is_full_sooner_and_later(tmp_path):
    text = tmp_path / "graph.txt"
    text.write_text(TEXT)
    size = 4 << 20
    with small_disk(tmp_path / "small", size) as disk:
        output = disk / "graph.csrbin"
        bigbfs.convert(text, output, compressed=True)
        before = {path.name: path.read_bytes() for path in disk.iterdir()}
        need = sum(map(len, before.values()))
        failures = 0
        for left in (0, 4096, need // 8, need // 3, need // 2, need * 3 // 4, need):
            (disk / "filler").write_bytes(bytes(size - need - left))
            try:
                bigbfs.convert(text, output, compressed=True, force=True, order="degree")
            except FileAccessError as error:
                failures += 1
                assert "No space left" in str(error)
            assert names(disk) == ["filler", "graph.ccsr", "graph.csrbin"]
            for name in before:
                require_whole(disk / name)
            (disk / "filler").unlink()
            bigbfs.convert(text, output, compressed=True)
            for name in before:
                with Graph.open(disk / name) as graph:
                    assert not graph.flags.relabelled
        assert failures >= 4


def test_a_full_folder_for_temporary_files(tmp_path, monkeypatch):
    matrix = scipy.sparse.random_array((3000, 3000), density=0.01, format="csr", rng=np.random.default_rng(1))
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    packed = tmp_path / "m.npz.zst"
    import zstandard

    packed.write_bytes(zstandard.compress((tmp_path / "m.npz").read_bytes()))
    with small_disk(tmp_path / "small", 1 << 16) as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        with pytest.raises(FileAccessError, match=r"No space left.*|cannot unpack"):
            bigbfs.convert(packed, tmp_path / "m.csrbin")
        assert names(disk) == [] and not (tmp_path / "m.csrbin").exists()
    monkeypatch.setattr(tempfile, "tempdir", None)
    bigbfs.convert(packed, tmp_path / "m.csrbin")


def strace(tmp_path, *inject, only=()):
    """Run convert under strace with faults injected; skips where strace is not there or not allowed."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    log = tmp_path / "strace.log"
    rules = [part for rule in inject for part in ("-e", rule)]
    paths = [part for path in only for part in ("-P", str(path))]
    command = ["strace", "-f", "-o", log, *paths, *rules, sys.executable, "-m", "bigbfs", "convert", "graph.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "ptrace" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("strace may not trace here")
    log.unlink()
    return done


def test_a_disk_that_cannot_sync(tmp_path):
    (tmp_path / "graph.txt").write_text(TEXT)
    (tmp_path / "graph.csrbin").write_bytes(layout.MAGIC + b"old")
    done = strace(tmp_path, "trace=fsync", "inject=fsync:error=EIO:when=1")
    assert done.returncode == 1, done.stderr
    assert "graph.csrbin: cannot write: Input/output error" in done.stderr and done.stderr.count("\n") == 1
    assert (
        names(tmp_path) == ["graph.csrbin", "graph.txt"]
        and (tmp_path / "graph.csrbin").read_bytes() == layout.MAGIC + b"old"
    )
    bigbfs.convert(tmp_path / "graph.txt", tmp_path / "graph.csrbin")
    require_whole(tmp_path / "graph.csrbin")


def test_a_disk_that_cannot_read(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text(TEXT)
    done = strace(tmp_path, "trace=read", "inject=read:error=EIO:when=4+", only=[path])
    assert done.returncode == 1, done.stderr
    assert "graph.txt: cannot read: Input/output error" in done.stderr and done.stderr.count("\n") == 1
    assert names(tmp_path) == ["graph.txt"]


class Dribble:
    """A file that gives a few bytes at a time, as pipes and network file systems may."""

    def __init__(self, file, seed):
        self._file, self._chance = file, random.Random(seed)

    def readinto(self, target):
        return self._file.readinto(memoryview(target)[: self._chance.randint(1, 3000)])

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".txt.zst", ".npy", ".csrbin"])
def test_short_reads(tmp_path, monkeypatch, suffix):
    (tmp_path / "g.txt").write_text(TEXT)
    pairs = np.loadtxt((tmp_path / "g.txt"), dtype=np.int64)
    wanted = bigbfs.open(bigbfs.convert(tmp_path / "g.txt", tmp_path / "wanted.csrbin").output)
    path = tmp_path / f"h{suffix}"
    if suffix == ".npy":
        np.save(path, pairs)
    elif suffix == ".csrbin":
        wanted.save(path)
    else:
        import gzip

        import zstandard

        pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(TEXT.encode()))
    opened = Source._open
    monkeypatch.setattr(Source, "_open", lambda self, path: Dribble(opened(self, path), 3))
    with bigbfs.open(bigbfs.convert(path, tmp_path / "found.csrbin").output) as graph:
        assert np.array_equal(graph.adjacency.indptr, wanted.adjacency.indptr)
        assert np.array_equal(graph.adjacency.indices, wanted.adjacency.indices)
    wanted.close()


@pytest.mark.parametrize("change", ["longer", "shorter", "same size", "replaced", "gone"])
def test_an_input_that_changes_while_it_is_read(tmp_path, monkeypatch, change):
    path, output = tmp_path / "graph.txt", tmp_path / "graph.csrbin"
    path.write_text(TEXT)
    bigbfs.convert(path, output)
    before = output.read_bytes()
    stir = {
        "longer": lambda: path.write_text(TEXT + "1 2\n"),
        "shorter": lambda: os.truncate(path, 1000),
        "same size": lambda: path.write_text(TEXT.replace("7919", "7918")),
        "replaced": lambda: (path.unlink(), path.write_text("1 2\n")),
        "gone": path.unlink,
    }[change]
    taken = []
    close = Source.close

    def closing(self):
        close(self)
        if self.path == path and self.consumed == len(TEXT) and not taken:
            taken.append(stir())

    monkeypatch.setattr(Source, "close", closing)
    with pytest.raises((InputError, FileAccessError), match=r"graph\.txt: "):
        bigbfs.convert(path, output, force=True)
    monkeypatch.undo()
    assert taken and output.read_bytes() == before
    assert names(tmp_path) == [
        name for name in ("graph.csrbin", "graph.txt") if change != "gone" or name != "graph.txt"
    ]


def test_a_graph_file_that_loses_its_end_is_refused(tmp_path):
    graph = zoo.shared()["two-hubs"]
    path = tmp_path / "g.csrbin"
    graph.save(path)
    size = path.stat().st_size
    for length in (0, 1, 100, 4096, size // 2, size - 1):
        os.truncate(path, size)
        graph.save(path)
        os.truncate(path, length)
        with pytest.raises(BigBfsError, match=r"g\.csrbin"):
            Graph.open(path)
