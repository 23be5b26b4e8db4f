"""Connected components on a device: exact Afforest, and two simple algorithms to compare it with.

In: placed rows. Out: labels id (n), the smallest vertex of each component. Afforest puts every vertex below its
strongest neighbour (the first head), links an eighth of the vertices to their second heads, and looks by sampling
whether that leaves one giant tree; if not, all are linked to the other heads of the first group. Only the vertices
outside the giant read all their edges. Where a step leaves such a tree, the steps after it return at once; nothing
waits for the host on the way. Source: Sutton, Ben-Nun, Barak (IPDPS'18). The others, and the switches:
:mod:`bigbfs.algorithms.components.options`.

Skipping the giant is exact when each edge is seen from both ends. Where a directed graph stores in-neighbours, the
rows of both directions are passed over; where it does not, nothing is skipped.

Trees are hung by chance, not by id (algorithms/components/gpu/forest.cuh), where heads by degree make the first
forest; then the forest needs an array beside the labels, and the smallest vertex of each tree is found at the end.
With vertices stored by descending degree, without heads, and in the simple algorithms the order is by id and the
labels are the forest.

By descending degree the first forest need not be made: the root of a vertex is some steps up the heads, in any order
of time (tops.cuh). A sample of such roots names the giant first; one pass stores the roots of all, and puts down who is
not in the giant; those link their rows. Where the sample names none, or a way up is long, the steps above find them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.algorithms.components.gpu import tops
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import BLOCK, COUNTS, HEAD_GROUP, WARP, no_vertex
from bigbfs.engines.gpu.runtime.kernels import Launcher, kernels_of
from bigbfs.engines.gpu.runtime.runtime import Array, Start

LABELS = ArraySpec("queue", "id", "n", "frontiers; labels of the components")
FOREST = ArraySpec("parents", "id", "n", "result; forest of the components")
ACTIVE = ArraySpec("frontier", "u32", "words", "bitmap: vertices whose labels are handed on (label propagation)")
FOLLOWING = ArraySpec("next", "u32", "words", "bitmap: vertices whose labels got smaller (label propagation)")
GIANT = ArraySpec("giant", "id", "1", "root of the giant component")
SETTLED = ArraySpec("settled", "u32", "1", "whether the steps that follow return at once", True)
NEVER = ArraySpec("never", "u32", "1", "zero", True)
TOTALS = ArraySpec("counts", "u64", f"{len(COUNTS.names or ())}", "counters of passes", True)
RESULT = ArraySpec("labels", "u8", "n * 8", "labels, copied for the caller", where="host")

KERNELS = kernels_of(
    "algorithms/components/gpu/cc_afforest.cu",
    ("cc_plant", "cc_round", "cc_compress", "cc_giant", "cc_link_rows", "cc_link_hubs", "cc_lowest", "cc_label"),
)
SIMPLE_KERNELS = kernels_of(
    "algorithms/components/gpu/cc_simple.cu", ("cc_hook_rows", "cc_hook_hubs", "cc_spread_rows", "cc_spread_hubs")
)

STEPS = ((1, 2, 0, 1), (1, HEAD_GROUP, 0, 8))
"""What is linked after the first forest: first head, last head + 1, first part, last part + 1, of 8 parts."""

STEPS_WITHOUT_HEADS = ((0, 1, 0, 8), (1, 2, 0, 8))


@dataclass(frozen=True, slots=True)
class Labelling:
    """What one run measured: see :class:`bigbfs.record.ComponentsRecord`; ``invalid_ids`` read are no vertices."""

    seconds: float
    invalid_ids: int
    edges_read: int = 0
    passes: int = 0
    left: int = 0


class ComponentsLoop:
    """Connected components of one placed graph.

    Parameters
    ----------
    placed
        The graph.

    Attributes
    ----------
    at_once
        Whether the last run took one pass over vertices.
    """

    ROWS_IN_PLACE = True
    """Whether kernels read rows wherever they ask for one."""

    def __init__(self, placed: PlacedGraph) -> None:
        self.n, self.ids = placed.n, placed.ids
        self._runtime, self._pool = placed.runtime, placed.pool
        self._out, incoming = placed.out, placed.incoming
        self._rows = [self._out] if incoming is None or incoming is self._out else [self._out, incoming]
        self._sees_both_ends = incoming is not None
        self._giant, self._settled, self._never, self._counts = (
            self.borrow(spec) for spec in (GIANT, SETTLED, NEVER, TOTALS)
        )
        self._labels = self._forest = self.borrow(LABELS)
        self._by_id = np.uint32(1)
        self._bitmaps: list[Array] = []
        self._passes = 0
        self.at_once = False
        self._trace: list[tuple[str, float]] | None = None
        self._tops: tuple[tuple[int, ...], list[tuple[str, Start]]] | None = None
        self._kernels = Launcher(placed.runtime, KERNELS, placed.ids, placed.codec)
        if self.ROWS_IN_PLACE:
            self._strays = self.borrow(tops.OUTSIDE)
            self._kernels.load(tops.KERNELS)

    def borrow(self, spec: ArraySpec) -> Array:
        """Return the array of ``spec``; what it holds is anybody's."""
        return self._pool.lend(spec, self)[0]

    def warm(self) -> None:
        """Run every kernel of Afforest on a graph of no vertices."""
        nothing = self._out.struct.copy()
        nothing["n"] = 0
        nothing["chunks"] = 0
        none, zero, one, settled = np.uint64(0), np.uint32(0), np.uint32(1), self._settled
        self._launch("cc_plant", 1, nothing, self._labels, self._labels, one, one)
        self._launch("cc_round", 1, nothing, self._labels, one, zero, one, zero, one, settled, self._counts)
        self._launch("cc_compress", 1, none, self._labels, settled)
        self._launch("cc_giant", 1, nothing, self._labels, self._giant, settled)
        self._launch("cc_link_rows", 1, nothing, self._labels, one, self._giant, self._counts)
        self._launch("cc_link_hubs", 1, nothing, self._labels, one, self._giant, self._counts)
        self._launch("cc_lowest", 1, none, self._labels, self._labels)
        self._launch("cc_label", 1, none, self._labels, self._labels)
        if self.ROWS_IN_PLACE:
            for name, start in self._tops_of(nothing, self._labels):
                self._start(name, start)
        self._runtime.synchronize()

    def run(self, options: ComponentsOptions | None = None) -> Labelling:
        """Label the components; the clock runs from the first label to the last. The labels stay on the device.

        Raises
        ------
        DeviceError
            A kernel failed.
        DoesNotFitError
            Label propagation needs n / 4 bytes of device memory more than there are.
        """
        options = options or ComponentsOptions()
        if self.n == 0:
            return Labelling(0.0, 0)
        self._prepare(options)
        run = {"afforest": self._afforest, "sv": self._hook_until_done, "labelprop": self._propagate}[options.algorithm]
        with self._runtime.timer() as timer:
            left = 0
            if not self._in_one_pass(options):
                self._runtime.fill(self._settled, 0)
                run(options)
                left = self._finish_what_is_left(options) if options.single_pass else 0
                self._label()
        counts = self._read_counts()
        return Labelling(timer.seconds, int(counts["invalid"]), int(counts["read"]), self._passes, left)

    def trace(self, options: ComponentsOptions | None = None) -> list[tuple[str, float]]:
        """Run, and return (kernel, seconds) of every launch, each waited for: their sum is more than a run takes."""
        launches: list[tuple[str, float]] = []
        self._trace = launches
        try:
            self.run(options)
        finally:
            self._trace = None
        return launches

    def _prepare(self, options: ComponentsOptions) -> None:
        """Load what the algorithm needs, choose the order of the forest, and forget the last run."""
        if options.algorithm != "afforest" or options.single_pass:
            self._kernels.load(SIMPLE_KERNELS)
        if options.algorithm == "labelprop":
            self._bitmaps = [self.borrow(spec) for spec in (ACTIVE, FOLLOWING)]
        by_chance = options.algorithm == "afforest" and not self._out.ranked and self._heads > 0
        self._by_id = np.uint32(not by_chance)
        self._labels = self.borrow(LABELS)
        self._forest = self.borrow(FOREST) if by_chance else self._labels
        self._passes, self.at_once = 0, False
        self._runtime.fill(self._counts, 0)

    @property
    def _heads(self) -> int:
        return int(self._out.struct["head_groups"]) * HEAD_GROUP

    def _in_one_pass(self, options: ComponentsOptions) -> bool:
        """Find the labels by one pass over vertices; return whether that could be."""
        asked = options.algorithm == "afforest" and options.rounds is None and options.skips_giant
        both_ends = self._sees_both_ends and len(self._rows) == 1
        by_degree = bool(self._out.ranked and self._heads)
        if not (self.ROWS_IN_PLACE and asked and both_ends and by_degree) or options.single_pass:
            return False
        self._runtime.fill(self._strays, 0)
        self._by_tops(self.borrow(FOREST))
        self.at_once = not self._runtime.download(self._strays).view(tops.STRAYS)[0]["lost"]
        self._passes = int(self.at_once)
        return self.at_once

    def _by_tops(self, listed: Array) -> None:
        """Launch that pass, whose strays are ``listed``; arguments are laid out by the first run with these arrays."""
        arrays = (self._runtime.pointer(self._labels), self._runtime.pointer(listed))
        if self._tops is None or self._tops[0] != arrays:
            self._tops = arrays, self._tops_of(self._out.struct, listed)
        for name, start in self._tops[1]:
            self._start(name, start)

    def _tops_of(self, rows: np.ndarray, listed: Array) -> list[tuple[str, Start]]:
        """Return the launches of that pass over ``rows``, with their names."""
        n, forest, giant, strays = int(rows["n"]), self._labels, self._giant, self._strays
        asked: list[tuple[Any, ...]] = [
            ("tops_giant", 1, rows, strays, giant, self._settled),
            ("tops_plant", n // 4, rows, giant, self._settled, forest, listed, strays),
            ("tops_rows", n, rows, forest, giant, listed, strays, self._counts),
        ]
        if self._out.chunks:
            asked.append(("tops_hubs", int(rows["chunks"]) * WARP, rows, forest, giant, strays, self._counts))
        asked.append(("tops_finish", n, np.uint64(n), giant, forest, listed, strays))
        return [(name, self._kernels.ready(name, *how)) for name, *how in asked]

    def _afforest(self, options: ComponentsOptions) -> None:
        if options.rounds is None:
            self._plant(tie=True)
            self._compress_and_sample()
            for step in STEPS if self._heads else STEPS_WITHOUT_HEADS:
                self._round(*step)
        else:
            self._plant(tie=options.rounds > 0)
            self._compress_and_sample()
            first = 1 if self._heads else 0
            if options.rounds > first:
                self._runtime.fill(self._settled, 0)  # so many were asked for
                self._round(first, min(options.rounds, self._heads or options.rounds), 0, 8)
        self._pass("cc_hook" if options.single_pass else "cc_link", skip=options.skips_giant)

    def _hook_until_done(self, options: ComponentsOptions) -> None:
        """Shiloach and Vishkin's passes; the giant is found after each."""
        self._plant(tie=False)
        while True:
            before = int(self._read_counts()["open"])
            self._pass("cc_hook", skip=options.skips_giant and self._passes > 0)
            self._runtime.fill(self._settled, 0)  # the next pass may hang roots again
            self._compress_and_sample()
            if options.single_pass or int(self._read_counts()["open"]) == before:
                return

    def _propagate(self, options: ComponentsOptions) -> None:
        """Passes of label propagation."""
        self._plant(tie=False)
        runtime, (active, following) = self._runtime, self._bitmaps
        runtime.fill(active, 2**32 - 1)
        runtime.fill(following, 0)
        while True:
            before = int(self._read_counts()["merged"])
            for rows in self._rows:
                self._walk("cc_spread", rows, self._forest, active, following)
            self._passes += 1
            if options.single_pass or int(self._read_counts()["merged"]) == before:
                return
            if self._sees_both_ends:  # else an active vertex may be one that no row leads from
                active, following = following, active
            runtime.fill(following, 0)

    def _finish_what_is_left(self, options: ComponentsOptions) -> int:
        """Link exactly over the rows; return the merges of trees that this took."""
        self._runtime.fill(self._settled, 0)
        self._compress_and_sample()
        before = int(self._read_counts()["merged"])
        self._pass("cc_link", skip=options.skip_giant is not False)
        return int(self._read_counts()["merged"]) - before

    def _plant(self, *, tie: bool) -> None:
        """Make the first forest."""
        out = self._out.struct
        self._launch("cc_plant", self.n, out, self._forest, self._labels, np.uint32(tie), self._by_id)

    def _round(self, first: int, last: int, begin: int, end: int) -> None:
        """Link the vertices of the parts ``begin`` to ``end`` - 1 of 8 to neighbours ``first`` to ``last`` - 1."""
        numbers = (np.uint32(number) for number in (first, last, begin, end))
        threads = self.n * (end - begin) // 8 + BLOCK
        out = self._out.struct
        self._launch("cc_round", threads, out, self._forest, self._by_id, *numbers, self._settled, self._counts)
        self._compress_and_sample()

    def _compress_and_sample(self) -> None:
        """Point every vertex at its root and look for the giant, unless that is settled."""
        self._launch("cc_compress", self.n, np.uint64(self.n), self._forest, self._settled)
        if self._sees_both_ends:
            self._launch("cc_giant", 1, self._out.struct, self._forest, self._giant, self._settled)

    def _pass(self, kernels: str, *, skip: bool) -> None:
        """Link over all rows, or with ``skip`` over those of vertices outside the giant."""
        if not (skip and self._sees_both_ends):
            self._runtime.fill(self._giant, no_vertex(self.ids))
        for rows in self._rows:
            self._walk(kernels, rows, self._forest, self._by_id, self._giant)
        self._passes += 1

    def _walk(self, kernels: str, rows: PlacedAdjacency, *arguments: Array) -> None:
        """Launch the kernels of one pass over ``rows``."""
        self._launch(f"{kernels}_rows", self.n, rows.struct, *arguments, self._counts)
        if rows.chunks:
            self._launch(f"{kernels}_hubs", rows.chunks * WARP, rows.struct, *arguments, self._counts)

    def _label(self) -> None:
        """Turn the forest into labels."""
        size = np.uint64(self.n)
        if self._by_id:
            self._launch("cc_compress", self.n, size, self._forest, self._never)
            return
        self._launch("cc_lowest", self.n, size, self._forest, self._labels)
        self._launch("cc_label", self.n, size, self._forest, self._labels)

    def _read_counts(self) -> np.void:
        counts: np.void = self._runtime.download(self._counts).view(COUNTS)[0]
        return counts

    def labels(self) -> np.ndarray:
        """Copy the labels of the last run to host memory: id, shape (n,)."""
        return self._runtime.download(self._labels)

    def label_array(self) -> Array:
        """Return the device's labels of the last run."""
        return self._labels

    def count_components(self) -> int:
        """Return how many components there are by another way: n less the merges of an exact forest over all edges."""
        self._by_id = np.uint32(1)
        self._forest = self.borrow(FOREST)
        self._runtime.fill(self._counts, 0)
        self._plant(tie=False)
        self._pass("cc_link", skip=False)
        return self.n - int(self._read_counts()["merged"])

    def _launch(self, name: str, threads: int, *arguments: Array) -> None:
        self._start(name, self._kernels.ready(name, threads, *arguments))

    def _start(self, name: str, start: Start) -> None:
        if self._trace is None:
            start()
            return
        with self._runtime.timer() as timer:
            start()
        self._trace.append((name, timer.seconds))
