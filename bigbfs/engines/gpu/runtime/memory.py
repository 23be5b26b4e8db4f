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
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np

from bigbfs.engines.gpu.runtime.device import DeviceInfo
from bigbfs.engines.gpu.runtime.runtime import Use, unused
from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import format_size, free_memory, size_allowed, size_needed

MAPPED = 2
READ_ONLY = 8
"""Flags of cudaHostRegister, which CuPy does not name."""

CHUNK = 64 << 30
"""Bytes registered by one call at most: drivers since 580 refuse 512 GiB and more at once."""

STEP = 256 << 20
"""Bytes of the edges that are registered by one call: kernels read the first rows while the last are page-locked."""

IN_PLACE = 32 << 20
"""Arrays from this size up are registered where they lie: the C library gives them pages of their own."""

COPY_THREADS = 4
COPY_PIECE = 64 << 20

POPULATE_READ = 22
"""madvise's MADV_POPULATE_READ (Linux 5.14), which Python does not name."""

POPULATE_THREADS = 8
POPULATE_PIECE = 32 << 20


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
        self._flags = flags
        self._chunks: list[int] = []
        self.add(address, nbytes)

    def add(self, address: int, nbytes: int) -> None:
        """Register a further range; to a copy to the device, what two calls registered is not one range."""
        start, end = pages_of(address, nbytes)
        try:
            for chunk in range(start, end, CHUNK):
                self._cuda.hostRegister(chunk, min(CHUNK, end - chunk), self._flags)
                self._chunks.append(chunk)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unregister every chunk when no kernel runs any more; a second call does nothing."""
        if self._chunks:
            with suppress(Exception):  # a fault that has killed the context is for others to report
                self._cuda.deviceSynchronize()
        while self._chunks:
            with suppress(Exception):
                self._cuda.hostUnregister(self._chunks.pop())


def pages_of(address: int, nbytes: int) -> tuple[int, int]:
    """Return the first byte and the last + 1 of the pages that hold a range."""
    return address // mmap.PAGESIZE * mmap.PAGESIZE, -(-(address + nbytes) // mmap.PAGESIZE) * mmap.PAGESIZE


def from_pool(cupy: Any, pool: Any, nbytes: int) -> Any:
    """Return ``nbytes`` of ``pool``: what it keeps of arrays that are gone counts to its limit, and goes first."""
    try:
        return pool.malloc(nbytes)
    except cupy.cuda.memory.OutOfMemoryError:
        pool.free_all_blocks()
        return pool.malloc(nbytes)


class HostMapping:
    """The array ``source`` where kernels can read it, without taking device memory.

    Kernels may read it before it is whole (``use``).

    Parameters
    ----------
    cupy
        The module.
    info
        The device.
    source
        C-contiguous, one-dimensional, not empty; it must not be unmapped before ``close``.
    use
        See ``Runtime.map``.

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

    def __init__(self, cupy: Any, info: DeviceInfo, source: np.ndarray, use: Use = unused) -> None:
        self._registration: Registration | None = None
        self._owner: Any = source
        self.array: Any = None
        try:
            if not self._in_place(cupy, info, source, use):
                address = self._registered_copy(cupy, source) or self._pinned(cupy, source)
                self.array = _view(cupy, info, address, source, self._owner)
                items = CHUNK // source.itemsize
                for begin in range(0, len(source), items):
                    use(self.array, begin, min(begin + items, len(source)))
        except BaseException:
            self.close()
            raise

    def _in_place(self, cupy: Any, info: DeviceInfo, source: np.ndarray, use: Use) -> bool:
        """Register ``source`` where it lies and let it be used step by step; False if that cannot be."""
        if not reads_in_place(source, info.registers_read_only):
            return False
        file = is_file_mapping(source)
        address = int(source.ctypes.data)
        start, end = pages_of(address, source.nbytes)
        step = STEP if info.uses_host_pointers else end - start  # else each step has an address of its own
        flags = READ_ONLY if file else MAPPED
        if step > CHUNK:
            return False  # its parts would have addresses of their own
        done = 0
        pool = ThreadPoolExecutor(POPULATE_THREADS)
        try:
            pieces = ranges(start, end, POPULATE_PIECE) if file else ()
            mapped = deque((piece[0], pool.submit(populate, *piece)) for piece in pieces)
            for first, size in ranges(start, end, step):
                while mapped and mapped[0][0] < first + size:
                    mapped.popleft()[1].result()
                if not self._register(cupy.cuda.runtime, first, size, flags):
                    return False
                if self.array is None:
                    self.array = _view(cupy, info, address, source, source)
                begin, done = done, min(first + size - address, source.nbytes) // source.itemsize
                use(self.array, begin, done)
        finally:
            pool.shutdown(cancel_futures=True)
        self.kind = "file" if file else "host"
        return True

    def _register(self, cuda: Any, first: int, size: int, flags: int) -> bool:
        """Register a range; False, and nothing is registered any more, if the device refuses."""
        try:
            if self._registration is None:
                self._registration = Registration(cuda, first, size, flags)
            else:
                self._registration.add(first, size)
        except cuda.CUDARuntimeError:
            cuda.deviceSynchronize()  # raises where the fault of a kernel is behind it
            self._registration = self.array = None
            return False
        return True

    def _registered_copy(self, cupy: Any, source: np.ndarray) -> int:
        """Copy ``source`` to huge pages, register them and return their address; 0 if that cannot be."""
        free = free_memory()
        if source.nbytes > free:  # the kernel would hand out the pages and then kill the process that touches them
            raise DoesNotFitError(
                f"the edges cannot be registered where they lie, and a copy takes {size_needed(source.nbytes)} of host "
                f"memory ({size_allowed(free)} are free)",
                remedies=(("compressed", True), ("residency", "vram"), ("backend", "cpu")),
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
                f"{error}",
                remedies=("raise the limit of locked memory (ulimit -l)", ("compressed", True), ("backend", "cpu")),
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


def ranges(start: int, end: int, step: int) -> Iterator[tuple[int, int]]:
    """Cut [start, end) into (first, size) of ``step`` bytes and a rest."""
    return ((first, min(step, end - first)) for first in range(start, end, step))


def populate(first: int, size: int) -> None:
    """Map pages of a file, so that registration, which is one thread, need not fault them in.

    Where the operating system cannot do it, it is left to the registration after all.
    """
    ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(size), POPULATE_READ)


def copy_parallel(source: np.ndarray, target: np.ndarray) -> None:
    """Copy ``source`` to ``target`` by a few threads: one alone cannot keep up with page faults."""
    source, target = source.reshape(-1).view(np.uint8), target.reshape(-1).view(np.uint8)

    def piece(start: int) -> None:
        np.copyto(target[start : start + COPY_PIECE], source[start : start + COPY_PIECE])

    with ThreadPoolExecutor(COPY_THREADS) as pool:
        list(pool.map(piece, range(0, len(source), COPY_PIECE)))
