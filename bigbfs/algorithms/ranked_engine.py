"""The engine of one rank of several, as :func:`bigbfs.engine` returns one: it speaks original ids."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bigbfs.algorithms.engine import Engine
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.engine import Work
from bigbfs.engines.ranks.group import Group
from bigbfs.graph.graph import Graph


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
    start = time.perf_counter()
    graph.require_valid()
    checked = time.perf_counter() - start
    placed = RankedEngine(graph, group=group, work=work, threads=threads, partition=partition, exchange=exchange)
    placed.setup.open = checked
    return Engine(graph, placed, strategy)
