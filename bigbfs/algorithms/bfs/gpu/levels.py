"""BFS whose levels the host launches: one loop for every strategy of the catalogue but the persistent ones.

In: placed rows, an entry of the catalogue, its arrays. Out: levels int32 (n), parents id (n), and what the run
measured. The steps of a level come from the entry. What a level counts stays on the device, a record for each, from
which the next one takes its size; the host reads it once a level, or once in ``AHEAD`` levels.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import SLOT, spec_of
from bigbfs.algorithms.bfs.gpu.search import LEVEL_KERNELS, RECORD, START, kernels_of_strategy, search_dtype
from bigbfs.algorithms.bfs.gpu.tree import SPECS, Run, TreeArrays
from bigbfs.algorithms.bfs.level_records import UNCOUNTED, LevelRecords, table_of
from bigbfs.algorithms.bfs.strategies.entry import BINS, RECORDS, Step, Strategy
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.formulas import evaluate
from bigbfs.engines.gpu.runtime.arguments import struct
from bigbfs.engines.gpu.runtime.runtime import Array

THREADS = 256
"""Threads of a block."""

AHEAD = 1
"""Levels launched before the host reads what they counted. A read takes as long as two launches; but the host does not
know how large the later ones are, and launches some for nothing at the end."""

UNKNOWN = 2**62
"""Size of a frontier that the host has not read."""

SLOTS = RECORDS
"""Levels from one beginning of the records to the next."""


class LevelBfs(TreeArrays):
    """The state of a strategy on one placed graph, reused from source to source.

    Each search sets everything that it relies on, so that an interrupted one leaves nothing behind but nonsense in
    levels and parents.

    Parameters
    ----------
    placed
        The graph, its rows in device memory or mapped.
    strategy
        From the catalogue; its loop is ``"levels"``.

    Attributes
    ----------
    launches, reads
        Kernels launched and records read back by the last search, before the clock stopped.
    batches_last
        Whether a level ends with steps that may have to run for further windows of its edges.
    """

    def __init__(self, placed: PlacedGraph, strategy: Strategy) -> None:
        super().__init__(placed)
        runtime = self._runtime
        self.strategy = strategy
        self._out, incoming = placed.out, placed.incoming
        specs = [spec_of(array) for array in strategy.arrays]
        self._arrays = {spec.name: self.borrow(spec) for spec in specs if spec.name not in SPECS}
        kernels = kernels_of_strategy(strategy, THREADS)
        self._kernels = {spec.name: spec.build(runtime, placed.ids, placed.codec) for spec in kernels}
        self._begin, self._count = (spec.build(runtime, placed.ids, placed.codec) for spec in LEVEL_KERNELS)
        self._most = {name: runtime.max_blocks(kernel, THREADS) for name, kernel in self._kernels.items()}
        self._can_turn = bool(strategy.turn) and (incoming is not None or not strategy.bottom_up)
        self._state = struct(
            search_dtype(strategy),
            out=self._out.struct,
            capacity=self._length("queue"),
            edge_capacity=self._length("edges"),
            **{name: runtime.pointer(array) for name, array in self._arrays.items()},
        )
        self._state["in"] = (incoming or self._out).struct
        last = [step for step in strategy.steps if step.when != "overflow"][-1]
        self.batches_last = last.batched
        self.launches = self.reads = 0

    def _borrowed(self, name: str) -> Array:
        """Return ``"levels"`` or ``"parents"``, whatever they hold."""
        self.take(name)
        return self.array(name)

    def _length(self, name: str) -> int:
        """Return how many elements the array ``name`` has; 0 if there is none."""
        return len(self._arrays[name]) if name in self._arrays else 0

    def warm(self) -> None:
        """Run every kernel without work: the driver loads a kernel when it is first launched."""
        runtime = self._runtime
        runtime.fill(self._arrays["records"], 0)
        nothing = self._state.copy()
        for side in ("out", "in"):
            nothing[side]["n"] = 0
        nothing["slot"], nothing["level"] = 0, -2 % 2**64  # no vertex has this level
        for kernel in self._kernels.values():
            kernel(1, THREADS, (nothing,))
        records = self._arrays["records"]
        idle = struct(START, records=runtime.pointer(records), n=0)
        self._begin(1, THREADS, (idle,))
        rows = self._out.struct.copy()
        rows["n"] = 0
        self._count(1, THREADS, (rows, self._borrowed("levels"), np.uint64(0), self._arrays["histogram"]))
        runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool, want_levels: bool = True) -> Run:
        """Traverse from ``source``; levels and parents stay on the device.

        The clock runs from the reset of the state to the last record. The vertices of each level are counted
        afterwards: a queue may hold one twice.

        Raises
        ------
        DeviceError
            A kernel failed.
        """
        runtime = self._runtime
        kept = want_parents or self.strategy.claims == "parents"
        self._state["levels"] = runtime.pointer(self._borrowed("levels"))
        self._state["parents"] = runtime.pointer(self._borrowed("parents")) if kept else 0
        self.launches = self.reads = 0
        with runtime.timer() as timer:
            self._reset(source)
            walked = _Walk(self, max_depth)
            walked.go_through()
        frontiers, edges = self._count_levels(len(walked.levels))
        levels = len(frontiers) if max_depth is None else min(len(frontiers), max_depth)
        return Run(
            reached=sum(frontiers),
            depth=len(frontiers) - 1,
            edges=edges,
            seconds=timer.seconds,
            level_records=walked.records(frontiers[:levels]),
            invalid_ids=walked.invalid,
            slots=np.empty(0, SLOT),
            launches=self.launches,
            reads=self.reads,
        )

    def _reset(self, source: int) -> None:
        """Bring all that a search relies on into its first state."""
        runtime, state, arrays = self._runtime, self._state, self._arrays
        for name in self.strategy.clears:
            runtime.fill(arrays[name], 0)
        state["source"], state["slot"], state["level"], state["window"] = source, 0, 0, 0
        for name, array in arrays.items():
            state[name] = runtime.pointer(array)  # as before the swaps of the search before
        start = struct(
            START,
            **{name: state[name] for name in ("levels", "parents", "records")},
            queue=state["queue"] if "queue" in arrays else 0,
            bits=state["frontier"] if "frontier" in arrays else 0,
            record_words=len(arrays["records"]),
            n=self.n,
            source=source,
        )
        blocks = min(runtime.max_blocks(self._begin, THREADS), -(-max(self.n, 1) // THREADS))
        self._begin(blocks, THREADS, (start,))
        self.launches += 1

    def steps(self, size: int) -> tuple[list[Step], bool]:
        """Return the steps of a level whose frontier has ``size`` entries, and whether it goes bottom-up."""
        entry, resident = self.strategy, self._most[self.strategy.steps[0].kernel] * THREADS
        if int(self._state["level"]) == 0 or size > self._length("edges"):
            swept = [step for step in entry.steps if step.when == "swept"]
            if swept:
                return swept, False
        wide = self._can_turn and size > evaluate(entry.turn, {"n": self.n, "resident": resident}.__getitem__)
        chosen = ("always", "wide" if wide else "narrow")
        return [step for step in entry.steps if step.when in chosen], wide and entry.bottom_up

    def level(self, size: int) -> bool:
        """Launch a level whose frontier has ``size`` entries; return whether it goes bottom-up."""
        steps, bottom_up = self.steps(size)
        batched = [step for step in steps if step.batched]
        last = steps.index(batched[-1]) + 1 if batched else 0
        for step in steps[:last]:
            self.launch(step, size)
        if last < len(steps) and batched:
            self.other_windows(int(self.read_records(1)[0]["edges"]))
        for step in steps[last:]:
            self.launch(step, size)
        return bottom_up

    def other_windows(self, edges: int) -> bool:
        """Launch the batched steps once more for every window of the level's edges that the first has not held; return
        whether there were any."""
        held = self._length("edges")
        windows = range(held, edges, held) if held else ()
        for self._state["window"] in windows:
            for step in self.strategy.steps:
                if step.batched:
                    self.launch(step, UNKNOWN)
        self._state["window"] = 0
        return len(windows) > 0

    def rebuild(self) -> None:
        """Find the vertices of the next level once more, where its queue could not hold them."""
        words, slot = len(RECORD.names or ()), int(self._state["slot"]) + 1
        self._runtime.write(self._arrays["records"][slot * words : slot * words + 1], np.zeros(1, np.uint64))
        for step in self.strategy.steps:
            if step.when == "overflow":
                self.launch(step, UNKNOWN)

    def overflows(self, size: int) -> bool:
        """Return whether the next queue cannot hold the ``size`` vertices found."""
        return size > self._length("queue") and any(step.when == "overflow" for step in self.strategy.steps)

    def launch(self, step: Step, size: int) -> None:
        """Launch a step of a level whose frontier has ``size`` entries."""
        for name in step.clears:
            self._runtime.fill(self._now(name), 0)
        most = self._most[step.kernel]
        sizes = {"n": self.n, "words": -(-self.n // 32), "frontier": size, "resident": most * THREADS}
        threads = evaluate(step.covers, sizes.__getitem__)
        self._kernels[step.kernel](max(1, min(most, -(-threads // THREADS))), THREADS, (self._state,))
        self.launches += 1

    def _now(self, name: str) -> Array:
        """Return the array that kernels see as ``name``: swaps move names, not memory."""
        address = int(self._state[name])
        return next(array for array in self._arrays.values() if self._runtime.pointer(array) == address)

    def advance(self) -> None:
        """Go on to the next level: its record, and what was found is what will be expanded."""
        state = self._state
        for one, other in self.strategy.swaps:
            state[one], state[other] = int(state[other]), int(state[one])
        state["slot"] += 1
        state["level"] += 1

    def read_records(self, slots: int) -> np.ndarray:
        """Read the records of the last ``slots`` levels and of the one to come."""
        first, words = int(self._state["slot"]) + 1 - slots, len(RECORD.names or ())
        self.reads += 1
        return self._runtime.download(self._arrays["records"][first * words : (first + slots + 1) * words]).view(RECORD)

    def begin_records(self, record: np.ndarray) -> None:
        """Go on with the first record where the last but one is used up; ``record`` is that of the level to come."""
        if int(self._state["slot"]) < SLOTS:
            return
        again = np.zeros(RECORDS + 1, RECORD)
        again[0] = record
        self._runtime.write(self._arrays["records"], again.view(np.uint64))
        self._state["slot"] = 0

    def room(self) -> int:
        """Return for how many levels there are records."""
        return SLOTS - int(self._state["slot"])

    def _count_levels(self, launched: int) -> tuple[list[int], int]:
        """Return the vertices of each level, and the edges of all that are reached."""
        runtime, bins = self._runtime, self._arrays["histogram"]
        blocks = max(1, min(runtime.max_blocks(self._count, THREADS), -(-self.n // THREADS)))
        found, edges = [np.empty(0, np.uint64)], 0
        for first in range(0, launched + 1, BINS):
            runtime.fill(bins, 0)
            self._count(blocks, THREADS, (self._out.struct, self.array("levels"), np.uint64(first), bins))
            counted = runtime.download(bins)
            found.append(counted[:BINS])
            edges += int(counted[BINS])
        sizes = np.concatenate(found)
        return [int(size) for size in sizes[: int(np.flatnonzero(sizes).max(initial=-1)) + 1]], edges


class _Walk:
    """The levels of one search.

    Attributes
    ----------
    levels
        Of each level launched that had a frontier: whether it went bottom-up, seconds, edges, checked and enqueued. The
        time of levels that were launched together is shared out evenly; edges are not counted where rows may have been
        read twice, or not to their end.
    invalid
        Ids read that are no vertices.
    """

    def __init__(self, search: LevelBfs, max_depth: int | None) -> None:
        self._search = search
        self._limit = UNKNOWN if max_depth is None else max_depth
        self.levels: list[tuple[bool, float, int, int, int]] = []
        self.invalid = 0

    def records(self, frontiers: list[int]) -> LevelRecords:
        """Return the records of levels of so many vertices; the last may have had nothing to expand, and not have been
        launched."""
        nothing = (False, 0.0, 0, 0, 0)
        known = [*self.levels[: len(frontiers)], *[nothing] * (len(frontiers) - len(self.levels))]
        up, seconds, edges, checked, enqueued = zip(*known, strict=True) if known else ((),) * 5
        columns = {"direction": up, "seconds": seconds, "edges": edges, "checked": checked, "enqueued": enqueued}
        return LevelRecords([table_of(len(known), frontier=frontiers, **columns)])

    def go_through(self) -> None:
        """Go on from level to level until a frontier is empty."""
        search, size = self._search, 1
        blind = not (search.strategy.turn or search.strategy.racing)
        before = time.perf_counter()
        while size and len(self.levels) < self._limit:
            count = min(AHEAD if blind else 1, self._limit - len(self.levels), search.room())
            bottom_up = [search.level(size)]
            for _ in range(count - 1):
                search.advance()
                bottom_up.append(search.level(UNKNOWN))
            records = search.read_records(count)
            if search.batches_last and search.other_windows(int(records["edges"][-2])):
                records = search.read_records(count)
            if search.overflows(int(records["size"][-1])):
                search.rebuild()
                records = search.read_records(count)
            search.advance()
            search.begin_records(records[-1])
            now = time.perf_counter()
            self._note(records, bottom_up, (now - before) / count)
            before, size = now, int(records["size"][-1])

    def _note(self, records: np.ndarray, bottom_up: list[bool], seconds: float) -> None:
        """Write down the levels that had a frontier."""
        entry = self._search.strategy
        queues = any(array.name == "queue" for array in entry.arrays)
        for record, found, up in zip(records[:-1], records[1:], bottom_up, strict=True):
            if not record["size"]:
                break
            checked = int(record["checked"])
            edges = UNCOUNTED if up or entry.racing else checked
            enqueued = int(record["edges"]) + int(found["size"]) if queues else UNCOUNTED
            self.levels.append((up, seconds, edges, checked, enqueued))
            self.invalid += int(record["invalid"])
