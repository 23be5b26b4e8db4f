"""Stretches of an array, gathered; and several of them, and arrays, copied to a device together."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from engines.gpu.test_gpu_upload import PAGE, Cuda

from bigbfs.engines.gpu.runtime import stretches, upload
from bigbfs.engines.gpu.runtime.coming import OnTheWay
from bigbfs.engines.gpu.runtime.stretches import Partly, Stretches
from bigbfs.errors import DoesNotFitError
from bigbfs.jit.workers import held_to


def drawn(seed, count, dtype, longest=300):
    """Return stretches of an array, some of them empty, and what they are side by side."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest, 2 * count) * random.integers(0, 2, 2 * count)
    ends = np.cumsum(lengths)
    source = random.integers(0, 250, int(ends[-1]) if count else 0).astype(dtype)
    begins, ends = (ends - lengths)[::2].astype(np.int64), ends[::2].astype(np.int64)
    parts = [source[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return Stretches(source, begins, ends), np.concatenate([np.zeros(0, dtype), *parts])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_any_bytes_of_the_whole(count, dtype):
    for seed in range(5):
        found, whole = drawn(seed, count, dtype)
        assert np.array_equal(found.whole(), whole)
        assert (found.dtype, found.shape, found.nbytes, len(found)) == (dtype, whole.shape, whole.nbytes, len(whole))
        flat = whole.view(np.uint8)
        for first in (0, 1, len(flat) // 3, len(flat) - 1, len(flat)):
            for size in (0, 1, 7, len(flat) // 2):
                if 0 <= first <= first + size <= len(flat):
                    target = np.full(size, 0xCB, np.uint8)
                    found.fill(target, first)
                    assert np.array_equal(target, flat[first : first + size])


def test_memory_that_cannot_be_written_is_read_by_the_same_loop():
    source = np.arange(100, dtype=np.uint32)
    begins, ends = np.array([3, 50]), np.array([7, 90])
    writable = Stretches(source, begins, ends).whole()
    source.flags.writeable = False
    assert np.array_equal(Stretches(source, begins, ends).whole(), writable)
    stretches.prepare()


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(upload, "PIECE", PAGE)


def at(array):
    return SimpleNamespace(data=SimpleNamespace(ptr=array.ctypes.data))


@pytest.mark.parametrize("threads", [1, 4])
def test_several_go_together_and_are_waited_for_one_by_one(small, threads):
    found, whole = drawn(9, 400, np.uint32)
    plain, none = np.random.default_rng(3).integers(0, 2**63, 9 * PAGE // 8 + 3, np.uint64), np.zeros(0, np.uint32)
    targets = [np.zeros_like(each) for each in (plain, none, whole)]
    cuda = Cuda()
    with held_to(threads):
        pairs = [(at(target), source) for target, source in zip(targets, (plain, none, found), strict=True)]
        begun = upload.Upload(cuda, 0, pairs)
        begun.wait()
        begun.wait()
    assert all(np.array_equal(*pair) for pair in zip(targets, (plain, none, whole), strict=True))
    assert cuda.open == {} and [target.data.ptr for target in begun.targets] == [each.ctypes.data for each in targets]


@pytest.mark.parametrize(("begin", "end"), [(0, 0), (0, 5000), (1234, 4321), (4000, 9000), (9000, 9000)])
def test_of_an_array_whose_other_parts_others_bring_the_span_alone_comes(small, begin, end):
    source = np.random.default_rng(4).integers(1, 2**32, 9000).astype(np.uint32)
    part, target = Partly(source, begin, end), np.zeros(9000, np.uint32)
    assert np.array_equal(part.whole(), source) and part.nbytes == source.nbytes and part.shape == source.shape
    with held_to(2):
        upload.Upload(Cuda(), 0, [(at(target), part)]).wait()
    assert np.array_equal(target[begin:end], source[begin:end])
    assert not target[:begin].any() and not target[end:].any()


def test_who_waits_again_hears_again_that_nothing_has_come(small):
    begun = upload.Upload(Cuda(refuse=range(100)), 0, [(at(np.zeros(1)), np.zeros(PAGE, np.uint8))] * 2)
    for _ in range(2):
        with pytest.raises(DoesNotFitError, match="ulimit -l"):
            begun.wait()


class Held(Stretches):
    """Stretches that nobody can read before ``goes_on`` is set; from ``broken`` on it cannot be read at all."""

    def __init__(self, source):
        super().__init__(source, np.zeros(1, np.int64), np.array([len(source)]))
        self.goes_on, self.broken = threading.Event(), False

    def fill(self, target, first):
        assert self.goes_on.wait(30)
        if self.broken:
            raise OSError("the disk is gone")
        super().fill(target, first)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_pair_does_not_wait_for_the_next(small, threads):
    first, held = np.arange(9 * PAGE // 8, dtype=np.uint64), Held(np.arange(7 * PAGE, dtype=np.uint32))
    targets = [np.zeros_like(first), np.zeros(held.shape, np.uint32)]
    pairs = [(at(target), each) for target, each in zip(targets, (first, held), strict=True)]
    with held_to(threads):
        begun = upload.Upload(Cuda(), 0, pairs)
        begun.wait(0)
        assert np.array_equal(targets[0], first) and not targets[1].any()
        held.goes_on.set()
        begun.wait(1)
    begun.close()
    assert np.array_equal(targets[1], held.whole())


def test_a_fault_is_heard_by_who_waits_for_what_it_broke(small):
    first, held = np.arange(64, dtype=np.uint64), Held(np.arange(7 * PAGE, dtype=np.uint32))
    held.broken = True
    targets = [np.zeros_like(first), np.zeros(held.shape, np.uint32)]
    pairs = [(at(target), each) for target, each in zip(targets, (first, held), strict=True)]
    cuda = Cuda()
    with held_to(2):
        begun = upload.Upload(cuda, 0, pairs)
        held.goes_on.set()
        with pytest.raises(OSError, match="the disk is gone"):
            begun.wait(1)
    assert cuda.open == {}


class HeldFrom(Held):
    """Of which what begins at byte ``held_from`` or behind cannot be read before ``goes_on`` is set; ``threads`` read
    what is before it in turns, so that none of them holds one of the first pieces when it comes to those."""

    def __init__(self, source, held_from, threads=1):
        super().__init__(source)
        self.held_from, self._turns = held_from, threading.Barrier(threads)

    def fill(self, target, first):
        if first >= self.held_from:
            super().fill(target, first)
        else:
            self._turns.wait(30)
            Stretches.fill(self, target, first)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_bytes_do_not_wait_for_the_last(small, threads):
    """Pieces are counted a buffer later, so that some more than those waited for have to be there."""
    source = np.arange(1, 20 * PAGE // 4 + 1, dtype=np.uint32)
    held, target = HeldFrom(source, 12 * PAGE, threads), np.zeros(source.shape, np.uint32)
    with held_to(threads):
        begun = upload.Upload(Cuda(), 0, [(at(target), held)])
        wanted = (12 - 2 * threads) * PAGE - 5
        assert begun.wait_for(0, 0) and begun.wait_for(0, wanted)
        assert np.array_equal(target[: wanted // 4], source[: wanted // 4])
        assert not target[12 * PAGE // 4 :].any()
        held.goes_on.set()
        assert begun.wait_for(0, held.nbytes) and begun.wait_for(0, 10 * held.nbytes)
        begun.wait(0)
    begun.close()
    assert np.array_equal(target, source) and begun.ended(0) > 0


def test_bytes_of_a_part_are_counted_from_its_first(small):
    source = np.arange(1, 20 * PAGE // 4 + 1, dtype=np.uint32)
    part, target = Partly(source, 5 * PAGE // 4, 15 * PAGE // 4), np.zeros(source.shape, np.uint32)
    with held_to(2):
        begun = upload.Upload(Cuda(), 0, [(at(target), part)])
        assert begun.wait_for(0, 10 * PAGE)
        begun.wait()
    assert np.array_equal(target[5 * PAGE // 4 : 15 * PAGE // 4], source[5 * PAGE // 4 : 15 * PAGE // 4])


def test_first_bytes_that_will_never_come_are_not_waited_for(small):
    held = HeldFrom(np.arange(7 * PAGE, dtype=np.uint32), 4 * PAGE)
    held.broken, target = True, np.zeros(held.shape, np.uint32)
    with held_to(2):
        begun = upload.Upload(Cuda(), 0, [(at(target), held)])
        held.goes_on.set()
        assert not begun.wait_for(0, held.nbytes)
        with pytest.raises(OSError, match="the disk is gone"):
            begun.wait(0)


def on_the_way(cuda, plain):
    """Return what is on its way to a device of ``cuda``, and where each array of it came to be."""
    made = []

    def empty(shape, dtype):
        made.append(np.zeros(shape, dtype))
        return SimpleNamespace(data=at(made[-1]).data, array=made[-1])

    return OnTheWay(cuda, 0, empty, plain, nullcontext), made


def test_what_is_coming_has_an_address_before_it_is_there(small):
    first, held = np.arange(64, dtype=np.uint64), HeldFrom(np.arange(1, 7 * PAGE, dtype=np.uint32), 0)
    way, made = on_the_way(Cuda(), pytest.fail)
    with held_to(2):
        way.begin(first, held)
        way.begin(first)
        coming = way.coming(held)
        assert coming.array.array is made[1] and len(made) == 2
        way.coming(first).wait()
        assert np.array_equal(made[0], first) and not made[1].any()
        held.goes_on.set()
        coming.wait(PAGE)
        for _ in range(2):
            coming.wait()
        coming.wait(PAGE)
    assert np.array_equal(made[1], held.whole())
    way.close()


def test_without_pinned_buffers_the_first_wait_brings_all(small):
    source, copied = np.arange(1, 7 * PAGE, dtype=np.uint32), []
    way, made = on_the_way(Cuda(refuse=range(100)), lambda given, target: copied.append((given, target.array)))
    coming = way.coming(source)
    coming.wait(PAGE)
    coming.wait()
    assert [(given is source, target is made[0]) for given, target in copied] == [(True, True)]


def test_what_nobody_waits_for_is_stopped(small):
    way, _ = on_the_way(cuda := Cuda(), pytest.fail)
    held = Held(np.arange(7 * PAGE, dtype=np.uint32))
    with held_to(2):
        way.begin(held)
        held.goes_on.set()
        way.close()
    assert cuda.open == {}
