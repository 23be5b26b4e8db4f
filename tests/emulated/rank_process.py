"""Run ``bigbfs`` as one rank on an emulated GPU of its own, in a process of its own: python rank_process.py EVENT ...

Memory for others is shared between the processes, as CUDA IPC has it. EVENT is ``none``, or ``kill``: rank 1 ends
itself by SIGKILL instead of launching a search from any vertex but 0, while the others wait for it in their kernels, or
in its second run of components, while hosts wait for what it tells. ``parts``: top-down levels go in three. ``probe``:
few rounds and calls are measured. ``passed``: edges of few bytes, too, are copied in parts and passed on, and
``kill-passed``: rank 1 ends itself by SIGKILL meanwhile.
"""

from __future__ import annotations

import mmap
import os
import sys
from functools import partial
from typing import Any

import numpy as np
from faults import kill_in_components, kill_in_placing, kill_in_search

from bigbfs.__main__ import main
from bigbfs.algorithms.bfs.gpu.hosts import loop
from bigbfs.algorithms.bfs.gpu.peers import measure
from bigbfs.engines.gpu.ranks import devices, engine, nccl, passed_on
from bigbfs.engines.gpu.runtime import device
from emulated.runtime import SimtRuntime

GPUS = 2


class ProcessMemory:
    """Memory without a name that other processes open by this one's file descriptor."""

    def __init__(self, nbytes: int) -> None:
        file = os.memfd_create("peers")
        os.ftruncate(file, nbytes)
        self.array: Any = np.frombuffer(mmap.mmap(file, nbytes), np.uint8)
        self.handle = (f"/proc/{os.getpid()}/fd/{file}", nbytes)
        self._opened: list[np.ndarray] = []

    def open(self, handle: tuple[str, int]) -> int:
        """Return the address here of another process's memory."""
        file = os.open(handle[0], os.O_RDWR)
        self._opened.append(np.frombuffer(mmap.mmap(file, handle[1]), np.uint8))
        os.close(file)
        return int(self._opened[-1].ctypes.data)

    def close(self) -> None:
        """Forget what was opened."""
        self._opened.clear()

    def free(self) -> None:
        """Forget the memory."""
        self.array = None


class ProcessRuntime(SimtRuntime):
    """An emulated GPU whose memory other processes reach."""

    def shareable(self, nbytes: int) -> Any:
        """Return memory for other processes."""
        return ProcessMemory(nbytes)


def own_gpu(group: Any, limit: int | None, form: str, meanwhile: Any = None) -> ProcessRuntime:
    """Return this rank's device."""
    devices.require_own(group, form)
    return ProcessRuntime(device=group.host_rank, sm_count=2, spin_limit=1 << 62)


if __name__ == "__main__":
    device.count = lambda: GPUS
    engine.own_gpu = devices.own_gpu = own_gpu
    nccl.lack = lambda: "emulated devices have none"
    if sys.argv[1] == "kill":
        kill_in_search(rank=1)
        kill_in_components(rank=1)
    if sys.argv[1] == "parts":
        loop.parts_of = lambda *given, **named: 3
    if sys.argv[1].endswith("passed"):
        passed_on.LEAST, passed_on.WINDOW = 128, 1024
    if sys.argv[1] == "kill-passed":
        kill_in_placing(rank=1)
    if sys.argv[1] == "probe":
        measure.Sizes = partial(measure.Sizes, rounds=5, calls=3, long_calls=1, long=1 << 12)
    sys.argv[1:] = sys.argv[2:]
    main()
