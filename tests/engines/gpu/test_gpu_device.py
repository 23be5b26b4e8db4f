"""The probe names what is missing, whatever it is, and asking is cheap."""

import builtins
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest

from bigbfs.engines.gpu.runtime import device
from bigbfs.errors import NoDeviceError


class FakeCudaError(RuntimeError):
    pass


def fake_cupy(monkeypatch, *, driver=13000, built=13000, count=1, nvrtc=None, capability=(9, 0), broken=False):
    """Put a CuPy into sys.modules that answers as told."""

    def get_count():
        if isinstance(count, Exception):
            raise count
        return count

    def properties(index):
        if broken:
            raise FakeCudaError("cudaErrorDevicesUnavailable")
        return {"name": b"NVIDIA Test", "major": capability[0], "minor": capability[1], "multiProcessorCount": 132}

    def get_version():
        if nvrtc:
            raise nvrtc
        return (13, 0)

    runtime = SimpleNamespace(
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: built,
        getDeviceCount=get_count,
        getDeviceProperties=properties,
        memGetInfo=lambda: (5 << 30, 6 << 30),
        deviceGetAttribute=lambda attribute, index: {"read-only": 1, "same pointer": 0}[attribute],
        cudaDevAttrHostRegisterReadOnlySupported="read-only",
        cudaDevAttrCanUseHostPointerForRegisteredMem="same pointer",
    )

    class Device:
        def __init__(self, index):
            pass

        def __enter__(self):
            pass

        def __exit__(self, *_):
            pass

    cupy = ModuleType("cupy")
    cupy.cuda = ModuleType("cupy.cuda")
    cupy.cuda.runtime = runtime
    cupy.cuda.Device = Device
    cupy.cuda.nvrtc = SimpleNamespace(getVersion=get_version)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cupy.cuda)


def test_what_a_usable_device_reports(monkeypatch):
    fake_cupy(monkeypatch)
    info = device.probe()
    assert (info.name, info.sm_count, info.capability) == ("NVIDIA Test", 132, (9, 0))
    assert (info.free_bytes, info.total_bytes, info.driver) == (5 << 30, 6 << 30, 13000)
    assert (info.registers_read_only, info.uses_host_pointers) == (True, False)


class DynamicLibNotFoundError(RuntimeError):
    """What cuda-pathfinder raises; not a CUDA error."""


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"driver": 0}, "no NVIDIA driver is loaded"),
        ({"driver": 12080}, r"too old: it knows CUDA up to 12.8 .* 13.0; .*bigbfs\[cuda12\]"),
        ({"count": 0}, "sees no GPU .*CUDA_VISIBLE_DEVICES"),
        (
            {"count": FakeCudaError("cudaErrorNoDevice: no CUDA-capable device")},
            "no usable NVIDIA GPU: cudaErrorNoDevice",
        ),
        ({"nvrtc": DynamicLibNotFoundError("no libnvrtc\nsearched /here")}, "nvidia-cuda-nvrtc.*: no libnvrtc$"),
        ({"capability": (6, 1)}, "NVIDIA Test has compute capability 6.1; .*7.0"),
        ({"broken": True}, "GPU 0 does not answer: cudaErrorDevicesUnavailable"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, answers, message):
    fake_cupy(monkeypatch, **answers)
    with pytest.raises(NoDeviceError, match=message) as caught:
        device.probe()
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("missing", "message"), [("cupy", r"pip install 'bigbfs\[cuda13\]'"), ("fastrlock", "CuPy .*fastrlock.*reinstall")]
)
def test_without_cupy(monkeypatch, missing, message):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "cupy":
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(NoDeviceError, match=message):
        device.probe()


def test_available_is_the_probe_in_one_word(monkeypatch):
    monkeypatch.setattr(device.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(device, "count", lambda: 1)
    fake_cupy(monkeypatch)
    assert device.available() is True
    fake_cupy(monkeypatch, nvrtc=RuntimeError("none"))
    assert device.available() is False
    monkeypatch.setattr(device, "count", lambda: 0)
    fake_cupy(monkeypatch)
    assert device.available() is False


def test_available_is_cheap_without_a_driver(monkeypatch):
    monkeypatch.setattr(device, "count", lambda: 0)
    monkeypatch.setattr(device, "probe", lambda: pytest.fail("CuPy was asked"))
    start = time.perf_counter()
    assert device.available() is False
    assert time.perf_counter() - start < 0.05


def test_the_driver_is_asked_without_a_crash():
    assert device.count() >= 0
