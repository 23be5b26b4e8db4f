"""Streamed edges without a device: batches against NumPy, the reader, the order of reading, copying and consuming."""

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import zoo

from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, PIECE, struct
from bigbfs.engines.gpu.streamed import batches, feed
from bigbfs.engines.gpu.streamed.batches import Planner
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.gpu.streamed.feed import Feed
from bigbfs.engines.gpu.streamed.ledger import SMALLEST, STAGES, stage_capacity
from bigbfs.engines.gpu.streamed.reader import Reader, mapping_of
from bigbfs.errors import FileAccessError, FormatError
from bigbfs.formats.container.mapped import FileMap
from bigbfs.graph import varint
from bigbfs.graph.adjacency import BLOCK_IDS, PlainAdjacency
from bigbfs.graph.graph import Graph

GRAPHS = (
    "one-edge",
    "two-hubs",
    "degree-1024",
    "degree-2048",
    "random",
    "kronecker-dense",
    "long-deltas",
    "wide-ids-hub",
)
CODECS = ("plain", "varint")


def graph(name, codec):
    plain = zoo.shared()[name]
    return plain.compress() if codec == "varint" else plain


def bitmap(members, n):
    bits = np.zeros(-(-n // 32) * 32, bool)
    bits[members] = True
    return np.packbits(bits, bitorder="little").view(np.uint32)


def some_rows(n, degrees, share):
    """Return vertices with edges: all of them, or about a share."""
    chosen = np.flatnonzero(degrees)
    return chosen if share == 1 else chosen[np.random.default_rng(n).random(len(chosen)) < share]


def segments(pieces, wanted, indptr):
    """Yield (vertex, begin, end, moved) of every row, or part of one, that kernels would read."""
    for first, count, begin, end, moved in pieces.astype(np.int64):
        if count == 1:
            yield first, begin, end, moved
        else:
            assert (first // 32) == (first + count - 1) // 32, "a piece goes over the end of a word"
            for v in range(first, first + count):
                if v in wanted:
                    yield v, int(indptr[v]), int(indptr[v + 1]), moved


@pytest.mark.covered("name+codec", "share+gap")
@pytest.mark.parametrize("gap", [0, 64, 1 << 20])
@pytest.mark.parametrize("share", [1, 0.3])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", GRAPHS)
def test_batches_hold_every_wanted_row_once(name, codec, share, gap):
    whole = graph(name, codec)
    adjacency, n = whole.adjacency, whole.n
    rows = some_rows(n, whole.degrees(), share)
    edges = adjacency.edges.view(np.uint8)
    planner = Planner(adjacency, SMALLEST, gap)
    found = {}
    last = -1
    for batch in planner.batches(bitmap(rows, n), SMALLEST):
        assert batch.bytes + batch.pieces.nbytes <= SMALLEST
        held = np.full(SMALLEST, 0xCB, np.uint8)
        for start, count, at in batch.stretches.astype(np.int64):
            assert start >= last, "the file is not read in order"
            last = start + count
            held[at : at + count] = edges[start : start + count]
        data = held.view(adjacency.edges.dtype)
        for v, begin, end, moved in segments(batch.pieces, set(rows.tolist()), adjacency.indptr):
            assert begin - moved >= 0 and (end - moved) * planner.unit <= batch.bytes
            found.setdefault(v, []).append((begin, end, data[begin - moved : end - moved].copy()))
    assert sorted(found) == rows.tolist()
    for v, parts in found.items():
        begin, end = int(adjacency.indptr[v]), int(adjacency.indptr[v + 1])
        assert [begin, *(part[1] for part in parts)] == [*(part[0] for part in parts), end], "parts do not join"
        assert np.array_equal(np.concatenate([part[2] for part in parts]), adjacency.edges[begin:end])
        if codec == "plain" and len(parts) > 1:
            assert all((part[0] - begin) % BLOCK_IDS == 0 for part in parts)


def test_sparse_rows_are_read_alone_and_dense_ones_together():
    n = 4_000
    adjacency = PlainAdjacency(np.arange(n + 1, dtype=np.uint64) * 100, np.zeros(100 * n, np.uint32))
    planner = Planner(adjacency, 1 << 24)
    everything = list(planner.batches(bitmap(np.arange(n), n), 1 << 24))
    assert len(everything) == 1
    assert len(everything[0].stretches) == -(-400 * n // batches.STRETCH)
    assert everything[0].read_bytes == 400 * n
    far = list(planner.batches(bitmap(np.arange(0, n, 100), n), 1 << 24))
    assert [(len(batch.stretches), batch.read_bytes) for batch in far] == [(n // 100, 4 * n)]
    near = next(planner.batches(bitmap(np.arange(0, n, 4), n), 1 << 24))
    assert len(near.stretches) < 10
    assert list(planner.batches(bitmap([], n), 1 << 24)) == []


def test_damaged_offsets_are_an_error():
    indptr = np.array([0, 5, 3, 8], np.uint64)
    planner = Planner(PlainAdjacency(indptr, np.zeros(8, np.uint32)), SMALLEST)
    with pytest.raises(FormatError, match="vertex 1 are damaged"):
        list(planner.batches(bitmap([0, 1, 2], 3), SMALLEST))
    whole = varint.encode(zoo.shared()["two-hubs"].adjacency)
    whole.block_ptr[1] = 1 << 40
    planner = Planner(whole, SMALLEST)
    with pytest.raises(FormatError, match="damaged"):
        list(planner.batches(bitmap([5], whole.n), SMALLEST))


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "g.csrbin"
    zoo.shared()["kronecker"].save(path)
    with Graph.open(path) as opened:
        yield opened


def test_the_reader_reads_the_file_itself(stored):
    indices = stored.adjacency.indices
    assert isinstance(mapping_of(indices[3:]), FileMap)
    stretches = np.array([[4 * i, 8, 16 * i] for i in range(1_000)], np.uint64)
    for array, kind in ((indices, "file"), (np.array(indices), "memory")):
        target = np.zeros(16_000, np.uint8)
        with Reader(array, threads=3) as reader:
            assert reader.kind == kind
            reader.start(stretches, target).wait()
        held = target.view(np.uint32).reshape(-1, 4)
        assert np.array_equal(held[:, 0], indices[:1_000]) and np.array_equal(held[:, 1], indices[1:1_001])
        assert not held[:, 2:].any()


def descriptors():
    """Return the open files of this process, without the folder that says so."""
    return {link.name for link in Path("/proc/self/fd").iterdir() if link.exists()}


def test_the_descriptor_goes_with_the_mapping(tmp_path):
    path = tmp_path / "g.csrbin"
    zoo.shared()["path"].save(path)
    before = descriptors()
    for _ in range(3):
        opened = Graph.open(path)
        reader = Reader(opened.adjacency.indices, threads=1)
        opened.close()
        reader.close()
        reader.close()
        del opened, reader
        assert descriptors() == before


def test_a_file_cut_short_and_one_that_cannot_be_read(stored, monkeypatch):
    with Reader(stored.adjacency.indices, threads=2) as reader:
        target = np.zeros(8, np.uint8)
        with pytest.raises(FormatError, match="only 0 are there; the file was cut short"):
            reader.start(np.array([[1 << 30, 8, 0]], np.uint64), target).wait()

        def broken(*_):
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "pread", broken)
        with pytest.raises(FileAccessError, match="cannot be read: Input/output error"):
            reader.start(np.array([[1 << 30, 8, 0]], np.uint64), target).wait()


def test_a_file_that_becomes_shorter_is_an_error_and_no_fault(stored):
    """Short stretches are copied from the mapping, whose lost pages would end the process."""
    indices = stored.adjacency.indices
    stretches = np.array([[indices.nbytes - 8 * (i + 1), 8, 16 * i] for i in range(50)], np.uint64)
    target = np.zeros(16 * 50, np.uint8)
    with Reader(indices, threads=2) as reader:
        reader.start(stretches, target).wait()
        assert np.array_equal(target.view(np.uint32).reshape(-1, 4)[:, 1], indices[-1:-101:-2])
        os.truncate(stored.path, mapping_of(indices).size() - indices.nbytes)
        with pytest.raises(FormatError, match="the file was cut short"):
            reader.start(stretches, target).wait()


def test_shares_are_as_many_as_are_worth_a_thread():
    edges = np.arange(1 << 20, dtype=np.uint32)
    with Reader(edges, threads=4) as reader:
        for count, most in ((0, 0), (1, 1), (20, 1), (100, 4), (5_000, 4)):
            stretches = np.stack([np.arange(count) * 64, np.full(count, 64), np.arange(count) * 64 + 4096], 1)
            target = np.zeros(64 * count, np.uint8)
            assert len(reader._shares(stretches.astype(np.uint64))) <= most
            reader.start(stretches.astype(np.uint64), target).wait()
            assert np.array_equal(target, edges.view(np.uint8)[: 64 * count])
        # what no row can have is never written
        far = np.array([[0, 64, 0], [0, 1 << 62, 64]], np.uint64)
        with pytest.raises(FormatError, match="offsets are damaged"):
            reader.start(far, np.zeros(128, np.uint8)).wait()


@dataclass
class LateStage:
    """A stage on a device that does everything as late as it may: copies and launches wait until somebody waits."""

    device: "LateDevice"
    nbytes: int
    closed: bool = False

    def __post_init__(self):
        self.host = np.zeros(self.nbytes, np.uint8)
        self.array = np.zeros(self.nbytes, np.uint8)
        self.sent = 0

    def wait(self):
        self.device.run_until(self.sent)

    def send(self, nbytes):
        def copy():
            self.array[:nbytes] = self.host[:nbytes]

        self.sent = self.device.put(copy)

    def done(self):
        self.device.events.append("done")

    def close(self):
        self.closed = True


@dataclass
class LateDevice:
    """Work in the order given, each piece of it only when something later is waited for."""

    work: list = field(default_factory=list)
    ran: int = 0
    stages: list = field(default_factory=list)
    events: list = field(default_factory=list)
    refuse_stage: int = -1

    def put(self, work):
        self.work.append(work)
        return len(self.work)

    def run_until(self, count):
        while self.ran < count:
            self.work[self.ran]()
            self.ran += 1

    def read(self, array, values):
        values[...] = array

    def pointer(self, array):
        return array.ctypes.data

    def stage(self, nbytes):
        if len(self.stages) == self.refuse_stage:
            raise KeyboardInterrupt
        self.stages.append(LateStage(self, nbytes))
        return self.stages[-1]


@pytest.fixture
def line(monkeypatch):
    """A feed of small batches on a late device, and what it is to give: (feed, device, adjacency, wanted)."""
    monkeypatch.setattr(feed, "LEAST_ROOM", SMALLEST)
    whole = zoo.build(2_000, zoo.random(2_000, 60_000, seed=3))
    device = LateDevice()
    with_edges = np.flatnonzero(whole.degrees())
    made = Feed(device, whole.adjacency, Buffers(device, STAGES * SMALLEST), threads=2)
    yield made, device, whole.adjacency, bitmap(with_edges, whole.n)
    made.close()


def test_no_buffer_is_filled_before_its_copy_has_ended(line):
    made, device, adjacency, wanted = line
    got = []

    def consume(local, pieces, count):
        # a kernel: what the twin holds when it runs, not when it is launched
        stage = next(stage for stage in device.stages if stage.array.ctypes.data == int(local["data"]))

        def kernel():
            held = stage.array[: int(local["data_bytes"])].view(np.uint32)
            for _, begin, end, moved in segments(
                pieces.reshape(-1, PIECE.itemsize // 8), set(range(adjacency.n)) & members, adjacency.indptr
            ):
                got.append(held[begin - moved : end - moved].copy())

        device.put(kernel)

    members = set(np.flatnonzero(np.diff(adjacency.indptr)).tolist())
    traffic = made.run(struct(ADJACENCY), wanted, adjacency.m, consume)
    device.run_until(len(device.work))
    assert np.array_equal(np.concatenate(got), adjacency.indices)
    assert traffic.batches > 2 * STAGES
    assert traffic.batches == len(device.events)
    assert traffic.bytes == adjacency.indices.nbytes


def test_the_next_batch_is_read_before_the_last_one_is_consumed(line, monkeypatch):
    made, _, adjacency, wanted = line
    order = []
    start = made._reader.start
    monkeypatch.setattr(made._reader, "start", lambda *args: order.append("read") or start(*args))
    made.run(struct(ADJACENCY), wanted, adjacency.m, lambda *_: order.append("consume"))
    assert order[:4] == ["read", "read", "consume", "read"]
    assert order[-2:] == ["consume", "consume"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, FormatError])
def test_an_error_on_the_way_leaves_no_thread_writing(line, error):
    made, device, adjacency, wanted = line

    def consume(local, pieces, count):
        raise error

    with pytest.raises(error):
        made.run(struct(ADJACENCY), wanted, adjacency.m, consume)
    before = [stage.host.copy() for stage in device.stages]
    assert all(np.array_equal(stage.host, copy) for stage, copy in zip(device.stages, before, strict=True))
    # and it can go on
    traffic = made.run(struct(ADJACENCY), wanted, adjacency.m, lambda *_: None)
    assert traffic.bytes == adjacency.indices.nbytes
    made.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bigbfs-reader")]


def test_an_interrupt_between_two_stages_releases_the_first():
    device = LateDevice(refuse_stage=2)
    with pytest.raises(KeyboardInterrupt):
        Buffers(device, 1 << 20)
    assert [stage.closed for stage in device.stages] == [True, True]


def test_a_stage_is_never_too_small_for_a_chunk():
    assert stage_capacity(0) == SMALLEST
    assert stage_capacity(1 << 30) == (1 << 30) // STAGES
