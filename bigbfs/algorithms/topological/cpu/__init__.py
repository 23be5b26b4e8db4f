"""Topological order on the CPU, as Numba kernels."""
