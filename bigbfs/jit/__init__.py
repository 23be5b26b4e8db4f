"""What the processor offers and Numba does not: atomics, bit operations, and threads that share out uneven work."""
