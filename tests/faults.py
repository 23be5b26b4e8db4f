"""Faults of choice: a runtime that fails once, at a step, and a rank that dies while others wait for it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

STEPS = (
    "free_bytes",
    "empty",
    "zeros",
    "fill",
    "upload",
    "write",
    "download",
    "map",
    "kernel",
    "max_blocks",
    "timer",
    "stage",
    "read",
)


class FaultyRuntime:
    """``inner``, but its call number ``fail_at`` (launches count; 0: none) raises ``error``.

    Attributes
    ----------
    calls
        Calls so far; those of ``close`` and ``synchronize`` do not count, since they are how things are let go of.
    """

    def __init__(self, inner: Any, fail_at: int, error: BaseException) -> None:
        self.inner = inner
        self.calls = 0
        self._fail_at = fail_at
        self._error = error

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name not in STEPS:
            return found

        def step(*args: Any, **options: Any) -> Any:
            self.count()
            result = found(*args, **options)
            return _Launches(self, result) if name == "kernel" else result

        return step

    def count(self) -> None:
        """Note a call, and raise if it is the one that fails."""
        self.calls += 1
        if self.calls == self._fail_at:
            raise self._error

    def max_blocks(self, kernel: Any, block: int) -> int:
        """Ask the inner runtime about its own kernel."""
        self.count()
        return self.inner.max_blocks(kernel.inner, block)


class _Launches:
    """A kernel whose launches count."""

    def __init__(self, runtime: FaultyRuntime, kernel: Any) -> None:
        self.runtime = runtime
        self.inner = kernel
        self.name = kernel.name

    def __call__(self, *args: Any, **options: Any) -> None:
        self.ready(*args, **options)()

    def ready(self, *args: Any, **options: Any) -> Callable[[], None]:
        """Return what counts and launches."""
        start = self.inner.ready(*args, **options)

        def counted() -> None:
            self.runtime.count()
            start()

        return counted


def fail_at_every_step(run: Any, check: Any) -> int:
    """Call ``run(fail_at, error)`` with a failure at the first step, the second, ... until none is left.

    ``run`` returns whether it got through; ``check(fail_at)`` is called after each failure. Three kinds of failure take
    turns: an error of the device, memory that cannot be had, an interrupt. Returns the number of steps.
    """
    from bigbfs.errors import DeviceError, DoesNotFitError

    errors = (DeviceError("planted"), DoesNotFitError("planted"), KeyboardInterrupt("planted"))
    fail_at = 0
    while True:
        fail_at += 1
        error = errors[fail_at % len(errors)]
        try:
            got_through = run(fail_at, error)
        except BaseException as raised:
            if raised is not error:
                raise
            got_through = False
            error.__traceback__ = None  # it holds the frames, and what they hold
        if got_through:
            return fail_at - 1
        check(fail_at)


def kill_in_search(rank: int, pause: float = 0.0) -> None:
    """Let ``rank`` end itself by SIGKILL instead of launching a search over several GPUs from any vertex but 0.

    The others have passed the barrier before the launch by then; ``pause``: seconds that their kernels wait at least.
    """
    from bigbfs.algorithms.bfs.gpu.hosts.loop import HostSearch
    from bigbfs.algorithms.bfs.gpu.peers.loop import PeerSearch

    begin = PeerSearch._begin

    def die(*arguments: Any) -> None:
        time.sleep(pause)
        os.kill(os.getpid(), signal.SIGKILL)

    def begun(search: Any, source: int) -> None:
        begin(search, source)
        if search.group.rank == rank and source:
            search._traverse = die

    PeerSearch._begin = begun
    reset = HostSearch._reset

    def forgotten(search: Any, source: int) -> Any:
        return die() if search.group.rank == rank and source else reset(search, source)

    HostSearch._reset = forgotten


def kill_in_components(rank: int) -> None:
    """Let ``rank`` end itself by SIGKILL in its second run of components, when the others tell their members."""
    from bigbfs.algorithms.components.gpu.hosts.loop import HostForest

    tell, runs = HostForest._tell_members, [0]

    def told(forest: Any) -> None:
        runs[0] += 1
        if forest.group.rank == rank and runs[0] == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        tell(forest)

    HostForest._tell_members = told


def kill_in_placing(rank: int) -> None:
    """Let ``rank`` end itself by SIGKILL when some edges of other ranks have come, which go on to wait for its own."""
    from bigbfs.engines.gpu.ranks.passed_on import Others

    bring = Others.bring

    def brought(others: Any, coming: Any, kernel: Any, arrived: Any) -> str:
        turns = [0]

        def seen(ends: list[int], last: bool) -> None:
            turns[0] += 1
            if others._group.rank == rank and turns[0] == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            arrived(ends, last)

        return bring(others, coming, kernel, seen)

    Others.bring = brought
