"""Connected components of one rank of several GPUs of a machine: Afforest on own rows, joined through peer memory.

In: own rows in place (:mod:`bigbfs.engines.gpu.ranks.own`). Out: labels id of own vertices, those of one GPU. Every
rank has a parent for each vertex of the graph, and runs the kernels of one GPU on its own rows. Between steps all ranks
meet on their devices, some eight times whatever the graph.

*First forest.* Where a vertex is planted follows from its row and from degrees that all ranks have, so the forests of
all ranks are parts of one, that of one GPU. By id, a rank asks the owners for the parents of those above its own
vertices; by chance it gathers the parents of all vertices of others, and links climb to their roots. Then it points its
own vertices at their roots: names that mean the same on every rank.

*Rows.* A sample of all vertices, the same on all ranks, names the giant's root. A rank leaves out the row of an own
vertex that hangs below that root by what it has linked itself. An edge that is left out by both owners joins two
vertices that each are connected with that root by links made on some rank; one that is left out by one owner is linked
by the other, who has it in the row of its other end (where there is no such row nothing is left out, as on one GPU).
So the links of all ranks together connect what the edges connect, if all agree on the root: which is why they meet
before rows are left out.

*Telling.* Links hang roots. A rank tells which of those that were roots when its links began hang, and below what; all
ranks link all of these pairs. A vertex that a rank has not asked for is a root to it, though its owner knows better: in
a pair it goes by the name of its root in the first forest, which its owner has. Those asked for are pointed at their
roots before anything is linked: else a root could be hung below a vertex that is none, which is no such name. By id
roots come before who hangs below them, so that what remains on top of a tree of such pairs is the smallest root of a
first tree on every rank, and the smallest vertex. By chance that does not hold; nor would few pairs do after a round
that left no giant. Then all ranks know the trees of all vertices first, and what they tell are one GPU's links, once.

*Labels.* By chance each rank lowers the label of a root to its smallest own vertex, the root's owner takes the least of
all ranks and writes it to all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.components.gpu.loop import (
    GIANT,
    NEVER,
    SETTLED,
    STEPS,
    STEPS_WITHOUT_HEADS,
    TOTALS,
)
from bigbfs.algorithms.components.gpu.peers import arguments
from bigbfs.algorithms.components.gpu.peers.arguments import ASKED, DEGREES, MOVED, RANKS, SAMPLE, WAITED
from bigbfs.algorithms.components.gpu.peers.meetings import Meetings
from bigbfs.algorithms.components.gpu.tops import OUTSIDE
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.ranks.arguments import place_part
from bigbfs.engines.gpu.ranks.memory import Memory, SharedMemory
from bigbfs.engines.gpu.runtime.arguments import BLOCK, COUNTS, HEAD_GROUP, WARP, no_vertex, struct
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.record import RankRecord


@dataclass(frozen=True, slots=True)
class Joined:
    """What a run measured, the same on all ranks: ``invalid_ids`` read that are no vertices, and edges, on any rank."""

    seconds: float
    invalid_ids: int
    edges_read: int
    ranks: tuple[RankRecord, ...]
    passes: int = 1
    left: int = 0


class JointForest:
    """The forest of one rank; all ranks make it, and run it, together.

    Parameters
    ----------
    placed
        Own rows, in device memory or mapped (:class:`bigbfs.engines.gpu.ranks.own.OwnAdjacency`).
    group, partition
        The ranks, all of one machine, and who owns what.
    make
        Makes the memory that others read.
    patience
        Seconds that a rank waits for the others.

    Attributes
    ----------
    known
        Whether this rank knows the tree of every vertex.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        partition: Partition,
        make: Callable[[int], Memory],
        patience: float = 60.0,
    ) -> None:
        self.placed, self.group, self.partition = placed, group, partition
        self.n, self.ids = placed.n, placed.ids
        runtime, out, incoming = placed.runtime, placed.out, placed.incoming
        self._runtime, self.known = runtime, False
        self.rows: list[PlacedAdjacency] = [out] if incoming is None or incoming is out else [out, incoming]
        self.sees_both_ends = incoming is not None
        lent = {spec: placed.pool.lend(spec, self)[0] for spec in arguments.own_arrays()}
        self._giant, self._settled, self._never, self._strays = (lent[k] for k in (GIANT, SETTLED, NEVER, OUTSIDE))
        self._counts, self._asked, self._moved = (lent[spec] for spec in (TOTALS, ASKED, MOVED))
        self.launch = Launcher(runtime, arguments.KERNELS, self.ids, placed.codec)
        self._meetings = Meetings(runtime, group, self.launch, lent[WAITED], patience)
        self._heads = int(out.struct["head_groups"]) * HEAD_GROUP
        self._by_id = np.uint32(out.ranked or not self._heads)
        self._degrees = self._place_degrees(lent[DEGREES])
        part, self._bounds = place_part(runtime, partition, group.rank)
        fields = arguments.shared_fields(partition, self.ids)
        self.shared = SharedMemory(group, make, fields)
        kinds = {"below": np.uint32, "edged": np.uint32, "count": np.uint64, "meetings": np.uint64}
        own = {name: self.shared.own(name, size).view(kinds.get(name, self.ids)) for name, size in fields}
        self.forest, self.labels, self._below = own["forest"], own["labels"], own["below"]
        self._sample, self._edged, self._told, self._count = (own[name] for name in arguments.SHARED[3:7])
        bases = self.shared.bases
        bases[group.rank] = runtime.pointer(self.shared.array)
        self._bases = runtime.upload(bases)
        places = {f"{name}_at": place for name, place in self.shared.places.items()}
        self.state = struct(RANKS, part=part, bases=runtime.pointer(self._bases), n=self.n, **places)
        self._own_threads = 64 * int(part["words"])
        self._others = self.n - partition.local_vertices(group.rank)
        group.barrier()  # nobody writes before all memory is zero

    def _place_degrees(self, degrees: Array) -> Array:
        """Return the neighbours of every vertex, where the first forest goes by them: offsets are those of own rows."""
        if self._by_id:
            return degrees
        if "degrees" in self.placed.out.arrays:
            return self.placed.out.arrays["degrees"]
        offsets = self._runtime.upload(self.placed.graph.adjacency.indptr)
        self.launch("joint_degrees", self.n, np.uint64(self.n), offsets, degrees)
        self._runtime.synchronize()
        return degrees

    def warm(self) -> None:
        """Run every kernel on nothing. Nobody waits for others."""
        nothing, rows = self.state.copy(), self.placed.out.struct.copy()
        nothing["n"] = rows["n"] = rows["chunks"] = nothing["part"]["words"] = nothing["part"]["rank"] = 0
        nothing["part"]["size"] = 0
        zero, one = np.uint32(0), np.uint32(1)
        self._runtime.fill(self._count, 0)
        ask = (self._degrees, self.forest, self.labels, self._asked, one, one)
        self.launch("joint_plant", 1, rows, nothing, *ask)
        self.launch("joint_climb", 1, nothing, self.forest, self._below, self._asked, self._moved)
        self.launch("joint_point", 1, nothing, self.forest, self._asked)
        self.launch("joint_compress", 1, nothing, self.forest, self._below)
        self.launch("joint_sample", 1, rows, nothing, self.forest)
        self.launch("joint_giant", 1, self._sample, self._edged, self._giant, self._settled)
        self.launch("joint_gather", 1, nothing, self.forest, self.labels, self._below)
        self._tell(nothing)
        self.launch("joint_join", 1, nothing, self.forest, self._below, one, self._moved)
        self.launch("joint_lowest", 1, nothing, self.forest, self.labels)
        self.launch("joint_lower", 1, rows, nothing, self.forest, one, self._moved)
        self.launch("joint_label", 1, nothing, self.forest, self.labels)
        self.launch("cc_round", 1, rows, self.forest, one, zero, one, zero, one, self._never, self._counts)
        for name in ("cc_link_rows", "cc_link_hubs"):
            self.launch(name, 1, rows, self.forest, one, self._giant, self._counts)
        self._meetings.warm(nothing)
        self._runtime.synchronize()

    def run(self, options: ComponentsOptions | None = None) -> Joined:
        """Label the components; every rank makes this call. The labels stay on the devices.

        The clock begins when the devices have met; the seconds are the slowest rank's.

        Raises
        ------
        DeviceError
            A kernel failed, or another rank has not come to a meeting.
        """
        options, runtime, group = options or ComponentsOptions(), self._runtime, self.group
        self._meetings.begin_together(self.state)
        before = group.traffic.copy()
        with runtime.timer() as timer:
            self._forest_of(options)
        waited = group.traffic.since(before).waited + self._meetings.waited()
        counts = runtime.download(self._counts).view(COUNTS)[0]
        moved = int(runtime.download(self._moved)[0]) + (self._others * self.ids.itemsize if self.known else 0)
        record = RankRecord(group.rank, group.host, timer.seconds, min(timer.seconds, waited), moved)
        told = group.objects((record, int(counts["invalid"]), int(counts["read"])))
        ranks = tuple(each[0] for each in told)
        slowest = max(rank.seconds for rank in ranks)
        return Joined(slowest, sum(each[1] for each in told), sum(each[2] for each in told), ranks)

    def _forest_of(self, options: ComponentsOptions) -> None:
        """Find the labels."""
        self._begin()
        if self.n:
            self._find(options)
            self._label()

    def _begin(self) -> None:
        """Forget the last run."""
        for array in (self._counts, self._moved, self._asked, self._below):
            self._runtime.fill(array, 0)
        self._meetings.begin()
        self.known = False

    def _find(self, options: ComponentsOptions) -> None:
        """Make the trees of all ranks those of the components, as far as own vertices go."""
        steps: tuple[tuple[int, int, int, int], ...] = STEPS if self._heads else STEPS_WITHOUT_HEADS
        first = 1 if self._heads else 0
        if options.rounds is not None:
            last = min(options.rounds, self._heads or options.rounds)
            steps = ((first, last, 0, 8),) if options.rounds > first else ()
        self._plant(tie=options.rounds is None or options.rounds > 0)
        settled = self._compress_and_sample()
        for step in steps:
            if settled and options.rounds is None:
                break
            self._gather()
            self._round(*step)
            self.join()
            settled = self._compress_and_sample()
        self.link_rows(skip=options.skips_giant)
        self.join()

    def _plant(self, *, tie: bool) -> None:
        """Make the first forest, and find the parents of those above own vertices, or of all."""
        forest, by_id, r = self.forest, self._by_id, self.state
        ask = (self._degrees, forest, self.labels, self._asked, np.uint32(tie), by_id)
        self.launch("joint_plant", self.n if by_id else self._own_threads, self.placed.out.struct, r, *ask)
        self.meet()
        if by_id:
            self.launch("joint_climb", self.n, r, forest, self._below, self._asked, self._moved)
            self.launch("joint_point", self.n, r, forest, self._asked)
        else:
            self._gather()

    def _compress_and_sample(self) -> bool:
        """Point own vertices at their roots, and elect the giant together; return whether it leaves few outside."""
        self.launch("joint_compress", self._own_threads, self.state, self.forest, self._below)
        if not self.sees_both_ends:
            self.meet()
            return False
        self.launch("joint_sample", SAMPLE, self.placed.out.struct, self.state, self.forest)
        self.meet()
        self.launch("joint_giant", 1, self._sample, self._edged, self._giant, self._settled)
        return bool(self._runtime.download(self._settled)[0])

    def _gather(self) -> None:
        """Let this rank know the tree of every vertex."""
        if not self.known:
            self.launch("joint_gather", self.n, self.state, self.forest, self.labels, self._below)
        self.known = True

    def _round(self, first: int, last: int, begin: int, end: int) -> None:
        """As ``ComponentsLoop._round``, of own vertices."""
        numbers = (np.uint32(number) for number in (first, last, begin, end))
        threads = self.n * (end - begin) // 8 + BLOCK
        out = self.placed.out.struct
        self.launch("cc_round", threads, out, self.forest, self._by_id, *numbers, self._never, self._counts)

    def link_rows(self, *, skip: bool) -> None:
        """Link over all own rows, or with ``skip`` over those of vertices outside the giant."""
        if not (skip and self.sees_both_ends):
            self._runtime.fill(self._giant, no_vertex(self.ids))
        for rows in self.rows:
            arguments = (rows.struct, self.forest, self._by_id, self._giant, self._counts)
            self.launch("cc_link_rows", self.n, *arguments)
            if rows.chunks:
                self.launch("cc_link_hubs", rows.chunks * WARP, *arguments)

    def join(self) -> None:
        """Tell what links have changed, and link what others tell."""
        if not self.known:
            self.meet()  # names are looked up: owners must have linked all
        self._runtime.fill(self._count, 0)
        self._tell(self.state)
        self.meet()
        self.launch("joint_join", self.n, self.state, self.forest, self._below, self._by_id, self._moved)

    def _tell(self, ranks: np.ndarray) -> None:
        told = (self._below, self._asked, np.uint32(self.known), self._told, self._count)
        self.launch("joint_tell", int(ranks["n"]), ranks, self.forest, *told)

    def _label(self) -> None:
        """Turn trees into labels."""
        r, own = self.state, self._own_threads
        if self._by_id:
            self.launch("joint_compress", own, r, self.forest, self._below)
            return
        alone = np.uint32(self.sees_both_ends and len(self.rows) == 1)
        self.launch("joint_lowest", own, r, self.forest, self.labels)
        self.meet()
        self.launch("joint_lower", own, self.placed.out.struct, r, self.forest, alone, self._moved)
        self.meet()
        self.launch("joint_label", own, r, self.forest, self.labels)

    def meet(self) -> None:
        """Let what is launched from now on wait for all ranks."""
        self._meetings.meet(self.state)

    def _meet_on_hosts(self) -> None:
        """Wait for all ranks, who may have more to do on their hosts than a device has patience for."""
        self._runtime.synchronize()
        self.group.barrier()

    @property
    def found_in(self) -> str:
        """Which array holds the labels of own vertices."""
        return "forest" if self._by_id else "labels"

    def own_labels(self) -> np.ndarray:
        """Return the labels of own vertices by local number: id, 64 for each own word."""
        found = self._runtime.download(self.forest if self._by_id else self.labels)
        whole = np.zeros(64 * self.partition.words, self.ids)
        whole[: self.n] = found
        return np.ascontiguousarray(whole.reshape(-1, 64)[self.partition.own_words(self.group.rank)]).reshape(-1)

    def all_labels(self) -> Array:
        """Return the labels of all vertices, read in the memory of their owners; all ranks make this call."""
        self._meet_on_hosts()  # all labels are done
        place = np.uint64(self.shared.places[self.found_in])
        self.launch("joint_labels", self.n, self.state, place, self.labels)
        return self.labels

    def plain_forest(self) -> None:
        """Link all own rows from the beginning, without heads and leaving out none, and join: all ranks together.

        Labels that lie in the forest are lost.
        """
        by_id, self._by_id = self._by_id, np.uint32(1)
        self._meet_on_hosts()  # nobody reads the last labels any more
        self._begin()
        self.known = True  # each vertex is a root by itself
        self._plant(tie=False)
        self.link_rows(skip=False)
        self.join()
        self.launch("joint_compress", self._own_threads, self.state, self.forest, self._below)
        self._by_id = by_id

    @property
    def shared_bytes(self) -> int:
        """Bytes of the memory that others read."""
        return self.shared.nbytes

    def close(self) -> None:
        """Close the memory of the others, all ranks together; a second call does nothing."""
        self.shared.close()
