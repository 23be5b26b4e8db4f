"""Claims of a search whose rows are streamed: packed by owner, carried there, and taken in.

Others' vertices that a level has led to are bits and parents on this rank. Where the claims of all ranks have room in
an inbox they go at once, else in rounds of as many words of every rank as surely have room.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition


class Claims:
    """What carries the claims of one rank, and brings it those of others.

    Parameters
    ----------
    runtime, group, partition, transport
        The device, the ranks, who owns what, and what carries.
    launcher
        Launches ``ranks_count``, ``ranks_pack`` and ``ranks_accept``.
    part
        What is own, as kernels get it.
    sent
        Claims for each rank, uint64 (ranks,), as they are counted on the device.
    room
        For vertices and parents that leave, and for those that come: ids, so many for each rank, a multiple of 64.
    """

    def __init__(
        self,
        runtime: Runtime,
        group: Group,
        partition: Partition,
        transport: Transport,
        launcher: Launcher,
        part: np.ndarray,
        sent: Array,
        room: Sequence[Array],
    ) -> None:
        self._runtime, self._group, self._transport, self._launch = runtime, group, transport, launcher
        self._partition, self._part, self._sent = partition, part, sent
        self._out, self._into, self._capacity = room[:2], room[2:], len(room[0]) // group.size

    @property
    def nbytes(self) -> int:
        """Bytes of claims on their way."""
        return sum(int(array.nbytes) for array in (*self._out, *self._into))

    def deliver(self, state: np.ndarray) -> int:
        """Send all claims to their owners and take in those for this rank; return the rounds beyond the first.

        All ranks make this call.
        """
        if self._group.size == 1:
            return 0
        words, n = max(self._partition.counts()), np.uint64(self._partition.n)
        self._runtime.fill(self._sent, 0)
        self._launch("ranks_count", self._partition.n // 32, state, self._part, n)
        table = self._table()
        if not table.any():
            return 0
        whole = int(table.max()) <= self._capacity
        width = words if whole else self._capacity // 64
        for begin in range(0, words, width):
            self._runtime.fill(self._sent, 0)
            window = (np.uint64(begin), np.uint64(width), *self._out, np.uint64(self._capacity))
            self._launch("ranks_pack", width * 2, state, self._part, n, *window)
            self._carry(state, table if whole else self._table())
        return -(-words // width) - 1

    def _table(self) -> np.ndarray:
        """Return how many claims each rank (row) has for each other one (column)."""
        mine = self._runtime.download(self._sent).astype(np.int64)
        return np.stack(self._group.gather(mine, [len(mine)] * len(mine)))

    def _carry(self, state: np.ndarray, table: np.ndarray) -> None:
        """Exchange what is packed, and take in what has come."""
        rank, room = self._group.rank, self._capacity
        kinds = 2 if int(state["parents"]) else 1
        ends = np.cumsum(table[:, rank])
        out = [
            [array[other * room : other * room + count] for array in self._out[:kinds]]
            for other, count in enumerate(table[rank].tolist())
        ]
        into = [
            [array[end - count : end] for array in self._into[:kinds]]
            for end, count in zip(ends.tolist(), table[:, rank].tolist(), strict=True)
        ]
        self._transport.exchange(out, into, int(table.max()) * kinds * self._into[0].itemsize)
        if ends[-1]:
            self._launch("ranks_accept", int(ends[-1]), state, *self._into, np.uint64(ends[-1]))
