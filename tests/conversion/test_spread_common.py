"""Conversion by ranks of one machine on one state: who does what, what is shared, and what comes of failures."""

import errno
import itertools
import os
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from folders import names
from spreading import KINDS, edges, require_same, send_messages, spread, written
from wide import split

import bigbfs
from bigbfs.conversion import ConvertOptions
from bigbfs.conversion.spread import common, common_file, common_sides, convert, dealing
from bigbfs.conversion.spread.crew import ROUNDS, Crew, NotShared, room_for
from bigbfs.engines.ranks.agreeing import Agreed
from bigbfs.engines.ranks.threads import ThreadGroup, run
from bigbfs.errors import FileAccessError
from bigbfs.formats.container import checksum
from bigbfs.formats.container.layout import Section
from bigbfs.graph import transposing
from bigbfs.jit.workers import Workers


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def dealt(monkeypatch):
    """What keys were sent for."""
    found, whole = [], dealing.Dealer.__call__
    monkeypatch.setattr(dealing.Dealer, "__call__", lambda *given: found.append(1) or whole(*given))
    return found


@pytest.mark.parametrize(
    ("kind", "ranks"),
    split(itertools.product(KINDS, (2, 3, 8)), lambda kind, ranks: ranks == 3),
)
def test_ranks_without_memory_in_common_send_keys(kind, ranks, dealt, monkeypatch):
    """The bytes are those of one process, as they are where all work on one state."""
    send_messages(monkeypatch)
    require_same(ranks, written("text"), **KINDS[kind])
    assert len(dealt) == (1 + KINDS[kind].get("in_edges", True)) * ranks


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_of_one_machine_send_no_key(kind, dealt):
    require_same(3, written("npy"), **KINDS[kind])
    assert not dealt


def drawn(shape, seed):
    """Directed edges: repeated, self-loops, ids without an edge; or the same both ways, or only as many of them."""
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 300, (2000, 2)) ** 2 // 300
    if shape == "symmetric":
        found = np.concatenate([found, found[:, ::-1]])
    elif shape == "ring":  # every vertex has one edge out and one in
        found = np.stack([np.arange(500), (np.arange(500) + 1) % 500], axis=1)
    elif shape == "few":
        found = np.array([[0, 1], [1, 2], [0, 2], [0, 1], [1, 1]])
    elif shape == "nearly":  # as symmetric ones, but for where two edges end: rows are as long
        found = np.concatenate([found, found[:, ::-1], [[400, 401], [402, 403], [401, 402], [403, 400]]])
    elif shape == "wide":
        found = found * (2**33 + 7)
    return found


DIRECTED = {
    "both": {},
    "out-edges": {"in_edges": False},
    "all": {"keep_duplicates": True, "keep_self_loops": True},
    "loops": {"keep_self_loops": True},
    "ids": {"keep_ids": True},
    "compressed": {"compressed": True},
    "compressed-all": {"compressed": True, "keep_duplicates": True, "keep_self_loops": True},
    "compressed-out-edges": {"compressed": True, "in_edges": False},
}
SHAPES = ("any", "symmetric", "ring", "few", "nearly", "wide")


@pytest.mark.covered("ranks+shape")
@pytest.mark.parametrize(
    ("shape", "kind", "ranks"),
    split(
        [each for each in itertools.product(SHAPES, DIRECTED, range(1, 6)) if each[:2] != ("wide", "ids")],
        lambda shape, kind, ranks: (SHAPES.index(shape) + [*DIRECTED].index(kind)) % 5 + 1 == ranks,
    ),
)
def test_directed_graphs_on_one_state(shape, kind, ranks, buckets, dealt):
    """The bytes of one process; where in-rows are the out-rows, they are found to be."""
    np.save("g.npy", drawn(shape, ranks))
    require_same(ranks, ["g.npy"], directed=True, **DIRECTED[kind])
    assert not dealt
    with bigbfs.open("many.csrbin") as graph:
        assert graph.flags.symmetric == (shape == "symmetric" and DIRECTED[kind].get("in_edges", True))


@pytest.mark.parametrize("largest", [3000, 70_000])
def test_keys_of_both_widths(largest, buckets, monkeypatch):
    """Rows without an edge up to a large id, and more buckets than a core's cache has keys for."""
    found = drawn("any", 1)
    found[7] = largest, 3
    np.save("g.npy", found)
    monkeypatch.setattr(transposing, "MAX_BUCKETS", 1 if largest == 70_000 else 1 << 11)
    seen, whole = set(), common.key_dtype
    monkeypatch.setattr(common, "key_dtype", lambda bits: seen.add(whole(bits)) or whole(bits))
    require_same(2, ["g.npy"], directed=True, keep_ids=True)
    assert seen == {np.dtype(np.uint64 if largest == 70_000 else np.uint32)}


@pytest.mark.parametrize("lines", ["0 1\n", "1 0\n1 1\n", "3 3\n", "1 2\n2 3\n3 1\n1 2\n"])
@pytest.mark.parametrize("loops", [False, True])
def test_one_rank_more_than_a_directed_graph_has_vertices(lines, loops):
    Path("g.txt").write_text(lines)
    require_same(len(set(lines.split())) + 1, ["g.txt"], directed=True, keep_self_loops=loops)


def test_a_machine_that_has_no_such_memory(dealt, monkeypatch):
    """It has the page by which ranks ask, and not what keys take: they are sent then."""
    whole = ThreadGroup.window
    monkeypatch.setattr(
        ThreadGroup, "window", lambda group, nbytes, large=False: None if large else whole(group, nbytes)
    )
    require_same(3, written("text"))
    assert len(dealt) == 6


@pytest.fixture
def buckets(monkeypatch):
    """Many, as large graphs have them."""
    monkeypatch.setattr(transposing, "EDGES_PER_BUCKET", 64)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("part", [1, 1 << 21])
def test_ranks_with_threads_of_their_own(part, directed, buckets, monkeypatch):
    """As many as each has; rows placed in parts of a row, or in some."""
    monkeypatch.setattr(common_sides, "PART_BYTES", part)
    require_same(2, written("text"), directed=directed)
    whole = Path("one.csrbin").read_bytes()

    def work(group):
        options = ConvertOptions(memory=2**40, threads=1 + 2 * group.rank, force=True, directed=directed)
        return convert.convert_over_ranks(["g.txt"], "many.csrbin", options, group)

    run(3, work)
    assert Path("many.csrbin").read_bytes() == whole


FEW_LINES = ["7 7\n", "0 1\n", "5 6\n6 5\n5 6\n5 5\n", "1 9000000000000\n3 1\n", "4294967296 4294967297\n"]


@pytest.mark.parametrize("lines", FEW_LINES)
def test_few_lines(lines):
    """No edge that stays, fewer lines than ranks, ids that a table of hashes numbers, or wide ones without a gap."""
    Path("g.txt").write_text(lines)
    require_same(4, ["g.txt"])


PLACES = {
    "sorting": (common.in_rows, "sort_rows"),
    "dealing": (transposing, "scatter_columns"),
    "placing": (common_sides, "place_columns"),
    "moving": (common_sides, "move_buckets"),
    "writing": (common_file.os, "pwrite"),
}


@pytest.mark.parametrize(
    ("when", "directed"), [each for each in itertools.product(PLACES, (False, True)) if each != ("moving", False)]
)
def test_a_failure_on_one_rank_is_said_by_all_and_leaves_nothing(when, directed, buckets, monkeypatch):
    calls, (where, name) = itertools.count(), PLACES[when]
    whole, inputs = getattr(where, name), written("text")

    def fail(*given):
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, "full")
        return whole(*given)

    monkeypatch.setattr(where, name, fail)
    with pytest.raises(FileAccessError if when == "writing" else OSError) as failure:
        spread(3, inputs, directed=directed)
    assert next(calls) > 1 and names(Path()) == ["g.txt"]
    if when == "writing":
        assert "many.csrbin: cannot write: No space left on device; free some space" in str(failure.value)


@pytest.mark.parametrize("sides", [0, 1, 2])
@pytest.mark.parametrize("compressed", [False, True])
def test_what_all_see_counts_as_memory_of_each(compressed, sides, monkeypatch):
    """Keys beside the lines that a rank has read itself, then keys and rows: what all see is shared out evenly.

    Rows that will be encoded are of each rank alone. ``sides``: of a directed graph; 0: undirected, both in one.
    """
    asked, made, whole, window = [], [], common.require, ThreadGroup.window

    def require(need, *given, **named):
        asked.append(need - common.PROGRAM)
        whole(need, *given, **named)

    def keep(group, nbytes, large=False):
        if large and group.rank == 0:
            made.append(nbytes)
        return window(group, nbytes, large)

    monkeypatch.setattr(common, "require", require)
    monkeypatch.setattr(ThreadGroup, "window", keep)
    given = {"directed": sides > 0, "in_edges": sides != 1, "keep_self_loops": True, "compressed": compressed}
    vertices = require_same(2, written("text"), **given).vertices
    offsets, copies = max(1, sides) * 8 * (vertices + 1), 1 if sides == 1 else 2
    labels, placed = 8 * vertices, (offsets + copies * 4 * len(edges()) // 2) * compressed
    keys, rows = made[0] - room_for(8 * 8 * ROUNDS), made[1]
    assert keys == room_for(4 * len(edges())) and len(asked) == 2
    tasks, buckets = 16, transposing.bucket_count(vertices, transposing.bucket_shift(vertices, len(edges())))
    counters = room_for(8 * tasks * buckets) * (sides != 1) + room_for(16 * tasks) + room_for(8 * buckets)
    both = room_for(8 * (vertices + 1)) * (2 + (sides == 2)) + room_for(8 * vertices) + room_for(8) * (sides == 2)
    assert rows == room_for(4 * len(edges())) + both + counters
    assert sorted(asked) == [labels + max(8 * len(edges()) // 2 + keys // 2, (keys + rows) // 2 + placed)] * 2


def test_memory_that_is_gone_when_rows_want_it(monkeypatch):
    """The lines have gone by then: the conversion goes by way of the disk."""
    window, calls = ThreadGroup.window, itertools.count()
    monkeypatch.setattr(
        ThreadGroup,
        "window",
        lambda group, nbytes, large=False: None if large and next(calls) > 2 else window(group, nbytes, large),
    )
    assert require_same(3, written("text")).spilled_bytes > 0
    assert next(calls) == 6


def test_every_task_is_done_once_by_whoever_is_free():
    """Also more tasks than threads, and none; what is taken is zero, and seen by all."""

    def work(group):
        with Workers(2) as workers:
            crew = Crew(group, workers, 2, 3 * room_for(8 * 100))
            done = [crew.take(count, np.int64) for count in (100, 3, 1)]
            for array in done:
                assert not array.any()
                group.barrier()
                crew.each(len(array), lambda i, array=array: array.__setitem__(i, array[i] + i + 1))
            crew.each(0, lambda i: 1 / 0)
            return [array.tolist() for array in done]

    for found in run(3, work):
        assert found == [list(range(1, count + 1)) for count in (100, 3, 1)]


def test_a_task_that_fails_fails_on_all_ranks():
    said = threading.Barrier(2)

    def work(group):
        with Workers(1) as workers:
            crew = Crew(group, workers, 1, 0)

            def task(number):
                said.wait(30)  # each rank has one of the two
                if number == 1:
                    raise ValueError("one")

            with pytest.raises(Agreed) as failure:
                crew.each(2, task)
            return str(failure.value)

    assert run(2, work) == ["one", "one"]


def test_ranks_of_several_machines_have_no_crew():
    def work(group):
        with pytest.raises(NotShared):
            Crew(group, Workers(1), 1, 100)

    run(2, work, hosts=("one", "other"))


def test_checksums_are_those_of_whole_sections(monkeypatch):
    """Of pieces that come in any order, and end anywhere."""
    monkeypatch.setattr(checksum, "STRETCH", 1000)
    monkeypatch.setattr(common_file, "STRETCH", 1000)
    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 256, size, np.uint8) for size in (0, 999, 1000, 4321)]
    sections = [Section(f"s{i}", "|u1", len(array), 5000 * i, len(array), 0) for i, array in enumerate(arrays)]
    with Path("file").open("w+b") as stream:
        writer = common_file._Writer(Path("file"), stream.fileno(), sections)
        pieces = []
        for number, array in enumerate(arrays):
            cuts = sorted({0, len(array), *rng.integers(0, len(array) + 1, 7).tolist()})
            pieces += [(number, first, last) for first, last in itertools.pairwise(cuts)]
        for number, first, last in rng.permutation(pieces).tolist():
            writer.write(number, first, arrays[number][first:last].data)
        found = common_file._summed(sections, writer.sums)
        assert [section.checksum for section in found] == [checksum.checksum(array) for array in arrays]
        for section, array in zip(sections, arrays, strict=True):
            assert os.pread(stream.fileno(), section.length, section.offset) == array.tobytes()


@pytest.mark.parametrize("lengths", [(0, 0), (5, 0), (0, 5), (1, 1), (70_000, 3), (3, 70_000), (4096, 1 << 16)])
def test_checksums_of_two_runs_of_bytes_joined(lengths):
    one, other = (np.random.default_rng(length).bytes(length) for length in lengths)
    assert checksum.joined(zlib.crc32(one), zlib.crc32(other), len(other)) == zlib.crc32(one + other)
