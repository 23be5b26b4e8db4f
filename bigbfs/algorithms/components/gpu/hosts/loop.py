"""Connected components of one rank of several GPUs whose hosts carry what is told: forests, and two exchanges.

In: own rows in place (:mod:`bigbfs.engines.gpu.ranks.own`), and what carries device memory to other ranks
(:mod:`bigbfs.engines.gpu.ranks.transport`). Out: labels id of own vertices, those of one GPU. Every rank has a parent
for each vertex of the graph, and runs the kernels of one GPU on its own rows. All trees are hung by id: a root is the
smallest vertex of its tree. It is what ranks on CPUs do (:mod:`bigbfs.algorithms.components.ranks.merge`).

*Members.* All ranks know one vertex, the hub. When its neighbours have been linked for a while, each tells which own
vertices are in the tree of the hub here, a bit each; all others link these to the hub, too, and nobody reads the rows
of own members.

*Pairs.* What is left is told in pairs (:mod:`.merge`), after which every own vertex is below the smallest one of its
component.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.components.gpu.hosts import arguments
from bigbfs.algorithms.components.gpu.hosts.arguments import OTHERS
from bigbfs.algorithms.components.gpu.hosts.merge import Merge
from bigbfs.algorithms.components.gpu.loop import NEVER, STEPS, STEPS_WITHOUT_HEADS, TOTALS
from bigbfs.algorithms.components.gpu.peers.arguments import RANKS
from bigbfs.algorithms.components.gpu.peers.loop import Joined
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.ranks.arguments import place_part
from bigbfs.engines.gpu.ranks.memory import OwnMemory
from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.arguments import BLOCK, COUNTS, HEAD_GROUP, WARP, no_vertex, struct
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.numbering import whole
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency
from bigbfs.record import RankRecord

LOOKED_AT = 1 << 22
"""Rows whose lengths are compared at once."""


def longest_row(adjacency: Adjacency, group: Group) -> int:
    """Return the vertex whose row is longest, the first of several; all ranks make this call, and look at a share."""
    indptr, n = adjacency.indptr, adjacency.n
    begin, end = (n * (group.rank + number) // group.size for number in range(2))
    best = (-1, 0)
    for first in range(begin, end, LOOKED_AT):
        lengths = np.diff(indptr[first : min(first + LOOKED_AT, end) + 1])
        at = int(lengths.argmax())
        best = max(best, (int(lengths[at]), -(first + at)))
    return -max(group.objects(best))[1]


class HostForest:
    """The forest of one rank; all ranks make it, and run it, together.

    Parameters
    ----------
    placed
        Own rows, in device memory or mapped (:class:`bigbfs.engines.gpu.ranks.own.OwnAdjacency`).
    group, partition
        The ranks, and who owns what.
    carry
        Makes the transport, for calls that send so many bytes at most.

    Attributes
    ----------
    transport
        What carries words to other ranks.
    hub
        The vertex whose tree is the same on all ranks.
    """

    kernels = arguments.KERNELS

    def __init__(
        self, placed: PlacedGraph, group: Group, partition: Partition, carry: Callable[[int], Transport]
    ) -> None:
        self.placed, self.group, self.partition = placed, group, partition
        self.n, self.ids = placed.n, placed.ids
        runtime, out, incoming = placed.runtime, placed.out, placed.incoming
        self._runtime = runtime
        self.rows: list[PlacedAdjacency] = [out] if incoming is None or incoming is out else [out, incoming]
        self.sees_both_ends = incoming is not None
        self._never, self._counted = (placed.pool.lend(spec, self)[0] for spec in (NEVER, TOTALS))
        self.launch = Launcher(runtime, self.kernels, self.ids, placed.codec)
        self._heads = int(out.struct["head_groups"]) * HEAD_GROUP
        self._part, self._bounds = place_part(runtime, partition, group.rank)
        self.state = struct(RANKS, part=self._part, n=self.n)
        self._own_threads, self._most = 64 * int(self._part["words"]), np.uint64(arguments.most_words(partition))
        self._room = arguments.room_of(partition)
        self._memory = OwnMemory(runtime, group, arguments.fields(partition, self.ids))
        kinds: dict[str, type] = dict.fromkeys(("bits", "named", "votes", "settled"), np.uint32)
        kinds["counts"] = np.uint64
        own = {
            name: self._memory.own(name, size).view(kinds.get(name, self.ids))
            for name, size in arguments.fields(partition, self.ids)
        }
        self.forest, self._names, self._bits = (own[name] for name in ("forest", "names", "bits"))
        self._roots, self._candidates, self._hub_pair = (own[name] for name in ("roots", "candidates", "hub"))
        self._votes, self._settled = own["votes"], own["settled"]
        self._giant = self._roots[:1]
        self.transport = carry(arguments.most_sent(partition, self.ids))
        self._merge = Merge(runtime, group, partition, self.transport, self.launch, self._part, own)
        self.hub = 0
        if self.n:
            self._choose_hub()

    def _choose_hub(self) -> None:
        """Agree on a vertex in whose tree most own vertices of all ranks are after the first rounds: that of the
        longest row, or a root that is frequent on a rank."""
        runtime, size = self._runtime, self.group.size
        self._take_hub(longest_row(self.placed.graph.adjacency, self.group))
        self._begin()
        self._grow(ComponentsOptions())
        self.launch("far_elect", 1, self.placed.out.struct, self._part, self.forest, self._giant, self._settled)
        mine = int(runtime.download(self._giant)[0])
        found = [self.hub, *(each for each in self.group.objects(mine) if each < self.n)]
        runtime.write(self._candidates, np.resize(np.array(found, self.ids), size + 1))
        self._vote(self._candidates, len(found))
        votes = self.group.sum(runtime.download(self._votes)[: len(found)])
        self._take_hub(found[int(votes.argmax())])

    def _take_hub(self, hub: int) -> None:
        self.hub = hub
        self._runtime.write(self._hub_pair, np.full(2, hub, self.ids))

    def _vote(self, candidates: Array, count: int) -> None:
        given = (self.placed.out.struct, self._part, self.forest, candidates, np.uint32(count))
        self.launch("far_votes", 1, *given, self._roots, self._votes)

    def warm(self) -> None:
        """Run every kernel on nothing. Nobody waits for others."""
        nothing, rows = self._part.copy(), self.placed.out.struct.copy()
        rows["n"] = rows["chunks"] = nothing["words"] = nothing["size"] = 0
        none, zero, one = np.uint64(0), np.uint32(0), np.uint32(1)
        forest = self.forest
        self.launch("far_compress", 1, nothing, none, forest)
        self.launch("far_elect", 1, rows, nothing, forest, self._giant, self._settled)
        self.launch("far_votes", 1, rows, nothing, forest, self._candidates, zero, self._roots, self._votes)
        self.launch("far_members", 1, nothing, none, forest, self._giant, self._bits, none)
        self.launch("far_welcome", 1, nothing, none, forest, self._giant, self._bits, none, self.ids.type(0))
        self._merge.warm(nothing)
        self.launch("cc_plant", 1, rows, forest, forest, one, one)
        self.launch("cc_round", 1, rows, forest, one, zero, one, zero, one, self._never, self._counted)
        self._warm_rows(rows)
        self._runtime.synchronize()

    def _warm_rows(self, rows: np.ndarray) -> None:
        for name in ("cc_link_rows", "cc_link_hubs"):
            self.launch(name, 1, rows, self.forest, np.uint32(1), self._giant, self._counted)

    def run(self, options: ComponentsOptions | None = None) -> Joined:
        """Label the components; every rank makes this call. The labels stay on the devices.

        The clock runs between two barriers; the seconds are the slowest rank's.

        Raises
        ------
        DeviceError
            A kernel failed, or NCCL.
        """
        options, runtime, group = options or ComponentsOptions(), self._runtime, self.group
        group.barrier()
        before = group.traffic.copy()
        with runtime.timer() as timer:
            self._begin()
            if self.n:
                self._find(options)
        traffic = group.traffic.since(before)
        counts = runtime.download(self._counted).view(COUNTS)[0]
        waited = min(timer.seconds, traffic.waited)
        record = RankRecord(group.rank, group.host, timer.seconds, waited, traffic.sent)
        told = group.objects((record, int(counts["invalid"]), int(counts["read"])))
        ranks = tuple(each[0] for each in told)
        slowest = max(rank.seconds for rank in ranks)
        return Joined(slowest, sum(each[1] for each in told), sum(each[2] for each in told), ranks)

    def _begin(self) -> None:
        """Forget the last run."""
        self._runtime.fill(self._counted, 0)

    def _find(self, options: ComponentsOptions) -> None:
        """Make the trees of all ranks those of the components, as far as own vertices go."""
        self._grow(options)
        heard = not self.sees_both_ends
        if heard:
            self.link_rows(skip=False)
        self._tell_members()
        if not heard:
            self.link_rows(skip=options.skips_giant)
            self._point_at_hub()
        self._merge.run(heard=heard)
        self._compress()

    def _grow(self, options: ComponentsOptions) -> None:
        """Make the first forest, and link a few neighbours of own vertices, until most are in the tree of the hub."""
        self._plant(tie=options.rounds is None or options.rounds > 0)
        # by degree the first head is the smallest neighbour, and the first forest has linked it
        first = 1 if self._heads and self.placed.out.ranked else 0
        steps: tuple[tuple[int, int, int, int], ...] = STEPS_WITHOUT_HEADS
        if options.rounds is not None:
            last = min(options.rounds, self._heads or options.rounds)
            steps = ((first, last, 0, 8),) if options.rounds > first else ()
        elif not self.sees_both_ends:
            steps = ()  # all rows are read
        elif self._heads:
            steps = STEPS if first else ((0, 1, 0, 8), *STEPS)
        self._compress()
        for step in steps:
            if options.rounds is None and self._is_settled():
                break
            self._round(*step)
            self._compress()

    def _plant(self, *, tie: bool) -> None:
        out, one = self.placed.out.struct, np.uint32(1)
        self.launch("cc_plant", self.n, out, self.forest, self.forest, np.uint32(tie), one)

    def _is_settled(self) -> bool:
        """Return whether nearly all own vertices with edges are in the tree of the hub."""
        self._vote(self._hub_pair, 1)
        inside, there = (int(votes) for votes in self._runtime.download(self._votes)[:2])
        return (there - inside) * OTHERS < inside

    def _round(self, first: int, last: int, begin: int, end: int) -> None:
        """As ``ComponentsLoop._round``, of own vertices."""
        numbers = (np.uint32(number) for number in (first, last, begin, end))
        threads, one = self.n * (end - begin) // 8 + BLOCK, np.uint32(1)
        given = (self.placed.out.struct, self.forest, one, *numbers, self._never, self._counted)
        self.launch("cc_round", threads, *given)

    def _compress(self) -> None:
        self.launch("far_compress", self._own_threads, self._part, np.uint64(self.n), self.forest)

    def _point_at_hub(self) -> None:
        """Point own vertices at their roots, and look up that of the hub."""
        self._compress()
        self._vote(self._hub_pair, 1)

    def _tell_members(self) -> None:
        """Tell all ranks which own vertices are in the tree of the hub here, and link those of others to it."""
        self._vote(self._hub_pair, 1)
        if self.group.size == 1:
            return
        n, most = np.uint64(self.n), self._most
        self.launch("far_members", self._own_threads, self._part, n, self.forest, self._giant, self._bits, most)
        size, part = self.group.size, 2 * int(most)
        self.transport.gather([self._bits[rank * part : (rank + 1) * part] for rank in range(size)])
        given = (self._part, n, self.forest, self._giant, self._bits, most, self.ids.type(self.hub))
        self.launch("far_welcome", WARP * size * part, *given)
        self._point_at_hub()

    def link_rows(self, *, skip: bool) -> None:
        """Link over all own rows, or with ``skip`` over those of vertices outside the tree of the hub."""
        if not skip:
            self._runtime.fill(self._giant, no_vertex(self.ids))
        for rows in self.rows:
            given = (rows.struct, self.forest, np.uint32(1), self._giant, self._counted)
            self.launch("cc_link_rows", self.n, *given)
            if rows.chunks:
                self.launch("cc_link_hubs", rows.chunks * WARP, *given)

    def own_labels(self) -> np.ndarray:
        """Return the labels of own vertices by local number: id, 64 for each own word."""
        found = np.zeros(64 * self.partition.words, self.ids)
        found[: self.n] = self._runtime.download(self.forest)
        return np.ascontiguousarray(found.reshape(-1, 64)[self.partition.own(self.group.rank)]).reshape(-1)

    def all_labels(self) -> Array:
        """Return the labels of all vertices, which hosts carry; all ranks make this call."""
        group, partition = self.group, self.partition
        parts = group.gather(self.own_labels(), [64 * count for count in partition.counts()])
        labels = whole(parts, [partition.own(rank) for rank in range(group.size)], self.n)
        self._runtime.write(self._names, np.ascontiguousarray(labels))
        return self._names

    def plain_forest(self) -> None:
        """Link all own rows from the beginning, without heads and leaving out none, and tell all: all ranks together.

        The labels of the last run are lost.
        """
        self._begin()
        self._plant(tie=False)
        self.link_rows(skip=False)
        self._merge.run(heard=False)
        self._compress()

    @property
    def told(self) -> tuple[int, int]:
        """Pairs that this rank has told in the last run: of vertices and their roots, and of names."""
        return self._merge.told

    @property
    def shared_bytes(self) -> int:
        """Bytes of the forest, and of what is told."""
        return self._memory.nbytes

    def close(self) -> None:
        """Release the transport, all ranks together; a second call does nothing."""
        self.transport.close()
        self._memory.close()
