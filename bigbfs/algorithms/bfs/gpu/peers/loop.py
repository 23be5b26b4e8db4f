"""BFS of one rank of several GPUs of a machine: one launch for a whole search, all ranks at the same time.

In: own rows in place (:mod:`bigbfs.engines.gpu.ranks.own`). Out: levels int32 and parents id of own vertices, by local
number, and what the run measured, the same on all ranks. Between two levels no rank's host is asked anything. A launch
comes back early only when its slots are full: on all ranks at the same level, and all are launched again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import PROGRESS, SLOT
from bigbfs.algorithms.bfs.gpu.peers.arguments import ALIKE, JOINT, TOLD, UPWARDS, WAITED, kernels
from bigbfs.algorithms.bfs.gpu.peers.prove import TreeProver
from bigbfs.algorithms.bfs.gpu.peers.state import NEVER, PeerState
from bigbfs.algorithms.bfs.gpu.tree import row_length
from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.memory import Memory, SharedMemory
from bigbfs.engines.gpu.runtime.arguments import BLOCK, WARP, team_threads
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.errors import DeviceError


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


class PeerSearch(PeerState):
    """The state of BFS on one rank, reused from source to source; all ranks make it, and search, together.

    Parameters
    ----------
    make
        Makes the memory that others write into.
    **how
        As for :class:`PeerState`, whose parameters the others are; the ranks are all of one machine.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        partition: Partition,
        make: Callable[[int], Memory],
        **how: Any,
    ) -> None:
        super().__init__(placed, group, partition, lambda fields: SharedMemory(group, make, fields), **how)
        runtime = self._runtime
        if placed.incoming is placed.out:
            self._leave_out_behind(placed.graph.adjacency.rows_end)
        self._meetings, self._last_source = 0, 0
        specs = kernels(self._whole)
        self._traverse, self._count, self._meet = (spec.build(runtime, self.ids, placed.codec) for spec in specs)
        self._team = team_threads(runtime.team, self.ids)
        self._blocks = runtime.max_blocks(self._traverse, self._team)
        # to sweep half the words and to meet takes as long as to sweep all of them, where few vertices are left
        lines = 2 * partition.together >= WARP  # a warp's piece of 32 words of 32 vertices is one of them
        self._state["alike_to"] = self.n // self._tuning.alike if lines else NEVER
        self._prover: TreeProver | None = None

    def _leave_out_behind(self, end: int) -> None:
        """Leave vertices from ``end`` on out of all sweeps: where edges go both ways, none leads there. By degree these
        are half of a Kronecker graph. Bits of their words stay 0, and what they hold is right from the beginning."""
        for side in ("out", "in"):
            self._state["s"][side]["n"] = end
        self._state["part"]["words"] = self.partition.words_below(self.group.rank, end)

    def warm(self) -> None:
        """Run every kernel on nothing: the driver loads a kernel when it is first launched. Nobody waits for others.

        Edges of other ranks may have come through the memory of the tree since it was made: it is empty again.
        """
        self._forget_tree()
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
            self._meet(1 + runtime.sm_count, WARP, (state,))  # the others wake links
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
        if want_levels:  # which the next search that wants them has to clear
            self._last_source = source
        self._meetings = int(joint["meetings"])
        totals = group.sum([self._edges_of_own(state, self._count), int(progress["invalid"])])
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

    def _begin(self, source: int) -> None:
        """Write down where a search stands when it begins."""
        degree = row_length(self.placed.graph, source)
        bounds, word = self.partition.bounds, source >> 6
        owner = int(np.searchsorted(bounds, word, side="right")) - 1 if len(bounds) else word % self.group.size
        start = np.zeros(1, PROGRESS)
        start["count"], start["reached"], start["edges"] = self._whole or owner == self.group.rank, 1, degree
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
        own = used["edges"].astype(np.int64)
        found = np.where(np.isin(used["direction"], ALIKE), own, self.group.sum(own))
        before = np.append(np.int64(edges), found)[: len(used)]
        seconds, up = np.maximum(cycles, 0) * scale, np.isin(used["direction"], UPWARDS)
        return table_of(len(used), direction=up, frontier=used["frontier"], seconds=seconds, edges=before)

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
