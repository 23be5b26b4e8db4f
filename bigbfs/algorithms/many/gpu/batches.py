"""Batches of searches on a device: the sources, the levels, and what is collected of them.

The host chooses the direction of a level where its frontier has many edges; thin levels run top-down, as many of them
in one launch as there are. ``seen`` and ``other`` change places with every level that runs bottom-up.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.many.gathered import Counted, Done, Sums, Wants
from bigbfs.algorithms.many.gpu.arguments import (
    DONE,
    FILES,
    MANY,
    POINTERS,
    ROW_KERNELS,
    ROWS,
    STAND,
    arrays,
    kernels,
    part_of,
)
from bigbfs.algorithms.many.gpu.bits import Places
from bigbfs.algorithms.many.gpu.directions import BOTTOM_UP, NO_WAY, TOP_DOWN, Choice, Directions
from bigbfs.algorithms.many.gpu.places import chunks_at_hand, order_of_chunks
from bigbfs.algorithms.many.gpu.streamed import FileRows
from bigbfs.algorithms.many.gpu.trace import Step
from bigbfs.algorithms.many.gpu.tuning import Tuning
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import BLOCK, COUNTS, WARP, struct, team_threads
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.graph.adjacency import Adjacency


class GpuBatches:
    """Batches of up to ``width`` sources on one placed graph.

    Parameters
    ----------
    placed
        The graph.
    backward
        Search against the edges.
    width
        Sources of a batch at most: 64, 128, 256 or 512.
    wants
        What is collected.
    tuning
        How levels are shared out.
    kept
        Sources whose levels there is room for; None: ``width``.

    Attributes
    ----------
    width
        As given.
    most
        Sources of a batch at most: ``kept`` where levels are wanted.
    trace
        None, or a list to which every step is added; that takes time.
    """

    def __init__(
        self, placed: PlacedGraph, backward: bool, width: int, wants: Wants, tuning: Tuning, kept: int | None = None
    ) -> None:
        self._placed, self._runtime, self._tuning = placed, placed.runtime, tuning
        self.width, self._wants = width, wants
        self._kept = kept or width
        self.most = self._kept if wants.levels else width
        out, incoming = placed.out, placed.incoming
        self._in: PlacedAdjacency | None = out if backward else incoming
        self._out = (incoming or out) if backward else out
        self._vertices = placed.pool.sizes.reachable
        streamed = placed.residency == "streamed"
        self._specs = arrays(width, wants, tuning.span, self._kept, streamed)
        self._kernels = Launcher(placed.runtime, kernels(width, streamed), placed.ids, placed.codec)
        self._file = FileRows(placed.runtime, self._out, self._in, self._kernels) if streamed else None
        self._team = team_threads(placed.runtime.team, placed.ids)
        self._team_blocks = placed.runtime.max_blocks(self._kernels.kernel("many_push"), self._team)
        self._spread_blocks = placed.runtime.max_blocks(self._kernels.kernel("many_spread"), self._team)
        graph = placed.graph
        rows = graph.in_adjacency if backward and graph.in_adjacency is not None else graph.adjacency
        self._directions = Directions(placed, self._out, self._in, rows, self._kernels, tuning)
        self._orders = {"out_order": self._order(rows, self._out)}
        self._orders["in_order"] = self._orders["out_order"]
        if self._in is not None and self._in is not self._out:
            pulled = graph.adjacency if rows is graph.in_adjacency else graph.in_adjacency
            assert pulled is not None
            self._orders["in_order"] = self._order(pulled, self._in)
        self._invalid = 0
        self.trace: list[Step] | None = None
        self._places = Places(placed.runtime, self._kernels, width, tuning)
        self._found = np.zeros(1, np.int64)
        self._columns = np.zeros(0, np.int64)
        self.borrow()

    def _order(self, rows: Adjacency, placed: PlacedAdjacency) -> np.ndarray:
        """Return the chunks of hubs in the order in which kernels read them: of streamed rows those on the device."""
        order = order_of_chunks(rows, placed)
        return order if self._file is None else order[: chunks_at_hand(rows, placed)]

    def borrow(self) -> None:
        """Take the arrays, whatever they hold."""
        self._arrays: dict[str, Array] = {}
        sizes = self._placed.pool.sizes
        for spec in self._specs:
            array, _ = self._placed.pool.lend(spec, self)
            self._arrays[spec.name] = array[: spec.elements(sizes)]
        self._state = self._make_state()
        self._directions.fill(self._arrays["many_sample"])
        for name, rows in (("out_order", self._out), ("in_order", self._in)):
            if rows is not None and len(self._orders[name]):
                self._runtime.write(self._arrays[name][: len(self._orders[name])], self._orders[name])

    def _make_state(self) -> np.ndarray:
        tuning, placed = self._tuning, self._placed
        mapped = placed.residency == "mapped"
        pulled = self._out if self._in is None else self._in
        values = {spec.name: self._runtime.pointer(self._arrays[spec.name]) for spec in self._specs}
        apart = tuning.mapped_apart_ids if mapped else tuning.apart_ids
        return struct(
            MANY,
            **{"out": self._out.struct, "in": pulled.struct},
            **{spec.name: values.get(spec.name, 0) for spec in POINTERS},
            vertices=self._vertices,
            span=tuning.span + 1,
            most_levels=tuning.most_levels,
            pull_from=NO_WAY,
            apart_ids=apart,
            few_words=tuning.few_words,
            shares_rows=tuning.shares_rows,
            kept=self._kept,
            group_bits=(self.width // 64 // part_of(self.width)).bit_length() - 1,
        )

    def warm(self) -> None:
        """Launch every kernel once, on no vertices."""
        nothing = self._state.copy()
        nothing["vertices"] = 0
        for rows in ("out", "in"):
            for name in ("n", "chunks", "hub_count", "file_n"):
                nothing[rows][name] = 0
        for name in ("many_stand", "many_sums", "counts"):
            self._runtime.fill(self._arrays[name], 0)
        self._kernels("many_begin", 1, nothing, self._arrays["many_sources"], np.uint64(0))
        self._places.warm(nothing, self._arrays)
        self._kernels.kernel("many_push")(self._team_blocks, self._team, (nothing,))
        self._kernels.kernel("many_spread")(self._spread_blocks, self._team, (nothing,))
        self._directions.warm(nothing, self._arrays)
        tables = (self._out.arrays["chunk_hub"], self._out.arrays["hubs"], self._arrays["open"])
        self._kernels("many_list", 1, nothing, self._arrays["out_order"], np.uint64(0), *tables)
        reading = ROW_KERNELS if self._file is None else ()
        for names in (FILES["many"][1:5], ("many_pick", "many_parts", "many_push_chunks"), FILES["many_pull"], reading):
            for name in names:
                self._kernels(name, 1, nothing)
        if self._file is not None:
            self._file.warm(nothing, self._arrays)
        self._runtime.synchronize()

    def forget(self) -> None:
        """Clear the sums over batches."""
        for name in ("reach", "farness", "harmonic"):
            if name in self._arrays:
                self._runtime.fill(self._arrays[name], 0)

    @property
    def invalid(self) -> int:
        """Ids met by the last batch that are no vertices."""
        return self._invalid

    def run(self, sources: np.ndarray, max_depth: int) -> Done:
        """Search from ``sources`` (internal, ``width`` at most), bit by bit in their order, down to ``max_depth``."""
        steps, pulled, base = {TOP_DOWN: 0, BOTTOM_UP: 0}, False, 0
        self._state["base"], self._state["max_depth"] = 0, max_depth
        stand = self._begin(sources)
        found: list[np.ndarray] = [np.zeros(1, np.int64)]
        columns: list[np.ndarray] = [np.zeros(self.width if self._wants.columns else 0, np.int64)]
        while int(stand["ending"]) != DONE and int(stand["level"]) < max_depth:
            if int(stand["level"]) - base >= self._tuning.span:
                self._take(int(stand["level"]) - base, found, columns)
                base = int(stand["level"])
                self._state["base"] = base
            before, start, read = stand, time.perf_counter(), self._read_so_far()
            choice = self._directions.choose(stand, self._state, self._arrays)
            how = choice.how
            stand = self._pull(stand.copy(), choice) if how == BOTTOM_UP else self._push(stand, pulled)
            pulled = how == BOTTOM_UP
            levels = int(stand["level"]) - int(before["level"])
            steps[how] += levels
            self._note(choice, before, levels, read, start)
        self._take(int(stand["level"]) - base, found, columns)
        self._found, self._columns = np.concatenate(found), np.concatenate(columns)
        counts = self._runtime.download(self._arrays["counts"]).view(COUNTS)[0]
        self._invalid = int(counts["invalid"])
        level = int(stand["level"]) if int(stand["count"]) else max(0, int(stand["level"]) - 1)
        return Done(steps, int(counts["read"]), level, len(sources) + int(self._found[: level + 1].sum()))

    def _begin(self, sources: np.ndarray) -> np.void:
        """Forget the last batch, and make ``sources`` the frontier; return where that stands."""
        runtime, lent = self._runtime, self._arrays
        for name in ("seen", "other", "claimed", "full", "pairs", "columns", "far", "depth", "many_sums", "counts"):
            if name in lent:
                runtime.fill(lent[name], 0)
        if "levels" in lent:
            runtime.fill(lent["levels"], -1)
        stand = np.zeros(1, STAND)
        number = np.arange(len(sources))
        np.bitwise_or.at(stand["active"][0], number // 64, np.uint64(1) << (number % 64).astype(np.uint64))
        stand["left"] = self._placed.graph.m
        runtime.write(lent["many_stand"], stand.view(np.uint64).reshape(-1))
        self._places.deal(sources, self._state, lent)
        for name in ("seen", "other", "full", "done"):
            self._state[name] = runtime.pointer(lent[name])
        self._state["by_full"] = 0
        self._directions.begin()
        self._kernels("many_begin", len(sources), self._state, lent["many_sources"], np.uint64(len(sources)))
        return self._stand()

    def _stand(self) -> np.void:
        stand: np.void = self._runtime.download(self._arrays["many_stand"]).view(STAND)[0]
        return stand

    def _push(self, stand: np.void, pulled: bool) -> np.void:
        """Run levels top-down; only one where the frontier is wide."""
        mapped = self._placed.residency == "mapped"  # what is streamed is read by way of the bitmap
        if pulled or (mapped and int(stand["level"]) and int(stand["count"]) >= self._tuning.sort_from):
            self._runtime.fill(self._arrays["many_sums"], 0)
            self._kernels("many_gather", -(-self._vertices // 32), self._state)
        if self._directions.catch_up(stand):
            self._kernels("many_catch_up", -(-self._vertices // 32) * WARP, self._state)
        self._state["by_full"] = 0
        wide_from = self._directions.threshold(stand)
        if self._file is None:
            wide_from = min(wide_from, self._tuning.hubs_from)
        wide = int(stand["level"]) > 0 and int(stand["edges"]) >= wide_from
        self._state["pull_from"] = NO_WAY if wide else wide_from
        self._state["most_levels"] = 1 if wide else self._tuning.most_levels
        self._state["spread"] = 0
        self._runtime.fill(self._arrays["many_sums"], 0)
        self._state["hubs_apart"] = self._file is None and wide and self._out.chunks > 0
        if self._state["hubs_apart"]:
            self._push_hubs(self._frontier(stand))
        self._kernels.kernel("many_push")(self._team_blocks, self._team, (self._state,))
        while self._file is not None and int((stand := self._stand())["ending"]) == ROWS:
            self._push_hubs(self._frontier(stand))
            self._file.push(self._state, self._frontier(stand), self._arrays)
            self._kernels.kernel("many_push")(self._team_blocks, self._team, (self._state,))
        return self._stand() if self._file is None else stand

    def _frontier(self, stand: np.void) -> Array:
        """Return the bitmap of the frontier."""
        words = -(-self._vertices // 32)
        return self._arrays["claimed"][int(stand["level"]) % 2 * words :][:words]

    def _pull(self, stand: np.void, choice: Choice) -> np.void:
        """Run a level bottom-up; after it ``seen`` and ``other``, and ``full`` and ``done``, have changed places."""
        runtime, state, rows, words = self._runtime, self._state, self._in, -(-self._vertices // 32)
        assert rows is not None
        stand["asked"], stand["picked"] = choice.asked, 0
        runtime.write(self._arrays["many_stand"], np.array([stand], STAND).view(np.uint64).reshape(-1))
        state["spread"], state["sparse"] = choice.spread > 0, choice.sparse
        state["by_full"] = self._directions.leave_full(stand)
        if choice.spread:
            runtime.fill(self._arrays["many_sums"], 0)
            self._kernels("many_pick", words * WARP, state)
            if table := self._placed.pool.sizes.table:
                self._kernels("many_parts", table * self.width // 64 // part_of(self.width), state)
            state["hubs_apart"] = True
            self._push_hubs(self._arrays["open"])
            if self._file is not None:
                self._file.push(state, self._arrays["open"], self._arrays)
            self._kernels.kernel("many_spread")(self._spread_blocks, self._team, (state,))
        runtime.fill(self._arrays["many_sums"], 0)
        for name in ("many_pull", *(ROW_KERNELS if self._file is None else ())):
            self._kernels(name, words * WARP, state)
        if chunks := self._list("in_order", rows, self._arrays["open"]):
            self._kernels("many_pull_chunks", chunks * WARP, state)
        if self._file is not None:
            self._file.pull(state, self._arrays)
        self._kernels("many_collect", words * WARP, state)
        for one, other in (("seen", "other"), ("full", "done")):
            state[one], state[other] = state[other].copy(), state[one].copy()
        self._kernels("many_close", BLOCK, state)
        return self._stand()

    def _push_hubs(self, marks: Array) -> None:
        """Expand the hubs that the bitmap ``marks`` has; who expands the other rows leaves them out."""
        if chunks := self._list("out_order", self._out, marks):
            self._kernels("many_push_chunks", chunks * WARP, self._state)

    def _list(self, order: str, rows: PlacedAdjacency, marks: Array) -> int:
        """List the chunks of the hubs that the bitmap ``marks`` has; return how many there can be."""
        tables, chunks = (rows.arrays["chunk_hub"], rows.arrays["hubs"]), len(self._orders[order])
        if chunks:
            self._kernels("many_list", chunks, self._state, self._arrays[order], np.uint64(chunks), *tables, marks)
        return chunks

    def _take(self, levels: int, found: list[np.ndarray], columns: list[np.ndarray]) -> None:
        """Take the counts of so many levels, behind the first that counts are of, and clear them."""
        lent, runtime = self._arrays, self._runtime
        found.append(runtime.download(lent["pairs"])[1 : levels + 1].astype(np.int64))
        runtime.fill(lent["pairs"], 0)
        if "columns" in lent:
            all_columns = runtime.download(lent["columns"])
            columns.append(all_columns[self.width : (levels + 1) * self.width].astype(np.int64))
            runtime.fill(lent["columns"], 0)

    def _read_so_far(self) -> np.ndarray:
        """Return the ids read from rows, and the bytes read from the file; nothing where nobody wants to know."""
        if self.trace is None:
            return np.zeros(2, np.int64)
        ids = self._runtime.download(self._arrays["counts"]).view(COUNTS)[0]["read"]
        return np.array([ids, 0 if self._file is None else self._file.bytes], np.int64)

    def _note(self, choice: Choice, before: np.void, levels: int, read: np.ndarray, start: float) -> None:
        if self.trace is None:
            return
        seconds = time.perf_counter() - start
        level, count, edges, left = (int(before[name]) for name in ("level", "count", "edges", "left"))
        ids, file = (self._read_so_far() - read).tolist()
        self.trace.append(Step(choice.how, choice.spread, level, levels, count, edges, left, ids, file, seconds))

    def counted(self) -> Counted:
        """Return what the last batch found."""
        downloaded = (self._runtime.download(self._arrays[name]).astype(np.int64) for name in ("depth", "far"))
        depth, far, columns = (self._places.by_source(each) for each in (*downloaded, self._columns))
        return Counted(depth, far, self._found, columns)

    def levels(self, first: int = 0, last: int | None = None) -> np.ndarray:
        """Return the levels of the last batch, int32 (n, kept), or those of vertices from ``first`` to ``last`` - 1."""
        kept, levels = self._kept, self._arrays["levels"]
        part = levels[first * kept : len(levels) if last is None else last * kept]
        return self._runtime.download(part).reshape(-1, kept)

    def sums(self) -> Sums:
        """Return the sums over the batches since :meth:`forget`."""
        lent, runtime, none = self._arrays, self._runtime, np.zeros(0, np.int64)
        reach, farness = (
            runtime.download(lent[name]).astype(np.int64) if name in lent else none for name in ("reach", "farness")
        )
        harmonic = runtime.download(lent["harmonic"]).view(np.float64) if "harmonic" in lent else none
        return Sums(reach, farness, harmonic)
