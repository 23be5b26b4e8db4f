"""Pairs to the ranks that own their rows: what a rank has read goes out in rounds, what it gets goes to its own files.

Partitions, ranges of ids, are dealt to the ranks in stretches of equal count. A round is one exchange among all ranks;
a rank that has read all makes rounds until nobody has anything left. So no rank holds more than a round of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.spill import Map, Partition, Writer
from bigbfs.engines.ranks.agreeing import agree
from bigbfs.engines.ranks.group import Group
from bigbfs.jit.workers import Workers

STREAMS = ("out", "in")
RUNNING, DONE, FAILED = 0, 1, 2
"""What a rank says with each round."""


class OtherFailed(Exception):
    """Another rank has failed; it says why."""


class ExchangingWriter(Writer):
    """A writer of which each rank has the files of its own partitions.

    Parameters
    ----------
    most
        Bytes that are gathered before a round.

    Attributes
    ----------
    failure
        Why what came could not be kept; None: it could.
    """

    def __init__(
        self, scratch: Scratch, name: str, places: Map, workers: Workers, threads: int, group: Group, most: int
    ) -> None:
        super().__init__(scratch, name, places, workers, threads)
        self._group, self._most = group, most
        self.bounds = [places.count * rank // group.size for rank in range(group.size + 1)]
        self._going: list[list[np.ndarray]] = [[] for _ in range(group.size)]
        self._held = 0
        self.failure: Exception | None = None

    def _write(self, pairs: np.ndarray, starts: np.ndarray, stream: str, group: int) -> None:
        """Keep pairs for their owners; a round where there are enough."""
        width = pairs.dtype.itemsize
        for rank in range(self._group.size):
            first, last = self.bounds[rank], self.bounds[rank + 1]
            counts = np.diff(starts[first : last + 1])
            if not counts.any():
                continue
            head = np.array([STREAMS.index(stream), width, group, *counts], np.int64)
            body = pairs[2 * int(starts[first]) : 2 * int(starts[last])]
            self._going[rank] += [head.view(np.uint8), body.view(np.uint8).copy()]
            self._held += body.nbytes
        if self._held >= self._most:
            self._round(RUNNING)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Take what this rank writes meanwhile; then make rounds until no rank has anything left.

        Raises
        ------
        Agreed
            On every rank: what the first raised that failed, in writing or in keeping what came.
        """
        failure: Exception | None = None
        with suppress(OtherFailed):  # no further round: the rank that failed waits in ``agree``
            try:
                yield
            except OtherFailed:
                raise
            except Exception as error:
                failure = error
            self.finish(failure is not None)
        agree(self._group, failure or self.failure)

    def finish(self, failed: bool) -> None:
        """Make rounds until all ranks have nothing left.

        Raises
        ------
        OtherFailed
            A rank has failed.
        """
        state = FAILED if failed else DONE
        while not self._round(state):
            pass

    def _round(self, state: int) -> bool:
        """Exchange what is held; return whether every rank was done."""
        state = FAILED if self.failure is not None else state
        states = np.concatenate(self._group.gather(np.array([state], np.int64), [1] * self._group.size))
        if (states == FAILED).any():
            raise OtherFailed
        empty = np.empty(0, np.uint8)
        parts = [np.concatenate(going) if going else empty for going in self._going]
        self._going, self._held = [[] for _ in parts], 0
        for received in self._group.exchange(parts):
            try:
                if self.failure is None:
                    self._keep(received)
            except Exception as error:  # the others learn of it in the next round
                self.failure = error
        return bool((states == DONE).all())

    def _keep(self, received: np.ndarray) -> None:
        """Append what a rank has sent to the files of own partitions."""
        first, last = self.bounds[self._group.rank], self.bounds[self._group.rank + 1]
        at, fields = 0, 3 + last - first
        while at < len(received):
            head = received[at : at + 8 * fields].view(np.int64)
            stream, width, group, *counts = head.tolist()
            at += 8 * fields
            starts = np.zeros(self.map.count + 1, np.int64)
            np.cumsum(counts, out=starts[first + 1 : last + 1])
            starts[last + 1 :] = starts[last]
            size = 2 * int(starts[last]) * width
            pairs = np.frombuffer(received[at : at + size].tobytes(), f"<u{width}")
            at += size
            super()._write(pairs, starts, STREAMS[stream], group)

    def own(self) -> list[Partition]:
        """Return own partitions, in the order of the rows."""
        return self.partitions()[self.bounds[self._group.rank] : self.bounds[self._group.rank + 1]]
