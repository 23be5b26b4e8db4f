"""How a rank tells the others: claims of vertices that they own, and which of its own vertices are visited."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.bfs.ranks import costs, messages
from bigbfs.algorithms.bfs.ranks.state import Own
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition

HUBS = 8
"""The first of so many parts of the own words goes ahead: ordered by degree, it holds the hubs."""

_NOTHING = np.empty(0, np.uint8)

_LENGTH = 4
"""Bytes in which a slot says how much of it is used."""


class Tells:
    """The exchanges of one rank.

    Parameters
    ----------
    group, partition
        The ranks, and who owns what.
    own
        The rank's state.
    window
        Memory that all ranks see, 16 bytes for each word of the graph: two maps that are used in turn. None: there is
        none.

    Attributes
    ----------
    faults
        Numbers out of range in what was received.
    """

    def __init__(self, group: Group, partition: Partition, own: Own, window: np.ndarray | None) -> None:
        self._group, self._own, self.faults = group, own, 0
        self._parts = [partition.part(rank) for rank in range(group.size)]
        self._owns = [partition.own(rank) for rank in range(group.size)]
        self._counts = partition.counts()
        self._maps = None if window is None else window.view(np.uint64).reshape(2, -1)
        self._turn = 0
        self._noted: list[list[np.ndarray]] = [[] for _ in range(group.size)]
        ends = np.cumsum(self._counts)
        self._stretches = [slice(int(end) - count, int(end)) for end, count in zip(ends, self._counts, strict=True)]

    def all(self, kind: str, meanwhile: Callable[[], None]) -> None:
        """Tell all ranks of own vertices visited and learn of theirs; ``meanwhile`` runs while hubs alone are known."""
        mine = self._own.visited[self._owns[self._group.rank]]
        if kind == "list":
            self._list()
        elif kind == "window":
            self._window(mine)
        elif kind == "hubs":
            self._hubs(mine, meanwhile)
        else:
            self._place(self._group.gather(mine, self._counts), 0)
        self._own.fresh[:] = 0

    def _place(self, parts: list[np.ndarray], skip: int) -> None:
        """Put words of the other ranks where they belong; ``skip`` of ``HUBS`` parts of each are not there."""
        for rank, part in enumerate(parts):
            if rank != self._group.rank:
                whole = self._own.visited[self._owns[rank]]
                start = self._counts[rank] // HUBS * skip
                whole[start : start + len(part)] |= part

    def _hubs(self, mine: np.ndarray, meanwhile: Callable[[], None]) -> None:
        firsts = [count // HUBS for count in self._counts]
        rests = [count - first for count, first in zip(self._counts, firsts, strict=True)]
        cut = firsts[self._group.rank]
        self._place(self._group.gather(mine[:cut], firsts), 0)
        finish = self._group.start_gather(mine[cut:], rests)
        meanwhile()
        self._place(finish(), 1)

    def _window(self, mine: np.ndarray) -> None:
        """Write own words to the map whose turn it is, and read the others'.

        Nobody writes to a map before all have read it: in between lies the barrier of the other map.
        """
        assert self._maps is not None
        shared, self._turn = self._maps[self._turn], 1 - self._turn
        shared[self._stretches[self._group.rank]] = mine
        self._group.barrier()
        self._place([shared[stretch] for stretch in self._stretches], 0)

    def _list(self) -> None:
        fresh = self._own.fresh
        none = np.empty(0, np.uint8)
        out = np.empty(int(messages.write_list(fresh, none, False)), np.uint8)
        messages.write_list(fresh, out, True)
        for rank, stream in enumerate(self._group.gather(out)):
            if rank != self._group.rank:
                self.faults += int(messages.read_list(self._parts[rank], stream, self._own.visited))

    def note(self, claims: np.ndarray, owners: np.ndarray, count: np.uint64) -> None:
        """Write down for their owners ``count`` vertices claimed, and the vertices from which."""
        part, size = self._parts[self._group.rank], self._group.size
        lengths = np.zeros(size, np.uint64)
        messages.deal(part, claims, owners, count, lengths, np.empty(0, np.uint8), False)
        ends = np.cumsum(lengths)
        out = np.empty(int(ends[-1]), np.uint8)
        messages.deal(part, claims, owners, count, ends - lengths, out, True)
        for rank, (length, end) in enumerate(zip(lengths.tolist(), ends.tolist(), strict=True)):
            if length:
                self._noted[rank].append(out[end - length : end])

    def claims(self, slot: int) -> list[tuple[np.ndarray, np.uint64, np.uint64]]:
        """Send the claims noted to their owners; return (bytes, begin, end) of the streams that came.

        ``slot`` bytes hold any rank's claims for another; up to ``costs.SLOT_BYTES`` all go in one call.
        """
        group = self._group
        streams = [np.concatenate(parts) if parts else _NOTHING for parts in self._noted]
        self._noted = [[] for _ in streams]
        if slot <= costs.SLOT_BYTES:
            received = group.exchange_slots(self._in_slots(streams, slot))
            ends = [int(stream[:_LENGTH].view(np.uint32)[0]) + _LENGTH for stream in received]
            found = [(stream, np.uint64(_LENGTH), np.uint64(end)) for stream, end in zip(received, ends, strict=True)]
        else:
            found = [(stream, np.uint64(0), np.uint64(len(stream))) for stream in group.exchange(streams)]
        return [each for rank, each in enumerate(found) if rank != group.rank]

    def _in_slots(self, streams: list[np.ndarray], slot: int) -> np.ndarray:
        """Return the streams behind their lengths, each in a row of ``slot`` bytes."""
        slots = np.zeros((len(streams), slot), np.uint8)
        for rank, stream in enumerate(streams):
            if len(stream) + _LENGTH > slot:
                raise AssertionError(f"claims of {len(stream)} bytes for a slot of {slot}")
            slots[rank, :_LENGTH] = np.array([len(stream)], np.uint32).view(np.uint8)
            slots[rank, _LENGTH : _LENGTH + len(stream)] = stream
        return slots
