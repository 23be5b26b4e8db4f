"""Host memory that a GPU reads in place: registered where it lies if that can be, else copied into memory that can.

The kinds, cheapest first (FACTS: 0.02 to 0.3 s per GB lie between them, and the same speed of reading):

``"file"``    the pages of a read-only file mapping, registered as they are; needs the device's read-only registration
``"host"``    a large array of the caller's own, registered as it is
``"copy"``    a copy in anonymous huge pages, registered
``"pinned"``  a copy in memory that the driver allocates (where registration is refused, or RLIMIT_MEMLOCK is low)

Every registration is taken back by ``close``, also after an error or an interrupt half-way.
"""

from __future__ import annotations

import ctypes
import mmap
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bigbfs.errors import DoesNotFitError
from bigbfs.gpu.device import DeviceInfo
from bigbfs.sizes import format_size, free_memory

MAPPED = 2
READ_ONLY = 8
"""Flags of cudaHostRegister, which CuPy does not name."""

CHUNK = 64 << 30
"""Bytes registered by one call: drivers since 580 refuse 512 GiB and more at once."""

IN_PLACE = 32 << 20
"""Arrays from this size up are registered where they lie: the C library gives them pages of their own."""

COPY_THREADS = 4
COPY_PIECE = 64 << 20

POPULATE_READ = 22
"""madvise's MADV_POPULATE_READ (Linux 5.14), which Python does not name."""

POPULATE_THREADS = 8


class Registration:
    """Pages of host memory registered with the device, until ``close``.

    Parameters
    ----------
    cuda
        ``cupy.cuda.runtime``, or what stands in for it in a test.
    address, nbytes
        Any range; the whole pages that hold it are registered.
    flags
        Of cudaHostRegister.

    Raises
    ------
    Exception
        What ``cuda`` raises when it refuses; nothing is left registered then.
    """

    def __init__(self, cuda: Any, address: int, nbytes: int, flags: int) -> None:
        self._cuda = cuda
        self._chunks: list[int] = []
        start = address // mmap.PAGESIZE * mmap.PAGESIZE
        end = -(-(address + nbytes) // mmap.PAGESIZE) * mmap.PAGESIZE
        try:
            for chunk in range(start, end, CHUNK):
                cuda.hostRegister(chunk, min(CHUNK, end - chunk), flags)
                self._chunks.append(chunk)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unregister every chunk; a second call does nothing."""
        while self._chunks:
            self._cuda.hostUnregister(self._chunks.pop())


class HostMapping:
    """The array ``source`` where kernels can read it, without taking device memory.

    Parameters
    ----------
    cupy
        The module.
    info
        The device.
    source
        C-contiguous, not empty; it must not be unmapped before ``close``.

    Attributes
    ----------
    array
        CuPy array of the same shape and dtype whose memory is in the host.
    kind
        See the module docstring.

    Raises
    ------
    DoesNotFitError
        Host memory for a copy cannot be had.
    """

    def __init__(self, cupy: Any, info: DeviceInfo, source: np.ndarray) -> None:
        self._registration: Registration | None = None
        self._owner: Any = source
        self.array: Any = None
        try:
            address = (
                self._in_place(cupy, info, source) or self._registered_copy(cupy, source) or self._pinned(cupy, source)
            )
            self.array = _view(cupy, info, address, source, self._owner)
        except BaseException:
            self.close()
            raise

    def _in_place(self, cupy: Any, info: DeviceInfo, source: np.ndarray) -> int:
        """Register ``source`` where it lies and return its address; 0 if that cannot be."""
        if not reads_in_place(source, info.registers_read_only):
            return 0
        file = is_file_mapping(source)
        address = int(source.ctypes.data)
        if file:
            populate(address, source.nbytes)
        try:
            self._registration = Registration(cupy.cuda.runtime, address, source.nbytes, READ_ONLY if file else MAPPED)
        except cupy.cuda.runtime.CUDARuntimeError:
            return 0
        self.kind = "file" if file else "host"
        return address

    def _registered_copy(self, cupy: Any, source: np.ndarray) -> int:
        """Copy ``source`` to huge pages, register them and return their address; 0 if that cannot be."""
        free = free_memory()
        if source.nbytes > free:  # the kernel would hand out the pages and then kill the process that touches them
            raise DoesNotFitError(
                f"the edges cannot be registered where they lie, and a copy takes {format_size(source.nbytes)} of host "
                f"memory ({format_size(free)} are free); use a compressed graph, --residency vram or --backend cpu"
            )
        try:
            pages = mmap.mmap(-1, source.nbytes)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                pages.madvise(mmap.MADV_HUGEPAGE)
            copy = np.frombuffer(pages, source.dtype).reshape(source.shape)
            # the copy comes first: it faults the pages in by several threads, registration would do so by one
            copy_parallel(source, copy)
            address = int(copy.ctypes.data)
            self._registration = Registration(cupy.cuda.runtime, address, source.nbytes, MAPPED)
        except (OSError, MemoryError, cupy.cuda.runtime.CUDARuntimeError):
            return 0
        self.kind, self._owner = "copy", copy
        return address

    def _pinned(self, cupy: Any, source: np.ndarray) -> int:
        """Copy ``source`` to memory that the driver allocates and return the address."""
        try:
            # not alloc_pinned_memory, which rounds up to a power of two
            memory = cupy.cuda.PinnedMemory(source.nbytes)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise DoesNotFitError(
                f"{format_size(source.nbytes)} of host memory for the edges can be neither registered nor pinned: "
                f"{error}; raise the limit of locked memory (ulimit -l), or use a compressed graph or --backend cpu"
            ) from error
        pointer = cupy.cuda.PinnedMemoryPointer(memory, 0)
        copy = np.frombuffer(pointer, source.dtype, source.size).reshape(source.shape)
        copy_parallel(source, copy)
        self.kind, self._owner = "pinned", pointer
        return int(pointer.ptr)

    def close(self) -> None:
        """Unregister; a second call does nothing."""
        self.array = None
        registration, self._registration = self._registration, None
        if registration is not None:
            registration.close()
        self._owner = None


def _view(cupy: Any, info: DeviceInfo, address: int, source: np.ndarray, owner: Any) -> Any:
    """Return the CuPy array over registered host memory at ``address``."""
    if not info.uses_host_pointers:
        address = int(cupy.cuda.runtime.pointerGetAttributes(address).devicePointer)
    memory = cupy.cuda.UnownedMemory(address, source.nbytes, owner, info.index)
    return cupy.ndarray(source.shape, source.dtype, memptr=cupy.cuda.MemoryPointer(memory, 0))


def reads_in_place(array: np.ndarray, registers_read_only: bool) -> bool:
    """Return whether a device reads ``array`` where it lies, rather than a page-locked copy.

    Parameters
    ----------
    registers_read_only
        Whether the device can register read-only memory, such as a file mapping.
    """
    return registers_read_only if is_file_mapping(array) else array.nbytes >= IN_PLACE


def is_file_mapping(array: np.ndarray) -> bool:
    """Return whether the memory of ``array`` is a memory-mapped file (found by following what it is a view of)."""
    base: Any = array
    while base is not None:
        if isinstance(base, mmap.mmap):
            return True
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return False


def populate(address: int, nbytes: int) -> None:
    """Map the pages of a file mapping by several threads, so that registration, which is one, need not fault them in.

    A kernel that cannot do it leaves it to the registration after all.
    """
    madvise = ctypes.CDLL(None).madvise
    start = address // mmap.PAGESIZE * mmap.PAGESIZE

    def piece(first: int) -> None:
        madvise(ctypes.c_void_p(first), ctypes.c_size_t(min(COPY_PIECE, address + nbytes - first)), POPULATE_READ)

    with ThreadPoolExecutor(POPULATE_THREADS) as pool:
        list(pool.map(piece, range(start, address + nbytes, COPY_PIECE)))


def copy_parallel(source: np.ndarray, target: np.ndarray) -> None:
    """Copy ``source`` to ``target`` by a few threads: one alone cannot keep up with page faults."""
    source, target = source.reshape(-1).view(np.uint8), target.reshape(-1).view(np.uint8)

    def piece(start: int) -> None:
        np.copyto(target[start : start + COPY_PIECE], source[start : start + COPY_PIECE])

    with ThreadPoolExecutor(COPY_THREADS) as pool:
        list(pool.map(piece, range(0, len(source), COPY_PIECE)))
