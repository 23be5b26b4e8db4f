"""BFS of one rank of several GPUs whose own rows are read from the file: each streams what a level needs of them.

In: own rows (:mod:`bigbfs.engines.gpu.ranks.streamed`), one stretch of the file, and what carries device memory to
other ranks (:mod:`bigbfs.engines.gpu.ranks.transport`). Out: levels int32 and parents id of own vertices, by local
number, and what the run measured, the same on all ranks. Top-down, a rank reads the rows of its own vertices of the
frontier, and claims of others what these lead to; bottom-up, the frontier is told to all first. As on one GPU
(../streamed.py), a level whose rows take longer than a look at all heads has that look, and then goes the way whose
slowest rank reads least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bigbfs.algorithms.bfs.gpu.hosts import streamed_arguments as arguments
from bigbfs.algorithms.bfs.gpu.hosts.costs import link_of
from bigbfs.algorithms.bfs.gpu.hosts.streamed_arguments import BITMAPS, KERNELS, SEARCH, TALLIES
from bigbfs.algorithms.bfs.gpu.hosts.streamed_claims import Claims
from bigbfs.algorithms.bfs.gpu.hosts.streamed_prove import StreamedProver
from bigbfs.algorithms.bfs.gpu.streamed import COUNTS
from bigbfs.algorithms.bfs.gpu.streamed_costs import read_seconds, sweep_seconds
from bigbfs.algorithms.bfs.ranks.costs import Choice, Frontier
from bigbfs.algorithms.bfs.ranks.loop import Found, LevelLoop
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.arguments import place_part
from bigbfs.engines.gpu.ranks.memory import OwnMemory
from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.arguments import WARP, no_vertex, struct
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition

NEVER = 2**63
NANO = 1e-9


class Rule(Protocol):
    """Says whether a level is pulled where both ways are known: its depth, and the seconds of either."""

    def __call__(self, depth: int, down: float, up: float) -> bool:
        """Return True for bottom-up."""


def quicker(depth: int, down: float, up: float) -> bool:
    """Return whether bottom-up reads less."""
    return up <= down


class StreamedSearch(LevelLoop):
    """The state of BFS on one rank, reused from source to source; all ranks make it, and search, together.

    Parameters
    ----------
    placed
        Own rows, streamed.
    group, partition
        The ranks, and who owns what: ranges.
    carry
        Makes the transport, for calls that send so many bytes at most.
    bottom_up
        Whether levels may be pulled.
    capacity
        Claims of one rank for which another has room, a multiple of 64; None: as :func:`arguments.inbox` says.
    rule
        Chooses between the two ways.

    Attributes
    ----------
    transport
        What carries words to other ranks.
    rounds
        Of delivering claims that the last search needed beyond the first of each level.
    reached, edges
        Vertices that the last search has reached, and the edges in their rows, of all ranks.
    traffic
        What this rank has read from the file in each level of the last search.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        partition: Partition,
        carry: Callable[[int], Transport],
        *,
        bottom_up: bool = True,
        capacity: int | None = None,
        rule: Rule = quicker,
    ) -> None:
        super().__init__(group)
        assert isinstance(placed.out, StreamedAdjacency)
        self.placed, self.partition, self.n, self.ids = placed, partition, placed.n, placed.ids
        self.bottom_up = bottom_up and placed.incoming is not None
        self._out = placed.out
        self._in = placed.incoming if isinstance(placed.incoming, StreamedAdjacency) else placed.out
        runtime = self._runtime = placed.runtime
        capacity = arguments.inbox(partition) if capacity is None else capacity
        self._part, self._bounds = place_part(runtime, partition, group.rank)
        self._arrays: dict[str, Array] = {spec.name: placed.pool.lend(spec, self)[0] for spec in (*BITMAPS, TALLIES)}
        self._sent = self._arrays["sent"] = runtime.zeros(group.size, np.uint64)
        fields = arguments.tree_fields(partition, self.ids)
        self._shared = OwnMemory(runtime, group, fields)
        self._bases = runtime.upload(self._shared.bases)
        sizes = dict(fields)
        for name, dtype in (("levels", np.dtype(np.int32)), ("parents", self.ids)):
            self._arrays[name] = self._shared.own(name, sizes[name]).view(dtype)
        self._launch = Launcher(runtime, KERNELS, self.ids, placed.codec)
        self.transport = carry(arguments.most_sent(partition, self.ids, capacity))
        room = [runtime.empty(group.size * capacity, self.ids) for _ in range(4)]
        self._claims = Claims(runtime, group, partition, self.transport, self._launch, self._part, self._sent, room)
        self._rule = rule
        self._link = link_of(self.transport.name, group.one_host)
        self._in_vertices = int(group.sum([self._in.with_edges])[0])
        self._state = self._pointed(True, True)
        self._down = 0.0
        self._swept = (0, 0)
        self._rows = self._units = 0
        self._faults = self.rounds = self.reached = self.edges = 0
        self.traffic: list[Any] = []
        self._prover: StreamedProver | None = None

    def _pointed(self, want_levels: bool, want_parents: bool) -> np.ndarray:
        """Return the state as kernels get it."""
        state = struct(SEARCH, **{name: self._runtime.pointer(array) for name, array in self._arrays.items()})
        for name, wanted in (("levels", want_levels), ("parents", want_parents)):
            if not wanted:
                state[name] = 0
        return state

    def warm(self) -> None:
        """Run every kernel on nothing: the driver loads a kernel when it is first launched."""
        nothing, none, zero = self._out.struct.copy(), np.uint64(0), np.uint32(0)
        nothing["n"] = nothing["chunks"] = 0
        part = self._part.copy()
        part["words"] = part["size"] = 0
        state, ids = self._pointed(False, False), self._arrays["parents"]
        self._launch("ranks_reset", 1, state, none, none)
        self._launch("ranks_survey", 1, nothing, state, part, zero)
        self._launch("ranks_know", 1, state, none)
        for name in ("ranks_heads", "ranks_list"):
            self._launch(name, 1, nothing, state, part)
        self._launch("ranks_hot", 1, nothing, state, part, zero)
        for name in ("ranks_expand", "ranks_search"):
            self._launch(name, 1, nothing, state, part, self._sent, none)
        self._launch("ranks_count", 1, state, part, none)
        self._launch("ranks_pack", 1, state, part, none, none, none, ids, ids, none)
        self._launch("ranks_accept", 1, state, ids, ids, none)
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool = True, want_levels: bool = True) -> Found:
        """Search from ``source``; every rank makes this call. Levels and parents stay on the devices.

        Raises
        ------
        DeviceError
            A kernel failed, or NCCL.
        FileAccessError, FormatError
            The file cannot be read, or is damaged.
        """
        self._state = self._pointed(want_levels, want_parents)
        found, _ = self.go_through(source, NEVER if max_depth is None else max_depth)
        self._runtime.fill(self._arrays["tallies"], 0)
        self._launch("ranks_survey", self.n, self._out.struct, self._state, self._part, np.uint32(1))
        self.edges = int(self.group.sum([self._counts()["edges"]])[0])
        return found

    def _reset(self, source: int) -> Frontier:
        self._launch("ranks_reset", self.n, self._state, np.uint64(self.n), np.uint64(source))
        frontier = Frontier(0, 0, 0, self._in_vertices, self.placed.graph.m, 0, 0)
        self._faults = self.rounds = 0
        self.traffic = []
        self._runtime.fill(self._arrays["tallies"], 0)
        self._swept = (0, 0)
        self._agree(frontier)
        frontier.depth, self.reached = 0, 1
        return frontier

    def _choose(self, frontier: Frontier) -> Choice:
        """Look at all heads where that may pay, and choose by what is left to be read."""
        runtime, state, size = self._runtime, self._state, self.group.size
        runtime.fill(self._arrays["tallies"], 0)
        self._swept = (0, 0)
        state["level"] = frontier.depth
        link, others = self._link, (size - 1) / size
        telling = link.call + self.n / 8 * others / link.bytes_per_second if size > 1 else 0.0
        sweep = sweep_seconds(64 * max(self.partition.counts()), int(self._in.struct["head_groups"]))
        if not self.bottom_up or self._down <= sweep + telling:
            return Choice(False, None, self._down)
        if size > 1:
            self._tell_frontier()
        self._launch("ranks_heads", self.n, self._in.struct, state, self._part)
        counts = self._counts()
        self._swept = counts["rows"], counts["units"]
        up = self._slowest(self._in, *self._swept)
        told = "bitmap" if size > 1 else None
        pulled = self._rule(frontier.depth, self._down, up)
        return Choice(pulled, told, telling + (up if pulled else self._down))

    def _tell_frontier(self) -> None:
        """Tell own words of the frontier to all, and put theirs beside them; what is in it is visited."""
        bits = self._arrays["frontier"] if self._is_first() else self._arrays["next"]
        bounds = [2 * int(bound) for bound in self.partition.bounds]
        self.transport.gather([bits[bounds[rank] : bounds[rank + 1]] for rank in range(self.group.size)])
        self._launch("ranks_know", self.n, self._state, np.uint64(self.n))

    def _is_first(self) -> bool:
        """Return whether the frontier lies in the array of that name: it and ``next`` take turns."""
        return int(self._state["frontier"]) == self._runtime.pointer(self._arrays["frontier"])

    def _slowest(self, rows: StreamedAdjacency, count: int, units: int) -> float:
        """Return the seconds in which the slowest rank reads so many rows of so many units; all ranks say theirs."""
        mine = int(read_seconds(count, units * rows.unit, rows.units * rows.unit) / NANO)
        return max(self.group.lengths(mine)) * NANO

    def _level(self, frontier: Frontier, choice: Choice, target: int | None) -> bool:
        rows, name = (self._in, "ranks_search") if choice.up else (self._out, "ranks_expand")
        state, wanted, (count, units) = self._state, self._arrays["wanted"], self._swept
        if not choice.up:
            self._launch("ranks_list", self.n, rows.struct, state, self._part)
            count, units = self._rows, self._units
        if rows.hot_bytes:
            self._launch("ranks_hot", rows.chunks * WARP, rows.struct, state, self._part, np.uint32(choice.up))

        def consume(local: np.ndarray, pieces: Array, count: int) -> None:
            arguments = (local, state, self._part, pieces, np.uint64(count))
            launch(self._runtime, self._launch.kernel(name), count * WARP, arguments)

        self.traffic.append(rows.read(wanted, units, consume, count))
        if not choice.up:
            self.rounds += self._claims.deliver(state)
        state["frontier"], state["next"] = int(state["next"]), int(state["frontier"])
        self._agree(frontier)
        return False

    def _agree(self, frontier: Frontier) -> None:
        """Make the frontier that of the next level, from what the ranks have counted, and say what it costs to read."""
        rows = self._out
        self._launch("ranks_survey", self.n, rows.struct, self._state, self._part, np.uint32(0))
        counts = self._counts()
        self._faults += counts["invalid"]
        self._rows, self._units = counts["rows"] - self._swept[0], counts["units"] - self._swept[1]
        down = read_seconds(self._rows, self._units * rows.unit, rows.units * rows.unit)
        mine = np.array([counts["vertices"], counts["edges"], int(down / NANO)], np.int64)
        everyone = np.stack(self.group.gather(mine, [3] * self.group.size))
        found, edges = (int(total) for total in everyone[:, :2].sum(axis=0))
        self._down = int(everyone[:, 2].max()) * NANO
        frontier.depth += 1
        frontier.vertices, frontier.edges = found, edges
        frontier.unvisited = max(0, frontier.unvisited - found)
        frontier.unexplored = max(0, frontier.unexplored - edges)
        self.reached += found

    def _counts(self) -> dict[str, int]:
        return dict(zip(COUNTS, self._runtime.download(self._arrays["tallies"]).tolist(), strict=True))

    def _finish(self) -> None:
        self._runtime.synchronize()

    def _faults_met(self) -> int:
        return self._faults

    def prove(self, source: int, max_depth: int | None) -> None:
        """Prove the tree of the last search; every rank makes this call. The tree is whole on each of them then.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        if self._prover is None:
            given = (self.placed, self.group, self._part, self._bases, self._shared, self._arrays)
            self._prover = StreamedProver(*given, self.partition)
        self._prover.prove(source, max_depth)

    def own_levels(self) -> np.ndarray:
        """Return the levels of own vertices by local number: int32, 64 for each own word, -1 unreached."""
        return self._own("levels", -1)

    def own_parents(self) -> np.ndarray:
        """Return the parents of own vertices by local number: id, all bits set where there is none."""
        return self._own("parents", no_vertex(self.ids))

    def _own(self, name: str, nothing: int) -> np.ndarray:
        words = self.partition.own(self.group.rank)
        first, last = 64 * words.start, min(64 * words.stop, self.n)
        own = np.full(64 * (words.stop - words.start), nothing, self._arrays[name].dtype)
        own[: max(0, last - first)] = self._runtime.download(self._arrays[name][first:last])
        return own

    @property
    def shared_bytes(self) -> int:
        """Bytes of the tree, and of claims on their way."""
        return self._shared.nbytes + self._claims.nbytes

    def close(self) -> None:
        """Release the transport, all ranks together; a second call does nothing."""
        self.transport.close()
        self._shared.close()
