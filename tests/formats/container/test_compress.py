"""Compressing straight to a file: the bytes of the two-pass encoder, in stretches of any length, and every refusal."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from leb128 import leb128
from limits import files_of
from wide import CORE, split

from bigbfs.errors import FileAccessError, FormatError, UsageError
from bigbfs.formats.container import compress, csrbin, layout
from bigbfs.formats.container.check import check
from bigbfs.formats.container.sections import SectionFile
from bigbfs.graph import encode_kernels
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph


def check_same_bytes(graph, folder, provenance=None):
    csrbin.save_graph(graph.compress(), folder / "two.ccsr", provenance)
    compress.save_compressed(graph, folder / "one.ccsr", provenance)
    assert (folder / "one.ccsr").read_bytes() == (folder / "two.ccsr").read_bytes()


@pytest.fixture(params=[compress.STRETCH, 4096, 100])
def stretch(request, monkeypatch):
    """Stretches as they are, of a few hub blocks, and of less than one."""
    monkeypatch.setattr(compress, "STRETCH", request.param)


@pytest.fixture
def huge_from(monkeypatch):
    """Sections of a few pages are aligned as those of 32 MiB are."""
    monkeypatch.setattr(layout, "HUGE_FROM", 1 << 14)


SHORTEST = 100
STRETCHED = split(
    [(name, stretch) for name in zoo.names() for stretch in (compress.STRETCH, 4096, SHORTEST)],
    lambda name, stretch: stretch == SHORTEST or name in CORE,
)


@pytest.mark.parametrize(("name", "stretch"), STRETCHED, indirect=["stretch"])
def test_the_zoo_becomes_the_same_bytes(name, tmp_path, stretch):
    graph = zoo.shared()[name].decompress()
    check_same_bytes(graph, tmp_path, {"sources": None} if graph.n % 2 else None)
    list(check(tmp_path / "one.ccsr"))


DRAWN = given(st.integers(0, 2**32 - 1), st.sampled_from([np.uint32, np.uint64]), st.booleans(), st.integers(1, 3000))


@pytest.mark.wide
@settings(max_examples=10)
@DRAWN
def test_random_graphs_become_the_same_bytes(tmp_path, seed, ids, directed, length):
    check_random(tmp_path, seed, ids, directed, length)


@pytest.mark.wide
@settings(max_examples=60)
@DRAWN
def test_many_random_graphs_become_the_same_bytes(tmp_path, seed, ids, directed, length):
    check_random(tmp_path, seed, ids, directed, length)


def check_random(tmp_path, seed, ids, directed, length):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    u, v = rng.integers(0, n, (2, int(rng.integers(0, 9000))))
    u[: len(u) // 2] = rng.integers(0, n)  # a hub of more than one block, with duplicates
    extra = {"labels": np.unique(rng.integers(0, 2**62, n))} if seed % 2 else {"first_id": 1}
    graph = zoo.build(n, (u, v), directed=directed, keep=True, ids=ids, **extra)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compress, "STRETCH", length)
        patch.setattr(layout, "HUGE_FROM", [1 << 25, 1 << 12][seed % 3 == 0])
        check_same_bytes(graph, tmp_path)


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
def test_deltas_of_every_length(ids, tmp_path):
    """Differences around every power of two, far beyond what a graph of this size has, through the kernel itself."""
    widest = 32 if ids is np.uint32 else 64
    row = np.unique([min((1 << bits) + near, 2**widest - 1) for bits in range(widest) for near in (-1, 0, 1)])
    row = np.unique(np.concatenate([row.astype(ids), np.array([0, 2**widest - 1], ids)]))
    for values in (*([value] for value in row), row):
        values = np.asarray(values, ids)
        buffer = np.zeros(10 * len(values) + encode_kernels.SLACK, np.uint8)
        ends, degree, starts = np.zeros(1, np.int64), np.zeros(1, ids), np.zeros(1, np.int64)
        edge_ptr = np.array([0, len(values)], np.int64)
        edge_ptr.flags.writeable = values.flags.writeable = False
        # ids of a graph are below n, so the largest there is has to do without that check
        size, blocks = encode_kernels.put_rows(
            edge_ptr, values, np.uint64(2**64 - 1), 0, 0, 1, len(values), buffer, ends, degree, starts
        )
        if int(values[-1]) == 2**64 - 1:
            assert size == -1
            continue
        expected = b"".join(leb128(int(b) - int(a)) for a, b in zip([0, *values[:-1].tolist()], values, strict=True))
        assert (size, blocks, degree[0], ends[0]) == (len(expected), 0, len(values), len(expected))
        assert buffer[:size].tobytes() == expected


@pytest.mark.parametrize(
    ("degree", "stretch"),
    split(
        [(degree, stretch) for degree in (1024, 1025, 2049) for stretch in (compress.STRETCH, 4096, SHORTEST)],
        lambda degree, stretch: (degree, stretch) in ((1024, 4096), (1025, SHORTEST), (2049, compress.STRETCH)),
    ),
    indirect=["stretch"],
)
def test_hubs_that_just_are_some(degree, tmp_path, stretch):
    """Rows of one id more than a block have two blocks each: the most that a stretch can have."""
    indptr = np.minimum(np.arange(2101, dtype=np.uint64), 300) * np.uint64(degree)
    indices = np.tile(np.arange(degree, dtype=np.uint32), 300)
    graph = Graph(PlainAdjacency(indptr, indices), GraphFlags(directed=True, symmetric=False))
    check_same_bytes(graph, tmp_path)


def test_sections_are_moved_where_the_guess_was_wrong(tmp_path, huge_from):
    """Fewer edges than the size from which a section is aligned to a huge page, and more bytes."""
    n = 1 << 21
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, n, (2, 5000))
    graph = zoo.build(n, (u, v))
    assert graph.m < layout.HUGE_FROM < len(graph.compress().adjacency.blob)
    check_same_bytes(graph, tmp_path)
    list(check(tmp_path / "one.ccsr"))


def test_a_compressed_graph_is_written_as_it_is(tmp_path):
    graph = zoo.shared()["two-hubs"].compress()
    compress.save_compressed(graph, tmp_path / "g.ccsr")
    graph.save(tmp_path / "h.ccsr")
    assert (tmp_path / "g.ccsr").read_bytes() == (tmp_path / "h.ccsr").read_bytes()


def test_compressed_in_neighbours_are_taken_as_they_are(tmp_path):
    graph = zoo.build(900, zoo.random(900, 4000, seed=2), directed=True)
    mixed = Graph(graph.adjacency, graph.flags, in_adjacency=graph.compress().in_adjacency)
    compress.save_compressed(mixed, tmp_path / "g.ccsr")
    graph.compress().save(tmp_path / "h.ccsr")
    assert (tmp_path / "g.ccsr").read_bytes() == (tmp_path / "h.ccsr").read_bytes()


def hub_graph(ids=np.uint32):
    """A row of three blocks between short ones."""
    rows = [[1, 2], list(range(2500)), [], [7], [0, 2499]] + [[]] * 2495
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.uint64)
    return PlainAdjacency(indptr, np.concatenate([np.array(row, ids) for row in rows]))


DAMAGE = {
    "no vertex": (2502, 2500, r"indices\[2502\] = 2500 is no vertex"),
    "no vertex in a block": (500, 2501, r"indices\[500\] = 2501 is no vertex"),
    "descends": (2504, 0, "row 4 does not ascend"),
    "descends in a block": (501, 3, "row 1 does not ascend"),
    "descends between blocks": (2 + 1024, 0, "row 1 does not ascend"),
    "descends between stretches": (2 + 2048, 5, "row 1 does not ascend"),
}


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_rows_are_refused_and_nothing_is_left(what, ids, tmp_path, stretch):
    place, value, message = DAMAGE[what]
    adjacency = hub_graph(ids)
    indices = adjacency.indices.copy()
    if what == "descends":
        indices[place - 1] = 9
    indices[place] = value
    graph = Graph(PlainAdjacency(adjacency.indptr, indices), GraphFlags(directed=True, symmetric=False))
    (tmp_path / "g.ccsr").write_bytes(b"old")
    with pytest.raises(FormatError, match=message):
        compress.save_compressed(graph, tmp_path / "g.ccsr")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
    sound = Graph(adjacency, graph.flags, in_adjacency=graph.adjacency)
    with pytest.raises(FormatError, match=rf"\(in-neighbours\): corrupted: {message}"):
        compress.save_compressed(sound, tmp_path / "g.ccsr")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_damaged_offsets_are_refused(tmp_path):
    adjacency = hub_graph()
    indptr = adjacency.indptr.copy()
    indptr[3] = 1
    with pytest.raises(FormatError, match="indptr descends at entry 3"):
        compress.save_compressed(Graph(PlainAdjacency(indptr, adjacency.indices)), tmp_path / "g.ccsr")
    assert not list(tmp_path.iterdir())


def test_rows_that_are_right_at_a_second_look_have_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(compress, "put_rows", lambda *arguments: (-1, 0))
    with pytest.raises(FormatError, match="changed while it was read"):
        compress.save_compressed(Graph(hub_graph()), tmp_path / "g.ccsr")
    assert not list(tmp_path.iterdir())


def test_flags_that_contradict_each_other_are_refused(tmp_path):
    graph = Graph(hub_graph(), GraphFlags(directed=False, symmetric=False))
    with pytest.raises(UsageError, match="must be symmetric"):
        compress.save_compressed(graph, tmp_path / "g.ccsr")


def test_what_confirm_raises_leaves_nothing(tmp_path):
    def confirm():
        raise KeyError("changed")

    with pytest.raises(KeyError):
        compress.save_compressed(zoo.shared()["two-hubs"].decompress(), tmp_path / "g.ccsr", confirm=confirm)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "stretch", split((compress.STRETCH, 4096, SHORTEST), lambda each: each > SHORTEST), indirect=True
)
def test_every_write_fails_once(tmp_path, monkeypatch, stretch):
    """One thread's failure ends the others, which wait for their turn, and the file never gets its name."""
    graph = zoo.shared()["two-hubs"].decompress()
    write, lock = SectionFile.write, threading.Lock()
    fail_at, calls = 0, 0

    def failing(self, data, place):
        nonlocal calls
        with lock:
            calls += 1
            if calls == fail_at:
                raise OSError(28, "No space left on device")
        write(self, data, place)

    monkeypatch.setattr(SectionFile, "write", failing)
    while True:
        fail_at, calls = fail_at + 1, 0
        try:
            compress.save_compressed(graph, tmp_path / "g.ccsr")
        except FileAccessError as error:
            assert "g.ccsr: cannot write: No space left" in str(error)
            assert not list(tmp_path.iterdir())
            continue
        break
    assert fail_at > 8
    list(check(tmp_path / "g.ccsr"))


def test_an_interrupt_ends_all_threads(tmp_path, monkeypatch):
    """Ctrl-C reaches the thread that waits; those that encode are let go, whoever's turn it was."""
    begun, inside = threading.Event(), []
    put_rows = compress.put_rows

    def slowly(*arguments):
        inside.append(1)
        begun.set()
        time.sleep(0.05)
        inside.pop()
        return put_rows(*arguments)

    def interrupt():
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    monkeypatch.setattr(compress, "put_rows", slowly)
    monkeypatch.setattr(compress, "STRETCH", 100)
    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        compress.save_compressed(zoo.shared()["two-hubs"].decompress(), tmp_path / "g.ccsr")
    helper.join()
    assert not list(tmp_path.iterdir())
    assert not inside


def test_a_short_write_is_no_lost_byte(tmp_path, monkeypatch):
    graph = zoo.shared()["two-hubs"].decompress()
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, data, place: whole(handle, data[: max(1, len(data) // 2)], place))
    check_same_bytes(graph, tmp_path)


def test_a_limit_on_the_length_of_files(tmp_path):
    graph = zoo.build(20_000, zoo.random(20_000, 60_000, seed=1))
    with files_of(100_000), pytest.raises(FileAccessError, match="ulimit -f"):
        compress.save_compressed(graph, tmp_path / "g.ccsr")
    assert not list(tmp_path.iterdir())
