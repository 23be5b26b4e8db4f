"""The state of BFS on one rank of several GPUs: what its kernels get, whoever carries words between ranks.

In: own rows in place (:mod:`bigbfs.engines.gpu.ranks.own`), and memory for what others write
(:mod:`bigbfs.engines.gpu.ranks.memory`): each other's, or this rank's alone, into which it is carried. Out: levels
int32 and parents id of own vertices, by local number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import BFS, EDGES
from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.algorithms.bfs.gpu.peers.arguments import JOINT, PEERS
from bigbfs.algorithms.bfs.gpu.tree import NEVER, held, local_rows, wide_from
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT, Tuning
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.arguments import CLOCK_RATE, place_part
from bigbfs.engines.gpu.ranks.memory import Fields, OwnMemory, SharedMemory
from bigbfs.engines.gpu.runtime.arguments import BLOCK, no_vertex, struct, team_threads
from bigbfs.engines.gpu.runtime.runtime import Array, Kernel
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition

LINK_RATE = 360e9
"""Bytes per second that a GPU stores into another's memory: NVLink, two GPUs (measured: 372 to 395)."""

CLAIM_COST = 200
"""Picoseconds that it takes a rank to sort a claim by its owner, and another to take it, beside its bytes over the link
(measured: 1.7 ms for 7.7 M each way)."""

WHOLE_TIMES = 4
"""By so much smaller levels may be marked where all ranks have all rows."""


class PeerState:
    """The state of one rank, reused from source to source; all ranks make it together.

    Parameters
    ----------
    placed
        Own rows, in device memory or mapped.
    group, partition
        The ranks, and who owns what.
    share
        Makes the memory that others write into, of these fields.
    bottom_up
        Whether levels may search.
    tuning
        How it decides.
    capacity
        Claims of one rank for which another has room; None: as :func:`arguments.inbox` says.
    patience
        Seconds that a rank waits for the others.
    whole
        Whether each rank has the rows of all vertices in place.
    alone
        Whether each then searches for itself, because levels are many and thin: none is shared, none bottom-up.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        group: Group,
        partition: Partition,
        share: Callable[[Fields], SharedMemory | OwnMemory],
        *,
        bottom_up: bool = True,
        tuning: Tuning = DEFAULT,
        capacity: int | None = None,
        patience: float = 60.0,
        whole: bool = False,
        alone: bool = False,
    ) -> None:
        self.placed, self.group, self.partition = placed, group, partition
        self.n, self.ids = placed.n, placed.ids
        self.nobody = self.ids.type(no_vertex(self.ids))
        assert whole or partition.together == 1  # own rows that are gathered are dealt word by word
        assert placed.residency == "vram" or not alone  # queues are put in order where rows are mapped: ranks meet
        self._alone, self._may_mark = alone, bottom_up and not alone
        self.bottom_up = self._may_mark and placed.incoming is not None
        self._tuning, self._patience, self._whole = tuning, patience, whole
        runtime = self._runtime = placed.runtime
        self._capacity = arguments.inbox(partition) if capacity is None else capacity
        self._arrays = {spec.name: placed.pool.lend(spec, self)[0] for spec in arguments.own_arrays(tuning.slots)}
        self._edges = placed.pool.lend(EDGES, self)[0]
        self._joint = runtime.zeros(JOINT.itemsize // 8, np.uint64)
        self._sent = runtime.zeros(group.size, np.uint64)
        self._part, self._bounds = place_part(runtime, partition, group.rank)
        fields = arguments.shared_fields(partition, self.ids, self._capacity)
        self._shared = share(fields)
        sizes = dict(fields)
        for name, dtype in (("levels", np.dtype(np.int32)), ("parents", self.ids)):
            self._arrays[name] = self._shared.own(name, sizes[name]).view(dtype)
        self._forget_tree()
        bases = self._shared.bases
        bases[group.rank] = runtime.pointer(self._shared.array)
        self._bases = runtime.upload(bases)
        self._state = self._make_state(self._capacity)
        group.barrier()  # nobody writes before all memory is zero

    def _forget_tree(self) -> None:
        """Say of every vertex that no search has found it."""
        self._runtime.fill(self._arrays["levels"], -1)
        self._runtime.fill(self._arrays["parents"], int(self.nobody))

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
            told_cost=(CLAIM_COST + _picoseconds(2 * self.ids.itemsize)) * (ranks - 1) // ranks,
            publish_cost=unit.sweep and _picoseconds(self.n // 8 * (ranks - 1) // ranks),
            **{f"{name}_at": places[name] for name in (*arguments.SHARED, "parents")},
        )
        own = {name: runtime.pointer(array) for name, array in self._arrays.items()}
        own |= {name: base + places[name] for name in ("visited", "frontier", "next")}
        state["s"] = self._search_state(unit, own)
        state["s"]["in_vertices"] = int(self.group.sum([searched.with_edges])[0])
        return state

    def _search_state(self, unit: Costs, pointers: dict[str, int]) -> np.ndarray:
        """Return what the phases of one GPU get."""
        placed, tuning, runtime = self.placed, self._tuning, self._runtime
        searched, mapped = placed.incoming or placed.out, placed.residency == "mapped"
        state = struct(
            BFS,
            out=placed.out.struct,
            reachable=searched.struct["rows"] if self.bottom_up else 0,
            slot_count=tuning.slots,
            thin_to=min(team_threads(runtime.team, self.ids), tuning.thin_to),
            local=local_rows(placed, tuning) if self._alone else 0,
            bottom_up=self.bottom_up,
            sort_from=tuning.sort_from if mapped else NEVER,
            defer_from=tuning.defer_from_mapped if mapped else tuning.defer_from_vram,
            window=self._window() if mapped else NEVER,
            **held(placed.out, mapped),
            **self._marks(unit),
            asks=tuning.asks,
            sweep_cost=unit.sweep,
            vertex_cost=unit.vertex,
            edge_cost=unit.edge,
            claim_cost=unit.claim,
            mark_cost=unit.mark,
            parent_cost=unit.parent,
            line_cost=self._line_cost(unit),
            **pointers,
        )
        state["in"] = searched.struct
        if self._whole:  # levels that are not shared look for others' vertices, too
            state["in"]["rows"] = runtime.pointer(searched.arrays["all_rows"])
        return state

    def _marks(self, unit: Costs) -> dict[str, int]:
        """Return from how many edges on a level may be marked, and what an edge takes behind heads; 0: never.

        With all rows smaller levels are worth marks, too: all ranks would find the same, and now each its share.
        """
        edges = wide_from(self.placed, self._tuning) if self._may_mark else NEVER
        if edges == NEVER or not self._whole:
            return {"wide_from": edges, "look_cost": 0}
        return {"wide_from": edges // WHOLE_TIMES, "look_cost": unit.look}

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

    def _edges_of_own(self, state: np.ndarray, count: Kernel) -> int:
        """Return the edges in the rows of own vertices reached, as the kernel ``count`` adds them up."""
        self._runtime.fill(self._edges, 0)
        grid = max(1, min(self._runtime.max_blocks(count, BLOCK), -(-self.n // BLOCK)))
        count(grid, BLOCK, (state, self._edges))
        return int(self._runtime.download(self._edges)[0])

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
        return np.ascontiguousarray(whole.reshape(-1, 64)[self.partition.own_words(self.group.rank)]).reshape(-1)

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
