"""A kernel, declared once: where it is, how it is compiled, whether its blocks wait for each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.runtime.arguments import BLOCK, defines, team_threads
from bigbfs.engines.gpu.runtime.runtime import Array, Kernel, Runtime, Start


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """A kernel of the package.

    Attributes
    ----------
    file
        A .cu file, by its path in the package.
    name
        Of the kernel in it.
    defines
        ``-D`` defines beside those that every kernel has, as (name, value) pairs.
    cooperative
        All its blocks run at once, and wait for each other.
    team
        Its blocks are teams: as many threads as the device allows one block that has a multiprocessor for itself.
    """

    file: str
    name: str
    defines: tuple[tuple[str, str], ...] = ()
    cooperative: bool = False
    team: bool = False

    def variant(self, ids: np.dtype, codec: str, team: int) -> dict[str, str]:
        """Return all its defines for ids of dtype ``ids``, rows encoded as ``codec``, teams of ``team`` threads."""
        own = {"TEAM_THREADS": str(team_threads(team, ids))} if self.team else {}
        return defines(ids, codec) | own | dict(self.defines)

    def build(self, runtime: Runtime, ids: np.dtype, codec: str) -> Kernel:
        """Return the kernel, compiled or found."""
        wanted = self.variant(ids, codec, runtime.team)
        return runtime.kernel(self.file, self.name, wanted, cooperative=self.cooperative)


def kernels_of(file: str, names: Iterable[str], **options: object) -> tuple[KernelSpec, ...]:
    """Return the kernels ``names`` of ``file``; ``options`` as the fields of ``KernelSpec``."""
    return tuple(KernelSpec(file, name, **options) for name in names)  # type: ignore[arg-type]


class Launcher:
    """Kernels by name, launched with as many blocks as their work needs or as run at once."""

    def __init__(self, runtime: Runtime, specs: Iterable[KernelSpec], ids: np.dtype, codec: str) -> None:
        self._runtime = runtime
        self._ids, self._codec = ids, codec
        self._kernels: dict[str, Kernel] = {}
        self._limits: dict[str, int] = {}
        self.load(specs)

    def load(self, specs: Iterable[KernelSpec]) -> None:
        """Get these kernels too, unless they are here."""
        for spec in specs:
            if spec.name not in self._kernels:
                kernel = self._kernels[spec.name] = spec.build(self._runtime, self._ids, self._codec)
                self._limits[spec.name] = self._runtime.max_blocks(kernel, BLOCK)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel ``name``."""
        return self._kernels[name]

    def __call__(self, name: str, threads: int, *arguments: Array) -> None:
        """Launch ``name`` over ``threads`` threads' work, in strides; at least one block."""
        self.ready(name, threads, *arguments)()

    def ready(self, name: str, threads: int, *arguments: Array) -> Start:
        """Return what launches it so, each time that it is called (see ``runtime.Kernel.ready``)."""
        grid = max(1, min(self._limits[name], -(-threads // BLOCK)))
        return self._kernels[name].ready(grid, BLOCK, arguments)
