"""A NCCL whose ranks are threads of this process: the calls of CuPy's that bigbfs makes, on emulated memory.

As the library does, it refuses what is no call of its own, and lets nothing arrive before it has been waited for.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.ranks.group import Group

UNIQUE = tuple(range(128))


class NcclError(RuntimeError):
    """As CuPy's."""


class Wire:
    """What the threads of one group share: messages by sender and receiver, in order."""

    def __init__(self) -> None:
        self.there = threading.Condition()
        self.sent: dict[tuple[int, int], list[bytes]] = {}


class Communicator:
    """One rank's, as far as it is used."""

    def __init__(self, library: Library, size: int, unique: tuple[int, ...], rank: int) -> None:
        assert len(unique) == 128 and 0 <= rank < size
        self._library, self.size, self.rank, self.open = library, size, rank, True
        library.comm = self

    def send(self, address: int, count: int, datatype: int, peer: int, stream: int) -> None:
        self._library.note("send", address, count, datatype, peer, stream)

    def recv(self, address: int, count: int, datatype: int, peer: int, stream: int) -> None:
        self._library.note("recv", address, count, datatype, peer, stream)

    def allGather(self, address: int, into: int, count: int, datatype: int, stream: int) -> None:
        assert address == into + self.rank * count, "in place"
        self._library.note("allGather", into, count, datatype, -1, stream)

    def check_async_error(self) -> None:
        if self._library.fault:
            raise NcclError(self._library.fault)

    def destroy(self) -> None:
        self.open = False


class Library:
    """What stands for ``cupy.cuda.nccl`` on one rank; ``calls`` are all that were made, in order.

    ``fault``: what an asynchronous error is to say; ``deaf``: nothing ends.
    """

    available = True
    NCCL_UINT8 = 1
    NcclError = NcclError

    def __init__(self, wire: Wire, stream: int = 77) -> None:
        self.wire, self.stream = wire, stream
        self.calls: list[tuple[Any, ...]] = []
        self.comm: Communicator | None = None
        self.fault, self.deaf = "", False
        self._group: list[tuple[Any, ...]] | None = None
        self._queued: list[tuple[Any, ...]] = []

    def get_unique_id(self) -> tuple[int, ...]:
        return UNIQUE

    def NcclCommunicator(self, size: int, unique: tuple[int, ...], rank: int) -> Communicator:
        return Communicator(self, size, unique, rank)

    def groupStart(self) -> None:
        assert self._group is None
        self._group = []

    def groupEnd(self) -> None:
        assert self._group is not None
        self._queued += self._group
        self._group = None

    def note(self, *call: Any) -> None:
        assert self.comm is not None and self.comm.open
        name, _, count, datatype, peer, stream = call
        assert (datatype, stream) == (self.NCCL_UINT8, self.stream) and count > 0 and peer != self.comm.rank
        assert name == "allGather" or self._group is not None, "point to point calls of several go in a group"
        self.calls.append(call)
        (self._queued if self._group is None else self._group).append(call)

    def carry_out(self) -> None:
        """Do what was queued: all sends, then what is received, waiting for it."""
        assert self.comm is not None
        queued, self._queued = self._queued, []
        rank = self.comm.rank
        for name, address, count, _, peer, _ in queued:
            if name == "send":
                self._put(peer, ctypes.string_at(address, count))
            elif name == "allGather":
                for other in range(self.comm.size):
                    if other != rank:
                        self._put(other, ctypes.string_at(address + rank * count, count))
        for name, address, count, _, peer, _ in queued:
            if name == "recv":
                self._get(peer, address, count)
            elif name == "allGather":
                for other in range(self.comm.size):
                    if other != rank:
                        self._get(other, address + other * count, count)

    def _put(self, peer: int, message: bytes) -> None:
        assert self.comm is not None
        with self.wire.there:
            self.wire.sent.setdefault((self.comm.rank, peer), []).append(message)
            self.wire.there.notify_all()

    def _get(self, peer: int, address: int, count: int) -> None:
        assert self.comm is not None
        key = (peer, self.comm.rank)
        with self.wire.there:
            assert self.wire.there.wait_for(lambda: bool(self.wire.sent.get(key)), 60), f"nothing from {peer}"
            message = self.wire.sent[key].pop(0)
        assert len(message) == count, "both ends name one length"
        ctypes.memmove(address, message, count)


class Stream:
    """The stream of a rank: what is queued is carried out when it is first asked whether it has ended."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.pointer = library.stream

    def mark(self) -> Any:
        def done() -> bool:
            if self._library.deaf:
                return False
            self._library.carry_out()
            return True

        return done


class NcclOfThreads(nccl.NcclTransport):
    """The transport over that library; ``library`` is this rank's."""

    def __init__(self, runtime: Any, group: Group, nbytes: int, patience: float = 60.0) -> None:
        wire = group.objects(Wire() if group.rank == 0 else None)[0]
        self.library = Library(wire)
        super().__init__(runtime, group, patience, Stream(self.library), self.library)
