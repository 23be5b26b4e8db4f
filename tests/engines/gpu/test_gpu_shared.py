"""Memory that GPUs share, against a driver that counts, refuses and sees other processes."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bigbfs.engines.gpu.ranks.memory import SharedMemory
from bigbfs.engines.gpu.runtime.shared import WHOLE, DeviceMemory, Handle
from bigbfs.engines.ranks.threads import alone
from bigbfs.errors import DeviceError, DoesNotFitError

NAMES = ["0000:1A:00.0", "0000:1B:00.0"]


class CudaError(RuntimeError):
    pass


class Cuda:
    """cupy.cuda.runtime as far as shared.py uses it."""

    CUDARuntimeError = CudaError

    def __init__(self, refuse: str = "") -> None:
        self.made: dict[int, np.ndarray] = {}
        self.opened: list[int] = []
        self.peers: list[int] = []
        self._refuse = refuse

    def _ask(self, call: str) -> None:
        if self._refuse.startswith(call):
            raise CudaError(self._refuse)

    def malloc(self, size: int) -> int:
        self._ask("malloc")
        array = np.full(size, 7, np.uint8)
        self.made[array.ctypes.data] = array
        return int(array.ctypes.data)

    def memset(self, address: int, value: int, size: int) -> None:
        self.made[address][:size] = value

    def setDevice(self, device: int) -> None:
        assert device == 0, "a thread opens memory of others for the device of its rank"

    def deviceSynchronize(self) -> None:
        pass

    def free(self, address: int) -> None:
        assert not self.opened
        del self.made[address]

    def ipcGetMemHandle(self, address: int) -> bytes:
        self._ask("ipcGetMemHandle")
        return address.to_bytes(64, "little")

    def ipcOpenMemHandle(self, handle: bytes) -> int:
        self._ask("ipcOpenMemHandle")
        self.opened.append(int.from_bytes(handle, "little") + (1 << 50))
        return self.opened[-1]

    def ipcCloseMemHandle(self, address: int) -> None:
        self.opened.remove(address)

    def deviceGetByPCIBusId(self, name: str) -> int:
        return NAMES.index(name)

    def deviceEnablePeerAccess(self, device: int) -> None:
        self._ask("deviceEnablePeerAccess")
        if device in self.peers:
            raise CudaError("cudaErrorPeerAccessAlreadyEnabled: peer access is already enabled")
        self.peers.append(device)


def fake_cupy(cuda: Cuda) -> Any:
    """CuPy as far as shared.py uses it: an array is the memory that was made."""
    unowned = SimpleNamespace(
        UnownedMemory=lambda address, size, owner, device: address, MemoryPointer=lambda memory, at: memory + at
    )
    return SimpleNamespace(
        cuda=SimpleNamespace(runtime=cuda, **vars(unowned)),
        ndarray=lambda size, dtype, memptr: cuda.made[memptr][:size].view(dtype),
    )


def test_memory_is_zero_whole_and_given_back() -> None:
    cuda = Cuda()
    memory = DeviceMemory(fake_cupy(cuda), 0, NAMES[0], 1000)
    assert len(memory.array) == 1000 and not memory.array.any()
    assert [len(array) for array in cuda.made.values()] == [WHOLE]
    theirs = Handle(os.getpid() + 1, NAMES[1], 4096, (4096).to_bytes(64, "little"))
    assert memory.open(theirs) == 4096 + (1 << 50)
    memory.close()
    memory.close()
    memory.free()
    memory.free()
    assert not cuda.made and not cuda.opened


def test_memory_of_this_process_is_reached_at_its_address() -> None:
    cuda = Cuda()
    memory = DeviceMemory(fake_cupy(cuda), 0, NAMES[0], 10)
    for _ in range(2):
        assert memory.open(Handle(os.getpid(), NAMES[1], 12345, b"")) == 12345
    assert memory.open(Handle(os.getpid(), NAMES[0], 77, b"")) == 77
    assert cuda.peers == [1] and not cuda.opened


@pytest.mark.parametrize(
    ("refuse", "error", "said"),
    [
        ("malloc: out of memory", DoesNotFitError, "for what other GPUs write cannot be had"),
        ("ipcGetMemHandle: not supported", DeviceError, "cannot be shared with other processes"),
    ],
)
def test_what_cannot_be_made_says_so_and_leaves_nothing(refuse: str, error: type[Exception], said: str) -> None:
    cuda = Cuda(refuse)
    with pytest.raises(error, match=said):
        DeviceMemory(fake_cupy(cuda), 0, NAMES[0], 10)
    assert not cuda.made


@pytest.mark.parametrize("refuse", ["ipcOpenMemHandle: invalid resource handle", "deviceEnablePeerAccess: no"])
def test_what_cannot_be_opened_names_the_gpu(refuse: str) -> None:
    cuda = Cuda(refuse)
    memory = DeviceMemory(fake_cupy(cuda), 0, NAMES[0], 10)
    process = os.getpid() + int(refuse.startswith("ipc"))
    with pytest.raises(DeviceError, match=f"{NAMES[1]}.*{refuse.partition(':')[0][3:]}".replace("deviceE", "E")):
        memory.open(Handle(process, NAMES[1], 1, b"x"))


def test_a_group_of_one_shares_with_nobody() -> None:
    cuda = Cuda()
    with SharedMemory(
        alone(), lambda nbytes: DeviceMemory(fake_cupy(cuda), 0, NAMES[0], nbytes), [("a", 3), ("b", 5)]
    ) as shared:
        assert shared.places == {"a": 0, "b": 256} and shared.bases.tolist() == [0]
        assert len(shared.own("b", 5)) == 5
    assert not cuda.made
