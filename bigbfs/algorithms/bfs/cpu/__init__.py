"""BFS on the CPU, as Numba kernels."""
