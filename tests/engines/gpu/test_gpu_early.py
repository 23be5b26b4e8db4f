"""Memory that ranks share, made and opened early, and kernels built by a thread: lent once, cleared, given back."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bigbfs.engines.gpu.ranks.building import Building
from bigbfs.engines.gpu.ranks.early import EarlyMemory
from bigbfs.engines.gpu.ranks.memory import SharedMemory
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DeviceError

NBYTES = 512


class Memory:
    """Memory of one rank, which a thread opens."""

    def __init__(self, nbytes: int, refuse: bool = False) -> None:
        self.array: Any = np.zeros(nbytes, np.uint8)
        self.handle, self.refuse = (id(self), nbytes), refuse
        self.events: list[str] = []
        self.opened_by: list[str] = []

    def open(self, handle: tuple[int, int]) -> int:
        self.opened_by.append(threading.current_thread().name)
        if self.refuse:
            raise DeviceError("cannot be opened")
        return handle[0]

    def close(self) -> None:
        self.events.append("closed")

    def free(self) -> None:
        self.events.append("freed")


def device(refuse: bool = False) -> Any:
    """Return a device that gives such memory."""
    made: list[Memory] = []

    def shareable(nbytes: int) -> Memory:
        made.append(Memory(nbytes, refuse))
        return made[-1]

    return SimpleNamespace(
        shareable=shareable,
        made=made,
        pointer=lambda array: int(array.ctypes.data),
        fill=lambda array, value: array.fill(value),
        synchronize=lambda: None,
    )


def test_the_first_who_asks_for_as_much_has_it_and_no_other() -> None:
    def rank(group: Any) -> Any:
        runtime = device()
        early = EarlyMemory(runtime, group, NBYTES)
        early.begin()
        with SharedMemory(group, early.lend, [("more", NBYTES + 1)]) as other:
            assert other.array is not early.array
        shared = SharedMemory(group, early.lend, [("all", NBYTES)])
        assert shared.array is early.array
        assert isinstance(early.lend(NBYTES), Memory)
        early.leave()  # whoever has it gives it back
        assert runtime.made[0].events == []
        shared.close()
        assert runtime.made[0].events == ["closed", "freed"]
        assert all(name.startswith("bigbfs-open") for name in runtime.made[0].opened_by)
        return runtime.made[0].handle[0], shared.bases.tolist()

    ranks = run(3, rank, limit=30.0)
    for number, (_, bases) in enumerate(ranks):
        assert [base for other, base in enumerate(bases) if other != number] == [
            handle for other, (handle, _) in enumerate(ranks) if other != number
        ]
        assert bases[number] == 0


def test_nobody_has_taken_it() -> None:
    def rank(group: Any) -> list[str]:
        runtime = device()
        early = EarlyMemory(runtime, group, NBYTES)
        early.begin()
        early.leave()
        assert early.lend(NBYTES) is not early
        early.leave()
        return runtime.made[0].events

    assert run(2, rank, limit=30.0) == [["closed", "freed"]] * 2


def test_who_has_written_there_clears_it() -> None:
    def rank(group: Any) -> None:
        runtime = device()
        early = EarlyMemory(runtime, group, NBYTES)
        early.begin()
        early.array[:] = 7
        early.clear()  # nobody has asked where it is, so nobody has written
        assert (early.array == 7).all()
        bases = early.bases()
        assert bases[group.rank] == runtime.pointer(early.array)
        early.clear()
        assert not early.array.any()
        early.leave()

    run(2, rank, limit=30.0)


def test_what_cannot_be_opened_is_said_to_who_asks() -> None:
    def rank(group: Any) -> None:
        early = EarlyMemory(device(refuse=True), group, NBYTES)
        early.begin()
        for ask in (early.bases, lambda: early.open(early._handles[1 - group.rank])):
            with pytest.raises(DeviceError, match="cannot be opened"):
                ask()
        early.leave()

    run(2, rank, limit=30.0)


def test_kernels_are_built_by_a_thread_and_no_more_after_an_error() -> None:
    built: list[str] = []
    under_way, goes_on = threading.Event(), threading.Event()

    def spec(name: str) -> Any:
        def build(*how: Any) -> None:
            under_way.set()
            assert goes_on.wait(30)
            built.append(name)

        return SimpleNamespace(build=build)

    runtime: Any = SimpleNamespace(use=lambda: built.append("used"))
    how = (runtime, [spec("a"), spec("b")], np.dtype(np.uint32), "plain")
    goes_on.set()
    with Building(*how) as building:
        building.wait()
    assert built == ["used", "a", "b"]
    built.clear()
    under_way.clear()
    goes_on.clear()
    with pytest.raises(KeyboardInterrupt), Building(*how):
        assert under_way.wait(30)
        threading.Timer(0.2, goes_on.set).start()
        raise KeyboardInterrupt
    assert built == ["used", "a"]


def test_a_kernel_that_cannot_be_built_is_said_to_who_waits() -> None:
    def build(*how: Any) -> None:
        raise DeviceError("does not compile")

    runtime: Any = SimpleNamespace(use=lambda: None)
    with (
        pytest.raises(DeviceError, match="does not compile"),
        Building(runtime, [SimpleNamespace(build=build)], np.dtype(np.uint32), "plain") as building,
    ):
        building.wait()
