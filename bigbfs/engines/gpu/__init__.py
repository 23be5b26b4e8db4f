"""The GPU engine; nothing here imports CuPy before a device is asked for."""
