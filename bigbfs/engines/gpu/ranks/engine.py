"""The GPU engine of one rank of several: own rows on this rank's GPU, beside the other GPUs of one machine or more.

Every rank makes the same engine and runs the same work in the same order. The GPU is chosen by the rank's number on its
machine. Leaving it in order is a call that all ranks make together; after an error nothing is given back: the processes
end, and what they had goes with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from bigbfs.config import DeviceProfile
from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.arrays import Pool, Sizes
from bigbfs.engines.gpu.placement.damage import require_sound
from bigbfs.engines.gpu.placement.hot import by_degree
from bigbfs.engines.gpu.planning import Limits, Plan, default_budget, default_ram_budget
from bigbfs.engines.gpu.ranks import loading
from bigbfs.engines.gpu.ranks import transport as transports
from bigbfs.engines.gpu.ranks.agree import Ranks, Wanted, agree
from bigbfs.engines.gpu.ranks.building import Building
from bigbfs.engines.gpu.ranks.devices import meet_others, own_gpu
from bigbfs.engines.gpu.ranks.early import EarlyMemory
from bigbfs.engines.gpu.ranks.own import OwnAdjacency
from bigbfs.engines.gpu.ranks.placed_graph import RankPlacedGraph
from bigbfs.engines.gpu.ranks.plan import STREAMED
from bigbfs.engines.gpu.ranks.shares import Share, is_dealt
from bigbfs.engines.gpu.ranks.streamed import OwnStreamed
from bigbfs.engines.gpu.ranks.telling import Tell, silent, step, timed
from bigbfs.engines.gpu.runtime import stretches
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.engines.ranks.same_file import require_one_file
from bigbfs.errors import UsageError
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph
from bigbfs.record import BytesRecord, SetupRecord
from bigbfs.sizes import format_size

T = TypeVar("T")

__all__ = ["GpuRankEngine", "RankPlacedGraph", "silent"]


class GpuRankEngine:
    """One graph on the GPUs of several ranks; internal vertices.

    Parameters
    ----------
    graph
        Plain or compressed, the same on every rank. It must stay open as long as the engine.
    group, partition
        The ranks, and who owns what.
    work
        What is going to be run; other work is refused.
    residency
        ``"vram"``, ``"mapped"``, ``"streamed"``, or ``"auto"``: the first for which all ranks have room. Rows that are
        streamed are owned in ranges, and hosts run the levels.
    vram_budget, ram_budget, profile
        As for :class:`bigbfs.engines.gpu.engine.GpuEngine`, of each rank.
    patience, transport, exchange
        As of :class:`RankPlacedGraph`; ``transport`` may be ``"auto"``: peers on one machine, NCCL between several
        where all ranks have it, else MPI.
    whole
        Whether each rank takes all rows to device memory.
    runtime
        What runs the kernels; None: the GPU with this rank's number on its machine.
    meanwhile
        What a thread does while that GPU starts, if there is nothing to be loaded.
    tell
        Is told each step.

    Attributes
    ----------
    backend, device, residency, edges_kind, plan, setup, bytes
        As of :class:`bigbfs.engines.gpu.engine.GpuEngine`, of this rank.

    Raises
    ------
    NoDeviceError, DoesNotFitError, FormatError
        As of :class:`bigbfs.engines.gpu.engine.GpuEngine`.
    UsageError
        There are fewer GPUs than ranks, the work has no form over GPUs, ranks have opened different files, or cannot
        use the transport.
    DeviceError
        A GPU cannot reach the memory of another.
    """

    backend = "gpu"

    def __init__(
        self,
        graph: Graph,
        *,
        group: Group,
        partition: Partition,
        work: Sequence[Work] = (),
        residency: str = "auto",
        vram_budget: int | None = None,
        ram_budget: int | None = None,
        profile: DeviceProfile | None = None,
        patience: float = 60.0,
        transport: str = "auto",
        exchange: str = "auto",
        whole: bool = False,
        runtime: Runtime | None = None,
        meanwhile: Callable[[], object] | None = None,
        tell: Tell = silent,
    ) -> None:
        self.graph, self.group, self._tell = graph, group, (tell := timed(tell))
        self.setup, self.bytes = SetupRecord(), BytesRecord()
        self._placed: list[OwnAdjacency | OwnStreamed] = []
        self._shares: list[Share] = []
        self._buffers: Buffers | None = None
        self._programs: dict[Hashable, Any] = {}
        self._cold: dict[Hashable, Any] = {}  # not warmed
        self._early: EarlyMemory | None = None
        self._graph: RankPlacedGraph | None = None
        self._work = tuple(work)
        self._asked, self._whole, self._partition = (transport, exchange), whole, partition
        self._form = transports.form_of(transport, exchange, group, residency)
        for each in self._work:
            transports.require_form(each, self._form)
        require_one_file(graph, group)
        prove = not graph.proved
        if prove:
            self._clocked("open", graph.require_structure)
        own_start = partial(self._start, residency, vram_budget, meanwhile)
        self._runtime: Runtime | None = runtime or self._clocked("start", own_start)
        budget = default_budget(self._running().free_bytes()) if vram_budget is None else vram_budget
        limits = Limits(budget, default_ram_budget(graph) if ram_budget is None else ram_budget)
        self.plan = self._agreed(residency, limits)
        self.residency = self.plan.residency
        self.device = meet_others(group, self._running(), self.transport, tell)
        tell(
            f"{self.residency}, {self.plan.head_groups} groups of heads, {format_size(self.plan.device_bytes)} of "
            f"{format_size(limits.vram)} GPU memory"
        )
        given: dict[str, Any] = {"profile": profile, "patience": patience, "exchange": exchange, "tell": tell}
        self._lay(prove, given | {"transport": self.transport})
        tell(f"{format_size(sum(each.device_bytes for each in self._placed))} placed in {self.setup.place:.2f} s")
        if prove:
            require_sound(graph, all(group.objects(all(each.sound for each in self._placed))))
        for each in self._work:
            self.program(each)

    def _lay(self, prove: bool, given: dict[str, Any]) -> None:
        """Place the graph, and build every kernel meanwhile."""
        programs = [each.program(self._form, self.residency) for each in self._work]
        self._step("place", "copies begin", lambda: self._begin(programs))
        self._step("compile", "kernels of placing are built", lambda: self._compile(prove))
        wanted = loading.program_kernels(programs, self.plan)
        with Building(self._running(), wanted, self.graph.ids, self.graph.codec, self._tell) as built:
            if self.residency != "vram":  # page-locking holds the driver's lock, for which building would wait
                self._clocked("compile", built.wait)
            self._step("place", "tables are placed", lambda: self._place(prove, given))
            self._clocked("compile", built.wait)
            self._clocked("place", self._finish)

    def _clocked(self, name: str, step: Callable[[], T]) -> T:
        """Do a step of the setup and add the seconds that it takes to ``setup.name``."""
        start = time.perf_counter()
        result = step()
        setattr(self.setup, name, getattr(self.setup, name) + time.perf_counter() - start)
        return result

    def _step(self, name: str, text: str, do: Callable[[], T]) -> T:
        """Do so, and tell when it began and ended."""
        with step(self._tell, text):
            return self._clocked(name, do)

    def _start(self, residency: str, vram_budget: int | None, meanwhile: Callable[[], object] | None) -> Runtime:
        """Start the GPU, and do ``meanwhile``, or load what will gather own rows from among others'."""
        gathers = not self._whole and residency in ("auto", "vram") and is_dealt(self.graph.adjacency, self._partition)
        return own_gpu(self.group, vram_budget, self._form, stretches.prepare if gathers else meanwhile)

    def _begin(self, programs: list[Any]) -> None:
        """Let offsets and own edges come to device memory, and others open what this rank shares with them, while
        kernels are built and small arrays placed."""
        if self.residency == STREAMED:
            return
        where = (self._running(), self.group, self.graph, self._partition)
        if self._form == "peers":
            self._early = loading.early_memory(*where, programs, self.plan, self._tell)
        self._shares = loading.begin_shares(*where, self.plan, self._early)
        if self._early is not None:
            self._early.begin()

    def _finish(self) -> None:
        """Make what goes by addresses alone while own edges come; then wait for them."""
        if self._early is not None:
            for each in self._work:
                self._make(each)
        for placed in self._placed:
            if isinstance(placed, OwnAdjacency):
                placed.finish()
        if self._early is not None:
            self._early.clear()
            self._early.leave()
        self._running().synchronize()

    def _agreed(self, residency: str, limits: Limits) -> Plan:
        """Return the plan of the first way for which all ranks have room, in the file at last."""
        group, runtime, (transport, exchange) = self.group, self._running(), self._asked
        ranks = Ranks(
            group.hosts,
            (group.rank,),
            lambda mine: group.objects(mine[0]),
            lambda form: transports.choose(transport, group, runtime, form),
        )
        wanted = Wanted(self._work, residency, transport, exchange, self._whole)
        found = agree(self.graph, self._partition, ranks, wanted, self._form, limits, runtime.registers_read_only)
        self._partition, self._form, self.transport = found.partition, found.form, found.transport
        return found.plans[0]

    def _compile(self, prove: bool) -> None:
        """Build every kernel that placing asks for."""
        for spec in loading.placing_kernels(self.residency, prove=prove):
            spec.build(self._running(), self.graph.ids, self.graph.codec)

    def _place(self, prove: bool, given: dict[str, Any]) -> None:
        runtime, graph, partition = self._running(), self.graph, self._partition
        if self.residency == STREAMED:
            self._buffers = Buffers(runtime, self.plan.stage_bytes)
        ranked = by_degree(graph)
        twins = graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency

        def how(prefix: str) -> dict[str, Any]:
            return {"prefix": prefix, "ranked": ranked, "prove": prove, "twins": twins}

        def placed(adjacency: Adjacency, prefix: str = "") -> OwnAdjacency | OwnStreamed:
            share = self._shares[len(self._placed)] if self._shares else None
            own = (adjacency, partition, self.group.rank, self.plan, self._buffers, share)
            self._placed.append(loading.place_own(runtime, *own, **how(prefix), tell=self._tell))
            return self._placed[-1]

        out = placed(graph.adjacency)
        incoming: OwnAdjacency | OwnStreamed | None = None
        if graph.in_adjacency is graph.adjacency:
            incoming = out
        elif graph.in_adjacency is not None:
            incoming = placed(graph.in_adjacency, "in_")
        self.edges_kind = out.kind
        chunks = max(each.chunks for each in self._placed)
        sizes = Sizes(graph.n, graph.m, chunks, graph.ids.itemsize, graph.n)
        self._graph = RankPlacedGraph(
            runtime,
            graph,
            out,
            incoming,
            self.residency,
            Pool(runtime, sizes, graph.ids),
            group=self.group,
            partition=partition,
            whole=self.plan.whole,
            share=runtime.shareable if self._early is None else self._early.lend,
            **given,
        )

    def run(self, work: Work) -> Any:
        """Run ``work``, all ranks together; the arrays of the result are on rank 0.

        Raises
        ------
        UsageError, FormatError, DeviceError
            As of :class:`bigbfs.engines.gpu.engine.GpuEngine`.
        """
        return self.program(work).run(work)

    def program(self, work: Work) -> Any:
        """Return the program that runs ``work``, made and warmed if need be, by all ranks together."""
        self._running()
        program = self._programs.get(work.key)
        if program is None:
            program = self._clocked("place", lambda: self._make(work))
            self._step("compile", "kernels run on nothing", lambda: program.warm(work))
            self._programs[work.key] = self._cold.pop(work.key)
            self._count_bytes()
        return program

    def _make(self, work: Work) -> Any:
        """Return the program that runs ``work``, which has not been warmed; all ranks make it together."""
        if work.key not in self._cold:
            transports.require_form(work, self._form)
            said = "its memory is shared with the other ranks" if self._form == "peers" else "its state is placed"
            with step(self._tell, said):
                self._cold[work.key] = work.program(self._form, self.residency)(self.placed, work)
        return self._cold[work.key]

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
        found["shared"] = sum(program.shared_nbytes for program in self._programs.values())
        for prefix, placed in zip(("", "in_"), self._placed, strict=False):
            found |= {prefix + name: count for name, count in placed.buffers.items()}
        return found

    @property
    def placed(self) -> RankPlacedGraph:
        """The graph as it lies there."""
        self._running()
        assert self._graph is not None
        return self._graph

    def _running(self) -> Runtime:
        if self._runtime is None:
            raise UsageError("this engine is closed")
        return self._runtime

    def close(self) -> None:
        """Release what the engine placed, all ranks together; a second call does nothing."""
        runtime, self._runtime = self._runtime, None
        if runtime is None:
            return
        runtime.synchronize()
        for program in self._programs.values():
            program.close()
        self._programs.clear()
        if self._graph is not None:
            self._graph.pool.close()
        self._graph = None
        for placed in self._placed:
            placed.close()
        self._placed.clear()
        if self._buffers is not None:
            self._buffers.close()
        runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
