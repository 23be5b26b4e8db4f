"""An NCCL whose ranks connect once for all engines of a process: that takes them a second or more each time."""

from __future__ import annotations

from typing import Any


class OneCommunicator:
    """What stands for ``library``, CuPy's NCCL: all who make a communicator get the first one, which stays open."""

    def __init__(self, library: Any) -> None:
        self._library, self._kept = library, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def NcclCommunicator(self, size: int, unique: Any, rank: int) -> Any:
        """Return it."""
        if self._kept is None:
            self._kept = Kept(self._library.NcclCommunicator(size, unique, rank))
        return self._kept


class Kept:
    """A communicator that nobody closes."""

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._communicator, name)

    def destroy(self) -> None:
        """Stay open."""
