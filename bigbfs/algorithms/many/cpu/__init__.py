"""Many searches at once on the CPU, as Numba kernels."""
