"""What searches and components will take on one GPU and over several, before any of them is there.

In: a graph, the machine of each GPU that is asked for, a device profile. Out: for 1, 2, 4, ... GPUs and as many as were
asked for, where the edges would be (by the functions by which a run decides) and the seconds predicted; None where it
does not fit, or nothing can be said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks import gpus_model
from bigbfs.algorithms.bfs.ranks.depth import DEEP, levels_of, too_deep
from bigbfs.algorithms.bfs.ranks.expected import degrees_of
from bigbfs.algorithms.bfs.ranks.gpus_model import Facts, Gpus
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.ranks.gpus_model import Predicted as Components
from bigbfs.algorithms.components.ranks.gpus_model import components
from bigbfs.algorithms.ranked_gpus import planned_on_gpus
from bigbfs.config import DeviceProfile
from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.hot import by_degree, even
from bigbfs.engines.gpu.placement.ledger import adjacencies
from bigbfs.engines.gpu.planning import Limits, make_plan
from bigbfs.engines.gpu.ranks.agree import Agreed
from bigbfs.engines.gpu.ranks.plan import STREAMED
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP
from bigbfs.engines.ranks.partition import WHOLE
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.graph import Graph

MOST = 4
"""Up to so many times the GPUs asked for are looked at ..."""
MOST_GPUS = 512
"""... and of more than are asked for no more than so many: each has a plan."""


@dataclass(frozen=True)
class Ahead:
    """What is predicted of so many GPUs on so many machines.

    Attributes
    ----------
    residency, transport
        Where the edges would be, and how GPUs tell one another; None: it does not fit.
    search
        Levels; empty where nothing is said.
    components
        None: nothing is said.
    """

    gpus: int
    hosts: int
    residency: str | None
    transport: str | None
    search: list[gpus_model.Predicted]
    components: Components | None

    @property
    def search_seconds(self) -> float | None:
        """Seconds of a search; None: nothing is said."""
        return gpus_model.seconds_of(self.search) if self.search else None


@dataclass(frozen=True)
class Asked:
    """What is asked about: the work, budgets of a GPU, and ``how`` as of :func:`planned_on_gpus`."""

    work: Sequence[Work]
    limits: Limits
    registers_read_only: bool
    how: dict[str, str]
    profile: DeviceProfile


def facts_of(graph: Graph, levels: float) -> Facts:
    """Return what predictions know of ``graph``; ``levels``: about how many a search has."""
    rows = graph.adjacency
    return Facts(
        n=graph.n,
        m=graph.m,
        id_bytes=graph.ids.itemsize,
        degrees=degrees_of(rows),
        edge_bytes=min(rows.edges.nbytes / max(1, graph.m), graph.ids.itemsize),
        by_degree=by_degree(graph),
        even=even(rows),
        pulls=graph.in_adjacency is not None,
        deep=round(levels) if levels > DEEP else None,
        least=round(levels),
    )


def counts_of(gpus: int, hosts: int) -> list[tuple[int, int]]:
    """Return the numbers of GPUs that are looked at, each with its machines: all on one machine where one was asked
    for, else as many on each as were asked for."""
    beside = -(-gpus // hosts)
    found, count = {1, gpus}, 2
    while count <= max(gpus, min(MOST * gpus, MOST_GPUS)):
        found.add(count)
        count *= 2
    return [(count, 1 if hosts == 1 else -(-count // beside)) for count in sorted(found)]


def ahead(graph: Graph, asked: Asked, hosts: int, agreed: Agreed) -> tuple[list[Ahead], int | None]:
    """Return what is predicted of each number of GPUs, and the levels for which a search stays on one, or None.

    ``agreed``: the plans of the number asked for.
    """
    levels, size = levels_of(graph), agreed.partition.size
    facts = facts_of(graph, levels)
    counts = (each for each in counts_of(size, hosts) if _has_shards_for(graph, each[0]))
    found = [_of(graph, facts, asked, each, agreed) for each in counts]
    return found, round(levels) if too_deep(levels, graph.m, size) else None


def _has_shards_for(graph: Graph, gpus: int) -> bool:
    """Return whether each of so many GPUs would have a shard, or ``graph`` is a file."""
    if (partition_of := getattr(graph, "partition_of", None)) is None:
        return True
    try:
        partition_of(gpus)
    except UsageError:
        return False
    return True


def _of(graph: Graph, facts: Facts, asked: Asked, count: tuple[int, int], agreed: Agreed) -> Ahead:
    """Return what is predicted of one number of GPUs."""
    gpus, hosts = count
    try:
        where = _placed(graph, asked, gpus, hosts, agreed)
    except DoesNotFitError:
        return Ahead(gpus, hosts, None, None, [], None)
    if where.residency == STREAMED:
        return Ahead(gpus, hosts, STREAMED, where.transport, [], None)
    search, labels = [], None
    for each in asked.work:
        if isinstance(each, BfsOptions) and each.strategy in ("auto", "topdown"):
            search = gpus_model.search(facts, where, asked.profile, top_down=each.strategy == "topdown")
        elif isinstance(each, ComponentsOptions) and where.heads:
            link = gpus_model.link_between(asked.profile, where)
            call = None if link is None else (link.call, link.bytes_per_second)
            busy, ids = facts.degrees.busy, facts.id_bytes
            how = {"by_degree": facts.by_degree, "whole": asked.how.get("kind") == WHOLE}
            labels = components(facts.n, busy, ids, gpus, asked.profile, call=call, **how)
    return Ahead(gpus, hosts, where.residency, where.transport, search, labels)


def _placed(graph: Graph, asked: Asked, gpus: int, hosts: int, agreed: Agreed) -> Gpus:
    """Return where the edges of ``graph`` would be on so many GPUs.

    Raises
    ------
    DoesNotFitError
        There is no room.
    """
    edges = max(1, sum(rows.edges.nbytes for _, rows in adjacencies(graph)))
    if gpus == 1:
        limits = asked.limits
        plan = make_plan(
            graph,
            asked.how["residency"],
            limits.vram,
            ram_budget=limits.ram,
            registers_read_only=asked.registers_read_only,
            work=asked.work,
        )
        plans, transport = [plan], "peers"
    else:
        if gpus != agreed.partition.size:
            names = tuple(f"machine {rank * hosts // gpus}" for rank in range(gpus))
            registers = asked.registers_read_only
            agreed = planned_on_gpus(graph, names, asked.work, asked.limits, registers_read_only=registers, **asked.how)
        plans, transport = list(agreed.plans), agreed.transport
        if asked.how["transport"] == "auto" and transport == "mpi":
            transport = "nccl"  # what a run takes where it is; MPI is planned for as it takes more memory
    hot = min(1.0, sum(plan.hot_bytes for plan in plans) / edges)
    first = plans[0]
    return Gpus(gpus, hosts, transport, first.residency, first.head_groups * HEAD_GROUP, hot)
