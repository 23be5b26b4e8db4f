"""NCCL between GPUs, by way of CuPy: from device to device, within a machine and between machines.

A bitmap goes by one all-gather where the parts lie one behind the other and are of one length, else, as claims do, by
sends and receives of one group. Every call is waited for, so that a rank which has died ends in an error and not in a
kernel that never does: NCCL is never repaired, the processes end.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DeviceError

SPINS = 2000
"""Times that a call is asked whether it is done before this rank lets others have its core in between."""


class Queue:
    """The stream that kernels run on."""

    def __init__(self) -> None:
        import cupy

        self._cuda = cupy.cuda

    @property
    def pointer(self) -> int:
        """The stream, as NCCL takes it."""
        return int(self._cuda.get_current_stream().ptr)

    def mark(self) -> Callable[[], bool]:
        """Return what says whether everything launched so far has ended."""
        event = self._cuda.Event(disable_timing=True)
        event.record()
        return lambda: bool(event.done)


def library() -> Any:
    """Return CuPy's NCCL; its attribute ``available`` says whether it is there, where CuPy would warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from cupy.cuda import nccl
    return nccl


def lack() -> str | None:
    """Return why there is no NCCL here; None: there is."""
    try:
        found = library()
    except ImportError as error:
        return str(error)
    return None if found.available else "CuPy finds no library (pip install nvidia-nccl-cu13, or -cu12)"


class NcclTransport:
    """NCCL among all ranks, each with a GPU of its own.

    Parameters
    ----------
    runtime, group
        The device, and the ranks; every rank makes this call.
    patience
        Seconds that a call may take.
    queue, nccl
        The stream and the library; None: those of CuPy.

    Raises
    ------
    DeviceError
        NCCL does not start.
    """

    name = "nccl"

    def __init__(
        self, runtime: Runtime, group: Group, patience: float, queue: Queue | None = None, nccl: Any = None
    ) -> None:
        self._runtime, self._group, self._patience = runtime, group, patience
        self._nccl = library() if nccl is None else nccl
        self._queue = Queue() if queue is None else queue
        try:
            unique = group.objects(self._nccl.get_unique_id() if group.rank == 0 else None)[0]
            self._comm: Any = self._nccl.NcclCommunicator(group.size, unique, group.rank)
        except self._nccl.NcclError as error:
            raise DeviceError(f"NCCL does not start on {runtime.name}: {error} (NCCL_DEBUG=INFO says more)") from error

    def connect(self) -> None:
        """Make a call of each kind, of a word; every rank makes this call.

        NCCL connects ranks at the first call of a kind, which takes it seconds: they were the first search's.

        Raises
        ------
        DeviceError
            NCCL failed, or they have not ended in time.
        """
        size, mine = self._group.size, self._group.rank
        words = self._runtime.zeros(2 * size, np.uint64)
        parts = [words[rank : rank + 1] for rank in range(2 * size)]
        self.gather(parts[:size])
        self.exchange([parts[mine : mine + 1]] * size, [(part,) for part in parts[size:]], int(words.itemsize))

    def gather(self, parts: Sequence[Array]) -> None:
        """See ``Transport``."""
        mine, rank = parts[self._group.rank], self._group.rank
        places = [(self._runtime.pointer(part), int(part.nbytes)) for part in parts]
        begin, size = places[0]
        if all(low + length == high and length == size for (low, length), (high, _) in pairwise(places)) and (
            places[-1][1] == size
        ):
            sent = size * (len(parts) - 1)
            self._call(sent, lambda: self._comm.allGather(places[rank][0], begin, size, *self._bytes()))
            return
        nothing: Sequence[Array] = ()
        out = [(mine,) if other != rank else nothing for other in range(len(parts))]
        into = [(part,) if other != rank else nothing for other, part in enumerate(parts)]
        self.exchange(out, into, 0)

    def exchange(self, out: Sequence[Sequence[Array]], into: Sequence[Sequence[Array]], most: int) -> None:
        """See ``Transport``."""
        others = [other for other in range(self._group.size) if other != self._group.rank]
        sends = [(array, other) for other in others for array in out[other] if array.nbytes]
        receives = [(array, other) for other in others for array in into[other] if array.nbytes]

        def calls() -> None:
            self._nccl.groupStart()
            for array, other in sends:
                self._comm.send(*self._where(array), self._nccl.NCCL_UINT8, other, self._queue.pointer)
            for array, other in receives:
                self._comm.recv(*self._where(array), self._nccl.NCCL_UINT8, other, self._queue.pointer)
            self._nccl.groupEnd()

        if sends or receives:
            self._call(sum(int(array.nbytes) for array, _ in sends), calls)

    def _where(self, array: Array) -> tuple[int, int]:
        return self._runtime.pointer(array), int(array.nbytes)

    def _bytes(self) -> tuple[int, int]:
        return int(self._nccl.NCCL_UINT8), self._queue.pointer

    def _call(self, sent: int, calls: Callable[[], None]) -> None:
        """Make ``calls``, which send so many bytes, and wait for them.

        Raises
        ------
        DeviceError
            NCCL failed, or they have not ended in time.
        """
        traffic, start = self._group.traffic, time.perf_counter()
        try:
            calls()
            self._wait(start)
        except self._nccl.NcclError as error:
            raise DeviceError(f"NCCL failed on rank {self._group.rank} (host {self._group.host}): {error}") from error
        traffic.sent += sent
        traffic.calls += 1
        traffic.waited += time.perf_counter() - start

    def _wait(self, start: float) -> None:
        done, asked = self._queue.mark(), 0
        while not done():
            asked += 1
            if asked < SPINS:
                continue
            os.sched_yield()
            self._comm.check_async_error()
            if time.perf_counter() - start > self._patience:
                raise DeviceError(
                    f"rank {self._group.rank} (host {self._group.host}): a call of NCCL has not ended for "
                    f"{self._patience:g} s: another rank has not made it, or its link is cut"
                )

    def close(self) -> None:
        """Leave, all ranks together; a second call does nothing."""
        comm, self._comm = self._comm, None
        if comm is not None:
            self._group.barrier()
            comm.destroy()
