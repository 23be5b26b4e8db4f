"""Every kernel of the package: what tools compile without a GPU, and tests hold against the .cu files."""

from __future__ import annotations

from bigbfs.algorithms import ALGORITHMS
from bigbfs.engines.gpu import rates
from bigbfs.engines.gpu.loading import placement_kernels
from bigbfs.engines.gpu.runtime.kernels import KernelSpec


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel once: those of placement, proof and probe, and those of all algorithms."""
    shared = (*placement_kernels("vram", prove=True), *placement_kernels("streamed"), *rates.KERNELS)
    own = (spec for entry in ALGORITHMS.values() for spec in entry.part("kernels")())
    return tuple(dict.fromkeys((*shared, *own)))


def defines_of(file: str) -> KernelSpec:
    """Return a kernel of ``file`` with the defines of all of them: one compilation for the whole file."""
    specs = [spec for spec in every_kernel() if spec.file == file]
    defines = dict(pair for spec in specs for pair in spec.defines)
    return KernelSpec(file, specs[0].name, tuple(defines.items()), team=any(spec.team for spec in specs))
