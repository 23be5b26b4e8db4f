"""Connected components on the CPU, as Numba kernels."""
