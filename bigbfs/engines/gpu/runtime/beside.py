"""Kernels that run while a transport carries what kernels before them have found.

On a GPU they run on a stream of their own, which waits for what was launched before and is waited for by what is
launched behind; transports copy, and NCCL moves, on the usual one. Elsewhere there is one stream: they run at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Beside(Protocol):
    """What launches beside the usual stream."""

    def launch(self, work: Callable[[], None]) -> None:
        """Let ``work`` launch what may run beside whatever is launched, copied and waited for until ``join``."""

    def join(self) -> None:
        """Let what is launched from now on wait for it."""


class AtOnce:
    """One stream: ``work`` runs before what follows."""

    def launch(self, work: Callable[[], None]) -> None:
        """See ``Beside``."""
        work()

    def join(self) -> None:
        """See ``Beside``."""


class Stream:
    """A second stream of CuPy's, which the usual one (the null stream) does not wait for by itself."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._stream = cuda.Stream(non_blocking=True)

    def launch(self, work: Callable[[], None]) -> None:
        """See ``Beside``."""
        self._stream.wait_event(self._cuda.get_current_stream().record())
        with self._stream:
            work()

    def join(self) -> None:
        """See ``Beside``."""
        self._cuda.get_current_stream().wait_event(self._stream.record())
