"""Sweeps on a GPU: the single search, and one pass that renews bounds from its levels on the device.

What comes back to the host is a record of a few words, and the open vertices once they are few.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.program import GpuBfs
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.sweeps.options import (
    FAR,
    KEPT,
    LISTED,
    PLACES,
    VERTEX_BITS,
    WORDS,
    Hub,
    Listed,
    SweepOptions,
    Swept,
    beyond,
    require_short,
    told,
)
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, Launcher, kernels_of
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.errors import UsageError

SEARCH = BfsOptions(fetch=False)
"""The search, of which nothing is copied."""

ARRAYS = (
    ArraySpec("sweep_lower", "i32", "reachable", "lower bounds of eccentricities"),
    ArraySpec("sweep_upper", "i32", "reachable", "upper bounds of eccentricities"),
    ArraySpec("sweep_kept", "u16", f"{KEPT} * reachable", "distances from a few sources"),
    ArraySpec("sweep_listed", "u64", f"{LISTED}", "open vertices"),
    ArraySpec("sweep_found", "i32", f"{(2 + KEPT) * LISTED}", "their bounds and distances"),
    ArraySpec("sweep_record", "u64", f"{WORDS}", "what a pass counts"),
)

DEFINES = (
    ("SWEEP_KEPT", str(KEPT)),
    ("SWEEP_LISTED", str(LISTED)),
    ("SWEEP_FAR", str(FAR)),
    ("SWEEP_WORDS", str(WORDS)),
    ("VERTEX_BITS", str(VERTEX_BITS)),
    *((f"AT_{name.upper()}", str(place)) for name, place in PLACES.items()),
)
KERNELS = kernels_of(
    "algorithms/sweeps/gpu/sweeps.cu", ("sweep_hub", "sweep_renew", "sweep_gather", "sweep_climb"), defines=DEFINES
)


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return the kernels of sweeps, beside those of BFS."""
    return KERNELS


class GpuSweeps:
    """Sweeps of one placed graph, undirected.

    Parameters
    ----------
    placed
        The graph.
    options
        Any.
    """

    @staticmethod
    def arrays(options: SweepOptions, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state of a run."""
        return (*(spec for spec in GpuBfs.arrays(SEARCH, residency) if spec.where == "vram"), *ARRAYS)

    @staticmethod
    def kernels(options: SweepOptions, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run launches."""
        return (*GpuBfs.kernels(SEARCH, residency), *KERNELS)

    def __init__(self, placed: PlacedGraph, options: SweepOptions) -> None:
        self._placed, self._runtime = placed, placed.runtime
        self._search = GpuBfs(placed, SEARCH)
        self._launch = Launcher(placed.runtime, KERNELS, placed.ids, placed.codec)
        self._reachable = placed.pool.sizes.reachable
        self._longest = self._kept = 0

    def warm(self, options: SweepOptions) -> None:
        """Launch every kernel once, on nothing."""
        self._search.warm(SEARCH)
        a = self._borrowed()
        nothing, levels = np.uint64(0), a["sweep_lower"]
        self._launch("sweep_hub", 1, self._placed.out.struct, a["sweep_record"], nothing)
        self._renew(levels, nothing, 0, SweepOptions())
        lists = (levels, a["sweep_upper"], a["sweep_kept"], a["sweep_listed"], nothing, nothing, a["sweep_found"])
        self._launch("sweep_gather", 1, *lists)
        parents = self._runtime.zeros(1, self._placed.ids)
        self._launch("sweep_climb", 1, parents, nothing, nothing, a["sweep_record"])
        self._runtime.synchronize()

    def run(self, options: SweepOptions) -> Swept | Hub | tuple[np.ndarray, ...]:
        """Search, look for the hub, or say what is known; see ``SweepOptions``."""
        if options.source is None and options.keep is not None:
            return self._known(options.keep)
        if options.source is None:
            return self._hub()
        return self._sweep(options.source, options)

    def _borrowed(self) -> dict[str, Array]:
        """Return the arrays by name."""
        return {spec.name: self._placed.pool.lend(spec, self)[0] for spec in ARRAYS}

    def _hub(self) -> Hub:
        a = self._borrowed()
        self._runtime.fill(a["sweep_record"], 0)
        size = np.uint64(self._reachable)
        self._launch("sweep_hub", self._reachable, self._placed.out.struct, a["sweep_record"], size)
        record = self._runtime.download(a["sweep_record"])
        missing = int(record[PLACES["far"]]) & ((1 << VERTEX_BITS) - 1)
        hub = (1 << VERTEX_BITS) - 1 - missing if missing else 0
        return Hub(self._vertex(hub), int(record[PLACES["reached"]]))

    def _vertex(self, number: int) -> int:
        """Return the vertex of a number where vertices have numbers of their own; -1 is nobody's."""
        numbers = self._placed.numbers
        return number if numbers is None or number < 0 else int(numbers.vertices[number])

    def _sweep(self, source: int, options: SweepOptions) -> Swept:
        """Search from ``source`` and renew the bounds.

        Raises
        ------
        UsageError
            It has no number, for it has no edges.
        """
        numbers = self._placed.numbers
        if numbers is not None and numbers.number(source) is None:
            raise UsageError(f"vertex {source} has no edges, and others have numbers of their own: none is near it")
        found = self._search.search(BfsOptions(source, fetch=False, want_parents=options.halfway))
        self._placed.require_vertices(found.invalid_ids)
        require_short(found.depth)
        if options.anew:
            self._longest = self._kept = 0
        self._longest = max(self._longest, found.depth)
        self._kept |= 0 if options.keep is None else 1 << options.keep
        levels = self._search.loop.array("levels")
        self._renew(levels, np.uint64(self._reachable), found.depth, options)
        parts = told(self._runtime.download(self._borrowed()["sweep_record"]), self._kept)
        halfway = self._climb(parts.far, found.depth) if options.halfway else -1
        far, central = self._vertex(parts.far), self._vertex(parts.central)
        parts = parts._replace(far=far, central=central, next=tuple(map(self._vertex, parts.next)))
        return Swept(
            depth=found.depth,
            halfway=self._vertex(halfway),
            longest=self._longest,
            listed=self._listed(levels, parts.open),
            edges=found.edges,
            seconds=found.seconds,
            **parts._asdict(),
        )

    def _renew(self, levels: Array, size: np.uint64, depth: int, options: SweepOptions) -> None:
        """Launch the pass over the vertices."""
        a = self._borrowed()
        self._runtime.fill(a["sweep_record"], 0)
        arrays = (levels, *(a[f"sweep_{name}"] for name in ("lower", "upper", "kept", "listed", "record")))
        keep = KEPT if options.keep is None else options.keep
        numbers = (np.uint32(each) for each in (keep, self._kept, options.anew, options.central))
        ends = (np.int32(depth), np.int32(self._longest))
        self._launch("sweep_renew", int(size), self._placed.out.struct, *arrays, size, *ends, *numbers)

    def _climb(self, vertex: int, depth: int) -> int:
        """Return the vertex half as deep as ``vertex`` on its way to the source."""
        record = self._borrowed()["sweep_record"]
        steps = np.uint64(depth - depth // 2)
        self._launch("sweep_climb", 1, self._search.loop.array("parents"), np.uint64(vertex), steps, record)
        return int(self._runtime.download(record)[0])

    def _listed(self, levels: Array, count: int) -> Listed | None:
        """Return the ``count`` open vertices if they are few."""
        if count > LISTED:
            return None
        a = self._borrowed()
        ends = (np.uint64(count), np.uint64(self._reachable))
        state = (levels, a["sweep_upper"], a["sweep_kept"], a["sweep_listed"], *ends, a["sweep_found"])
        self._launch("sweep_gather", count, *state)
        ids = self._runtime.download(a["sweep_listed"])[:count].astype(np.int64)
        found = self._runtime.download(a["sweep_found"]).reshape(2 + KEPT, LISTED)[:, :count].astype(np.int64)
        order, numbers = np.argsort(ids), self._placed.numbers
        found, ids = found[:, order], ids[order]
        return Listed(ids if numbers is None else numbers.vertices[ids], found[0], found[1], found[2:])

    def _known(self, keep: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the bounds of all vertices, and distances from the source kept as number ``keep``."""
        a, n, most = self._borrowed(), self._placed.n, self._reachable
        lower, upper, kept = np.zeros(n, np.int32), np.full(n, -1, np.int32), np.full(n, FAR, np.uint16)
        lower[:most] = self._runtime.download(a["sweep_lower"])[:most]
        upper[:most] = self._runtime.download(a["sweep_upper"])[:most]
        kept[:most] = self._runtime.download(a["sweep_kept"])[keep * most : (keep + 1) * most]
        if (numbers := self._placed.numbers) is not None:
            lower, upper, kept = numbers.spread(lower, 0), numbers.spread(upper, -1), numbers.spread(kept, FAR)
        return lower, upper, beyond(kept)

    def verify(self, options: SweepOptions, result: Swept) -> None:
        """Do nothing: bounds are proved by single searches, in the room that asks for them."""
