"""Arguments of a launch: what a kernel finds behind their addresses."""

import ctypes
import gc
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.engines.gpu.runtime.cuda_kernel import CudaKernel
from bigbfs.engines.gpu.runtime.parameters import parameters
from bigbfs.errors import DeviceError

STRUCT = np.dtype([("n", np.uint64), ("at", np.uint64), ("all", np.uint64, (3,))])
DEVICE = SimpleNamespace(data=SimpleNamespace(ptr=0x7F0012345678))
SCALARS = (
    np.uint64(2**64 - 1), np.uint32(7), np.int32(-5), np.int64(-(2**40)), np.float64(0.1), np.float32(-2.5),
    np.bool_(True), np.uint8(255),
)  # fmt: skip


def struct():
    value = np.zeros((), STRUCT)
    value["n"], value["at"], value["all"] = 3, 2**63, (1, 2, 3)
    return value


def read(place, dtype):
    """Return what a kernel's parameter of ``dtype`` at this address holds."""
    return np.frombuffer(ctypes.string_at(int(place), np.dtype(dtype).itemsize), dtype)[0]


def test_every_argument_is_behind_its_address():
    whole = struct()
    args = (whole, DEVICE, *SCALARS)
    places, values = parameters(args)
    assert len(places) == len(values) == len(args)
    assert read(places[0], STRUCT) == whole
    assert read(places[1], np.uint64) == DEVICE.data.ptr
    for place, scalar in zip(places[2:], SCALARS, strict=True):
        assert read(place, scalar.dtype) == scalar


@pytest.mark.parametrize(
    "wrong", [np.zeros(3), np.zeros((), np.uint64), np.zeros(2, STRUCT), np.clongdouble(1), struct()[()], 3, None, b"x"]
)
def test_what_no_kernel_takes_is_refused(wrong):
    with pytest.raises(TypeError, match="argument 1 of a kernel"):
        parameters((DEVICE, wrong))


class Driver:
    """Notes launches, and looks at their arguments while they are alive."""

    def __init__(self, error=None):
        self.seen = []
        self._error = error

    def launchKernel(self, kernel, *rest):
        self.note("alone", kernel, rest[:-2], rest[-2])

    def launchCooperativeKernel(self, kernel, *rest):
        self.note("together", kernel, rest[:-1], rest[-1])

    def note(self, how, kernel, shape, places):
        if self._error:
            raise self._error
        first = read(read(places, np.uint64), np.uint64)
        self.seen.append((how, kernel, shape, int(first)))


def launched(cooperative, error=None):
    driver = Driver(error)
    cuda = SimpleNamespace(
        driver=SimpleNamespace(
            launchKernel=driver.launchKernel,
            launchCooperativeKernel=driver.launchCooperativeKernel,
            CUDADriverError=ZeroDivisionError,
        ),
        get_current_stream=lambda: SimpleNamespace(ptr=99),
    )
    raw = SimpleNamespace(kernel=SimpleNamespace(ptr=1234))
    return CudaKernel(raw, "k", cuda, SimpleNamespace(pairs=None), cooperative), driver


@pytest.mark.parametrize(("cooperative", "how"), [(False, "alone"), (True, "together")])
def test_a_launch_goes_to_the_driver(cooperative, how):
    kernel, driver = launched(cooperative)
    kernel(3, 256, (np.uint64(42), DEVICE), shared=16)
    assert driver.seen == [(how, 1234, (3, 1, 1, 256, 1, 1, 16, 99), 42)]


def test_what_was_laid_out_once_is_launched_again_with_structs_as_they_are_then():
    kernel, driver = launched(False)
    whole = struct()
    start = kernel.ready(3, 256, (whole, np.uint64(7)), shared=16)
    gc.collect()
    start()
    whole["n"] = 5
    start()
    assert driver.seen == [("alone", 1234, (3, 1, 1, 256, 1, 1, 16, 99), n) for n in (3, 5)]


def test_what_was_laid_out_lives_as_long_as_what_launches_it():
    kernel, driver = launched(True)
    starts = [kernel.ready(1, 32, (np.uint64(number),)) for number in range(100)]
    gc.collect()
    for start in starts:
        start()
    assert [first for *_, first in driver.seen] == list(range(100))


def test_a_refused_launch_names_the_kernel():
    kernel, _ = launched(False, ZeroDivisionError("CUDA_ERROR_INVALID_VALUE"))
    with pytest.raises(DeviceError, match="kernel k cannot be launched: CUDA_ERROR_INVALID_VALUE"):
        kernel(1, 1, (np.uint64(0),))
