"""BFS of one rank of several GPUs whose hosts run the levels: a launch for each phase, and what is told between them.

In: own rows in place (:mod:`bigbfs.engines.gpu.ranks.own`), and what carries device memory to other ranks
(:mod:`bigbfs.engines.gpu.ranks.transport`). Out: levels int32 and parents id of own vertices, by local number, and what
the run measured, the same on all ranks. State and phases are those of the search over one machine (../peers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import PROGRESS, SLOT
from bigbfs.algorithms.bfs.gpu.costs import costs
from bigbfs.algorithms.bfs.gpu.hosts import arguments
from bigbfs.algorithms.bfs.gpu.hosts.arguments import KERNELS, STEP, Phase
from bigbfs.algorithms.bfs.gpu.hosts.claims import Claiming
from bigbfs.algorithms.bfs.gpu.hosts.costs import Model, choose, link_of, parts_of
from bigbfs.algorithms.bfs.gpu.hosts.prove import HostProver
from bigbfs.algorithms.bfs.gpu.peers.arguments import most_words
from bigbfs.algorithms.bfs.gpu.peers.state import NEVER
from bigbfs.algorithms.bfs.gpu.tree import held, row_length
from bigbfs.algorithms.bfs.ranks.costs import OTHER_HOST, SAME_HOST, Choice, Forced, Frontier
from bigbfs.algorithms.bfs.ranks.loop import Found, LevelLoop
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.memory import OwnMemory
from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.arguments import BLOCK, HEAD_GROUP, struct, team_threads
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition

WORD = 8
"""Bytes of 64 vertices in a bitmap."""

NCCL_SHARE = 4
"""One block in so many is left to NCCL's own kernels where rows are read beside them (assumed)."""

_OF_A_PART = [list(SLOT.names or ()).index(name) for name in ("queued", "chunks")]
"""Words of a slot that count what one part of a level has found."""


@dataclass(slots=True)
class Here:
    """Where the search stands on this rank: its own ``count`` vertices of the frontier, with ``edges`` in their rows.

    They are in the queue from ``begin`` on, or, as a ``bitmap``, in ``frontier``; in ``next`` where these are
    ``swapped``. ``counts``: the vertices of each rank. ``missed``: after a bottom-up level, own and others' vertices
    whose heads did not decide; else None.
    """

    count: int
    edges: int
    counts: list[int]
    begin: int = 0
    bitmap: bool = False
    swapped: bool = False
    missed: int | None = None


class HostSearch(Claiming, LevelLoop):
    """The state of BFS on one rank, reused from source to source; all ranks make it, and search, together.

    Parameters
    ----------
    carry
        Makes the transport, for calls that send so many bytes at most.
    forced, parts
        What is not left to the prediction; ``parts``: in how many a top-down level goes.
    **how
        As for :class:`PeerState`, whose parameters the others are.

    Attributes
    ----------
    transport
        What carries words to other ranks.
    rounds
        Of delivering claims that the last search needed beyond the first of each level.
    reached, edges
        Vertices that the last search has reached, and the edges in their rows, of all ranks.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        partition: Partition,
        carry: Callable[[int], Transport],
        *,
        forced: Forced | None = None,
        parts: int | None = None,
        **how: Any,
    ) -> None:
        super().__init__(placed, group, partition, lambda fields: OwnMemory(placed.runtime, group, fields), **how)
        runtime, ids = self._runtime, self.ids
        self.forced, self._parts = forced or Forced(), parts
        self.transport = carry(arguments.most_sent(partition, ids, self._capacity))
        self._make_outbox()
        self._kernels = {spec.name: spec.build(runtime, ids, placed.codec) for spec in KERNELS}
        self._team = team_threads(runtime.team, ids)
        self._blocks = runtime.max_blocks(self._kernels["host_step"], self._team)
        self._model = self._make_model()
        self._given = self._state
        self._at = Here(0, 0, [])
        self._last_source = 0
        self.rounds = self.reached = self.edges = 0
        self._prover: HostProver | None = None

    def _make_model(self) -> Model:
        placed, group, tuning = self.placed, self.group, self._tuning
        searched = placed.incoming or placed.out
        return Model(
            n=self.n,
            m=placed.graph.m,
            ranks=group.size,
            id_bytes=self.ids.itemsize,
            link=link_of(self.transport.name, group.one_host),
            control=SAME_HOST if group.one_host else OTHER_HOST,
            unit=tuning.costs or costs(self.n, placed.residency, placed.profile),
            heads=int(searched.struct["head_groups"]) * HEAD_GROUP,
            longest_list=arguments.longest_list(self.n, self.ids),
            defer_from=tuning.defer_from_mapped if placed.residency == "mapped" else tuning.defer_from_vram,
            far_rows=held(placed.out, placed.residency == "mapped")["far_rows"] / 1024,
        )

    def warm(self) -> None:
        """Run every kernel on nothing: the driver loads a kernel when it is first launched."""
        nothing = self._state.copy()
        nothing["s"]["levels"] = nothing["s"]["parents"] = 0
        nothing["s"]["out"]["n"] = nothing["s"]["in"]["n"] = nothing["part"]["words"] = 0
        if self.n:  # there is a queue
            self._kernels["host_reset"](1, BLOCK, (nothing, np.uint64(0), np.uint64(0)))
        self._kernels["host_step"](1, self._team, (nothing, struct(STEP, phase=Phase.FILL)))
        self._kernels["host_finish"](1, self._team, (nothing,))
        self._kernels["host_count"](1, BLOCK, (nothing, self._edges))
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool = True, want_levels: bool = True) -> Found:
        """Search from ``source``; every rank makes this call. Levels and parents stay on the devices.

        Raises
        ------
        DeviceError
            A kernel failed, or NCCL.
        """
        self._given = self._state.copy()
        for name, wanted in (("levels", want_levels), ("parents", want_parents)):
            self._given["s"][name] = self._runtime.pointer(self._arrays[name]) if wanted else 0
        found, _ = self.go_through(source, NEVER if max_depth is None else max_depth)
        if want_levels:  # which the next search that wants them has to clear
            self._last_source = source
        self.edges = int(self.group.sum([self._edges_of_own(self._given, self._kernels["host_count"])])[0])
        return found

    def _reset(self, source: int) -> Frontier:
        runtime, group = self._runtime, self.group
        degree = row_length(self.placed.graph, source)
        bounds, word = self.partition.bounds, source >> 6
        owner = int(np.searchsorted(bounds, word, side="right")) - 1 if len(bounds) else word % group.size
        mine = owner == group.rank
        self._at = Here(int(mine), degree if mine else 0, [int(rank == owner) for rank in range(group.size)])
        self.rounds, self.reached = 0, 1
        runtime.fill(self._arrays["progress"], 0)
        grid = max(1, min(runtime.max_blocks(self._kernels["host_reset"], BLOCK), -(-self.n // (32 * BLOCK))))
        self._kernels["host_reset"](grid, BLOCK, (self._given, np.uint64(source), np.uint64(self._last_source)))
        vertices = int(self._given["s"]["in_vertices"])
        return Frontier(0, 1, degree, max(0, vertices - 1), self.placed.graph.m - degree, 0, 0)

    def _choose(self, frontier: Frontier) -> Choice:
        return choose(self._model, frontier, self.forced, pulls=self.bottom_up, missed=self._at.missed)

    def _level(self, frontier: Frontier, choice: Choice, target: int | None) -> bool:
        self._runtime.fill(self._arrays["slots"], 0)
        if choice.up:
            self._pull(frontier, choice)
        else:
            self._expand(frontier, choice)
        self._agree(frontier, up=choice.up)
        return False

    def _agree(self, frontier: Frontier, *, up: bool) -> None:
        """Make the frontier that of the next level, from what the ranks have counted."""
        slot = self._runtime.download(self._arrays["slots"]).view(SLOT)[0]
        mine = np.array([slot["found"], slot["edges"], slot["missed"]], np.int64)
        everyone = np.stack(self.group.gather(mine, [3] * self.group.size))
        found, edges, missed = (int(total) for total in everyone.sum(axis=0))
        at = self._at
        at.count, at.edges, at.counts = int(slot["found"]), int(slot["edges"]), everyone[:, 0].tolist()
        at.bitmap, at.missed = up, missed if up else None
        self.reached += found
        frontier.depth += 1
        frontier.vertices, frontier.edges = found, edges
        frontier.unvisited = max(0, frontier.unvisited - found)
        frontier.unexplored = max(0, frontier.unexplored - edges)
        frontier.stale += found
        frontier.stale_edges += edges

    def _step(
        self, frontier: Frontier, phase: Phase, *, outbox: bool = False, blocks: int | None = None, **more: int
    ) -> None:
        """Launch a phase of the level; ``more``: fields of ``STEP`` that differ from where the search stands."""
        at, given = self._at, self._given
        if outbox:
            given = given.copy()
            given["bases"] = self._runtime.pointer(self._out_bases)
        usual = {"begin": at.begin, "count": at.count, "edges": at.edges, "swapped": at.swapped}
        step = struct(STEP, phase=phase, level=frontier.depth, **(usual | more))
        self._kernels["host_step"](blocks or self._blocks, self._team, (given, step))

    def _pull(self, frontier: Frontier, choice: Choice) -> None:
        """Run a level bottom-up."""
        at = self._at
        if choice.sync == "list":
            self._tell_list(frontier)
        else:
            if not at.bitmap:
                self._step(frontier, Phase.FILL)
                self._step(frontier, Phase.SET)
            if choice.sync is not None:
                self._tell_bits(frontier, "next" if at.swapped else "frontier", up=True)
        expected = self._model.open_heads(frontier, at.missed)
        defer = expected // self.group.size >= self._model.defer_from
        phases = [Phase.UP, *([Phase.UP_OPEN] if defer else [])]
        if (self.placed.incoming or self.placed.out).chunks:
            phases.append(Phase.UP_CHUNKS)
        for phase in phases:
            self._step(frontier, phase, bottom_up=1, defer=int(defer))
        at.swapped = not at.swapped

    def _expand(self, frontier: Frontier, choice: Choice) -> None:
        """Run a level top-down: own rows, then claims to their owners, as often as all of them take."""
        at = self._at
        if choice.sync is not None:
            self._tell_bits(frontier, "visited", up=False)
            frontier.stale = frontier.stale_edges = 0
        if not at.bitmap and frontier.vertices >= int(self._given["s"]["sort_from"]):
            self._step(frontier, Phase.FILL)
            self._step(frontier, Phase.SET)
            at.bitmap = True
        if at.bitmap:
            self._step(frontier, Phase.COLLECT)
        parts = 1
        if self.group.size > 1:
            parts = self._parts or parts_of(self._model, frontier, told=choice.sync is not None)
        # from the back: what a part finds is put behind its last vertex, where those of the part before have been read
        ends = [at.count * part // parts for part in range(parts, -1, -1)]
        self._read_rows(frontier, ends[1], ends[0])
        for part, end in enumerate(ends[:-1]):
            ahead = None if part + 2 > parts else partial(self._read_next, frontier, ends[part + 2], ends[part + 1])
            number = 0
            while self._deliver(frontier, number, end, ahead):
                number += 1
            self.rounds += number
        at.begin = 0 if at.begin else self.n

    def _read_rows(self, frontier: Frontier, begin: int, end: int, blocks: int | None = None) -> None:
        """Read the rows of the vertices [begin, end) of the queue's frontier."""
        begin, count = self._at.begin + begin, end - begin
        for phase in (Phase.DOWN, Phase.DOWN_CHUNKS) if self.placed.out.chunks else (Phase.DOWN,):
            self._step(frontier, phase, blocks=blocks, begin=begin, count=count)

    def _read_next(self, frontier: Frontier, begin: int, end: int) -> None:
        """The same of a part whose predecessor has been delivered: what that has found is counted no more."""
        for place in _OF_A_PART:
            self._runtime.fill(self._arrays["slots"][place : place + 1], 0)
        blocks = self._blocks - self._blocks // NCCL_SHARE if self.transport.name == "nccl" else self._blocks
        self._read_rows(frontier, begin, end, blocks)

    def _tell_bits(self, frontier: Frontier, name: str, *, up: bool) -> None:
        """Tell own words of the bitmap ``name`` to all, and put theirs into it."""
        size, bounds = self.group.size, self.partition.bounds
        if len(bounds):
            bits = self._shared.own(name, WORD * self.partition.words)
            cuts = [WORD * int(bound) for bound in bounds]
            self.transport.gather([bits[cuts[rank] : cuts[rank + 1]] for rank in range(size)])
            return
        part = WORD * most_words(self.partition)
        told = self._shared.own("told", size * part)
        self._step(frontier, Phase.PUBLISH, bottom_up=int(up))
        self.transport.gather([told[rank * part : (rank + 1) * part] for rank in range(size)])
        self._step(frontier, Phase.MERGE, bottom_up=int(up))

    def _tell_list(self, frontier: Frontier) -> None:
        """Tell the vertices of the frontier one by one, and make the bitmap of all of them."""
        at, rank, queue = self._at, self.group.rank, self._arrays["queue"]
        if at.bitmap:
            self._step(frontier, Phase.COLLECT)
        name = "next" if at.swapped else "frontier"
        self._runtime.fill(self._shared.own(name, WORD * self.partition.words), 0)
        half = end = 0 if at.begin else self.n  # where the next frontier will be
        parts = []
        for other, count in enumerate(at.counts):
            begin = at.begin if other == rank else end
            parts.append(queue[begin : begin + count])
            end += 0 if other == rank else count
        self.transport.gather(parts)
        self._step(frontier, Phase.SET)
        self._step(frontier, Phase.SET, begin=half, count=end - half)

    def _finish(self) -> None:
        self._kernels["host_finish"](self._blocks, self._team, (self._given,))
        self._runtime.synchronize()

    def _faults_met(self) -> int:
        return int(self._runtime.download(self._arrays["progress"]).view(PROGRESS)[0]["invalid"])

    def prove(self, source: int, max_depth: int | None) -> None:
        """Prove the tree of the last search; every rank makes this call. The tree is whole on each of them then.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        if self._prover is None:
            given = (self.placed, self.group, self._part, self._bases, self._shared, self._arrays)
            self._prover = HostProver(*given, self.partition)
        self._prover.prove(source, max_depth)

    @property
    def shared_bytes(self) -> int:
        """Bytes of what others write and read, and of what this rank has for them."""
        return super().shared_bytes + int(self._outbox.nbytes)

    def close(self) -> None:
        """Release the transport, all ranks together; a second call does nothing."""
        self.transport.close()
        super().close()
