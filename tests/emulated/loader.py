"""Load emulated kernels and launch them: ``load(file, defines, build).get_function(name)(grid, block, args)``.

Arguments are as on the GPU: arrays, NumPy scalars and zero-dimensional structured arrays. Each is checked against the
kernel's signature, which the GPU does not do. A fault inside the kernel (a divergent barrier, a deadlock, a failed
assertion, a store past an array, a sanitizer's report) becomes a KernelFault that names kernel, file and line.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from emulated.builds import BUILDS, KERNELS, kernel_library, machine_library

REPORT_VARIABLE = "SIMT_REPORTS"
"""Environment variable with the prefix of the files that the sanitizers write their reports to."""


launched: set[Path] = set()
"""The .cu files whose kernels were launched, until somebody clears it (emulated/seen.py: which test sees which)."""


class KernelFault(RuntimeError):
    """A launch failed; the message names kernel, file and line."""


@dataclass(frozen=True)
class LaunchOptions:
    """How a launch is scheduled.

    Attributes
    ----------
    seed
        0: round robin, a thread keeps the processor until it waits. Else: random order, preemption inside.
    resident
        Blocks alive at a time; 0: all of them (a cooperative launch, whose blocks may wait for each other).
    preempt_every
        Mean number of memory accesses or atomics between two preemptions, when seeded.
    spin_limit
        Switches without a thread leaving a barrier or the kernel, after which it is a livelock.
    seconds
        Longest time for a launch.
    """

    seed: int = 0
    resident: int = 1
    preempt_every: int = 8
    spin_limit: int = 5_000_000
    seconds: float = 60.0


class _Entry(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("signature", ctypes.c_char_p))


class _Options(ctypes.Structure):
    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("resident", ctypes.c_uint32),
        ("preempt_every", ctypes.c_uint32),
        ("spin_limit", ctypes.c_uint64),
        ("seconds", ctypes.c_double),
    )


class _Machine(ctypes.CDLL):
    """The library that runs kernels of one build."""

    def __init__(self, build: str) -> None:
        super().__init__(str(machine_library(BUILDS[build])))
        self.simt_malloc.restype = ctypes.c_void_p
        self.simt_malloc.argtypes = (ctypes.c_size_t,)
        self.simt_free.argtypes = (ctypes.c_void_p,)
        self.simt_free.restype = None


@cache
def machine(build: str) -> _Machine:
    """Return the machine of ``build``."""
    return _Machine(build)


def empty(shape: int | tuple[int, ...], dtype: Any, build: str) -> np.ndarray:
    """Return an array in guarded memory, filled with poison (every byte 0xcb)."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    library = machine(build)
    address = library.simt_malloc(count * dtype.itemsize)
    if not address:
        raise MemoryError(f"simt_malloc({count * dtype.itemsize})")
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    weakref.finalize(memory, library.simt_free, address)
    return np.frombuffer(memory, dtype=dtype, count=count).reshape(shape)


def copy(array: np.ndarray, build: str) -> np.ndarray:
    """Return a copy of ``array`` in guarded memory."""
    result = empty(array.shape, array.dtype, build)
    result[...] = array
    return result


class Function:
    """A kernel: ``function(grid, block, args, shared_mem=0)`` runs it to its end.

    Attributes
    ----------
    name
        As in the .cu file.
    signature
        One string for each parameter, see entry.hpp.
    """

    def __init__(self, name: str, entry: _Entry, library: ctypes.CDLL, build: str, source: Path) -> None:
        self.name = name
        self.signature = entry.signature.decode().split()
        self._entry = entry
        self._library = library
        self._build = build
        self._source = source

    def __call__(
        self,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        args: tuple[Any, ...],
        shared_mem: int = 0,
        options: LaunchOptions | None = None,
    ) -> None:
        """Launch and wait.

        Raises
        ------
        KernelFault
            The kernel did something that is an error on a GPU.
        TypeError
            An argument does not fit the kernel's parameter.
        """
        options = options or LaunchOptions()
        kept = self._check(args)
        launched.add(self._source)
        pointers = (ctypes.c_void_p * max(len(kept), 1))(*(value.ctypes.data for value in kept))
        shape_type = ctypes.c_uint * 3
        message = ctypes.create_string_buffer(4096)
        failed = machine(self._build).simt_launch(
            ctypes.byref(self._entry),
            shape_type(*_three(grid)),
            shape_type(*_three(block)),
            ctypes.c_uint64(shared_mem),
            pointers,
            ctypes.byref(_Options(*(getattr(options, name) for name, _ in _Options._fields_))),
            message,
            ctypes.c_size_t(len(message)),
        )
        if failed:
            raise KernelFault(message.value.decode(errors="replace"))
        self._check_guards()
        report = sanitizer_report()
        if report:
            raise KernelFault(f"kernel {self.name}: {report}")

    def _check_guards(self) -> None:
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        side = machine(self._build).simt_check_guards(ctypes.byref(address), ctypes.byref(size))
        if side:
            where = ("before the beginning", "past the end")[side - 1]
            raise KernelFault(f"kernel {self.name}: stored {where} of an array of {size.value} bytes")

    def _check(self, args: tuple[Any, ...]) -> list[np.ndarray]:
        """Return each argument as an array that holds what the kernel's parameter does."""
        if len(args) != len(self.signature):
            raise TypeError(f"kernel {self.name} takes {len(self.signature)} arguments, got {len(args)}")
        return [
            _argument(self.name, k, want, value)
            for k, (want, value) in enumerate(zip(self.signature, args, strict=True))
        ]


def _argument(kernel: str, position: int, want: str, value: Any) -> np.ndarray:
    where = f"kernel {kernel}, argument {position}"
    if want.startswith("*"):
        if not isinstance(value, np.ndarray) or value.ndim == 0:
            raise TypeError(f"{where}: a pointer ({want}) needs an array, got {value!r}")
        if not value.flags.c_contiguous:
            raise TypeError(f"{where}: the array is not contiguous")
        found = f"{value.dtype.kind}{value.dtype.itemsize}"
        if want[1:] != "?" and found != want[1:]:
            raise TypeError(f"{where}: a pointer to {want[1:]} got an array of {found}")
        return np.array(value.ctypes.data, np.uint64)
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "V":
        found = f"V{value.dtype.itemsize}"
    elif isinstance(value, np.generic):
        found = f"{value.dtype.kind}{value.dtype.itemsize}"
    else:
        raise TypeError(f"{where}: {want} needs a NumPy scalar or a structured array, got {type(value).__name__}")
    if found != want:
        raise TypeError(f"{where}: the parameter is {want}, got {found}")
    return np.array(value)


def _three(shape: int | tuple[int, ...]) -> tuple[int, int, int]:
    numbers = (shape,) if isinstance(shape, int) else shape
    x, y, z = (*numbers, 1, 1)[:3]
    if min(x, y, z) < 1 or len(numbers) > 3:
        raise TypeError(f"{shape}: a launch needs one to three sizes of at least 1")
    return int(x), int(y), int(z)


@dataclass(frozen=True)
class Module:
    """A compiled .cu file."""

    library: ctypes.CDLL
    build: str
    source: Path

    def get_function(self, name: str) -> Function:
        """Return kernel ``name``, or raise KeyError."""
        try:
            entry = _Entry.in_dll(self.library, f"simt_entry_{name}")
        except ValueError as error:
            raise KeyError(f"{self.source.name} has no ENTRY({name})") from error
        return Function(name, entry, self.library, self.build, self.source)


def load(
    source: Path,
    defines: Mapping[str, str] | None = None,
    build: str = "plain",
    include: Path | None = None,
    device: int = 0,
) -> Module:
    """Compile ``source`` (once for every text, defines and build) and load it; files are looked at once a process.

    Devices of other numbers have libraries of their own: what runs on several at the same time shares no array.
    """
    with _LOADING:
        return _load(source, tuple(sorted((defines or {}).items())), build, include or KERNELS, device)


_LOADING = threading.Lock()


@cache
def _load(source: Path, defines: tuple[tuple[str, str], ...], build: str, include: Path, device: int) -> Module:
    path = kernel_library(source, dict(defines), BUILDS[build], include)
    return Module(_open(path if device == 0 else _copy(path, device)), build, source)


def _copy(path: Path, device: int) -> Path:
    """Return a copy of the library ``path`` beside it: the same file would be loaded once."""
    copy = path.with_name(f"{path.stem}-device{device}.so")
    if not copy.exists():
        with tempfile.TemporaryDirectory(dir=path.parent, prefix="copying-") as folder:
            Path(shutil.copyfile(path, f"{folder}/copy.so")).rename(copy)
    return copy


@cache
def _open(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path))


def sanitizer_report() -> str:
    """Return what the sanitizers wrote since the last call (their files are emptied), "" if nothing."""
    prefix = os.environ.get(REPORT_VARIABLE)
    if not prefix:
        return ""
    text = ""
    for file in sorted(Path(prefix).parent.glob(Path(prefix).name + "*")):
        written = file.read_text(errors="replace")
        seen = _SEEN.get(file, 0)
        text += written[seen:]
        _SEEN[file] = len(written)
    return _shorten(text)


_SEEN: dict[Path, int] = {}


def _shorten(text: str) -> str:
    """Return the head of a report with the frames that lie in kernels."""
    kept = [
        line.strip()
        for line in text.splitlines()
        if re.search(r"ERROR:|WARNING:|runtime error|^\s*(Read|Write|Previous|Atomic)|SUMMARY|\.cuh?:\d+", line)
    ]
    return "\n  ".join(kept[:16])
