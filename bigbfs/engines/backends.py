"""Which options go with which backend."""

from __future__ import annotations

from collections.abc import Mapping

from bigbfs.errors import NoDeviceError, UsageError

GPU_OPTIONS = ("residency", "vram_budget", "ram_budget", "profile")
"""Options of :func:`bigbfs.api.engine` that a run on the CPU has no use for."""


def check_options(asked: str, chosen: str, gpu_options: Mapping[str, object], threads: int | None) -> None:
    """Refuse options that are for the other backend than the one ``chosen`` where ``asked`` was asked for.

    ``gpu_options`` (by name, with their values) and ``threads`` are those given (None: not).

    Raises
    ------
    NoDeviceError
        Options of the GPU, and no GPU is usable.
    UsageError
        Options of the GPU for the CPU, or the other way round.
    """
    if chosen == "gpu" and threads is not None:
        raise UsageError(
            "CPU threads, and this run is on the GPU",
            about=(("threads", None),),
            remedies=("leave it out", ("backend", "cpu")),
        )
    if chosen == "cpu" and gpu_options:
        them = "it" if len(gpu_options) == 1 else "them"
        about = tuple((name, None) for name in gpu_options)
        if asked == "auto":
            raise NoDeviceError("for a GPU, and none is usable here", about=about, remedies=(f"leave {them} out",))
        remedies = (f"leave {them} out", ("backend", "gpu"))
        raise UsageError("for a GPU, and this run is on the CPU", about=about, remedies=remedies)
