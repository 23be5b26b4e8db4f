"""Clocks of a device: wall time of a block, and events around each launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Stopwatch:
    """Wall time of a block, in seconds."""

    seconds = 0.0


class LaunchClock:
    """Events before and after each launch.

    Attributes
    ----------
    pairs
        The events of the launches so far, while they are marked; None: nobody wants to know, and a launch is as cheap
        as it was.
    """

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self.pairs: list[tuple[Any, Any]] | None = None

    def launch(self, start: Callable[[], None]) -> None:
        """Launch by ``start``, between two events."""
        before, after = self._cuda.Event(), self._cuda.Event()
        before.record()
        start()
        after.record()
        if self.pairs is not None:
            self.pairs.append((before, after))

    @contextmanager
    def running(self) -> Iterator[list[tuple[Any, Any]]]:
        """Mark every launch inside; its events are complete when the device is done."""
        pairs: list[tuple[Any, Any]] = []
        self.pairs = pairs
        try:
            yield pairs
        finally:
            self.pairs = None
