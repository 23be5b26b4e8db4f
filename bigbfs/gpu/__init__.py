"""The GPU engine; nothing here imports CuPy before a device is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bigbfs.gpu.engine import GpuEngine

__all__ = ["GpuEngine"]


def __getattr__(name: str) -> Any:
    # the catalogue of strategies is read by the command line, which must not pay for NumPy to do so
    if name == "GpuEngine":
        from bigbfs.gpu.engine import GpuEngine

        return GpuEngine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
