"""Which options go with which backend."""

from __future__ import annotations

from collections.abc import Sequence

from bigbfs.errors import NoDeviceError, UsageError

GPU_OPTIONS = ("residency", "vram_budget", "ram_budget", "profile")
"""Options of :func:`bigbfs.api.engine` that a run on the CPU has no use for."""


def check_options(asked: str, chosen: str, gpu_options: Sequence[str], threads: str | None) -> None:
    """Refuse options that are for the other backend than the one ``chosen`` where ``asked`` was asked for.

    ``gpu_options`` and ``threads`` are those given (None: not), named as whoever gave them knows them.

    Raises
    ------
    NoDeviceError
        Options of the GPU, and no GPU is usable.
    UsageError
        Options of the GPU for the CPU, or the other way round.
    """
    if chosen == "gpu" and threads is not None:
        raise UsageError(f"{threads}: CPU threads, and this run is on the GPU; leave it out, or choose the CPU backend")
    if chosen == "cpu" and gpu_options:
        be, them = ("is", "it") if len(gpu_options) == 1 else ("are", "them")
        about = f"{', '.join(gpu_options)} {be} for a GPU"
        if asked == "auto":
            raise NoDeviceError(f"{about}, and none is usable here; leave {them} out")
        raise UsageError(f"{about}, and this run is on the CPU; leave {them} out, or choose the GPU as backend")
