"""BFS of one rank of several GPUs of a machine: one launch for a whole search, all ranks at the same time.

In: own rows in place (:mod:`bigbfs.engines.gpu.ranks.own`). Out: levels int32 and parents id of own vertices, by local
number, and what the run measured, the same on all ranks. Between two levels no rank's host is asked anything. A launch
comes back early only when its slots are full: on all ranks at the same level, and all are launched again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import BFS, EDGES, PROGRESS, SLOT
from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.algorithms.bfs.gpu.peers.arguments import BOTTOM_UP, JOINT, KERNELS, PEERS, TOLD, WAITED
from bigbfs.algorithms.bfs.gpu.peers.prove import TreeProver
from bigbfs.algorithms.bfs.gpu.tree import held, row_length
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT, Tuning
from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.arguments import place_part
from bigbfs.engines.gpu.ranks.memory import Memory, SharedMemory
from bigbfs.engines.gpu.runtime.arguments import BLOCK, WARP, no_vertex, struct, team_threads
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.errors import DeviceError

NEVER = 2**63
CLOCK_RATE = 2e9
"""Cycles of a second, at most: what a rank's patience is counted in."""
LINK_RATE = 360e9
"""Bytes per second that a GPU stores into another's memory: NVLink, two GPUs (measured: 372 to 395)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search measured, the same on all ranks but for the last three: of this rank.

    ``rounds`` of delivering claims that were needed beyond the first of each level, of this rank; ``invalid`` ids read
    that are no vertices, on any rank; ``told``: for each level, what ranks stored into others' memory. ``mine``:
    seconds of this rank's device, of which it ``waited`` so many for others; ``sent``: bytes stored into their memory.
    """

    reached: int
    depth: int
    edges: int
    seconds: float
    levels: LevelRecords
    invalid: int
    rounds: int
    launches: int
    told: tuple[str, ...]
    mine: float
    waited: float
    sent: int


class PeerSearch:
    """The state of BFS on one rank, reused from source to source; all ranks make it, and search, together.

    Parameters
    ----------
    placed
        Own rows, in device memory or mapped (:class:`bigbfs.engines.gpu.ranks.own.OwnAdjacency`).
    group, partition
        The ranks, all of one machine, and who owns what.
    make
        Makes the memory that others write into.
    bottom_up
        Whether levels may search.
    tuning
        How it decides.
    capacity
        Claims of one rank for which another has room; None: as :func:`arguments.inbox` says.
    patience
        Seconds that a rank waits for the others.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        partition: Partition,
        make: Callable[[int], Memory],
        *,
        bottom_up: bool = True,
        tuning: Tuning = DEFAULT,
        capacity: int | None = None,
        patience: float = 60.0,
    ) -> None:
        self.placed, self.group, self.partition = placed, group, partition
        self.n, self.ids = placed.n, placed.ids
        self.nobody = self.ids.type(no_vertex(self.ids))
        self.bottom_up = bottom_up and placed.incoming is not None
        self._tuning, self._patience = tuning, patience
        self._meetings, self._last_source = 0, 0
        runtime = self._runtime = placed.runtime
        capacity = arguments.inbox(partition) if capacity is None else capacity
        self._arrays = {spec.name: placed.pool.lend(spec, self)[0] for spec in arguments.own_arrays(tuning.slots)}
        self._edges = placed.pool.lend(EDGES, self)[0]
        self._joint = runtime.zeros(JOINT.itemsize // 8, np.uint64)
        self._sent = runtime.zeros(group.size, np.uint64)
        self._part, self._bounds = place_part(runtime, partition, group.rank)
        self._traverse, self._count, self._meet = (spec.build(runtime, self.ids, placed.codec) for spec in KERNELS)
        self._team = team_threads(runtime.team, self.ids)
        self._blocks = runtime.max_blocks(self._traverse, self._team)
        fields = arguments.shared_fields(partition, self.ids, capacity)
        self._shared = SharedMemory(group, make, fields)
        sizes = dict(fields)
        for name, dtype, value in (("levels", np.dtype(np.int32), -1), ("parents", self.ids, int(self.nobody))):
            self._arrays[name] = self._shared.own(name, sizes[name]).view(dtype)
            runtime.fill(self._arrays[name], value)
        bases = self._shared.bases
        bases[group.rank] = runtime.pointer(self._shared.array)
        self._bases = runtime.upload(bases)
        self._state = self._make_state(capacity)
        self._prover: TreeProver | None = None
        group.barrier()  # nobody writes before all memory is zero

    def _make_state(self, capacity: int) -> np.ndarray:
        """Return the kernel's argument."""
        placed, runtime, ranks = self.placed, self._runtime, self.group.size
        searched = placed.incoming or placed.out
        unit = self._tuning.costs or costs(self.n, placed.residency, placed.profile)
        base, places = int(self._shared.bases[self.group.rank]), self._shared.places
        state = struct(
            PEERS,
            joint=runtime.pointer(self._joint),
            part=self._part,
            sent=runtime.pointer(self._sent),
            bases=runtime.pointer(self._bases),
            capacity=capacity,
            patience=int(self._patience * CLOCK_RATE),
            most_words=arguments.most_words(self.partition),
            edges_in_all=placed.graph.m,
            claim_cost=_picoseconds(2 * self.ids.itemsize),
            publish_cost=unit.sweep and _picoseconds(self.n // 8 * (ranks - 1) // ranks),
            **{f"{name}_at": places[name] for name in arguments.SHARED},
        )
        own = {name: runtime.pointer(array) for name, array in self._arrays.items()}
        own |= {name: base + places[name] for name in ("visited", "frontier", "next")}
        state["s"] = self._search_state(unit, own)
        state["s"]["in_vertices"] = int(self.group.sum([searched.with_edges])[0])
        return state

    def _search_state(self, unit: Costs, pointers: dict[str, int]) -> np.ndarray:
        """Return what the phases of one GPU get."""
        placed, tuning = self.placed, self._tuning
        searched, mapped = placed.incoming or placed.out, placed.residency == "mapped"
        state = struct(
            BFS,
            out=placed.out.struct,
            reachable=searched.struct["rows"] if self.bottom_up else 0,
            slot_count=tuning.slots,
            bottom_up=self.bottom_up,
            sort_from=tuning.sort_from if mapped else NEVER,
            defer_from=tuning.defer_from_mapped if mapped else tuning.defer_from_vram,
            window=self._window() if mapped else NEVER,
            **held(placed.out, mapped),
            sweep_cost=unit.sweep,
            vertex_cost=unit.vertex,
            edge_cost=unit.edge,
            line_cost=self._line_cost(unit),
            **pointers,
        )
        state["in"] = searched.struct
        return state

    def _line_cost(self, unit: Costs) -> int:
        """Return the mean cost of a line where part of own rows is in device memory too: the same on all ranks."""
        rows = (self.placed.out, self.placed.incoming or self.placed.out)
        near = min(self.group.objects(min(each.near_share for each in rows)))
        return int(unit.line * (1 - near) + costs(self.n, "vram", self.placed.profile).line * near)

    def _window(self) -> int:
        """Return how many neighbouring vertices have rows of a window of host memory."""
        placed = self.placed
        row_bytes = int((placed.incoming or placed.out).struct["data_bytes"])
        return max(1, self.n * self._tuning.window_bytes // max(1, row_bytes))

    def warm(self) -> None:
        """Run every kernel on nothing: the driver loads a kernel when it is first launched. Nobody waits for others."""
        nothing = self._state.copy()
        nothing["s"]["max_depth"] = nothing["s"]["out"]["n"] = nothing["s"]["in"]["n"] = 0
        nothing["part"]["words"] = nothing["part"]["rank"] = 0
        nothing["part"]["size"] = 1
        self._meet(1, WARP, (nothing,))
        self._traverse(self._blocks, self._team, (nothing, np.uint64(0), np.uint64(0), np.uint32(1)))
        self._count(1, BLOCK, (nothing, self._edges))
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool = True, want_levels: bool = True) -> Found:
        """Search from ``source``; every rank makes this call. Levels and parents stay on the devices.

        The clock runs between two barriers, from the reset of the state to what the unreached hold; the seconds are the
        slowest rank's.

        Raises
        ------
        DeviceError
            A kernel failed, or a rank has not come to a meeting.
        """
        runtime, group = self._runtime, self.group
        state = self._state.copy()
        for name, wanted in (("levels", want_levels), ("parents", want_parents)):
            state["s"][name] = runtime.pointer(self._arrays[name]) if wanted else 0
        state["s"]["max_depth"] = NEVER if max_depth is None else max_depth
        self._begin(source)
        ends = (np.uint64(source), np.uint64(self._last_source))
        seconds, waited, launches = 0.0, 0.0, 0
        records: list[np.ndarray] = []
        told: list[str] = []
        edges = row_length(self.placed.graph, source)
        while True:
            runtime.fill(self._arrays["slots"], 0)
            group.barrier()
            self._meet(1, WARP, (state,))
            with runtime.timer() as timer:
                self._traverse(self._blocks, self._team, (state, *ends, np.uint32(launches > 0)))
            launches += 1
            seconds += timer.seconds
            progress = runtime.download(self._arrays["progress"]).view(PROGRESS)[0]
            joint = runtime.download(self._joint).view(JOINT)[0]
            self._require_all(joint, int(progress["level"]))
            slots, scale = self._used_slots(int(progress["clock"]), timer.seconds)
            records.append(self._records(slots, int(progress["clock"]), scale, edges))
            told += (TOLD[int(slot["direction"])] for slot in slots)
            waited += int(joint["waited"]) * scale
            runtime.write(self._joint[WAITED : WAITED + 1], np.zeros(1, np.uint64))
            edges = int(joint["edges"])
            if progress["done"]:
                break
        self._last_source, self._meetings = source, int(joint["meetings"])
        totals = group.sum([self._edges_of_own(state), int(progress["invalid"])])
        slowest = max(float(each[0]) for each in group.gather(np.array([seconds]), [1] * group.size))
        return Found(
            reached=int(progress["reached"]),
            depth=int(progress["level"]) - int(joint["count"] == 0),
            edges=int(totals[0]),
            seconds=slowest,
            levels=LevelRecords(records),
            invalid=int(totals[1]),
            rounds=int(joint["rounds"]),
            launches=launches,
            told=tuple(told),
            mine=seconds,
            waited=min(seconds, waited),
            sent=int(joint["told"]),
        )

    def _edges_of_own(self, state: np.ndarray) -> int:
        """Return the edges in the rows of own vertices reached."""
        self._runtime.fill(self._edges, 0)
        grid = max(1, min(self._runtime.max_blocks(self._count, BLOCK), -(-self.n // BLOCK)))
        self._count(grid, BLOCK, (state, self._edges))
        return int(self._runtime.download(self._edges)[0])

    def _begin(self, source: int) -> None:
        """Write down where a search stands when it begins."""
        degree = row_length(self.placed.graph, source)
        bounds, word = self.partition.bounds, source >> 6
        owner = int(np.searchsorted(bounds, word, side="right")) - 1 if len(bounds) else word % self.group.size
        start = np.zeros(1, PROGRESS)
        start["count"], start["reached"], start["edges"] = owner == self.group.rank, 1, degree
        joint = np.zeros(1, JOINT)
        joint["count"], joint["edges"], joint["explored"] = 1, degree, degree
        joint["meetings"] = self._meetings
        self._runtime.write(self._arrays["progress"], start.view(np.uint64))
        self._runtime.write(self._joint, joint.view(np.uint64))

    def _require_all(self, joint: np.void, level: int) -> None:
        """Refuse the end of a launch to whose last meeting a rank has not come.

        Raises
        ------
        DeviceError
            Names it, and its host.
        """
        if joint["lost"]:
            rank = int(joint["lost"]) - 1
            raise DeviceError(
                f"rank {rank} (host {self.group.hosts[rank]}) has not come to meeting {int(joint['meetings'])}, in "
                f"level {level}: nothing was heard of its GPU for {self._patience:g} s"
            )

    def _used_slots(self, end: int, seconds: float) -> tuple[np.ndarray, float]:
        """Return what a launch of so many seconds, whose clock ended at ``end``, noted of its levels, and the seconds
        of a cycle that this rank's device counted."""
        slots = self._runtime.download(self._arrays["slots"]).view(SLOT)
        used = slots[: np.count_nonzero(slots["direction"])]
        return used, seconds / max(1, end - int(used["clock"][0]) if len(used) else 0)

    def _records(self, used: np.ndarray, end: int, scale: float, edges: int) -> np.ndarray:
        """Return the levels of one launch; its time is shared out by the cycles that this rank's device counted."""
        cycles = np.diff(np.append(used["clock"], np.uint64(end)).astype(np.int64))
        found = np.asarray(self.group.sum(used["edges"].astype(np.int64)))
        before = np.append(np.int64(edges), found)[: len(used)]
        seconds, up = np.maximum(cycles, 0) * scale, used["direction"] == BOTTOM_UP
        return table_of(len(used), direction=up, frontier=used["frontier"], seconds=seconds, edges=before)

    def own_levels(self) -> np.ndarray:
        """Return the levels of own vertices by local number: int32, 64 for each own word, -1 unreached."""
        return self._own("levels", -1)

    def own_parents(self) -> np.ndarray:
        """Return the parents of own vertices by local number: id, all bits set where there is none."""
        return self._own("parents", self.nobody)

    def _own(self, name: str, nothing: int) -> np.ndarray:
        found: Array = self._runtime.download(self._arrays[name])
        whole = np.full(64 * self.partition.words, nothing, found.dtype)
        whole[: self.n] = found[: self.n]
        return np.ascontiguousarray(whole.reshape(-1, 64)[self.partition.own(self.group.rank)]).reshape(-1)

    def prove(self, source: int, max_depth: int | None) -> None:
        """Prove the tree of the last search; every rank makes this call. The tree is whole on each of them then.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        if self._prover is None:
            self._prover = TreeProver(self.placed, self.group, self._part, self._bases, self._shared, self._arrays)
        self._prover.prove(source, max_depth)

    @property
    def shared_bytes(self) -> int:
        """Bytes of the memory that others write into."""
        return self._shared.nbytes

    def close(self) -> None:
        """Close the memory of the others, all ranks together; a second call does nothing."""
        self._shared.close()


def _picoseconds(nbytes: int) -> int:
    """Return how long so many bytes take over the link between two GPUs."""
    return int(nbytes * 1e12 / LINK_RATE)
