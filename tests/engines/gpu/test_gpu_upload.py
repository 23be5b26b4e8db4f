"""Large arrays to a device, against a CUDA whose copies are made as late as it may."""

import ctypes
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.engines.gpu.runtime import upload
from bigbfs.engines.gpu.runtime.upload import Upload
from bigbfs.errors import DoesNotFitError
from bigbfs.jit.workers import held_to

PAGE = 1 << 12


class CudaError(RuntimeError):
    pass


class Stream:
    """Copies wait here until somebody has to wait for them."""

    def __init__(self, cuda):
        self._cuda, self.ptr, self.work, self.waited = cuda, id(self), [], []
        cuda.streams[self.ptr] = self

    def wait_event(self, event):
        self.waited.append(event)

    def synchronize(self):
        work, self.work = self.work, []
        for target, source, size in work:
            ctypes.memmove(target, source, size)

    def record(self):
        return "before"


class Event:
    def __init__(self, disable_timing):
        self._stream = None

    def record(self, stream):
        self._stream = stream

    def synchronize(self):
        if self._stream is not None:
            self._stream.synchronize()


class Cuda:
    """CuPy as far as a copy uses it; call ``fail`` of memcpyAsync fails, as those of hostRegister in ``refuse``."""

    def __init__(self, fail=None, refuse=()):
        self.streams, self.open, self.devices, self.calls = {}, {}, [], 0
        self._fail, self._refuse, self._lock = fail, refuse, threading.Lock()
        self.asked = 0
        self.compute = Stream(self)
        runtime = SimpleNamespace(
            CUDARuntimeError=CudaError,
            hostRegister=self.register,
            hostUnregister=self.open.pop,
            memcpyAsync=self.copy,
            deviceSynchronize=lambda: None,
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            Event=Event,
            Stream=lambda non_blocking: Stream(self),
            Device=lambda index: SimpleNamespace(use=lambda: self.devices.append(index)),
            get_current_stream=lambda: self.compute,
        )

    def register(self, address, size, flags):
        with self._lock:
            self.asked += 1
            if self.asked in self._refuse:
                raise CudaError("no")
        self.open[address] = size

    def copy(self, target, source, size, kind, stream):
        assert kind == 1 and self.streams[stream].waited == ["before"]
        with self._lock:
            self.calls += 1
            if self.calls == self._fail:
                raise CudaError("illegal address")
        self.streams[stream].work.append((target, source, size))


def uploading():
    """The threads of uploads, of which no test leaves any."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("bigbfs-upload")]


def copy_in(cuda, index, address, source):
    Upload(cuda, index, [(SimpleNamespace(data=SimpleNamespace(ptr=address)), source)]).wait()


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(upload, "PIECE", PAGE)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("nbytes", [8, PAGE - 8, PAGE, PAGE + 8, 9 * PAGE, 33 * PAGE + 16])
def test_all_bytes_arrive_though_copies_are_late(small, nbytes, threads):
    source = np.random.default_rng(1).integers(0, 2**63, nbytes // 8, np.uint64)
    target = np.zeros_like(source)
    cuda = Cuda()
    with held_to(threads):
        copy_in(cuda, 3, target.ctypes.data, source)
    assert np.array_equal(target, source)
    assert cuda.open == {} and set(cuda.devices) == {3}
    assert len(cuda.devices) == min(threads, -(-nbytes // PAGE))


@pytest.mark.parametrize("fail", [1, 4, 17])
def test_a_fault_ends_all_threads_and_leaves_nothing_pinned(small, fail):
    cuda = Cuda(fail=fail)
    source = np.zeros(4000 * PAGE, np.uint8)
    target = np.zeros_like(source)
    with held_to(3), pytest.raises(CudaError, match="illegal"):
        copy_in(cuda, 0, target.ctypes.data, source)
    assert cuda.open == {}
    assert not uploading()


def test_pinned_buffers_that_cannot_be_had(small):
    cuda = Cuda(refuse=range(100))
    with pytest.raises(DoesNotFitError, match="ulimit -l"):
        copy_in(cuda, 0, 0, np.zeros(PAGE, np.uint8))
    assert cuda.open == {} and cuda.calls == 0


def test_threads_that_get_no_buffers_leave_their_share_to_the_others(small):
    cuda = Cuda(refuse=(1, 3))
    source = np.random.default_rng(2).integers(0, 2**63, 100 * PAGE // 8, np.uint64)
    target = np.zeros_like(source)
    with held_to(4):
        copy_in(cuda, 0, target.ctypes.data, source)
    assert np.array_equal(target, source) and cuda.open == {}


@pytest.mark.parametrize(("free", "threads"), [(5 * PAGE, 2), (2 * PAGE, 1)])
def test_as_many_threads_as_host_memory_has_room_for(small, monkeypatch, free, threads):
    monkeypatch.setattr(upload, "free_memory", lambda: free)
    source = np.arange(100 * PAGE // 8, dtype=np.uint64)
    target = np.zeros_like(source)
    cuda = Cuda()
    with held_to(8):
        copy_in(cuda, 0, target.ctypes.data, source)
    assert np.array_equal(target, source) and len(cuda.devices) == threads


def test_an_event_that_cannot_be_made_leaves_nothing_pinned(small):
    def refuse(disable_timing):
        raise CudaError("out of resources")

    cuda = Cuda()
    cuda.cuda.Event = refuse
    with pytest.raises(CudaError, match="resources"):
        copy_in(cuda, 0, 0, np.zeros(PAGE, np.uint8))
    assert cuda.open == {}


def test_an_upload_that_nobody_waits_for_can_be_stopped(small):
    cuda = Cuda()
    source = np.zeros(4000 * PAGE, np.uint8)
    room = np.zeros_like(source)  # must outlive the copies
    target = SimpleNamespace(data=SimpleNamespace(ptr=room.ctypes.data))
    with held_to(2):
        upload = Upload(cuda, 0, [(target, source)])
        upload.close()
        upload.close()
    assert cuda.open == {} and cuda.calls < 4000
    assert not uploading()
