"""The GPU engine: a graph placed once, worked on many times."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from bigbfs.config import DeviceProfile
from bigbfs.engines.engine import Program, Work
from bigbfs.engines.gpu.loading import place, placement_kernels
from bigbfs.engines.gpu.numbering import may_number, plan_and_numbers
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import Pool
from bigbfs.engines.gpu.placement.damage import require_sound
from bigbfs.engines.gpu.placement.hot import by_degree, first_is_best, first_rows
from bigbfs.engines.gpu.placement.ledger import sizes_of
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.placement.renumbered import Renumbered, renumbers
from bigbfs.engines.gpu.planning import RESIDENCIES, default_budget, make_plan
from bigbfs.engines.gpu.runtime.arguments import renumbered
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.errors import DeviceError, UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit.processors import processors
from bigbfs.record import BytesRecord, SetupRecord

T = TypeVar("T")


def cuda_runtime(limit: int | None) -> Runtime:
    """Return the runtime of the GPU, which may allocate ``limit`` bytes."""
    return cuda_runtime_at(0, limit)


def cuda_runtime_at(index: int, limit: int | None) -> Runtime:
    """Return the runtime of the GPU that CUDA calls ``index``, which may allocate ``limit`` bytes."""
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    return CudaRuntime(index, limit)


class GpuEngine:
    """One graph on one GPU; internal vertices.

    Parameters
    ----------
    graph
        Plain or compressed. It must stay open as long as the engine.
    work
        What is going to be run: the plan has room for it, and its kernels are loaded before the first run. Other work
        may be run too, in what memory is left.
    residency
        ``"vram"``: edges in device memory; ``"mapped"``: in host memory, read in place; ``"streamed"``: in
        the file, read in batches; ``"auto"``: the first of these that fits.
    vram_budget
        Bytes of device memory that the engine may take, a hard limit; None: what is free, less a reserve.
    ram_budget
        Bytes of host memory that may be page-locked; None: what the machine has, less a reserve.
    profile
        Rates of the device, for the choice of directions; None: those of an H200.
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
    backend, device, residency
        ``"gpu"``, the device's name, where the edges are.
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
        The residency is unknown, or the work cannot run there.
    """

    backend = "gpu"

    def __init__(
        self,
        graph: Graph,
        *,
        work: Sequence[Work] = (),
        residency: str = "auto",
        vram_budget: int | None = None,
        ram_budget: int | None = None,
        profile: DeviceProfile | None = None,
        head_groups: int | None = None,
        hot_bytes: int | None = None,
        runtime: Runtime | None = None,
        prove: bool = True,
    ) -> None:
        self.graph = graph
        self.setup = SetupRecord()
        self.bytes = BytesRecord()
        self._work = tuple(work)
        self._profile = profile
        self._prove = prove and not graph.proved
        self._runtime: Runtime | None = runtime
        self._placed: list[PlacedAdjacency] = []
        self._buffers: Buffers | None = None
        self._graph: PlacedGraph | None = None
        self._numbers: Renumbered | None = None
        self._programs: dict[Hashable, Program] = {}
        try:
            if residency not in RESIDENCIES:
                raise UsageError(
                    f"is unknown: choose one of {', '.join(RESIDENCIES)}", about=(("residency", residency),)
                )
            for each in self._work:
                each.require_backend("gpu", residency)
            with ThreadPoolExecutor(1) as pool:
                checks = [pool.submit(self._clocked, "open", graph.require_structure)] if self._prove else []
                runtime = self._runtime = runtime or self._clocked("start", lambda: cuda_runtime(vram_budget))
                self.device = runtime.name
                budget = default_budget(runtime.free_bytes()) if vram_budget is None else vram_budget
                self._limits = (residency, budget, head_groups, hot_bytes, ram_budget, runtime.registers_read_only)
                planned = partial(plan_and_numbers, graph, self._limits, self._work)
                self.plan, self._numbers = self._clocked("place", planned)
                self.residency, self._work = self.plan.residency, self.plan.work
                self._numbered = may_number(self._work, self.residency) and renumbers(graph)
                if self._prove and self.residency == "streamed":  # the host looks at the rows meanwhile
                    checks.append(pool.submit(self._clocked, "open", graph.require_valid))
                self._clocked("place", self._begin)
                self._clocked("compile", self._compile)
                for check in checks[:1]:
                    check.result()
                self._clocked("place", self._place)
                for check in checks:
                    check.result()
            if self._prove:
                require_sound(graph, all(placed.sound for placed in self._placed))
            for each in self._work:
                self.program(each)
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
        """Build every kernel that placing and the work will ask for, so that placing does not wait for the compiler."""
        wanted = [spec for each in self._work for spec in each.kernels(self.residency)]
        placing = placement_kernels(self.residency, prove=self._prove, numbered=self._numbered)
        mapped = self._numbered and self.residency == "mapped"
        codec = renumbered(self.graph.codec) if mapped else self.graph.codec
        for spec in dict.fromkeys((*placing, *wanted)):
            spec.build(self._running(), self.graph.ids, codec)

    def _begin(self) -> None:
        """Let offsets and edges come to device memory while kernels are built and small arrays placed.

        Page-locking mapped edges meanwhile takes longer in all: building a kernel waits for the driver's lock.
        """
        if self.residency == "streamed":
            return
        runtime, mapped = self._running(), self.residency == "mapped"
        if self._numbered:
            if not mapped:  # they come while offsets are made
                runtime.begin_upload(self.graph.adjacency.edges)
            self._numbers = self._numbers or Renumbered(self.graph, processors())
        graph, ranked = self._numbers.graph if self._numbers else self.graph, by_degree(self.graph)
        for adjacency in _distinct(graph):
            edges = adjacency.edges
            if mapped:
                edges = first_rows(adjacency, self._hot_bytes) if first_is_best(adjacency, ranked) else edges[:0]
            runtime.begin_upload(adjacency.indptr, edges)

    @property
    def _hot_bytes(self) -> int:
        """Device memory for hot rows of an adjacency."""
        return self.plan.hot_bytes // len(_distinct(self.graph))

    def _place(self) -> None:
        runtime, mapped = self._running(), self.residency == "mapped"
        graph = self._numbers.graph if self._numbers else self.graph
        if self.residency == "streamed":
            self._buffers = Buffers(runtime, self.plan.stage_bytes)
        groups, ranked, hot = self.plan.head_groups, by_degree(graph), self._hot_bytes

        def placed(adjacency: Adjacency) -> PlacedAdjacency:
            options: dict[str, Any] = {"head_groups": groups, "hot_bytes": hot, "ranked": ranked}
            if self._numbers:
                options["numbers"] = self._numbers
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
        chunks = max(each.chunks for each in self._placed)
        sizes = sizes_of(graph, chunks, mapped)
        pool = Pool(runtime, sizes, graph.ids)
        where = (self.residency, pool, self._profile, self._numbers)
        self._graph = PlacedGraph(runtime, graph, out, incoming, *where)
        runtime.synchronize()

    def run(self, work: Work) -> Any:
        """Run ``work`` and return its result.

        Raises
        ------
        UsageError
            The work has a value that the graph does not allow, cannot run here, or the engine is closed.
        FormatError
            The graph file holds ids that are no vertices.
        DeviceError
            A kernel failed.
        DoesNotFitError
            The work takes more device memory than there is.
        """
        result = self.program(work).run(work)
        self._count_bytes()
        return result

    def program(self, work: Work) -> Any:
        """Return the program that runs ``work``; where it is new, it is made and warmed, on the clock of the setup."""
        self._running()
        program = self._programs.get(work.key)
        if program is None:
            work.require_backend("gpu", self.residency)
            if self._graph is None or (self._numbers and not may_number((work,), self.residency)):
                self._place_as_it_is(work)
            made: Program = self._clocked("place", lambda: work.program("gpu", self.residency)(self.placed, work))
            self._clocked("compile", lambda: made.warm(work))
            program = self._programs[work.key] = made
            self._count_bytes()
        return program

    def _place_as_it_is(self, work: Work) -> None:
        """Place the graph anew, for ``work`` that wants the vertices of the file; also where that was cut short."""
        runtime = self._running()
        if self.plan.numbered:  # all vertices take more
            self.plan = make_plan(self.graph, *self._limits, work=(work,))
            self.residency = self.plan.residency
            work.require_backend("gpu", self.residency)
        runtime.synchronize()
        self._drop()
        self._numbers, self._numbered = None, False
        self._clocked("place", self._place)

    def _count_bytes(self) -> None:
        self.bytes.host = sum(placed.host_bytes for placed in self._placed)
        if self._buffers is not None:
            self.bytes.host += self._buffers.host_bytes
        self.bytes.device = sum(self.buffers().values())

    def buffers(self) -> dict[str, int]:
        """Return the bytes of every array in device memory by its name in the ledger."""
        found = dict(self.placed.pool.buffers)
        if self._buffers is not None:
            found["stages"] = self._buffers.device_bytes
        for prefix, placed in zip(("", "in_"), self._placed, strict=False):
            found |= {prefix + name: count for name, count in placed.buffers.items()}
        return found

    @property
    def placed(self) -> PlacedGraph:
        """The graph as it lies there."""
        self._running()
        assert self._graph is not None
        return self._graph

    def _running(self) -> Runtime:
        if self._runtime is None:
            raise UsageError("this engine is closed")
        return self._runtime

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
        with ExitStack() as closing:  # all of them, also where one fails
            closing.callback(runtime.close)
            if self._buffers is not None:
                closing.callback(self._buffers.close)
            self._drop()

    def _drop(self) -> None:
        """Give up what is placed, and every program."""
        self._programs.clear()
        graph, self._graph = self._graph, None
        placed, self._placed = self._placed, []
        with ExitStack() as closing:
            for adjacency in placed:
                closing.callback(adjacency.close)
            if graph is not None:
                closing.callback(graph.pool.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _distinct(graph: Graph) -> list[Adjacency]:
    """Return the rows, and the in-rows where they are others."""
    incoming = graph.in_adjacency
    return [graph.adjacency] if incoming is None or incoming is graph.adjacency else [graph.adjacency, incoming]
