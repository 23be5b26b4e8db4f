"""Which machine has gone: the first ranks of all machines send one another a beat, and one that stays away is named.

When a machine dies, or the link to it is cut, nothing tells the others: calls of MPI wait for ever, and so does mpiexec
(tried: ten minutes). A thread of the first rank of each machine sends beats over MPI, on the same way as the data; what
its other threads compute does not stop it. Of what happens within a machine :mod:`bigbfs.engines.ranks.watch` learns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bigbfs.engines.ranks.watch import say_and_end

BEATS = 20
"""Beats in the time that a machine may be silent."""

LONGEST_SECONDS = 1.0
"""No two beats are farther apart."""

HERE, LEAVING = 1, 2


class Mail(Protocol):
    """How beats come and go: none of the calls waits."""

    def send(self, to: int, beat: int) -> bool:
        """Send ``beat`` to rank ``to`` and return True, or leave it out where the last one has not gone yet."""

    def arrived(self, source: int) -> int:
        """Return the last beat that has come from rank ``source`` since the last call; 0: none."""

    def close(self) -> None:
        """Let go of what is under way."""


class OtherHosts:
    """Watches the other machines from a thread, on the first rank of each.

    Parameters
    ----------
    hosts
        For each other machine its first rank, and what a message calls it.
    mail
        How beats come and go.
    end
        Ends all ranks with an exit code.
    limit
        Seconds that a machine may be silent.
    """

    def __init__(self, hosts: Sequence[tuple[int, str]], mail: Mail, end: Callable[[int], None], limit: float) -> None:
        self._hosts, self._mail, self._end, self._limit = tuple(hosts), mail, end, limit
        self._pause = min(LONGEST_SECONDS, limit / BEATS)
        self._closing = threading.Event()
        self._heard = dict.fromkeys((first for first, _ in hosts), time.monotonic())
        self._left: set[int] = set()
        self._told: set[int] = set()
        self._thread = threading.Thread(target=self._watch, name="other hosts", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._closing.wait(self._pause):
            now = time.monotonic()
            if now - before > self._limit / 2:  # it was this process that stood still: listen afresh
                self._heard = dict.fromkeys(self._heard, now)
            before = now
            self._beat(HERE)
            for first, name in self._hosts:
                if first not in self._left and now - self._heard[first] > self._limit:
                    say_and_end(
                        f"{name} has not been heard of for {self._limit:g} s: it has stopped, or the link is cut",
                        self._end,
                    )

    def _beat(self, what: int) -> None:
        for first, _ in self._hosts:
            if first not in self._told and self._mail.send(first, what) and what == LEAVING:
                self._told.add(first)
            beat = self._mail.arrived(first)
            if beat:
                self._heard[first] = time.monotonic()
            if beat == LEAVING:
                self._left.add(first)

    def close(self) -> None:
        """Watch no more: tell the others, and wait until they have told, no longer than a machine may be silent."""
        self._closing.set()
        self._thread.join()
        start = time.monotonic()
        while min(len(self._left), len(self._told)) < len(self._hosts) and time.monotonic() - start < self._limit:
            self._beat(LEAVING)
            time.sleep(self._pause / BEATS)
        self._mail.close()


class MpiMail:
    """Beats as messages of MPI, on a communicator of their own.

    Parameters
    ----------
    comm
        A duplicate of the world.
    peers
        The ranks to write to and to hear from.
    """

    def __init__(self, comm: Any, peers: Sequence[int]) -> None:
        self._comm = comm
        self._out = {peer: np.zeros(1, np.int32) for peer in peers}
        self._in = {peer: np.zeros(1, np.int32) for peer in peers}
        self._sending: dict[int, Any] = dict.fromkeys(peers)
        self._coming = {peer: comm.Irecv(self._in[peer], peer) for peer in peers}

    def send(self, to: int, beat: int) -> bool:
        """Send ``beat``, unless the last one is still on its way."""
        under_way = self._sending[to]
        if under_way is not None and not under_way.Test():
            return False
        self._out[to][0] = beat
        self._sending[to] = self._comm.Isend(self._out[to], to)
        return True

    def arrived(self, source: int) -> int:
        """Return the last beat that has come; whoever leaves sends no other after that."""
        beat = 0
        while beat != LEAVING and self._coming[source].Test():
            beat = int(self._in[source][0])
            self._coming[source] = self._comm.Irecv(self._in[source], source)
        return beat

    def close(self) -> None:
        """Cancel what will not come any more."""
        for request in self._coming.values():
            request.Cancel()
            request.Wait()
