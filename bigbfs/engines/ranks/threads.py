"""A group whose ranks are threads of this process: for tests, and wherever one address space holds all ranks.

A message is a reference left in a common list: written, a barrier, read and copied, a barrier. When one thread fails
the barrier breaks, and every other thread ends with :class:`GroupBroken` instead of waiting for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from bigbfs.engines.ranks.group import PIECE, Group
from bigbfs.errors import BigBfsError


class GroupBroken(BigBfsError, RuntimeError):
    """Another rank has ended before its time."""


class _Common:
    """What the threads share."""

    def __init__(self, size: int, limit: float) -> None:
        self.barrier = threading.Barrier(size, timeout=limit)
        self.slots: list[Any] = [None] * size


class ThreadGroup(Group):
    """One rank of a group of threads; see :func:`run`."""

    one_process = True

    def __init__(self, rank: int, common: _Common, piece: int = PIECE, hosts: tuple[str, ...] | None = None) -> None:
        super().__init__(piece)
        self.rank, self.size = rank, len(common.slots)
        self.hosts = ("here",) * self.size if hosts is None else hosts
        self.host = self.hosts[rank]
        self.machines = tuple(self.hosts.index(host) for host in self.hosts)
        self._common = common

    def _swap(self, mine: Any, read: Callable[[list[Any]], Any]) -> Any:
        """Leave ``mine``, and return what ``read`` makes of what all have left."""
        self._common.slots[self.rank] = mine
        self._barrier()
        found = read(self._common.slots)
        self._barrier()
        return found

    def _barrier(self, rest: float = 0.0) -> None:
        try:
            self._common.barrier.wait()
        except threading.BrokenBarrierError:
            raise GroupBroken(f"rank {self.rank}: another rank has ended, or waits elsewhere") from None

    def _sum(self, mine: np.ndarray) -> np.ndarray:
        return np.asarray(self._swap(mine, lambda all_: np.sum(all_, axis=0)))

    def _gather(self, mine: np.ndarray, received: list[np.ndarray]) -> Callable[[], None]:
        copy = mine.copy()  # what was sent may change until it is waited for

        def read(everyone: list[np.ndarray]) -> None:
            for target, source in zip(received, everyone, strict=True):
                target[:] = source

        return lambda: self._swap(copy, read)

    def _exchange(self, parts: list[np.ndarray], received: list[np.ndarray]) -> None:
        def read(everyone: list[list[np.ndarray]]) -> None:
            for target, source in zip(received, everyone, strict=True):
                target[:] = source[self.rank]

        self._swap(parts, read)

    def objects(self, value: Any) -> list[Any]:
        """Return an object of every rank."""
        return list(self._swap(value, list))

    def window(self, nbytes: int, large: bool = False) -> np.ndarray | None:
        """Return memory that all ranks see; None where they play ranks of several hosts."""
        if not self.one_host:
            return None
        made = np.zeros(nbytes, np.uint8) if self.rank == 0 else None
        return np.asarray(self._swap(made, lambda all_: all_[0]))

    def forget(self, window: np.ndarray) -> None:
        """Do nothing: it goes when no thread has it any more."""

    def abort(self, code: int) -> None:
        """Let every other thread fail at its next call."""
        self._common.barrier.abort()

    def close(self) -> None:
        """Leave: for threads there is nothing to do."""


def run(
    size: int,
    work: Callable[[Group], Any],
    *,
    piece: int = PIECE,
    hosts: tuple[str, ...] | None = None,
    limit: float = 60.0,
) -> list[Any]:
    """Return what ``work(group)`` returns on each of ``size`` ranks, threads of this process.

    Parameters
    ----------
    piece
        Bytes of a message to one rank in one call.
    hosts
        Names of machines to play, one for each rank; None: one machine.
    limit
        Seconds that a rank waits for the others.

    Raises
    ------
    Exception
        What the first rank that failed has raised.
    """
    common = _Common(size, limit)
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def rank(number: int) -> None:
        group = ThreadGroup(number, common, piece, hosts)
        try:
            results[number] = work(group)
        except BaseException as error:
            errors.append(error)
            group.abort(1)

    threads = [threading.Thread(target=rank, args=(number,), name=f"rank {number}") for number in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise next((error for error in errors if not isinstance(error, GroupBroken)), errors[0])
    return results


def alone() -> Group:
    """Return a group of one rank, the caller."""
    return first_of(("here",))


def first_of(hosts: tuple[str, ...]) -> Group:
    """Return rank 0 of a group whose other ranks are not there: who they are can be asked, and nothing of them.

    ``hosts``: the machine of each rank.
    """
    return ThreadGroup(0, _Common(len(hosts), 60.0), hosts=hosts)
