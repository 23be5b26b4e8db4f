"""The emulation: kernels compiled by g++ and run on the CPU, every CUDA thread a fiber."""
