"""``bigbfs.engines.gpu.runtime.runtime.Runtime`` on the emulation: level loops run unchanged, on NumPy arrays.

Memory is guarded and poisoned (loader.empty); also what the GPU would map in place is copied there, so that a read
past the end of a row's file section is seen. ``watch`` lets a test look at every launch before and after it runs.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bigbfs.engines.gpu.runtime.beside import AtOnce
from bigbfs.engines.gpu.runtime.coming import Arrived
from bigbfs.engines.gpu.runtime.runtime import Start, unused
from bigbfs.engines.gpu.runtime.stretches import Source, in_memory
from emulated import loader
from emulated.builds import KERNELS, missing
from emulated.loader import Function, LaunchOptions
from emulated.shared import SimtMemory

BUILD_VARIABLE = "SIMT_BUILD"
"""Environment variable that names the build of a process started for the sanitizers."""


def builds_here() -> list[str]:
    """Return the builds that this process can run, for a test module to parametrize with.

    A sanitizer's library must have been loaded before Python. Without a compiler the whole module is skipped.
    """
    only = os.environ.get(BUILD_VARIABLE)
    names = [only] if only else ["plain", "preempt"]
    if missing(names[0]):
        pytest.skip(f"the emulation cannot be built: {missing(names[0])}", allow_module_level=True)
    return names


@dataclass
class Timer:
    """Wall time of a ``with`` block."""

    seconds: float = 0.0


@dataclass
class SimtMapping:
    """A guarded copy that stands for mapped host memory."""

    array: np.ndarray
    kind: str = "emulated"

    def close(self) -> None:
        """Forget the copy."""
        self.array = np.empty(0, self.array.dtype)


class SimtStage:
    """A pinned buffer whose copy happens as late as it may: a host that writes too early spoils it."""

    def __init__(self, runtime: SimtRuntime, nbytes: int) -> None:
        self.host = np.full(nbytes, 0xCB, np.uint8)
        self.array = runtime.empty(nbytes, np.uint8)
        self._runtime = runtime
        self._pending, self._busy = list[slice](), False

    def wait(self) -> None:
        """Carry out the copy; what the host has written is spoilt, as what the last batch left would be."""
        self.copy()
        self.host.fill(0xCB)

    def send(self, nbytes: int, rows: int = 1) -> None:
        """Remember the copy."""
        assert not self._busy, "a batch is sent while kernels of the one before are still to be launched"
        self.copy()
        pitch = len(self.host) // rows
        assert nbytes <= pitch
        self._pending, self._busy = [slice(row * pitch, row * pitch + nbytes) for row in range(rows)], True
        assert all(0 <= piece.start <= piece.stop <= len(self.host) for piece in self._pending)
        self._runtime.stages.append(self)

    def copy(self) -> None:
        """Carry out the copy if there is one."""
        self.array[:] = 0xCB
        for piece in self._pending:
            self.array[piece] = self.host[piece]
        self._pending = []

    def done(self) -> None:
        """Launches have ended when they return."""
        self._busy = False

    def close(self) -> None:
        """Forget the memory."""
        self.copy()
        self.host = np.empty(0, np.uint8)


class SimtPinned:
    """Ordinary memory that stands for pinned memory; after ``close`` it is poison."""

    def __init__(self, nbytes: int) -> None:
        self.host = np.full(nbytes, 0xCB, np.uint8)

    def close(self) -> None:
        """Spoil it."""
        self.host.fill(0xCB)


class SimtKernel:
    """A kernel of a SimtRuntime."""

    def __init__(self, runtime: SimtRuntime, function: Function) -> None:
        self.name = function.name
        self.signature = function.signature
        self._runtime = runtime
        self._function = function

    def __call__(self, grid: int, block: int, args: tuple[Any, ...], shared: int = 0) -> None:
        runtime = self._runtime
        runtime.carry_out_copies()
        runtime.launches += 1
        seed = runtime.seed and runtime.seed * 1_000_003 + runtime.launches
        options = LaunchOptions(
            seed=seed,
            resident=0 if self.name in runtime.cooperative else runtime.resident,
            preempt_every=runtime.preempt_every,
            spin_limit=runtime.spin_limit,
        )
        self._function(int(grid), int(block), args, shared, options)
        for look in runtime.watchers:
            look(self.name, int(grid), int(block), args)

    def ready(self, grid: int, block: int, args: tuple[Any, ...], shared: int = 0) -> Start:
        return partial(self, grid, block, args, shared)


@dataclass
class SimtRuntime:
    """A small device: ``sm_count`` multiprocessors, one block each.

    Attributes
    ----------
    build
        Name of the build, see builds.py.
    seed
        0: no preemption. Else every launch gets a seed of its own from it.
    resident
        Blocks of an ordinary launch that are alive at a time.
    preempt_every
        See LaunchOptions.
    team
        Threads of a block of a cooperative kernel for 32-bit ids: few, so that small graphs have levels too wide
        for one block.
    cooperative
        Kernels whose blocks wait for each other, so that all must be alive at once.
    kernels
        Folder of the .cu files.
    device
        Number of this device among those that run kernels at the same time.
    spin_limit
        See LaunchOptions; a device that waits for others needs more than one that is alone.
    watchers
        Called after each launch with (name, grid, block, args).
    """

    build: str = "plain"
    seed: int = 0
    resident: int = 1
    preempt_every: int = 8
    sm_count: int = 3
    cooperative: frozenset[str] = frozenset()
    team: int = 64
    kernels: Path = KERNELS
    device: int = 0
    spin_limit: int = 5_000_000
    name: str = "emulated GPU"
    registers_read_only: bool = True
    launches: int = 0
    watchers: list[Callable[[str, int, int, tuple[Any, ...]], None]] = field(default_factory=list)
    stages: list[SimtStage] = field(default_factory=list)
    closed: bool = False

    def free_bytes(self) -> int:
        """Return a size that any test graph fits into."""
        return 4 << 30

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return poisoned memory."""
        return loader.empty(shape, dtype, self.build)

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return zeros."""
        array = self.empty(shape, dtype)
        array.fill(0)
        return array

    def fill(self, array: np.ndarray, value: int) -> None:
        """Set every element."""
        array.fill(value)

    def upload(self, array: Source) -> np.ndarray:
        """Copy to guarded memory."""
        return loader.copy(in_memory(array), self.build)

    begin_upload = staticmethod(lambda *arrays: None)  # a hint that is not taken

    def use(self) -> None:
        """Do nothing: every thread may."""

    def coming(self, array: Source) -> Arrived:
        """Copy it at once."""
        return Arrived(self.upload(array))

    def write(self, array: np.ndarray, values: np.ndarray) -> None:
        """Overwrite ``array``."""
        array[...] = values

    def download(self, array: np.ndarray) -> np.ndarray:
        """Copy to ordinary memory."""
        return np.array(array)

    @property
    def place(self) -> str:
        """Return the number of this device."""
        return f"emulated {self.device}"

    def reaches(self, place: str) -> str | None:
        """Return why the device in ``place`` cannot be reached: only itself is not another."""
        return "it is the same GPU" if place == self.place else None

    def shareable(self, nbytes: int) -> SimtMemory:
        """Return memory for others."""
        return SimtMemory(self, nbytes)

    def map(self, array: np.ndarray, use: Callable[[np.ndarray, int, int], None] = unused) -> SimtMapping:
        """Copy to guarded memory that stands for the file's, a third at a time: the rest is poison when it is used."""
        view = self.empty(array.shape, array.dtype)
        ends = [0, len(array) // 3, len(array) * 2 // 3, len(array)]
        for begin, end in itertools.pairwise(ends):
            view[begin:end] = array[begin:end]
            use(view, begin, end)
        return SimtMapping(view)

    def copy(self, target: np.ndarray, source: np.ndarray) -> None:
        """Copy."""
        target[...] = source

    def pointer(self, array: np.ndarray) -> int:
        """Return the address of the first element."""
        return int(array.ctypes.data)

    def kernel(self, file: str, name: str, defines: Mapping[str, str], *, cooperative: bool = False) -> SimtKernel:
        """Compile (or find) a kernel."""
        if cooperative:
            self.cooperative |= {name}
        module = loader.load(self.kernels / file, dict(defines), self.build, self.kernels, self.device)
        return SimtKernel(self, module.get_function(name))

    def max_blocks(self, kernel: SimtKernel, block: int) -> int:
        """Return the blocks alive at once: one for each multiprocessor."""
        return self.sm_count

    def attributes(self, kernel: SimtKernel, block: int) -> dict[str, float]:
        """Return what an emulated kernel takes: nothing that a device would."""
        return {"registers": 0, "shared_bytes": 0, "local_bytes": 0, "occupancy": 1.0}

    @contextmanager
    def kernel_clock(self) -> Iterator[Timer]:
        """Count a microsecond for each launch inside."""
        watch, before = Timer(), self.launches
        yield watch
        watch.seconds = 1e-6 * (self.launches - before)

    def read(self, array: np.ndarray, values: np.ndarray) -> None:
        """Copy to ``values``."""
        values[...] = array

    def stage(self, nbytes: int) -> SimtStage:
        """Make a buffer."""
        return SimtStage(self, nbytes)

    def pinned(self, nbytes: int) -> SimtPinned:
        """Make a buffer."""
        return SimtPinned(nbytes)

    def beside(self) -> AtOnce:
        """Make what launches at once: there is one stream."""
        return AtOnce()

    def synchronize(self) -> None:
        """Launches here have ended when they return, copies to stages have not."""
        self.carry_out_copies()

    def carry_out_copies(self) -> None:
        """Do what stages have put off."""
        while self.stages:
            self.stages.pop().copy()

    @contextmanager
    def timer(self) -> Iterator[Timer]:
        """Measure the wall time of what runs inside."""
        timer, start = Timer(), time.perf_counter()
        yield timer
        timer.seconds = time.perf_counter() - start

    def close(self) -> None:
        """Arrays are freed when nobody holds them."""
        self.closed = True


def sanitizer_environment(build: str, folder: Path) -> dict[str, str]:
    """Return the environment of a Python process that can run ``build`` (``asan`` or ``tsan``); reports go to
    ``folder``, where the loader turns each into a KernelFault."""
    from emulated.builds import BUILDS, runtime_library

    prefix = str(folder / f"report-{build}")
    # a system thread that gets the stack of one which has just ended frees what the linker kept of it: no kernel's race
    quiet = folder / "tsan.supp"
    quiet.write_text("race:rtld-malloc.h\nrace:^_dl_allocate_tls\nrace:^_dl_deallocate_tls\n")
    common = f"halt_on_error=0:log_path={prefix}:exitcode=0"
    return {
        **os.environ,
        BUILD_VARIABLE: build,
        loader.REPORT_VARIABLE: prefix,
        "LD_PRELOAD": runtime_library(BUILDS[build].preload),
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:suppress_equal_pcs=0",
        "TSAN_OPTIONS": f"{common}:suppressions={quiet}:report_thread_leaks=0:history_size=2:suppress_equal_stacks=0:"
        "suppress_equal_addresses=0:intercept_tls_get_addr=0",  # else it guesses sizes: docs/kernel-testing.md
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH")])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_NUM_THREADS": "1",
    }
