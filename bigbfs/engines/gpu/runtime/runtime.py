"""What a level loop may ask of the machine that runs its kernels: the Protocol ``Runtime``.

The level loops (bfs.py, cc.py) and the placement of graphs know nothing else: no CuPy, no CUDA. Two classes keep
the promise: ``bigbfs.engines.gpu.runtime.cuda.CudaRuntime`` on a device, and the emulation of the test suite, which
runs the same .cu files on NumPy arrays.

Terms: an *array* is whatever ``empty`` returns (a CuPy array, a NumPy array); it has ``dtype``, ``shape`` and
``nbytes``. Kernel arguments are arrays, NumPy scalars (never Python numbers: their width would be a guess) and
zero-dimensional NumPy arrays of a structured dtype, which a kernel takes as one struct by value.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dictionary
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bigbfs.engines.gpu.runtime.beside import Beside
from bigbfs.engines.gpu.runtime.stretches import Source

Array = Any
"""An array in the memory that kernels see: ``dtype``, ``shape``, ``nbytes``."""

Shape = int | tuple[int, ...]


class Timer(Protocol):
    """Measures a ``with`` block; ``seconds`` is valid after it."""

    seconds: float


Start = Callable[[], None]
"""Launches a kernel; raises as launching it does."""


class Kernel(Protocol):
    """A compiled kernel.

    ``grid`` and ``block`` are blocks and threads, one-dimensional; ``args`` as in the module docstring; ``shared``
    is the bytes of dynamic shared memory. Launches are asynchronous and run in the order in which they were made.
    """

    name: str

    def __call__(self, grid: int, block: int, args: tuple[Any, ...], shared: int = 0) -> None:
        """Launch."""

    def ready(self, grid: int, block: int, args: tuple[Any, ...], shared: int = 0) -> Start:
        """Return what launches it so, each time that it is called: structs as they are then, ``args`` kept alive.

        To lay out arguments takes the host 10 to 30 us, which is more than a small kernel runs; this does it once.
        """


Use = Callable[[Array, int, int], None]
"""See ``Runtime.map``."""


def unused(view: Array, begin: int, end: int) -> None:
    """Do nothing with items that can be read."""


class Mapping(Protocol):
    """Host memory that kernels read in place, until ``close``."""

    array: Array
    kind: str

    def close(self) -> None:
        """Take the memory away from the device again; a second call does nothing."""


class Stage(Protocol):
    """A buffer of pinned host memory and its twin in device memory, until ``close``.

    ``host`` is uint8 and written by the host, ``array`` its twin of the same size.
    """

    host: np.ndarray
    array: Array

    def wait(self) -> None:
        """Return when the last copy has ended, so that ``host`` may be written."""

    def send(self, nbytes: int, rows: int = 1) -> None:
        """Copy the first ``nbytes`` of each of so many ``rows`` of equal length, asynchronously: after the kernels
        launched before ``done``, before those to come. What else is in ``array`` is lost."""

    def done(self) -> None:
        """Say that every kernel which reads ``array`` has been launched."""

    def close(self) -> None:
        """Wait for the copy under way and release both; a second call does nothing."""


class Coming(Protocol):
    """What is on its way to device memory: ``array``, of which nothing may be read that has not been waited for."""

    array: Array

    @property
    def ended(self) -> float:
        """When the last byte was there, by ``time.perf_counter``: after ``wait``."""

    def wait(self, nbytes: int | None = None) -> None:
        """Return when the first ``nbytes`` of what is copied are there; None: all, and nothing is held for it any more.

        Raises
        ------
        DeviceError
            The copy failed.
        """


class Pinned(Protocol):
    """Page-locked host memory for copies from and to the device (``read``, ``write``), until ``close``."""

    host: np.ndarray

    def close(self) -> None:
        """Release it; a second call does nothing."""


class Runtime(Protocol):
    """Memory, kernels and time of one device.

    Attributes
    ----------
    name
        The device, for people.
    sm_count
        Multiprocessors.
    team
        Threads of a block of a cooperative kernel for 32-bit ids.
    registers_read_only
        Whether ``map`` can take the pages of a file mapping as they are.
    """

    name: str
    sm_count: int
    team: int
    registers_read_only: bool

    def use(self) -> None:
        """Let this thread work with the device, beside the one that has made the runtime."""

    def free_bytes(self) -> int:
        """Return the bytes of device memory that ``empty`` can still give."""

    def empty(self, shape: Shape, dtype: npt.DTypeLike) -> Array:
        """Allocate without a value. A size of zero is allowed and has a pointer that nobody reads."""

    def zeros(self, shape: Shape, dtype: npt.DTypeLike) -> Array:
        """Allocate zeros."""

    def fill(self, array: Array, value: int) -> None:
        """Set every element (asynchronous, in launch order)."""

    def begin_upload(self, *arrays: Source) -> None:
        """Begin what ``upload`` of each of ``arrays`` will wait for, the first of them first.

        A hint, which a device need not take. Their memory must stay until the last has been waited for, or until
        ``close``.
        """

    def upload(self, array: Source) -> Array:
        """Copy ``array``, of any size, also memory-mapped, to device memory; or stretches of one, side by side."""

    def coming(self, array: Source) -> Coming:
        """Return the device memory to which ``array`` comes, as by ``upload``, and what waits for it."""

    def write(self, array: Array, values: np.ndarray) -> None:
        """Overwrite ``array`` by ``values`` of the same size: a few, or pinned ones."""

    def download(self, array: Array) -> np.ndarray:
        """Wait for everything launched and copy ``array`` to host memory."""

    def read(self, array: Array, values: np.ndarray) -> None:
        """Wait for everything launched and copy ``array`` to ``values`` of the same size."""

    def stage(self, nbytes: int) -> Stage:
        """Make a buffer of pinned memory of ``nbytes`` and its twin."""

    def pinned(self, nbytes: int) -> Pinned:
        """Make pinned host memory of ``nbytes``, uint8."""

    def beside(self) -> Beside:
        """Make what launches kernels beside those that are launched as usual."""

    @property
    def place(self) -> str:
        """Where in the machine the device is."""

    def reaches(self, place: str) -> str | None:
        """Return why kernels cannot reach the memory of the device in ``place``; None: they can."""

    def shareable(self, nbytes: int) -> Any:
        """Allocate zeros that other devices of the machine read and write: a ``Memory`` of engines/gpu/ranks."""

    def map(self, array: np.ndarray, use: Use = unused) -> Mapping:
        """Make the host memory of ``array`` readable by kernels where it lies (or a copy of it, if it must be).

        ``use(view, begin, end)`` is called, on this thread, as soon as the items ``begin`` to ``end - 1`` can be read
        through ``view``: from 0 on in ascending ranges, and again from 0 on through another view where what was
        readable had to be given up. It may launch kernels, which then run while the next items are made readable.
        """

    def copy(self, target: Array, source: Array) -> None:
        """Copy mapped host memory, or device memory, to device memory of the same size, in launch order, without
        waiting for it."""

    def pointer(self, array: Array) -> int:
        """Return the address that kernels see, for a field of an argument struct; the caller keeps the array."""

    def kernel(self, file: str, name: str, defines: Dictionary[str, str], *, cooperative: bool = False) -> Kernel:
        """Compile kernel ``name`` of ``kernels/file`` with ``-D`` ``defines``; the same three give the same kernel.

        The blocks of a ``cooperative`` one all run at once, or its launch fails.
        """

    def max_blocks(self, kernel: Kernel, block: int) -> int:
        """Return how many blocks of ``block`` threads of ``kernel`` the device runs at once."""

    def synchronize(self) -> None:
        """Wait for everything launched.

        Raises
        ------
        DeviceError
            A kernel failed.
        """

    def attributes(self, kernel: Kernel, block: int) -> dict[str, float]:
        """Return ``registers`` and ``local_bytes`` of a thread, ``shared_bytes`` of a block, and ``occupancy``: the
        threads that a multiprocessor holds at once in blocks of ``block``, to those that it could."""

    def kernel_clock(self) -> AbstractContextManager[Timer]:
        """Return a context manager that sums up the time of the kernels launched inside, each by itself."""

    def timer(self) -> AbstractContextManager[Timer]:
        """Return a context manager that measures the wall time of what runs inside, completion included."""

    def close(self) -> None:
        """Release everything; a second call does nothing."""
