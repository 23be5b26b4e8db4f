"""Claims of a search over GPUs whose hosts run the levels: from the outbox of one rank into the inbox of another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.bfs.gpu.hosts import arguments
from bigbfs.algorithms.bfs.gpu.hosts.arguments import CLAIMS, Phase
from bigbfs.algorithms.bfs.gpu.peers.arguments import JOINT, LETTER
from bigbfs.algorithms.bfs.gpu.peers.state import PeerState
from bigbfs.algorithms.bfs.ranks.costs import Frontier
from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.runtime import Array


class Claiming(PeerState, ABC):
    """The part of a search that delivers claims; see :class:`PeerState`."""

    transport: Transport
    _given: np.ndarray

    @abstractmethod
    def _step(
        self, frontier: Frontier, phase: Phase, *, outbox: bool = False, blocks: int | None = None, **more: int
    ) -> None:
        """Launch a phase over the frontier, of which ``more`` says what is new."""

    def _make_outbox(self) -> None:
        """Make what claims are left in for other ranks."""
        runtime, size = self._runtime, arguments.inbox_bytes(self.partition, self.ids, self._capacity)
        self._outbox = runtime.zeros(size, np.uint8)
        self._out_bases = runtime.upload(self._bases_of_outbox())
        self._letters = np.zeros((2, self.group.size, LETTER.itemsize // 4), np.uint64)
        self._beside = runtime.beside()

    def _bases_of_outbox(self) -> np.ndarray:
        """Return where kernels take each rank's memory to begin when they leave claims there: claims for rank r then
        lie in part r of the outbox. That of this rank is its own."""
        rank, part = self.group.rank, self._capacity * self.ids.itemsize
        begin = self._runtime.pointer(self._outbox) - self._shared.places["claimed"]
        bases = [(begin + (other - rank) * part) % 2**64 for other in range(self.group.size)]
        bases[rank] = int(self._shared.bases[rank])
        return np.array(bases, np.uint64)

    def _deliver(self, frontier: Frontier, number: int, end: int, ahead: Callable[[], None] | None) -> bool:
        """Send claims to their owners and take in those for this rank; return whether any rank has some left.

        They are what the vertices of the frontier up to ``end`` have found last. Where nobody has any left ``ahead``
        is launched, which reads the rows of others while these are on their way.
        """
        runtime, size, rank = self._runtime, self.group.size, self.group.rank
        self._step(frontier, Phase.DELIVER, outbox=True, round=number, count=end)
        if size == 1:
            return False
        left = int(runtime.download(self._joint).view(JOINT)[0]["left"][number % 2])
        sent = np.minimum(runtime.download(self._sent), self._capacity).astype(np.int64)
        everyone = np.stack(self.group.gather(np.append(sent, left), [size + 1] * size))
        table, more = everyone[:, :size], bool(everyone[:, size].any())
        if ahead is not None and not more:
            self._beside.launch(ahead)
        out, into = self._claims_in(self._outbox, 0, sent), self._claims_in(self._shared.array, None, table[:, rank])
        self.transport.exchange(out, into, int(table.max()) * len(out[0]) * self.ids.itemsize)
        self._letters[0, :, 2 * CLAIMS] = table[:, rank] & 0xFFFFFFFF
        self._letters[0, :, 2 * CLAIMS + 1] = table[:, rank] >> 32
        place = self._shared.own("letters", self._letters.nbytes)
        runtime.write(place, self._letters.reshape(-1).view(np.uint8))
        if ahead is not None and not more:
            self._beside.join()
        self._step(frontier, Phase.ACCEPT, round=number, count=end)
        return more

    def _claims_in(self, memory: Array, begin: int | None, counts: np.ndarray) -> list[list[Array]]:
        """Return, for each rank, so many vertices and their parents in ``memory``, where vertices begin at ``begin``
        (None: as in what ranks share); parents are left out where nobody wants them."""
        places, width = self._shared.places, self.ids.itemsize
        begin = places["claimed"] if begin is None else begin
        between = places["claimers"] - places["claimed"]
        firsts = (begin, begin + between) if self._given["s"]["parents"] else (begin,)
        part = self._capacity * width
        return [
            [memory[first + rank * part : first + rank * part + int(count) * width] for first in firsts]
            for rank, count in enumerate(counts)
        ]
