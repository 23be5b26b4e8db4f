"""How a rank tells the others: claims of vertices that they own, and which of its own vertices are visited."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bigbfs.algorithms.bfs.ranks import costs, messages
from bigbfs.algorithms.bfs.ranks.state import Own
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Part, Partition

Lot = tuple[np.ndarray, np.ndarray, np.uint64]
"""Vertices claimed, the vertices from which, and how many."""

HUBS = 8
"""The first of so many parts of the own words goes ahead: ordered by degree, it holds the hubs."""

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

    def claims(self, lots: list[Lot], slot: int) -> list[tuple[np.ndarray, np.uint64, np.uint64]]:
        """Send claims to their owners; return (bytes, begin, end) of the streams that came.

        ``slot`` bytes hold any rank's claims for another; up to ``costs.SLOT_BYTES`` all go in one call.
        """
        group, part = self._group, self._parts[self._group.rank]
        starts = self._lengths(lots, part)  # of the streams of each lot, for each rank, and their ends
        lengths = starts[-1]
        if slot <= costs.SLOT_BYTES:
            slots = np.zeros((group.size, slot), np.uint8)
            if int(lengths.max(initial=0)) + _LENGTH > slot:
                raise AssertionError(f"claims of {int(lengths.max())} bytes for a slot of {slot}")
            slots[:, :_LENGTH] = lengths.astype(np.uint32).view(np.uint8).reshape(-1, _LENGTH)
            offsets = np.arange(group.size, dtype=np.uint64) * np.uint64(slot) + np.uint64(_LENGTH)
            out = slots.reshape(-1)
        else:
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
            out = np.empty(int(offsets[-1]), np.uint8)
        for number, (claims, owners, count) in enumerate(lots):
            messages.deal(part, claims, owners, count, offsets[: group.size] + starts[number], out, True)
        if slot <= costs.SLOT_BYTES:
            received = group.exchange_slots(slots)
            ends = [int(stream[:_LENGTH].view(np.uint32)[0]) + _LENGTH for stream in received]
            found = [(stream, np.uint64(_LENGTH), np.uint64(end)) for stream, end in zip(received, ends, strict=True)]
        else:
            streams = group.exchange([out[int(a) : int(b)] for a, b in pairwise(offsets)])
            found = [(stream, np.uint64(0), np.uint64(len(stream))) for stream in streams]
        return [each for rank, each in enumerate(found) if rank != group.rank]

    def _lengths(self, lots: list[Lot], part: Part) -> np.ndarray:
        """Return where the streams of each lot begin for each rank, and at last where they end: uint64."""
        found = np.zeros((len(lots) + 1, self._group.size), np.uint64)
        for number, (claims, owners, count) in enumerate(lots):
            found[number + 1] = found[number]
            messages.deal(part, claims, owners, count, found[number + 1], np.empty(0, np.uint8), False)
        return found
