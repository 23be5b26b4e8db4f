"""One probe of the GPU: what it is, what it can do, and, if there is none, which part is missing."""

from __future__ import annotations

import ctypes
import importlib.util
from dataclasses import dataclass
from typing import Any

from bigbfs.errors import NoDeviceError

OLDEST = (7, 0)
"""First compute capability whose threads make progress on their own, which the kernels rely on."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A usable GPU.

    Attributes
    ----------
    name
        For people: ``NVIDIA H200``.
    index
        CUDA's number of the device.
    sm_count
        Multiprocessors.
    capability
        Compute capability, (major, minor).
    total_bytes, free_bytes
        Device memory, and what of it was free when asked.
    driver
        Newest CUDA version that the driver knows: 13000 is 13.0.
    registers_read_only
        Whether read-only host memory, such as a file mapping, can be registered as it is.
    uses_host_pointers
        Whether registered host memory has the same address on the device.
    """

    name: str
    index: int
    sm_count: int
    capability: tuple[int, int]
    total_bytes: int
    free_bytes: int
    driver: int
    registers_read_only: bool
    uses_host_pointers: bool


def available() -> bool:
    """Return whether a GPU can be used. Cheap where there is none: CuPy is not imported without a device."""
    if importlib.util.find_spec("cupy") is None or count() == 0:
        return False
    try:
        probe()
    except NoDeviceError:
        return False
    return True


def probe(index: int = 0) -> DeviceInfo:
    """Return what is known of GPU ``index``.

    Raises
    ------
    NoDeviceError
        Something is missing; the message says what, and what to install.
    """
    cupy = _import_cupy()
    runtime = cupy.cuda.runtime
    _check_driver(runtime)
    _check_compiler()
    try:
        properties = runtime.getDeviceProperties(index)
        with cupy.cuda.Device(index):
            free, total = runtime.memGetInfo()
        read_only = runtime.deviceGetAttribute(runtime.cudaDevAttrHostRegisterReadOnlySupported, index)
        same_pointer = runtime.deviceGetAttribute(runtime.cudaDevAttrCanUseHostPointerForRegisteredMem, index)
    except Exception as error:
        raise NoDeviceError(f"GPU {index} does not answer: {error}") from error
    capability = (int(properties["major"]), int(properties["minor"]))
    name = properties["name"].decode()
    if capability < OLDEST:
        raise NoDeviceError(
            f"{name} has compute capability {capability[0]}.{capability[1]}; bigbfs needs {OLDEST[0]}.{OLDEST[1]} "
            "or newer (Volta)",
            remedies=(("backend", "cpu"),),
        )
    return DeviceInfo(
        name=name,
        index=index,
        sm_count=int(properties["multiProcessorCount"]),
        capability=capability,
        total_bytes=int(total),
        free_bytes=int(free),
        driver=int(runtime.driverGetVersion()),
        registers_read_only=bool(read_only),
        uses_host_pointers=bool(same_pointer),
    )


def count() -> int:
    """Return the number of GPUs, asked of the driver itself, without making any of them ready: 0 without a driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        found = ctypes.c_int(0)
        if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(found)) != 0:
            return 0
    except (OSError, AttributeError):
        return 0
    return found.value


def _import_cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        if error.name not in (None, "cupy"):
            raise NoDeviceError(
                f"CuPy cannot be imported: {error}; reinstall it: pip install 'bigbfs[cuda13]'"
            ) from error
        raise NoDeviceError(
            "CuPy is not installed: pip install 'bigbfs[cuda13]' (NVIDIA driver 580 or newer) or 'bigbfs[cuda12]' "
            "(525 or newer)",
            remedies=(("backend", "cpu", "or use {}"),),
        ) from error
    return cupy


def _check_driver(runtime: Any) -> None:
    """Raise unless the driver is there, new enough for this CuPy, and has a device."""
    version = int(runtime.driverGetVersion())
    if version == 0:
        remedies = ("install one", ("backend", "cpu"))
        raise NoDeviceError("no NVIDIA driver is loaded (nvidia-smi would fail too)", remedies=remedies)
    needed = int(runtime.runtimeGetVersion())
    if version // 1000 < needed // 1000:
        raise NoDeviceError(
            f"the NVIDIA driver is too old: it knows CUDA up to {_dotted(version)} and this CuPy was built for "
            f"{_dotted(needed)}; update the driver, or pip install 'bigbfs[cuda{version // 1000}]' instead"
        )
    try:
        count = int(runtime.getDeviceCount())
    except Exception as error:
        raise NoDeviceError(f"no usable NVIDIA GPU: {error}", remedies=(("backend", "cpu"),)) from error
    if count == 0:
        what = "the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES empty?)"
        raise NoDeviceError(what, remedies=(("backend", "cpu"),))


def _check_compiler() -> None:
    """Raise unless the run-time compiler can be loaded; its absence is no CUDA error but one of its own."""
    try:
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        raise NoDeviceError(
            "the CUDA run-time compiler (libnvrtc) cannot be loaded: pip install 'bigbfs[cuda13]' (or [cuda12]) brings "
            f"it as nvidia-cuda-nvrtc; {type(error).__name__}: {reason}"
        ) from error


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
