"""A group whose ranks are processes under MPI (mpi4py).

Nothing here blocks inside the library: a call is started, and then asked again and again whether it is done. So signals
are seen, and a rank that shares its core gives it away while it waits.

Files of the MPI library in /dev/shm are unlinked as soon as all ranks of the machine have mapped them, and our own
windows have no names: whatever ends the processes, nothing stays behind.
"""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.engines.ranks.ending import hush
from bigbfs.engines.ranks.group import PIECE, Group
from bigbfs.engines.ranks.hosts import MpiMail
from bigbfs.engines.ranks.library import forget_files, forget_long_abandoned, library, put_back
from bigbfs.jit import meeting as meeting_place

SPINS = 2000
"""Times that a call is asked whether it is done before this rank lets others have its core in between."""

LOOKS = np.uint64(2000)
"""Looks of a rank that waits where ranks meet before it does the same: some 50 us."""

_MAPPED = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
"""Pages of a window are there for each rank at once: met one by one they cost a search more than its reads."""

_POPULATE_WRITE = 23
"""MADV_POPULATE_WRITE of madvise(2), which Python does not name: pages are there, or it says that they cannot be."""

LARGE = 1 << 21
"""A huge page."""


def piece_for(size: int, piece: int = PIECE) -> int:
    """Return the bytes of a message to one of ``size`` ranks in one call, ``piece`` at most.

    Where a message begins among those of all ranks is counted in 32 bits too, before MPI 4 and in what mpi4py calls
    there; so all of them together stay below 2^31.
    """
    return min(piece, max(8, (2**31 - 1) // size // 8 * 8))


class MpiGroup(Group):
    """The ranks of MPI's world."""

    def __init__(self, piece: int = PIECE) -> None:
        self._mpi = library()
        self._world = self._mpi.COMM_WORLD.Dup()
        self.rank, self.size = self._world.rank, self._world.size
        super().__init__(piece_for(self.size, piece))
        self._beside = self._world.Split_type(self._mpi.COMM_TYPE_SHARED)
        self.host = socket.gethostname()
        told = self._world.allgather((self.host, self._beside.bcast(self.rank)))
        self.hosts = tuple(host for host, _ in told)
        self.machines = tuple(first for _, first in told)
        self._expected = self._forget_files()

    def _forget_files(self) -> list[Path]:
        """Unlink the library's files in /dev/shm, which every rank of this machine has mapped by now."""
        self._beside.Barrier()
        expected = forget_files() if self._beside.rank == 0 else []
        self._beside.Barrier()
        if self._beside.rank == 0:
            forget_long_abandoned()
        return expected

    def _wait(self, request: Any) -> None:
        """Return when ``request`` is done."""
        for _ in range(SPINS):
            if request.Test():
                return
        while not request.Test():
            os.sched_yield()

    def _barrier(self, rest: float = 0.0) -> None:
        request = self._world.Ibarrier()
        while rest and not request.Test():
            time.sleep(rest)
        self._wait(request)

    def _meet(self, words: np.ndarray) -> None:
        meeting = np.uint64(meeting_place.arrive(words, np.uint64(self.rank)))
        while not meeting_place.all_there(words, meeting, LOOKS):
            os.sched_yield()

    def _sum(self, mine: np.ndarray) -> np.ndarray:
        total = np.empty_like(mine)
        self._wait(self._world.Iallreduce(mine, total))
        return total

    def _gather(self, mine: np.ndarray, received: list[np.ndarray]) -> Callable[[], None]:
        counts = [len(part) for part in received]
        whole = received[0] if self.size == 1 else np.empty(sum(counts), np.uint8)
        request = self._world.Iallgatherv(mine, [whole, counts])

        def finish() -> None:
            self._wait(request)
            if self.size > 1:
                _deal_out(whole, received)

        return finish

    def _exchange(self, parts: list[np.ndarray], received: list[np.ndarray]) -> None:
        out, into = in_place(parts), in_place(received)
        if out is None:
            out = _followed(np.concatenate(parts), parts)
        if into is None:
            whole = np.empty(sum(map(len, received)), np.uint8)
            self._wait(self._world.Ialltoallv(out, _followed(whole, received)))
            _deal_out(whole, received)
        else:
            self._wait(self._world.Ialltoallv(out, into))

    def objects(self, value: Any) -> list[Any]:
        """Return an object of every rank."""
        mine = np.frombuffer(pickle.dumps(value), np.uint8)
        lengths = np.empty(self.size, np.int64)
        self._wait(self._world.Iallgather(np.array([len(mine)], np.int64), lengths))
        received = [np.empty(length, np.uint8) for length in lengths.tolist()]
        self._gather(mine, received)()
        return [pickle.loads(part.tobytes()) for part in received]

    def window(self, nbytes: int, large: bool = False) -> np.ndarray | None:
        """Return memory that all ranks see: rank 0's, without a name in any file system."""
        if not self.one_host:
            return None
        size, told, handle = max(nbytes, 1), None, -1
        if self.rank == 0:
            with suppress(OSError):
                handle = os.memfd_create("bigbfs-ranks")
                if large:
                    os.ftruncate(handle, size)
                else:
                    os.posix_fallocate(handle, 0, size)
                told = f"/proc/{os.getpid()}/fd/{handle}", _identity(handle)
        told = self.objects(told)[0]
        made = None
        if told is not None:
            with suppress(OSError):  # ranks in containers of their own do not see each other's processes, or see others
                if handle < 0:
                    handle = _opened(*told)
                memory = mmap.mmap(handle, size, mmap.MAP_SHARED if large else _MAPPED)
                if large:
                    _fill(memory, handle, size, self.rank, self.size)
                made = np.frombuffer(memory, np.uint8, nbytes)
        seen = all(self.objects(made is not None))
        if handle >= 0:
            os.close(handle)
        return made if seen else None

    def forget(self, window: np.ndarray) -> None:
        """Let go of the pages of a large window, for all ranks."""
        memory = window.base.obj if isinstance(window.base, memoryview) else window.base
        if isinstance(memory, mmap.mmap):
            with suppress(AttributeError, OSError):  # the end of the last rank does it too
                memory.madvise(mmap.MADV_REMOVE)

    def mail(self) -> MpiMail | None:
        """Return what carries beats between the first ranks of machines; None on others, and where no thread may call.

        All ranks make this call together.
        """
        if self.one_host:
            return None
        comm = self._world.Dup()
        if self.host_rank or self._mpi.Query_thread() < self._mpi.THREAD_MULTIPLE:
            return None
        return MpiMail(comm, sorted({*self.machines} - {self.rank}))

    def abort(self, code: int) -> None:
        """End every rank, with this exit code, once it has been said why."""
        hush()
        self._mpi.COMM_WORLD.Abort(code)

    def close(self) -> None:
        """Leave MPI, all ranks together."""
        self.barrier()
        put_back(self._expected)
        self.barrier()  # no rank looks for its file before it is there
        self._mpi.Finalize()


def _fill(memory: mmap.mmap, handle: int, size: int, rank: int, ranks: int) -> None:
    """Have a rank's share of shared memory be there, on huge pages where the kernel has them for it.

    Raises
    ------
    OSError
        There is not so much. Who only wrote to it would be ended by a signal.
    """
    with suppress(AttributeError, OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    first, last = (size * each // ranks // LARGE * LARGE if each < ranks else size for each in (rank, rank + 1))
    if first == last:
        return
    try:
        memory.madvise(_POPULATE_WRITE, first, last - first)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a kernel older than 5.14
            raise
        os.posix_fallocate(handle, first, last - first)


def _identity(handle: int) -> tuple[int, int]:
    """Return what no other open file has: its file system and its number there."""
    found = os.fstat(handle)
    return found.st_dev, found.st_ino


def _opened(place: str, identity: tuple[int, int]) -> int:
    """Open the file of another process that has this ``identity``.

    Raises
    ------
    OSError
        It cannot be opened, or is another: process numbers are others where a rank has a container of its own.
    """
    handle = os.open(place, os.O_RDWR | os.O_CLOEXEC)
    if _identity(handle) != identity:
        os.close(handle)
        raise FileNotFoundError(errno.ENOENT, "the file of another process", place)
    return handle


def in_place(parts: list[np.ndarray]) -> list[Any] | None:
    """Return an array, and where ``parts`` (uint8) are in it, as MPI takes them; None: in none, or beyond 2 GiB."""
    filled = [part for part in parts if len(part)]
    owner = filled[0].base if filled else None
    if owner is None or any(part.base is not owner for part in filled) or not isinstance(owner, np.ndarray):
        return None
    if not owner.flags.c_contiguous or owner.nbytes >= 2**31:
        return None
    starts = [part.ctypes.data - owner.ctypes.data if len(part) else 0 for part in parts]
    return [owner.reshape(-1).view(np.uint8), [len(part) for part in parts], starts, None]


def _followed(whole: np.ndarray, parts: list[np.ndarray]) -> list[Any]:
    """Return ``whole``, which has room for ``parts`` one after the other, as MPI takes it."""
    return [whole, [len(part) for part in parts]]


def _deal_out(whole: np.ndarray, received: list[np.ndarray]) -> None:
    """Copy ``whole`` into the parts that follow one another in it."""
    start = 0
    for part in received:
        part[:] = whole[start : start + len(part)]
        start += len(part)
