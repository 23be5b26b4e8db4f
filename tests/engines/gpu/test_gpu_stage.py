"""Pinned buffers and their twins against a CUDA that writes down what is asked of it, and in which order."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.engines.gpu.runtime import stage
from bigbfs.engines.gpu.runtime.stage import CudaStage
from bigbfs.errors import DeviceError, DoesNotFitError

PAGE = 1 << 12


class CudaError(RuntimeError):
    pass


class Cuda:
    """CuPy as far as a stage uses it."""

    def __init__(self, fail=None):
        self.log = []
        self.open = {}
        self.fail = fail
        self.events = 0
        cuda = SimpleNamespace(
            Event=self.event,
            get_current_stream=lambda: self.compute,
            runtime=SimpleNamespace(
                CUDARuntimeError=CudaError,
                hostRegister=self.register,
                hostUnregister=self.open.pop,
                memcpyAsync=lambda target, source, size, kind, stream: self.note(f"copy {size} on {stream}"),
            ),
        )
        self.cupy = SimpleNamespace(cuda=cuda)
        self.compute = self.stream("compute")
        self.copies = self.stream("copies")

    def note(self, what):
        self.log.append(what)
        if self.fail and self.fail in what:
            raise CudaError("illegal address")

    def register(self, address, size, flags):
        self.note(f"register {size} {flags}")
        self.open[address] = size

    def event(self, disable_timing):
        name = ("copied", "consumed")[self.events]
        self.events += 1
        return SimpleNamespace(
            synchronize=lambda: self.note(f"host waits for {name}"),
            record=lambda stream: self.note(f"{stream.ptr} records {name}"),
            name=name,
        )

    def stream(self, name):
        return SimpleNamespace(
            ptr=name,
            wait_event=lambda event: self.note(f"{name} waits for {event.name}"),
            synchronize=lambda: self.note(f"host waits for {name}"),
        )

    @contextmanager
    def errors(self):
        try:
            yield
        except CudaError as error:
            raise DeviceError("a device failed") from error

    def stage(self, nbytes=2 * PAGE):
        array = SimpleNamespace(data=SimpleNamespace(ptr=1 << 40))
        return CudaStage(self.cupy, nbytes, array, self.copies, self.errors)


def test_copies_wait_for_kernels_and_kernels_for_copies():
    cuda = Cuda()
    made = cuda.stage()
    assert made.host.nbytes == 2 * PAGE and made.host.flags.writeable
    assert cuda.log == [f"register {2 * PAGE} 2"]
    cuda.log.clear()
    made.wait()
    made.send(100)
    made.done()
    assert cuda.log == [
        "host waits for copied",
        "copies waits for consumed",
        "copy 100 on copies",
        "copies records copied",
        "compute waits for copied",
        "compute records consumed",
    ]
    cuda.log.clear()
    made.close()
    made.close()
    assert cuda.log == ["host waits for copies"]
    assert cuda.open == {}


@pytest.mark.parametrize("step", ["copied", "copy", "consumed"])
def test_a_fault_of_the_device_is_ours(step):
    cuda = Cuda()
    made = cuda.stage()
    cuda.fail = step
    with pytest.raises(DeviceError):
        {"copied": made.wait, "copy": lambda: made.send(1), "consumed": made.done}[step]()
    cuda.fail = "host waits for copies"
    with pytest.raises(DeviceError):
        made.close()
    assert cuda.open == {}


def test_memory_that_cannot_be_had(monkeypatch):
    cuda = Cuda(fail="register")
    with pytest.raises(DoesNotFitError, match="ulimit -l"):
        cuda.stage()
    assert cuda.open == {}
    monkeypatch.setattr(stage, "free_memory", lambda: PAGE)
    with pytest.raises(DoesNotFitError, match=r"8 KiB of pinned .* 4 KiB are free"):
        Cuda().stage()


def test_what_is_written_is_what_is_copied():
    cuda = Cuda()
    made = cuda.stage()
    seen = []
    cuda.cupy.cuda.runtime.memcpyAsync = lambda target, source, size, kind, stream: seen.append((target, source, size))
    cuda.cupy.cuda.runtime.memcpy2DAsync = lambda *given: seen.append(given[:6])
    made.host[:4] = (1, 2, 3, 4)
    made.send(4)
    made.send(3, rows=2)
    device, host = 1 << 40, made.host.ctypes.data
    assert seen == [(device, host, 4), (device, PAGE, host, PAGE, 3, 2)]
    assert np.array_equal(made.host[:4], (1, 2, 3, 4))
