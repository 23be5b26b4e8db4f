"""The engine of one of several GPUs, as :func:`bigbfs.engine` returns one: it speaks original ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.engines.engine import Work
from bigbfs.engines.ranks import launch, partition
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph

if TYPE_CHECKING:
    from bigbfs.engines.gpu.planning import Limits
    from bigbfs.engines.gpu.ranks.agree import Agreed
    from bigbfs.engines.gpu.runtime.runtime import Runtime


ANY_WORK = ("auto", "common", "messages")
"""Exchanges that all work over ranks knows; the others are ways to tell what is visited."""


OF_A_VERTEX = 100
"""Bytes of device memory that components take for a vertex with 16 heads, at most."""


def require_exchange(work: Sequence[Any], exchange: str) -> None:
    """Refuse an exchange that none of ``work`` would use.

    Raises
    ------
    UsageError
        Names the work, and the exchange.
    """
    if exchange in ANY_WORK or not work or any(each.exchanges for each in work):
        return
    raise UsageError(
        f"how a search tells what is visited, and {work[0].called} have one way to tell what they have found",
        about=(("exchange", exchange),),
        remedies=(("exchange", "auto", "use {}"),),
    )


def levels_of_one(graph: Graph, group: Group, kind: str) -> int | None:
    """Return about how many levels a search has, where they are so many that one GPU alone is quicker; else None.

    All ranks make this call, and get the same answer. ``kind``: the partition asked for; whoever names one gets it.
    Of shards no rank has all rows: these are shared in any case.
    """
    if kind != "auto" or group.size == 1 or getattr(graph, "partition", None) is not None:
        return None
    from bigbfs.algorithms.bfs.ranks.depth import agreed_thin_levels

    return agreed_thin_levels(graph, group)


def _asked_first(graph: Graph, group: Group, work: Sequence[Work]) -> Callable[[], object] | None:
    """Return what the first rank asks before a search over ranks with all rows is placed, which would wait for it."""
    from bigbfs.algorithms.bfs.options import BfsOptions
    from bigbfs.algorithms.bfs.ranks.depth import thin_levels

    searches = any(isinstance(each, BfsOptions) for each in work)
    return partial(thin_levels, graph, group.size) if searches and group.rank == 0 else None


def labels_of_one(graph: Graph, group: Group, kind: str, room: Callable[[], int]) -> bool:
    """Return whether one GPU alone labels the components of ``graph`` sooner than several that share its rows, or copy
    all of them: by degree it asks for few rows, and what several tell one another takes more than they share; where
    each has all rows they label it quicker, by less than placing takes longer (docs/results/distributed.md).

    All ranks make this call, and get the same answer. ``kind`` as for :func:`levels_of_one`; ``room`` is asked on the
    first rank: bytes of memory of its GPU, which must have room for all edges and for what is kept of each vertex.
    """
    return bool(group.objects(labels_stay(graph, group.size, kind, room) if group.rank == 0 else None)[0])


def labels_stay(graph: Graph, size: int, kind: str, room: Callable[[], int]) -> bool:
    """Return what :func:`labels_of_one` does of ``size`` GPUs, of which none need be here."""
    if kind != "auto" or size == 1 or getattr(graph, "partition", None) is not None:
        return False
    from bigbfs.engines.gpu.placement.hot import by_degree
    from bigbfs.engines.gpu.placement.ledger import adjacencies

    taken = sum(rows.edges.nbytes for _, rows in adjacencies(graph)) + OF_A_VERTEX * graph.n
    return by_degree(graph) and taken <= room()


def ranked_on_gpus(
    graph: Graph,
    group: Group,
    work: Sequence[Work],
    *,
    strategy: str = "auto",
    kind: str = "auto",
    transport: str = "auto",
    exchange: str = "auto",
    usual: bool = False,
    runtime: Runtime | None = None,
    tell: Callable[[str], None] | None = None,
    **given: Any,
) -> Engine:
    """Place ``graph`` on the GPUs of the ranks of ``group``; every rank makes this call, and then the same runs.

    Parameters
    ----------
    graph, work, strategy
        As for :func:`bigbfs.algorithms.ranked_engine.ranked`; shards, too, that the same ranks have opened.
    group
        The ranks, one for each GPU.
    kind
        What a rank owns: ``"auto"``, ``"words"``, ``"ranges"``, ``"whole"`` (words; it has all rows); shards: its own.
    usual
        Whether nobody has asked for ``work``: what has no form there is left out.
    transport, exchange, runtime, tell, **given
        As for :class:`bigbfs.engines.gpu.ranks.engine.GpuRankEngine`. Results have their arrays on rank 0.

    Raises
    ------
    NoDeviceError, UsageError, DoesNotFitError, DeviceError, FormatError
        As of that class.
    """
    from bigbfs.engines.gpu.ranks.devices import require_own
    from bigbfs.engines.gpu.ranks.engine import GpuRankEngine, silent
    from bigbfs.engines.gpu.ranks.transport import form_of

    form = form_of(transport, exchange, group, given.get("residency", "auto"))
    require_exchange(work, exchange)
    work = tuple(each for each in work if not usual or form in getattr(each, "programs", ()))
    if runtime is None:
        require_own(group, form)
    graph, opening = _opened(graph)
    placed = GpuRankEngine(
        graph,
        group=group,
        partition=_owned(graph, group.size, _stretches(kind) if form == "streamed" else kind),
        work=work,
        patience=launch.patience(),
        transport=transport,
        exchange=exchange,
        whole=kind == partition.WHOLE,
        runtime=runtime,
        meanwhile=_asked_first(graph, group, work) if kind == partition.WHOLE else None,
        tell=tell or silent,
        **given,
    )
    placed.setup.open += opening
    return Engine(graph, placed, strategy)


def _opened(graph: Graph) -> tuple[Graph, float]:
    """Return ``graph`` as GPUs read it, its offsets checked, and the seconds that this took."""
    start = time.perf_counter()
    graph = as_one(graph)
    graph.require_structure()
    return graph, time.perf_counter() - start


def as_one(graph: Graph) -> Graph:
    """Return ``graph``; of shards the rows as GPUs read them, for which all ranks make this call.

    Raises
    ------
    FormatError, FileAccessError, DoesNotFitError
        As :func:`bigbfs.algorithms.sharded_gpus.for_gpus`.
    """
    if getattr(graph, "lot", None) is None:
        return graph
    from bigbfs.algorithms.sharded_gpus import for_gpus
    from bigbfs.engines.cpu.sharded import ShardedGraph

    assert isinstance(graph, ShardedGraph)
    return for_gpus(graph)


def of_one_process(graph: Graph, ranks: Group | None, backend: str) -> Graph:
    """Return ``graph``; for the GPU of a process without ``ranks``, of its shards the rows as one graph."""
    held: Group | None = getattr(graph, "group", None)
    alone = ranks is None and held is not None and held.size == 1
    return as_one(graph) if alone and backend == "gpu" else graph


def planned_on_gpus(
    graph: Graph,
    hosts: tuple[str, ...],
    work: Sequence[Work],
    limits: Limits,
    *,
    residency: str = "auto",
    kind: str = "auto",
    transport: str = "auto",
    registers_read_only: bool = True,
) -> Agreed:
    """Return what each rank of a run on GPUs would take, of which none need be here: the plans that they agree on.

    Parameters
    ----------
    graph, work, kind, transport, residency
        As for :func:`ranked_on_gpus`; shards as :func:`as_one` returns them to a process that has opened all. A
        transport that would be NCCL or MPI is taken for MPI, which takes more memory.
    hosts
        The machine of each rank.
    limits, registers_read_only
        Of each rank, as for :func:`bigbfs.engines.gpu.planning.make_plan`.

    Raises
    ------
    UsageError, DoesNotFitError
        As the run would.
    """
    from bigbfs.engines.gpu.ranks import transport as transports
    from bigbfs.engines.gpu.ranks.agree import Ranks, Wanted, agree
    from bigbfs.engines.ranks.threads import first_of

    group, size = first_of(hosts), len(hosts)
    form = transports.form_of(transport, "auto", group, residency)
    for each in work:
        transports.require_form(each, form)
    owned = _owned(graph, size, _stretches(kind) if form == "streamed" else kind)
    ranks = Ranks(
        hosts, range(size), lambda mine: mine, lambda form: transports.without_nccl(transport, group, form)
    )  # fmt: skip
    wanted = Wanted(tuple(work), residency, transport, whole=kind == partition.WHOLE)
    return agree(graph, owned, ranks, wanted, form, limits, registers_read_only)


def _stretches(kind: str) -> str:
    """Return the partition for rows that stay in the file.

    Raises
    ------
    UsageError
        Words are asked for.
    """
    if kind in ("words", partition.WHOLE):
        raise UsageError(
            "each rank reads one stretch of the file, and words that are dealt lie all over it",
            about=(("partition", kind),),
            remedies=(("partition", "ranges", "use {}"),),
        )
    return "ranges"


def _owned(graph: Graph, size: int, kind: str) -> partition.Partition:
    """Return who owns what: of shards, whoever has them.

    Raises
    ------
    UsageError
        Words of shards are to be dealt.
    """
    from bigbfs.engines.cpu.ranked import refuse_words, sample
    from bigbfs.engines.cpu.rows import rows_of

    if (partition_of := getattr(graph, "partition_of", None)) is not None:
        refuse_words(kind)
        owned: partition.Partition = partition_of(size)
        return owned
    if kind == partition.WHOLE:
        return partition.deal_lines(graph.n, size)
    rows = rows_of(graph.adjacency)
    ends = (np.empty(0, np.int64),) * 2 if kind == "words" else sample(rows)
    return partition.choose(np.asarray(rows.indptr), ends, size, kind, even_ranges=True)
