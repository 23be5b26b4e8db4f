"""Device memory that kernels of other GPUs of the machine reach: of this process by peer access, of others by CUDA IPC.

It is allocated by cudaMalloc itself, since a pool hands out parts of what it has: IPC opens whole allocations.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from bigbfs.errors import DeviceError, DoesNotFitError
from bigbfs.sizes import format_size

WHOLE = 2 << 20
"""The driver puts smaller allocations together into one: this one is to be alone in its own."""


class Handle(NamedTuple):
    """What another rank opens the memory by: the ``ipc`` handle, or ``address`` where it is the same ``process``."""

    process: int
    device: str
    address: int
    ipc: bytes


class DeviceMemory:
    """Zeroed memory of one GPU for others to read and write (engines/gpu/ranks/memory.py: ``Memory``).

    Parameters
    ----------
    cupy
        The module.
    device, name
        CUDA's number of this rank's GPU, and the name of its place (PCI bus id).
    nbytes
        How much.

    Attributes
    ----------
    array
        All of it, uint8.
    handle
        See :class:`Handle`.

    Raises
    ------
    DoesNotFitError
        There is not so much memory.
    DeviceError
        The driver gives no handle.
    """

    def __init__(self, cupy: Any, device: int, name: str, nbytes: int) -> None:
        self._cuda, self._device, self._name = cupy.cuda.runtime, device, name
        self._opened: list[int] = []
        whole = -(-max(nbytes, 1) // WHOLE) * WHOLE
        try:
            self._address = int(self._cuda.malloc(whole))
        except self._cuda.CUDARuntimeError as error:
            raise DoesNotFitError(
                f"{format_size(nbytes)} of GPU memory for what other GPUs write cannot be had: {error}",
                remedies=(("residency", "mapped"), ("backend", "cpu")),
            ) from error
        try:
            self._cuda.memset(self._address, 0, whole)
            self._cuda.deviceSynchronize()
            memory = cupy.cuda.UnownedMemory(self._address, whole, self._cuda, device)
            self.array: Any = cupy.ndarray(nbytes, np.uint8, memptr=cupy.cuda.MemoryPointer(memory, 0))
            self.handle = Handle(os.getpid(), name, self._address, bytes(self._cuda.ipcGetMemHandle(self._address)))
        except self._cuda.CUDARuntimeError as error:
            self.free()
            raise DeviceError(
                f"{name}: its memory cannot be shared with other processes (cudaIpcGetMemHandle): {error}"
            ) from error

    def open(self, handle: Handle) -> int:
        """Return the address that kernels of this GPU see of another's memory.

        Raises
        ------
        DeviceError
            It cannot be opened.
        """
        cuda = self._cuda
        cuda.setDevice(self._device)  # each thread has a device of its own
        if handle.process == os.getpid():
            self._reach(handle.device)
            return handle.address
        try:
            address = int(cuda.ipcOpenMemHandle(handle.ipc))
        except cuda.CUDARuntimeError as error:
            raise DeviceError(
                f"{self._name}: the memory of GPU {handle.device} (process {handle.process}) cannot be opened "
                f"(cudaIpcOpenMemHandle): {error}; processes in containers need one IPC namespace (--ipc=host) and "
                "must see all the GPUs"
            ) from error
        self._opened.append(address)
        return address

    def _reach(self, device: str) -> None:
        """Let kernels of this GPU reach the memory of another, of this process."""
        cuda = self._cuda
        other = int(cuda.deviceGetByPCIBusId(device))
        if other == self._device:
            return
        try:
            cuda.deviceEnablePeerAccess(other)
        except cuda.CUDARuntimeError as error:
            if "AlreadyEnabled" not in str(error):
                raise DeviceError(
                    f"{self._name}: the memory of GPU {device} cannot be reached (cudaDeviceEnablePeerAccess): {error}"
                ) from error

    def close(self) -> None:
        """Close what was opened; a second call does nothing."""
        while self._opened:
            with suppress(self._cuda.CUDARuntimeError):  # a fault that killed the context is for others to report
                self._cuda.ipcCloseMemHandle(self._opened.pop())

    def free(self) -> None:
        """Give the memory back; a second call does nothing."""
        address, self._address, self.array = self._address, 0, None
        if address:
            with suppress(self._cuda.CUDARuntimeError):
                self._cuda.free(address)
