"""The CPU backend: Numba kernels on all cores. ``CpuEngine`` is what the rest of bigbfs uses."""

from bigbfs.cpu.engine import CpuEngine

__all__ = ["CpuEngine"]
