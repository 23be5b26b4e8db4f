"""The pinned buffers through which streamed rows go, and the count of what went through them.

No Numba here: an engine whose edges are in memory knows of these, and of nothing else that streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Array, Runtime, Stage
from bigbfs.engines.gpu.streamed.ledger import STAGES, stage_capacity


@dataclass(slots=True)
class Traffic:
    """What went through the buffers: ``bytes`` read from the file in ``reads`` calls, ``batches``, ``pieces``."""

    bytes: int = 0
    reads: int = 0
    batches: int = 0
    pieces: int = 0

    def add(self, stretches: np.ndarray, pieces: int) -> None:
        """Count a batch of ``pieces``, read in ``stretches`` (see batches.py)."""
        self.bytes += int(stretches[:, 1].sum())
        self.reads += len(stretches)
        self.batches += 1
        self.pieces += pieces


Consume = Callable[[np.ndarray, Array, int], None]
"""Launches kernels on a batch: the struct of the adjacency whose data is the batch, its pieces (uint64, in device
memory), how many there are."""


class Buffers:
    """The buffers of an engine; all of its adjacencies share them, one at a time.

    Parameters
    ----------
    runtime
        The device.
    total
        Bytes of pinned memory, and of device memory, for all of them together.

    Attributes
    ----------
    capacity
        Bytes of one.
    host_bytes, device_bytes
        What all take.
    """

    def __init__(self, runtime: Runtime, total: int) -> None:
        self.capacity = stage_capacity(total)
        self.stages: list[Stage] = []
        self._next = 0
        self._held: Stage | None = None
        try:
            for _ in range(STAGES):
                self.stages.append(runtime.stage(self.capacity))
        except BaseException:
            self.close()
            raise
        self.host_bytes = self.device_bytes = STAGES * self.capacity

    def take(self) -> Stage:
        """Return the buffer whose turn it is, free to be filled."""
        stage = self.stages[self._next]
        self._next = (self._next + 1) % STAGES
        if stage is self._held:
            return self.take()
        stage.wait()
        return stage

    @contextmanager
    def held(self) -> Iterator[Stage]:
        """Take a buffer out of turn while the others go on; at its end every kernel that reads its twin has been
        launched."""
        stage = self.take()
        self._held = stage
        try:
            yield stage
        finally:
            self._held = None
            stage.done()

    def close(self) -> None:
        """Release them; a second call does nothing."""
        stages, self.stages = self.stages, []
        with ExitStack() as closing:
            for stage in stages:
                closing.callback(stage.close)
