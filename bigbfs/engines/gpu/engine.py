"""The GPU engine: a graph placed once, traversed many times."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TypeVar

from bigbfs.algorithms.bfs.gpu import loop as bfs
from bigbfs.algorithms.bfs.gpu.loop import Run
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.components.gpu.loop import Labelling
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.config import DeviceProfile
from bigbfs.engines.gpu.loops import Components, Traversal, kernel_names, make_loops, place
from bigbfs.engines.gpu.placement.damage import require_no_invalid_ids, require_sound
from bigbfs.engines.gpu.placement.hot import by_degree
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.placement.plan import Plan, default_budget, make_plan
from bigbfs.engines.gpu.results import components_of, tree_of
from bigbfs.engines.gpu.runtime.arguments import defines
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.errors import DeviceError, UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph
from bigbfs.record import BfsResult, BytesRecord, ComponentsResult, RunRecord, SetupRecord

T = TypeVar("T")


def cuda_runtime(limit: int | None) -> Runtime:
    """Return the runtime of the GPU, which may allocate ``limit`` bytes."""
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    return CudaRuntime(limit=limit)


class GpuEngine:
    """BFS and connected components of one graph on one GPU; internal vertices.

    Parameters
    ----------
    graph
        Plain or compressed. It must stay open as long as the engine.
    residency
        ``"vram"``: edges in device memory; ``"mapped"``: in host memory, read in place; ``"streamed"``: in
        the file, read in batches; ``"auto"``: the first of these that fits.
    vram_budget
        Bytes of device memory that the engine may take, a hard limit; None: what is free, less a reserve.
    ram_budget
        Bytes of host memory that may be page-locked; None: what the machine has, less a reserve.
    profile
        Rates of the device, for the choice of directions; None: those of an H200.
    strategy
        A name of the catalogue.
    head_groups
        Groups of heads of every vertex in device memory; None: as many as are useful and fit.
    hot_bytes
        Device memory for hot rows of mapped or streamed edges; None: what is left (see ``make_plan``).
    runtime
        What runs the kernels; None: the GPU. The engine closes it.
    prove
        Do what ``Graph.require_valid`` does, unless somebody has: the structure while the device starts, then the rows.

    Attributes
    ----------
    backend, device, residency, strategy
        ``"gpu"``, the device's name, where the edges are, the strategy's name.
    edges_kind
        How the edges are held: ``"device"``; streamed ``"file"`` or ``"memory"``; mapped as memory.py says.
    plan
        The byte ledger that the placement follows.
    setup, bytes
        Seconds and bytes that the placement took.

    Raises
    ------
    NoDeviceError
        There is no usable GPU.
    DoesNotFitError
        The graph does not fit.
    UsageError
        The strategy or the residency is unknown.
    """

    backend = "gpu"

    def __init__(
        self,
        graph: Graph,
        *,
        residency: str = "auto",
        vram_budget: int | None = None,
        ram_budget: int | None = None,
        profile: DeviceProfile | None = None,
        strategy: str = "auto",
        head_groups: int | None = None,
        hot_bytes: int | None = None,
        runtime: Runtime | None = None,
        prove: bool = True,
    ) -> None:
        self.graph = graph
        self.strategy = strategy
        self.setup = SetupRecord()
        self.bytes = BytesRecord()
        self._profile = profile
        self._prove = prove and not graph.proved
        self._runtime: Runtime | None = runtime
        self._placed: list[PlacedAdjacency] = []
        self._buffers: Buffers | None = None
        self._bfs: Traversal | None = None
        self._cc: Components | None = None
        try:
            if strategy not in STRATEGIES:
                raise UsageError(f"strategy {strategy!r} is unknown: choose one of {', '.join(STRATEGIES)}")
            with ThreadPoolExecutor(1) as pool:
                checks = [pool.submit(self._clocked, "open", graph.require_structure)] if self._prove else []
                runtime = self._runtime = runtime or self._clocked("start", lambda: cuda_runtime(vram_budget))
                self.device = runtime.name
                budget = default_budget(runtime.free_bytes()) if vram_budget is None else vram_budget
                asked = (residency, budget, head_groups, hot_bytes, ram_budget, runtime.registers_read_only)
                self.plan: Plan = make_plan(graph, *asked)
                self.residency = self.plan.residency
                if self._prove and self.residency == "streamed":  # the host looks at the rows meanwhile
                    checks.append(pool.submit(self._clocked, "open", graph.require_valid))
                self._clocked("compile", self._compile)
                for check in checks[:1]:
                    check.result()
                self._clocked("place", self._place)
                for check in checks:
                    check.result()
            if self._prove:
                require_sound(graph, all(placed.sound for placed in self._placed))
            self._clocked("compile", self._warm)
            self._count_bytes()
        except BaseException:
            self.close()
            raise

    def _clocked(self, name: str, step: Callable[[], T]) -> T:
        """Do a step of the setup and add the seconds that it takes to ``setup.name``."""
        start = time.perf_counter()
        result = step()
        setattr(self.setup, name, getattr(self.setup, name) + time.perf_counter() - start)
        return result

    def _compile(self) -> None:
        """Build every kernel that a run will ask for, so that placing does not wait for the compiler."""
        runtime, ids, codec = self._running(), self.graph.ids, self.graph.codec
        for file, name in kernel_names(STRATEGIES[self.strategy], self.residency, prove=self._prove):
            team = file == bfs.FILE
            wanted = defines(ids, codec, runtime.team) if team else defines(ids, codec)
            runtime.kernel(file, name, wanted, cooperative=name == bfs.KERNELS[0])

    def _place(self) -> None:
        runtime, graph, mapped = self._running(), self.graph, self.residency == "mapped"
        if self.residency == "streamed":
            self._buffers = Buffers(runtime, self.plan.stage_bytes)
        groups, ranked = self.plan.head_groups, by_degree(graph)
        twins = graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency
        hot = self.plan.hot_bytes // (2 if twins else 1)

        def placed(adjacency: Adjacency) -> PlacedAdjacency:
            options = {"head_groups": groups, "hot_bytes": hot, "ranked": ranked}
            return place(runtime, adjacency, self._buffers, mapped=mapped, prove=self._prove, **options)

        out = placed(graph.adjacency)
        self._placed.append(out)
        incoming: PlacedAdjacency | None = None
        if graph.in_adjacency is graph.adjacency:
            incoming = out
        elif graph.in_adjacency is not None:
            incoming = placed(graph.in_adjacency)
            self._placed.append(incoming)
        self.edges_kind = out.kind
        self._scratch = runtime.empty(graph.n, graph.ids)
        self._bfs, self._cc = make_loops(
            runtime, graph, out, incoming, STRATEGIES[self.strategy], self.residency, self._scratch, self._profile
        )
        runtime.synchronize()

    def _warm(self) -> None:
        for loop in (self._bfs, self._cc):
            assert loop is not None
            loop.warm()

    def _count_bytes(self) -> None:
        assert self._bfs is not None and self._cc is not None
        self.bytes.host = sum(placed.host_bytes for placed in self._placed)
        if self._buffers is not None:
            self.bytes.host += self._buffers.host_bytes
        self.bytes.device = sum(self.buffers().values())

    def buffers(self) -> dict[str, int]:
        """Return the bytes of every array in device memory by its name in the ledger."""
        assert self._bfs is not None and self._cc is not None
        found = {"queue": int(self._scratch.nbytes)} | self._bfs.buffers | self._cc.buffers
        if self._buffers is not None:
            found["stages"] = self._buffers.device_bytes
        for prefix, placed in zip(("", "in_"), self._placed, strict=False):
            found |= {prefix + name: count for name, count in placed.buffers.items()}
        return found

    def bfs(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> BfsResult:
        """Traverse from vertex ``source``.

        Parameters
        ----------
        source
            Internal vertex.
        max_depth
            Last level to reach; None: no limit.
        want_levels, want_parents
            False: that array of the result is all -1, and costs neither time nor memory.

        Raises
        ------
        UsageError
            ``source`` is no vertex or ``max_depth`` is negative.
        FormatError
            The graph file holds ids that are no vertices.
        DeviceError
            A kernel failed.
        """
        record = self.traverse(source, max_depth=max_depth, want_levels=want_levels, want_parents=want_parents)
        assert self._bfs is not None
        return tree_of(self._bfs, record, want_levels=want_levels, want_parents=want_parents)

    def traverse(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> RunRecord:
        """Do as ``bfs`` does, but leave levels and parents on the device: what was measured is all that comes back."""
        if not 0 <= source < self.graph.n:
            raise UsageError(f"source {source} is no vertex: the graph has {self.graph.n}")
        if max_depth is not None and max_depth < 0:
            raise UsageError(f"max_depth {max_depth} is negative")
        self._running()
        assert self._bfs is not None
        found = self._bfs.run(source, max_depth, want_parents, want_levels)
        self._count_bytes()
        self._check_ids(found.invalid_ids)
        return RunRecord(source, found.reached, found.depth, found.edges, found.seconds, levels=found.level_records)

    def connected_components(self, options: ComponentsOptions | None = None) -> ComponentsResult:
        """Label the (weakly) connected components: the smallest vertex of each.

        Parameters
        ----------
        options
            Algorithm and switches; None: Afforest.

        Raises
        ------
        FormatError
            The graph file holds ids that are no vertices.
        DeviceError
            A kernel failed.
        DoesNotFitError
            Label propagation needs more device memory than there is.
        """
        options = options or ComponentsOptions()
        found = self.run_components(options)
        assert self._cc is not None
        self._count_bytes()
        self._check_ids(found.invalid_ids)
        return components_of(self._cc, found, options)

    def run_bfs(self, source: int, *, want_parents: bool = True) -> Run:
        """Traverse, and leave levels and parents on the device (see ``tree_arrays``)."""
        self._running()
        assert self._bfs is not None
        return self._bfs.run(source, None, want_parents)

    def run_components(self, options: ComponentsOptions | None = None) -> Labelling:
        """Label the components, and leave the labels on the device (see ``label_array``); parents do not outlive it."""
        self._running()
        assert self._cc is not None
        return self._cc.run(options)

    def trace_components(self, options: ComponentsOptions | None = None) -> list[tuple[str, float]]:
        """Return (kernel, seconds) of every launch of a run, each waited for."""
        self._running()
        assert self._cc is not None
        return self._cc.trace(options)

    def tree_arrays(self) -> tuple[Array, Array]:
        """Return the device's levels and parents of the last BFS."""
        assert self._bfs is not None
        return self._bfs.device_arrays()

    def label_array(self) -> Array:
        """Return the device's labels of the last run."""
        return self._scratch

    def rows(self) -> PlacedAdjacency:
        """Return the placed rows."""
        return self._placed[0]

    def runtime(self) -> Runtime:
        """Return what runs the kernels."""
        return self._running()

    def _running(self) -> Runtime:
        if self._runtime is None:
            raise UsageError("this engine is closed")
        return self._runtime

    def _check_ids(self, invalid: int) -> None:
        require_no_invalid_ids(self.graph, invalid + sum(placed.invalid_ids for placed in self._placed))

    def close(self) -> None:
        """Release what the engine placed; a second call does nothing."""
        runtime, self._runtime = self._runtime, None
        if runtime is None:
            return
        try:
            # after an interrupt kernels may still be reading what is about to be taken away
            runtime.synchronize()
        except DeviceError:
            # a kernel's fault kills the context, and what it held goes with it; the fault itself is what to report
            with suppress(Exception):
                self._release(runtime)
        else:
            self._release(runtime)

    def _release(self, runtime: Runtime) -> None:
        self._bfs = None
        self._cc = None
        self._scratch = None
        placed, self._placed = self._placed, []
        with ExitStack() as closing:  # all of them, also where one fails
            closing.callback(runtime.close)
            if self._buffers is not None:
                closing.callback(self._buffers.close)
            for adjacency in placed:
                closing.callback(adjacency.close)

    def __enter__(self) -> GpuEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
