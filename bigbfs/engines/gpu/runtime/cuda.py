"""The runtime on a CUDA device, by way of CuPy (imported when the first one is made).

Arrays come from a memory pool of the runtime's own, whose limit is the budget: an allocation above it fails. Kernels
are compiled by NVRTC for the device and kept in CuPy's cache on disk.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bigbfs.engines.gpu.runtime.arguments import team_of
from bigbfs.engines.gpu.runtime.beside import Stream
from bigbfs.engines.gpu.runtime.clock import LaunchClock, Stopwatch
from bigbfs.engines.gpu.runtime.coming import Arrived, Coming, OnTheWay
from bigbfs.engines.gpu.runtime.cuda_kernel import CudaKernel
from bigbfs.engines.gpu.runtime.device import probe
from bigbfs.engines.gpu.runtime.memory import HostMapping, from_pool
from bigbfs.engines.gpu.runtime.runtime import Array, Shape, Use, unused
from bigbfs.engines.gpu.runtime.shared import DeviceMemory
from bigbfs.engines.gpu.runtime.stage import CudaStage, PinnedMemory
from bigbfs.engines.gpu.runtime.stretches import Source, Stretches, in_memory
from bigbfs.errors import DeviceError, DoesNotFitError
from bigbfs.sizes import format_size

SOURCES = Path(__file__).resolve().parents[3]
"""The package: kernel files are named, and included, by their path from here."""

TO_DEVICE, TO_HOST, ANY_WAY = 1, 2, 4
"""cudaMemcpyKind."""

PIECE = 64 << 20
"""Bytes copied at a time where that takes a copy in between."""

BIG = 64 << 20
"""Arrays from this size up are copied by way of pinned buffers: the link then runs at full rate."""


@cache
def source_hash() -> str:
    """Return a hash of all kernel sources: the cache of compiled kernels does not look into headers."""
    digest = hashlib.sha256()
    for path in sorted(path for path in SOURCES.rglob("*.cu*") if path.suffix in (".cu", ".cuh")):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def compile_options(defines: Mapping[str, str]) -> tuple[str, ...]:
    """Return the NVRTC options for kernels with ``defines``, the architecture aside."""
    options = ["-std=c++17", f"-I{SOURCES}", f"-DBIGBFS_SOURCES=0x{source_hash()}"]
    return (*options, *(f"-D{name}={value}" for name, value in sorted(defines.items())))


def source(file: str) -> str:
    """Return the text of ``file``, so that a compiler message names it."""
    return f'#line 1 "{file}"\n{(SOURCES / file).read_text()}'


class CudaRuntime:
    """Memory, kernels and time of one GPU (see ``runtime.Runtime``).

    Parameters
    ----------
    index
        CUDA's number of the device.
    limit
        Bytes of device memory that this runtime may allocate; None: no limit but the device's.

    Raises
    ------
    NoDeviceError
        There is no usable GPU.
    """

    def __init__(self, index: int = 0, limit: int | None = None) -> None:
        self.info = probe(index)
        import cupy

        self.name = self.info.name
        self.sm_count = self.info.sm_count
        self.registers_read_only = self.info.registers_read_only
        self._cupy = cupy
        self._limit = limit
        self._device = cupy.cuda.Device(index)
        self._device.use()
        self._pool = cupy.cuda.MemoryPool()
        if limit is not None:
            # zero means "no limit" to the pool
            self._pool.set_limit(size=max(limit, 1))
        self.team = team_of(self.info.capability)
        self._modules: dict[tuple[str, frozenset[tuple[str, str]], bool], Any] = {}
        self._kernels: dict[tuple[Any, str], CudaKernel] = {}
        self._copies: Any = None
        self._way = OnTheWay(cupy, index, self.empty, self._plain_copy, self._errors)
        self._clock = LaunchClock(cupy.cuda)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of device memory that the pool holds, in use or not."""
        return int(self._pool.total_bytes())

    def use(self) -> None:
        """Let this thread work with the device."""
        self._device.use()

    def free_bytes(self) -> int:
        """Return the bytes that can still be allocated."""
        with self._errors():
            free = int(self._cupy.cuda.runtime.memGetInfo()[0]) + int(self._pool.free_bytes())
        return free if self._limit is None else min(free, self._limit - int(self._pool.used_bytes()))

    def empty(self, shape: Shape, dtype: npt.DTypeLike) -> Array:
        """Allocate without a value.

        Raises
        ------
        DoesNotFitError
            The limit or the device does not allow it.
        """
        dtype = np.dtype(dtype)
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        try:
            with self._errors():
                memory = from_pool(self._cupy, self._pool, nbytes)
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            held = f"{format_size(self._pool.used_bytes())} in use"
            held += "" if self._limit is None else f", limit {format_size(self._limit)}"
            raise DoesNotFitError(
                f"{format_size(nbytes)} of GPU memory cannot be had ({held})",
                remedies=(("residency", "mapped"), ("vram_budget", None, "a larger {}"), ("backend", "cpu")),
            ) from error
        return self._cupy.ndarray(shape, dtype, memptr=memory)

    def zeros(self, shape: Shape, dtype: npt.DTypeLike) -> Array:
        """Allocate zeros."""
        array = self.empty(shape, dtype)
        self.fill(array, 0)
        return array

    def fill(self, array: Array, value: int) -> None:
        """Set every element; values of one repeated byte take a memset, others a kernel of CuPy's."""
        if array.nbytes == 0:
            return
        pattern = set(np.array(value, array.dtype).tobytes()) if value else {0}  # mostly 0
        with self._errors():
            if len(pattern) == 1:
                array.data.memset_async(pattern.pop(), array.nbytes)
            else:
                array.fill(value)

    def upload(self, array: Source) -> Array:
        """Copy to device memory; a large array by threads and pinned buffers (upload.py)."""
        coming = self.coming(array)
        coming.wait()
        return coming.array

    def coming(self, array: Source) -> Coming | Arrived:
        """Return where an array comes to, and what waits for it; a small one is there."""
        source = array if isinstance(array, Stretches) else np.ascontiguousarray(array)
        if source.nbytes < BIG:
            return Arrived(self._plain_copy(source, self.empty(source.shape, source.dtype)))
        return self._way.coming(source)

    def _plain_copy(self, source: Source, target: Array) -> Array:
        if source.nbytes:
            with self._errors():
                self._copy_in(target.data.ptr, in_memory(source))
        return target

    def begin_upload(self, *arrays: Source) -> None:
        """Begin to copy large arrays; a small one is copied when it is asked for."""
        large = [each for each in arrays if each.nbytes >= BIG]
        self._way.begin(*(each for each in large if isinstance(each, Stretches) or each.flags.c_contiguous))

    def _copy_in(self, address: int, host: np.ndarray) -> None:
        """Copy ``host`` to device memory at ``address``."""
        cuda = self._cupy.cuda.runtime
        try:
            cuda.memcpy(address, host.ctypes.data, host.nbytes, TO_DEVICE)
        except cuda.CUDARuntimeError:
            # part of memory that is registered in several chunks: to the driver these are not one range
            flat = host.reshape(-1).view(np.uint8)
            for start in range(0, len(flat), PIECE):
                piece = flat[start : start + PIECE].copy()
                cuda.memcpy(address + start, piece.ctypes.data, piece.nbytes, TO_DEVICE)

    def write(self, array: Array, values: np.ndarray) -> None:
        """Overwrite ``array``."""
        with self._errors():
            self._cupy.cuda.runtime.memcpy(array.data.ptr, values.ctypes.data, values.nbytes, TO_DEVICE)

    def download(self, array: Array) -> np.ndarray:
        """Copy to host memory after everything launched."""
        host = np.empty(array.shape, array.dtype)
        self.read(array, host)
        return host

    def read(self, array: Array, values: np.ndarray) -> None:
        """Copy to ``values`` after everything launched."""
        if values.nbytes:
            with self._errors():
                self._cupy.cuda.runtime.memcpy(values.ctypes.data, array.data.ptr, values.nbytes, TO_HOST)

    def stage(self, nbytes: int) -> CudaStage:
        """Make a pinned buffer and its twin, copied on a stream of their own."""
        if self._copies is None:
            with self._errors():
                self._copies = self._cupy.cuda.Stream(non_blocking=True)
        return CudaStage(self._cupy, nbytes, self.empty(nbytes, np.uint8), self._copies, self._errors)

    def pinned(self, nbytes: int) -> PinnedMemory:
        """Make pinned host memory."""
        return PinnedMemory(self._cupy, nbytes)

    def beside(self) -> Stream:
        """Make a second stream."""
        return Stream(self._cupy.cuda)

    @property
    def place(self) -> str:
        """Where the device is: its PCI bus id."""
        return str(self._cupy.cuda.runtime.deviceGetPCIBusId(self.info.index))

    def reaches(self, place: str) -> str | None:
        """Return why kernels cannot reach the memory of the GPU in ``place``; None: they can."""
        cuda = self._cupy.cuda.runtime
        try:
            other = int(cuda.deviceGetByPCIBusId(place))
        except cuda.CUDARuntimeError as error:
            return f"this process does not see it ({error}); is CUDA_VISIBLE_DEVICES another for each rank?"
        if other == self.info.index:
            return "it is the same GPU"
        able = cuda.deviceCanAccessPeer(self.info.index, other)
        return None if able else "the driver says that it has no peer access (cudaDeviceCanAccessPeer)"

    def shareable(self, nbytes: int) -> DeviceMemory:
        """Allocate zeros that other GPUs read and write, outside the pool and its limit."""
        return DeviceMemory(self._cupy, self.info.index, self.place, nbytes)

    def map(self, array: np.ndarray, use: Use = unused) -> HostMapping:
        """Make host memory readable by kernels, step by step."""
        with self._errors():
            return HostMapping(self._cupy, self.info, np.ascontiguousarray(array), use)

    def copy(self, target: Array, source: Array) -> None:
        """Copy mapped host memory, or device memory, to device memory, in launch order."""
        with self._errors():
            stream = self._cupy.cuda.get_current_stream()
            self._cupy.cuda.runtime.memcpyAsync(target.data.ptr, source.data.ptr, target.nbytes, ANY_WAY, stream.ptr)

    def pointer(self, array: Array) -> int:
        """Return the device address."""
        return int(array.data.ptr)

    def kernel(self, file: str, name: str, defines: Mapping[str, str], *, cooperative: bool = False) -> CudaKernel:
        """Compile and load a kernel.

        Raises
        ------
        DeviceError
            It does not compile or load; the message is the compiler's.
        """
        key = (file, frozenset(defines.items()), cooperative)
        if (key, name) not in self._kernels:
            try:
                if key not in self._modules:
                    self._modules[key] = self._cupy.RawModule(
                        code=source(file), options=compile_options(defines), enable_cooperative_groups=cooperative
                    )
                raw = self._modules[key].get_function(name)
                raw.compile()
            except (self._cupy.cuda.compiler.CompileException, self._cupy.cuda.driver.CUDADriverError) as error:
                raise DeviceError(f"{file}: kernel {name} cannot be built for {self.name}: {error}") from error
            self._kernels[key, name] = CudaKernel(raw, name, self._cupy.cuda, self._clock, cooperative)
        return self._kernels[key, name]

    def max_blocks(self, kernel: Any, block: int) -> int:
        """Return the blocks that run at once."""
        driver = self._cupy.cuda.driver
        return int(driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.raw.kernel.ptr, block, 0)) * self.sm_count

    def attributes(self, kernel: Any, block: int) -> dict[str, float]:
        """Return what a kernel takes (see ``runtime.Runtime``)."""
        raw, device = kernel.raw, self._cupy.cuda.Device()
        most = int(device.attributes["MaxThreadsPerMultiProcessor"])
        return {
            "registers": int(raw.num_regs),
            "shared_bytes": int(raw.shared_size_bytes),
            "local_bytes": int(raw.local_size_bytes),
            "occupancy": self.max_blocks(kernel, block) // self.sm_count * block / most,
        }

    def synchronize(self) -> None:
        """Wait for everything launched."""
        with self._errors():
            self._cupy.cuda.runtime.deviceSynchronize()

    @contextmanager
    def timer(self) -> Iterator[Stopwatch]:
        """Measure a block by the host's clock between two synchronizations."""
        watch = Stopwatch()
        self.synchronize()
        start = time.perf_counter()
        yield watch
        self.synchronize()
        watch.seconds = time.perf_counter() - start

    @contextmanager
    def kernel_clock(self) -> Iterator[Stopwatch]:
        """Sum up the time of the kernels launched inside, by events around each."""
        watch = Stopwatch()
        self.synchronize()
        with self._clock.running() as pairs:
            yield watch
        self.synchronize()
        elapsed = self._cupy.cuda.get_elapsed_time
        watch.seconds = sum(elapsed(before, after) for before, after in pairs) / 1e3

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn an error of CUDA's into one of ours."""
        try:
            yield
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise DeviceError(f"{self.name}: {error}") from error

    def close(self) -> None:
        """Give the device memory back."""
        self._way.close()
        self._kernels.clear()
        self._modules.clear()
        self._copies = None
        self._pool.free_all_blocks()
