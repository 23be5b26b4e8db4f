"""The engine of one rank of several, as :func:`bigbfs.engine` returns one: it speaks original ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus, require_exchange
from bigbfs.algorithms.words import usual_work
from bigbfs.engines.engine import Work
from bigbfs.engines.ranks import ending, launch
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit import compiling, forking


def ranked(
    graph: Graph,
    group: Group,
    work: Sequence[Work],
    *,
    strategy: str = "auto",
    threads: int | None = None,
    partition: str = "auto",
    exchange: str = "auto",
) -> Engine:
    """Place ``graph`` on the ranks of ``group``; every rank makes this call, and then asks for the same runs.

    Parameters
    ----------
    graph
        The same on every rank.
    group
        The ranks (:mod:`bigbfs.engines.ranks`).
    work
        Options of what is going to be run.
    strategy, threads
        As for :func:`bigbfs.engine`; ``threads`` of each rank, None: its share of the machine's cores.
    partition, exchange
        What a rank owns, and how ranks tell each other what is visited; ``"auto"``: as fits the graph.

    Returns
    -------
    Engine
        Results have their arrays on rank 0, and what was measured on all.

    Raises
    ------
    UsageError
        The work has no form over ranks, or ranks have opened different files.
    FormatError
        The graph's file is damaged.
    """
    from bigbfs.engines.cpu.ranked import RankedEngine

    require_exchange(work, exchange)
    passed = compiling.clock()
    graph.require_valid()
    opened, compiled = passed()
    placed = RankedEngine(graph, group=group, work=work, threads=threads, partition=partition, exchange=exchange)
    placed.setup.open, placed.setup.compile = opened, placed.setup.compile + compiled
    return Engine(graph, placed, strategy)


def of_ranks(
    graph: Graph,
    ranks: Group,
    work: Sequence[Work] | None,
    backend: str,
    strategy: str,
    threads: int | None,
    given: dict[str, Any],
    transport: str = "auto",
) -> Engine:
    """Return the engine of this rank: on a GPU of its own, or on its share of the CPUs.

    The arguments are those of :func:`bigbfs.engine`; ``given`` are those that are for a GPU. Where no work is named and
    the GPUs are not all of one machine, that is BFS.

    Raises
    ------
    UsageError
        What is for a GPU is given for CPUs.
    NoDeviceError, DoesNotFitError, DeviceError, FormatError
        As :func:`ranked`, and :func:`bigbfs.algorithms.ranked_gpus.ranked_on_gpus`.
    """
    asked = usual_work(strategy) if work is None else tuple(work)
    if backend == "gpu":
        with forking.of_a_gpu():
            return ranked_on_gpus(
                graph, ranks, asked, strategy=strategy, transport=transport, usual=work is None, **given
            )
    refuse_transport(transport)
    if given:
        what = "for a GPU: ranks are on GPUs where the backend is 'gpu'; leave it out"
        raise UsageError(what, about=tuple(given.items())[:1])
    return ranked(graph, ranks, asked, strategy=strategy, threads=threads)


def refuse_transport(transport: str) -> None:
    """Refuse to choose what carries words between GPUs where ranks are not on any.

    Raises
    ------
    UsageError
        It is chosen.
    """
    if transport != "auto":
        raise UsageError(
            "for ranks on GPUs, and this run has none", about=(("transport", transport),), remedies=("leave it out",)
        )


def open_shards(path: Path, group: Group | None) -> Graph:
    """Open a folder of shards, all ranks together; None: this process opens all of them.

    Raises
    ------
    UsageError, FormatError, FileAccessError, DoesNotFitError
        As :func:`bigbfs.engines.cpu.sharded.open_shards`.
    """
    from bigbfs.engines.cpu import sharded
    from bigbfs.engines.ranks.threads import alone

    return sharded.open_shards(path, alone() if group is None else group)


@contextmanager
def ranks() -> Iterator[Group]:
    """Join the processes that mpiexec or srun has started with this one; a process that is alone is a group of one.

    One ``with`` stands around all that a process does with ranks. An error inside it is printed with rank and host, and
    ends all of them: the others would wait for this one.

    Yields
    ------
    Group
        For :func:`bigbfs.engine` and its like; ``rank`` and ``size`` say which this is, of how many.

    Raises
    ------
    UsageError
        There is no MPI, its world is not that of the launcher, or this process has left its ranks already.
    """
    by = launch.started()
    if by is None:
        from bigbfs.engines.ranks.threads import alone

        yield alone()
        return
    if ending.was_in_a_world():
        raise UsageError("this process has joined its ranks before, which works once; put one `with` around all work")
    group = launch.join(by)
    try:
        yield group
    except BaseException as error:
        launch.fail(error)
        raise
    launch.part()
