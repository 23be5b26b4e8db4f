"""A buffer of pinned host memory and its twin on a CUDA device, filled by a stream of its own.

Copies go on while kernels run: the stream waits for the kernels that still read the twin (``done``), kernels wait for
the copy (``send``), and the host waits for it before it writes again (``wait``). No call but ``wait`` and ``close``
holds the host up.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from bigbfs.engines.gpu.runtime.memory import MAPPED, Registration
from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import free_memory, size_allowed, size_needed

TO_DEVICE = 1
"""cudaMemcpyKind."""


class PinnedMemory:
    """Pages of host memory that the device copies to and from at the full rate of the link, until ``close``.

    Parameters
    ----------
    cupy
        The module.
    nbytes
        Size; of 0 nothing is pinned.

    Attributes
    ----------
    host
        All of it, uint8.

    Raises
    ------
    DoesNotFitError
        So much host memory cannot be had or pinned.
    """

    def __init__(self, cupy: Any, nbytes: int) -> None:
        self._registration: Registration | None = None
        self.host = np.empty(0, np.uint8)
        if nbytes == 0:
            return
        if nbytes > free_memory():  # the kernel would hand out the pages and then kill the process that touches them
            raise _refusal(nbytes, f"{size_allowed(free_memory())} are free")
        try:
            pages = mmap.mmap(-1, nbytes)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                pages.madvise(mmap.MADV_HUGEPAGE)
            self.host = np.frombuffer(pages, np.uint8)
            self.host[:: mmap.PAGESIZE] = 0  # faulted in here, several threads at once, not under the driver's lock
            self._registration = Registration(cupy.cuda.runtime, int(self.host.ctypes.data), nbytes, MAPPED)
        except (OSError, MemoryError, cupy.cuda.runtime.CUDARuntimeError) as error:
            raise _refusal(nbytes, str(error)) from error

    @property
    def open(self) -> bool:
        """Whether there are pinned pages."""
        return self._registration is not None

    def close(self) -> None:
        """Give the pages back; a second call does nothing."""
        registration, self._registration = self._registration, None
        if registration is not None:
            registration.close()
            self.host = np.empty(0, np.uint8)


class CudaStage:
    """See ``runtime.Stage``.

    Parameters
    ----------
    cupy
        The module.
    nbytes
        Size.
    array
        The twin: CuPy array, uint8.
    stream
        For copies; it does not wait for other streams of its own accord.
    errors
        Returns a context manager that turns CUDA's errors into ours.

    Raises
    ------
    DoesNotFitError
        So much host memory cannot be had or pinned.
    """

    def __init__(
        self, cupy: Any, nbytes: int, array: Any, stream: Any, errors: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._cupy = cupy
        self._errors = errors
        self._stream = stream
        self.array = array
        with errors():
            self._copied = cupy.cuda.Event(disable_timing=True)
            self._consumed = cupy.cuda.Event(disable_timing=True)
        self._pinned = PinnedMemory(cupy, nbytes)
        self.host = self._pinned.host

    def wait(self) -> None:
        """Return when the last copy has ended."""
        with self._errors():
            self._copied.synchronize()

    def send(self, nbytes: int, rows: int = 1) -> None:
        """Copy the first ``nbytes`` of each row."""
        cuda, stream = self._cupy.cuda, self._stream
        device, host = self.array.data.ptr, self.host.ctypes.data
        with self._errors():
            stream.wait_event(self._consumed)
            if rows == 1:
                cuda.runtime.memcpyAsync(device, host, nbytes, TO_DEVICE, stream.ptr)
            else:  # one call: each takes some 30 us where caches are cold
                pitch = len(self.host) // rows
                cuda.runtime.memcpy2DAsync(device, pitch, host, pitch, nbytes, rows, TO_DEVICE, stream.ptr)
            self._copied.record(stream)
            cuda.get_current_stream().wait_event(self._copied)

    def done(self) -> None:
        """Let the next copy wait for everything launched so far."""
        with self._errors():
            self._consumed.record(self._cupy.cuda.get_current_stream())

    def close(self) -> None:
        """Wait for the copy, and release both; a second call does nothing."""
        if not self._pinned.open:
            return
        try:
            with self._errors():
                self._stream.synchronize()
        finally:
            self._pinned.close()
            self.array = None
            self.host = np.empty(0, np.uint8)


def _refusal(nbytes: int, reason: str) -> DoesNotFitError:
    return DoesNotFitError(
        f"{size_needed(nbytes)} of pinned host memory for a buffer cannot be had: {reason}",
        remedies=(("ram_budget", None, "use a smaller {}"), "raise the limit of locked memory (ulimit -l)"),
    )
