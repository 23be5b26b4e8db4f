"""From a forest on each GPU to the components of all: pairs to the owners of vertices, then classes of names to all.

Each rank tells owners their vertices with the roots above them here; a root that is used as a name here goes to its
owner as well. Owners then know every name of their vertices, and unite those of one vertex in a forest of names, which
has nothing else in it. From that all ranks get each name that is not the smallest of its class, with the smallest one,
and link both. So an edge (u, v) joins what u is called by its owner with what v is called by its own. The smallest
vertex of a component is a root wherever it is known, so its owner calls it by itself, and every owner of a vertex of
the component ends up with that below it.

What is left out: where both owners of an edge have it in their rows, nothing is told of vertices of others in the tree
of the hub here. Their owner has them in that of the hub there, or reads their rows, and finds the edge by which they
came here. Where edges are stored one way that holds of members alone (:mod:`.loop`). What the root of the hub is called
here each rank tells.

Pairs are sent by rooms: so many at once from each rank to each other.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.hosts import arguments
from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition


class Merge:
    """Unites the forest of a rank with those of the others.

    Parameters
    ----------
    runtime, group, partition, transport, launch
        The device, the ranks, who owns what, what carries pairs, and the kernels.
    part
        What this rank owns, as kernels see it.
    own
        The arrays of ``arguments.fields`` by name.

    Attributes
    ----------
    told
        Pairs that this rank has sent in the last run: of vertices and their roots, and of names.
    """

    def __init__(
        self,
        runtime: Runtime,
        group: Group,
        partition: Partition,
        transport: Transport,
        launch: Launcher,
        part: np.ndarray,
        own: dict[str, Array],
    ) -> None:
        self._runtime, self._group, self._transport, self._launch = runtime, group, transport, launch
        self._part, self._n, self._room = part, np.uint64(partition.n), arguments.room_of(partition)
        self._most = np.uint64(arguments.most_words(partition))
        self._forest, self._names, self._pairs, self._inbox = (own[n] for n in ("forest", "names", "pairs", "inbox"))
        self._bits, self._named, self._counts = (own[name] for name in ("bits", "named", "counts"))
        self._giant, self._hub_pair = own["roots"][:1], own["hub"]
        self.told = (0, 0)

    def warm(self, nothing: np.ndarray) -> None:
        """Run every kernel on ``nothing``, a part without words."""
        none, zero, launch, forest, counts = np.uint64(0), np.uint32(0), self._launch, self._forest, self._counts
        told = (nothing, none, forest, self._giant, self._bits, none, zero, self._named, counts)
        launch("far_names", 1, none, self._names)
        launch("far_count", 1, *told)
        launch("far_tell", 1, *told, self._pairs)
        launch("far_accept", 1, forest, self._names, self._pairs, none, counts, none)
        launch("far_classes", 1, none, self._names, self._pairs, counts)
        launch("far_join", 1, forest, self._pairs, none, counts, none)

    def run(self, *, heard: bool) -> None:
        """Unite them; all ranks make this call. ``heard``: nothing is told of members in the tree of the hub, else of
        nobody in there."""
        self.told = (0, 0)
        if self._group.size == 1:
            return
        table = self._count(heard)
        self._launch("far_names", int(self._n), self._n, self._names)
        self._accept(self._hub_pair, np.ones(1, np.int64))
        if table.any():
            self._tell(heard, table)
        classes = self._classes()
        self.told = (int(table[self._group.rank].sum()), classes[self._group.rank])
        self._join(self._pairs, np.array([classes[self._group.rank]]))
        self._gather(classes)

    def _count(self, heard: bool) -> np.ndarray:
        """Return how many pairs each rank has for each other: int64, shape (ranks, ranks)."""
        size = self._group.size
        for array in (self._named, self._counts):
            self._runtime.fill(array, 0)
        self._launch("far_count", int(self._n), *self._given(heard), self._counts)
        mine = self._runtime.download(self._counts).astype(np.int64)
        return np.stack(self._group.gather(mine, [size] * size))

    def _given(self, heard: bool) -> tuple[Array, ...]:
        forest = (self._part, self._n, self._forest, self._giant)
        return (*forest, self._bits, self._most, np.uint32(heard), self._named)

    def _tell(self, heard: bool, table: np.ndarray) -> None:
        """Send pairs to owners, who accept them."""
        rank, room = self._group.rank, self._room
        starts = np.cumsum(table[rank]) - table[rank]
        self._runtime.write(self._counts, starts.astype(np.uint64))
        self._launch("far_tell", int(self._n), *self._given(heard), self._counts, self._pairs)
        for begin in range(0, int(table.max()), room):
            sent = np.clip(table - begin, 0, room)
            out = [[self._pairs[2 * a : 2 * (a + c)]] for a, c in zip(starts + begin, sent[rank], strict=True)]
            into = [[self._letters(other, int(count))] for other, count in enumerate(sent[:, rank])]
            self._transport.exchange(out, into, 2 * self._pairs.itemsize * int(sent.max()))
            self._accept(self._inbox, sent[:, rank])

    def _classes(self) -> list[int]:
        """List the names that are not the smallest of their classes; return how many each rank has."""
        self._runtime.fill(self._counts, 0)
        self._launch("far_classes", int(self._n), self._n, self._names, self._pairs, self._counts)
        return self._group.lengths(int(self._runtime.download(self._counts)[0]))

    def _gather(self, classes: list[int]) -> None:
        """Take in the names of the other ranks, which have so many."""
        rank, room = self._group.rank, self._room
        for begin in range(0, max(classes), room):
            sent = np.clip(np.array(classes) - begin, 0, room)
            parts = [self._letters(other, int(count)) for other, count in enumerate(sent)]
            parts[rank] = self._pairs[2 * begin : 2 * (begin + int(sent[rank]))]
            self._transport.gather(parts)
            sent[rank] = 0
            self._join(self._inbox, sent)

    def _letters(self, other: int, count: int) -> Array:
        """Return where pairs from another rank come in."""
        first = other * self._room
        return self._inbox[2 * first : 2 * (first + count)]

    def _accept(self, pairs: Array, counts: np.ndarray) -> None:
        self._take("far_accept", (self._forest, self._names, pairs), counts)

    def _join(self, pairs: Array, counts: np.ndarray) -> None:
        self._take("far_join", (self._forest, pairs), counts)

    def _take(self, kernel: str, given: tuple[Array, ...], counts: np.ndarray) -> None:
        """Launch ``kernel`` over ``counts`` pairs, those of each rank a room apart."""
        self._runtime.write(self._counts[: len(counts)], counts.astype(np.uint64))
        places = (np.uint64(self._room), self._counts, np.uint64(len(counts)))
        self._launch(kernel, int(counts.max()), *given, *places)
