"""A device: memory, kernels, launches."""
