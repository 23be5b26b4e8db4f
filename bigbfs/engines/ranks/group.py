"""The communicator door: what ranks say to one another, whatever carries it.

A group has two forms. :class:`bigbfs.engines.ranks.threads.ThreadGroup` is threads of one process (tests, emulated
GPUs), :class:`bigbfs.engines.ranks.mpi.MpiGroup` is processes under MPI. Every call is collective: all ranks make the
same calls in the same order, with lengths that may differ. A form supplies the primitives at the end of
:class:`Group`; pieces, clocks and counts of bytes are here, once.

Messages are cut into pieces below ``piece`` bytes: MPI counts elements in 32 bits, and not every library refuses more.
"""

from __future__ import annotations

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

PIECE = 2**30
"""Bytes of a message to one rank in one call, at most."""

ALIGNED = 64
"""What a rank has sent begins at a multiple of so many bytes, whatever it is."""


@dataclass(slots=True)
class Traffic:
    """What a rank has said and how long that took.

    Attributes
    ----------
    sent
        Bytes handed to other ranks: what goes to several of them counts once for each.
    waited
        Seconds inside collective calls: the transfer, and waiting for whoever comes last.
    calls
        Collective calls.
    """

    sent: int = 0
    waited: float = 0.0
    calls: int = 0

    def copy(self) -> Traffic:
        """Return what it is now."""
        return Traffic(self.sent, self.waited, self.calls)

    def since(self, before: Traffic) -> Traffic:
        """Return what has come to ``before``."""
        return Traffic(self.sent - before.sent, self.waited - before.waited, self.calls - before.calls)


class Group(ABC):
    """The ranks that work together, seen from one of them.

    Attributes
    ----------
    rank, size
        Which this is, of how many.
    host, hosts
        Name of this rank's machine; those of all ranks, in order.
    machines
        For each rank the first one on its machine: names may be the same on several, in containers above all.
    traffic
        What this rank has sent, and its waits.
    piece
        Bytes of one message to one rank, at most.
    """

    rank: int
    size: int
    host: str
    hosts: tuple[str, ...]
    machines: tuple[int, ...]
    one_process = False
    """Whether the ranks are threads of one process, whose locks all of them see."""

    def __init__(self, piece: int = PIECE) -> None:
        self.traffic = Traffic()
        self.piece = piece

    @property
    def beside(self) -> tuple[int, ...]:
        """The ranks on this machine, this one among them."""
        return tuple(other for other in range(self.size) if self.machines[other] == self.machines[self.rank])

    @property
    def host_rank(self) -> int:
        """Which this is of the ranks on its machine."""
        return self.beside.index(self.rank)

    @property
    def host_size(self) -> int:
        """How many ranks there are on this machine."""
        return len(self.beside)

    @property
    def one_host(self) -> bool:
        """Whether all ranks are on one machine."""
        return self.host_size == self.size

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.traffic.waited += time.perf_counter() - start
            self.traffic.calls += 1

    def barrier(self, rest: float = 0.0) -> None:
        """Return when every rank has called it.

        Who waits may rest so many seconds between two looks: other threads of the process work meanwhile.
        """
        with self._timed():
            self._barrier(rest)

    def meet(self, words: np.ndarray) -> None:
        """Return when every rank has called it, as :meth:`barrier`: for ranks of one machine, and quicker.

        ``words`` (uint64, those of :mod:`bigbfs.jit.meeting`) lie in memory that all of them see.
        """
        with self._timed():
            self._meet(words)

    def sum(self, values: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the sums over all ranks of ``values``: int64, as many on every rank."""
        mine = np.ascontiguousarray(values, np.int64)
        with self._timed():
            self.traffic.sent += mine.nbytes * (self.size - 1)
            return self._sum(mine)

    def gather(self, mine: np.ndarray, counts: Sequence[int] | None = None) -> list[np.ndarray]:
        """Return the arrays of all ranks, in order: one dimension, one dtype.

        ``counts``: the entries of each rank, where all of them know; else they are told first.
        """
        return self.start_gather(mine, counts)()

    def start_gather(self, mine: np.ndarray, counts: Sequence[int] | None = None) -> Callable[[], list[np.ndarray]]:
        """Begin to gather; return what waits for the end, to be called before any other call of the group."""
        flat = np.ascontiguousarray(mine)
        if counts is None:
            counts = self.lengths(len(flat))
        if counts[self.rank] != len(flat):
            raise ValueError(f"rank {self.rank} gives {len(flat)} entries, and {counts[self.rank]} were said")
        width = flat.itemsize
        sizes = [int(count) * width for count in counts]
        received = [np.empty(size, np.uint8) for size in sizes]
        self.traffic.sent += flat.nbytes * (self.size - 1)
        most = max(sizes, default=0)
        waits = []
        with self._timed():
            raw = flat.view(np.uint8)
            for start in range(0, most, self.piece):
                window = slice(start, start + self.piece)
                waits.append(self._gather(raw[window], [part[window] for part in received]))

        def finish() -> list[np.ndarray]:
            with self._timed():
                for wait in waits:
                    wait()
            return [part.view(flat.dtype) for part in received]

        return finish

    def lengths(self, mine: int) -> list[int]:
        """Return a number of every rank."""
        return [int(each[0]) for each in self.gather(np.array([mine], np.int64), [1] * self.size)]

    def exchange(self, parts: Sequence[np.ndarray], spare: np.ndarray | None = None) -> list[np.ndarray]:
        """Send ``parts[p]`` (uint8, one dimension) to rank p; return what every rank has sent here.

        That lies in ``spare`` (uint8) where it is given and large enough.
        """
        lengths = np.array([len(part) for part in parts], np.int64)
        everyone = np.stack(self.gather(lengths, [self.size] * self.size))
        return self.exchange_known(list(parts), everyone[:, self.rank].tolist(), int(everyone.max(initial=0)), spare)

    def exchange_slots(self, slots: np.ndarray) -> list[np.ndarray]:
        """Send row p of ``slots`` (uint8, shape (size, bytes), as long on every rank) to rank p, in one call."""
        width = slots.shape[1]
        return self.exchange_known(list(slots), [width] * self.size, width)

    def exchange_known(
        self, parts: list[np.ndarray], lengths: list[int], most: int, spare: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Exchange where ``lengths`` come in, by rank; ``most``, the same on all: the longest part of any rank."""
        rooms = [-(-length // ALIGNED) * ALIGNED for length in lengths]
        whole = np.empty(sum(rooms), np.uint8) if spare is None or len(spare) < sum(rooms) else spare
        starts = itertools.accumulate(rooms, initial=0)
        received = [whole[start : start + length] for start, length in zip(starts, lengths, strict=False)]
        self.traffic.sent += sum(len(part) for number, part in enumerate(parts) if number != self.rank)
        with self._timed():
            for start in range(0, most, self.piece):
                window = slice(start, start + self.piece)
                self._exchange([part[window] for part in parts], [part[window] for part in received])
        return received

    @abstractmethod
    def objects(self, value: Any) -> list[Any]:
        """Return a small Python object of every rank, in order."""

    @abstractmethod
    def window(self, nbytes: int, large: bool = False) -> np.ndarray | None:
        """Return ``nbytes`` of zeroed memory that all ranks see (uint8), or None: they are on several machines.

        ``large``: of what is seldom read twice, of which each rank touches some; it is there sooner.
        """

    @abstractmethod
    def forget(self, window: np.ndarray) -> None:
        """Let go of the memory behind a large window, of no use to any rank: one does, for all, since it takes time."""

    @abstractmethod
    def abort(self, code: int) -> None:
        """End every rank, with this exit code."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group, all ranks together."""

    @abstractmethod
    def _barrier(self, rest: float = 0.0) -> None: ...

    def _meet(self, words: np.ndarray) -> None:
        self._barrier()

    @abstractmethod
    def _sum(self, mine: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _gather(self, mine: np.ndarray, received: list[np.ndarray]) -> Callable[[], None]: ...

    @abstractmethod
    def _exchange(self, parts: list[np.ndarray], received: list[np.ndarray]) -> None: ...
