"""Who has gone: a rank that is lost is named, and nobody waits for it for ever.

On its own machine a rank holds a process file descriptor of every other rank, which becomes readable when that process
ends, however it ended. Where the system gives none (before Linux 5.3, or a container's rules), it looks with every beat
whether the process is still there, and the one it was. No launcher has to end the others, as srun does only with
``--kill-on-bad-exit``. And all ranks of a machine count in memory that they share: a thread of each counts on, so that
one that has been stopped stands still while others wait, and is told from one that is busy computing. On a machine
with more threads than cores a thread may wait its turn for seconds: so the kernel is asked for the state of a rank that
stands still, and one that is not stopped gets more time.

Nothing is repaired: the process says what it knows and ends all ranks.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from bigbfs.engines.ranks import ending

GONE = 9
"""Exit code of ranks that end because another one has gone: as mpiexec has it for a process that was killed."""

PASS_ON_SECONDS = 0.2
"""How long the launcher has to pass on what a rank has said: told to end, it throws away what it has not read yet."""


def say_and_end(text: str, end: Callable[[int], None]) -> None:
    """Print ``text`` as an error and end this process and the others."""
    with suppress(OSError):
        os.write(2, f"bigbfs: error: {text}\n".encode())
    ending.limit(2.0)  # where ending the others hangs
    time.sleep(PASS_ON_SECONDS)
    end(GONE)
    os._exit(GONE)


BEAT_SECONDS = 0.5
"""How often a rank counts on."""

GRACE_SECONDS = 1.0
"""How long the launcher has to end this process, too. A rank that aborts tells it why, and may be gone before it acts:
who were quicker than that would give another exit code than that of the cause."""

TIDY_SECONDS = 3.0
"""How long a rank that a signal has ended waits for the others to tidy up: one may be deep in compiled code."""

STARVED = 10
"""A rank that stands still and is not stopped waits for a core, a disk, a lock: it gets this many times the limit."""

STOPPED = "Tt"
"""States of a process that a signal or a debugger has stopped (proc(5))."""


def is_stopped(process: int) -> bool:
    """Return whether the process is stopped; also where nothing is known of it."""
    try:
        return _state(process)[0] in STOPPED
    except OSError:
        return True


def _state(process: int) -> tuple[str, str]:
    """Return the state of a process and when it was started, in ticks since the machine was.

    Raises
    ------
    OSError
        It has gone, or nothing is known of processes here.
    """
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return fields[0], fields[19]


_ENDED = "ZX"
"""States of a process that has ended and that nobody has asked for its exit code."""


class _Known:
    """A process of which there is no descriptor."""

    def __init__(self, process: int) -> None:
        self._process, self._started = process, ""
        with suppress(OSError):
            self._started = _state(process)[1]

    def has_gone(self) -> bool:
        """Return whether the process has ended: it is not there, or another has its number."""
        try:
            state, started = _state(self._process)
        except OSError:
            try:
                os.kill(self._process, 0)
            except ProcessLookupError:
                return True
            except OSError:  # it is there, and not ours
                return False
            return False
        return state in _ENDED or started != self._started


class Neighbours:
    """Watches the other ranks of this machine from a thread.

    Parameters
    ----------
    processes
        (rank, host, process id) of each of them.
    end
        Ends all ranks with an exit code.
    beats
        Where each rank counts: int64, one place for each in memory that all see; None: there is none.
    mine
        This rank's place.
    limit
        Seconds that a rank may stand still that is stopped; :data:`STARVED` times as many for one that is not.
    ended
        Memory that all see for :meth:`end_together`: int64, a place for each rank and one more; None: there is none.
    """

    def __init__(
        self,
        processes: list[tuple[int, str, int]],
        end: Callable[[int], None],
        beats: np.ndarray | None,
        mine: int,
        limit: float,
        ended: np.ndarray | None = None,
    ) -> None:
        self._beats, self._mine, self._limit, self._ended = beats, mine, limit, ended
        self._seen: dict[int, tuple[int, float]] = {}
        self._held: dict[int, tuple[int, str, int]] = {}
        self._known: list[tuple[_Known, tuple[int, str, int]]] = []
        self._processes = processes
        self._end = end
        self._stop, self._wake = os.pipe()
        for each in processes:
            try:
                self._held[os.pidfd_open(each[2])] = each
            except (OSError, AttributeError):  # not a system that has them, or gone already
                self._known.append((_Known(each[2]), each))
        self._thread = threading.Thread(target=self._watch, name="neighbours", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        poll = select.poll()
        for handle in (self._stop, *self._held):
            poll.register(handle, select.POLLIN)
        while True:
            self._beat()
            for known, each in self._known:
                if known.has_gone():
                    self._say_gone(each)
            for handle, _ in poll.poll(int(1000 * BEAT_SECONDS)):
                if handle == self._stop:
                    return
                self._say_gone(self._held[handle])

    def _say_gone(self, which: tuple[int, str, int]) -> None:
        poll = select.poll()
        poll.register(self._stop, select.POLLIN)
        if poll.poll(int(1000 * GRACE_SECONDS)):
            return  # this rank has left the others, too
        rank, host, process = which
        say_and_end(f"rank {rank} (host {host}, process {process}) has gone: it was killed or ended", self._end)

    def _beat(self) -> None:
        """Count on, and look who does not."""
        if self._beats is None:
            return
        self._beats[self._mine] += 1
        now = time.monotonic()
        mine, since = self._seen.get(-1, (0, now))
        if now - since > self._limit / 2:  # it was this process that stood still: look afresh
            self._seen.clear()
        self._seen[-1] = (mine, now)
        for rank, host, process in self._processes:
            count = int(self._beats[rank])
            if self._seen.get(rank, (-1, now))[0] != count:
                self._seen[rank] = (count, now)
            elif (still := now - self._seen[rank][1]) > self._limit:
                stopped = is_stopped(process)
                if stopped or still > STARVED * self._limit:
                    seconds, cause = (1, "it is stopped") if stopped else (STARVED, "it hangs, or gets no core")
                    name = f"rank {rank} (host {host}, process {process})"
                    say_and_end(f"{name} has not moved for {seconds * self._limit:g} s: {cause}", self._end)

    def end_together(self, code: int) -> int:
        """Let the other ranks, all of one machine, tidy up, before this one ends them; return the code of the first.

        A signal has ended this rank, which has tidied up. Who is ended by the launcher removes nothing: so the signal
        is passed on, as SIGTERM, of which nobody says anything, and those that it ends make this call as well.
        """
        if self._ended is None:
            return code
        self._ended[-1] = self._ended[-1] or code
        self._ended[self._mine] = 1
        for handle in self._held:
            with suppress(OSError, AttributeError):
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        for known, (_, _, process) in self._known:
            with suppress(OSError):
                if not known.has_gone():
                    os.kill(process, signal.SIGTERM)
        deadline = time.monotonic() + TIDY_SECONDS
        while not self._ended[:-1].all() and time.monotonic() < deadline:
            time.sleep(0.01)
        return int(self._ended[-1])

    def close(self) -> None:
        """Watch no more: ranks may end now."""
        os.write(self._wake, b"x")
        self._thread.join()
        for handle in (*self._held, self._stop, self._wake):
            os.close(handle)
