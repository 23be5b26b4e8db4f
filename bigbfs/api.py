"""The Python interface: open an engine on a graph, run algorithms, and get results in original ids.

Engines work on internal vertices 0..n-1; everything here takes and returns original ids, one entry per vertex in
ascending order of original id, whatever the order inside the file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.ranked_engine import of_ranks, open_shards, refuse_transport
from bigbfs.algorithms.ranked_gpus import of_one_process
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.words import usual_work
from bigbfs.config import DeviceProfile
from bigbfs.engines.backends import GPU_OPTIONS, check_options
from bigbfs.engines.engine import Engine as Placed
from bigbfs.engines.engine import Work
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import ArgumentError, UsageError
from bigbfs.formats.container.parts import holds_manifest
from bigbfs.graph.graph import Graph
from bigbfs.jit import compiling, forking
from bigbfs.sizes import byte_count, file_path, integer, refuse_unknown

if TYPE_CHECKING:
    from bigbfs.algorithms.topological.result import TopologicalResult

BACKENDS = ("auto", "cpu", "gpu")
RESIDENCIES = ("auto", "vram", "mapped", "streamed")


class Place(TypedDict, total=False):
    """Keywords of :func:`engine` that say where a graph is placed; other functions hand them on to it."""

    backend: str
    residency: str
    vram_budget: int | str | None
    ram_budget: int | str | None
    profile: DeviceProfile | None
    threads: int | None
    ranks: Group | None
    transport: str


WHERE = tuple(Place.__annotations__)


_LACKING: set[Callable[[], bool]] = set()
"""What has said in this process that there is no usable GPU: to look for one takes longer than a small search."""


def choose_backend(backend: str) -> str:
    """Return ``"cpu"`` or ``"gpu"``: ``"auto"`` takes the GPU where one was usable when it was first asked for.

    Raises
    ------
    UsageError
        The name is unknown.
    """
    if backend not in BACKENDS:  # of any type
        raise UsageError(f"backend {backend!r} is unknown: choose one of {', '.join(BACKENDS)}")
    if backend != "auto":
        return backend
    from bigbfs.engines.gpu.runtime import device

    if device.available in _LACKING:
        return "cpu"
    if device.available():
        return "gpu"
    _LACKING.add(device.available)
    return "cpu"


def _opened(graph: Graph | str | Path, ranks: Group | None = None, *, shards: bool = False) -> Graph:
    """Return ``graph``, opened where it is a path: its file is unmapped when the last array of it is gone.

    With ``shards`` a folder of them is opened too, by ``ranks`` together or by this process alone.
    """
    if isinstance(graph, Graph):
        return graph
    try:
        path = file_path("graph", graph)
    except ArgumentError as error:
        raise error.saying("must be a graph or the path of a graph file") from None
    return open_shards(path, ranks) if shards and holds_manifest(path) else Graph.open(path)


def engine(
    graph: Graph | str | Path,
    *,
    backend: str = "auto",
    strategy: str = "auto",
    residency: str = "auto",
    vram_budget: int | str | None = None,
    ram_budget: int | str | None = None,
    profile: DeviceProfile | None = None,
    threads: int | None = None,
    ranks: Group | None = None,
    transport: str = "auto",
    work: Sequence[Work] | None = None,
) -> Engine:
    """Place ``graph`` on a backend and return the engine, a context manager that releases it.

    Parameters
    ----------
    graph
        A graph, or the path of a graph file, which stays open while anything refers to it. Of a folder of shards
        (``bigbfs split``) each of ``ranks`` opens its own; a process alone opens all. BFS and cc run on it.
    backend, strategy
        ``"auto"``, ``"cpu"`` or ``"gpu"``; of BFS: a name from ``bigbfs strategies``.
    residency
        Where a GPU run has the edges: ``"vram"``, ``"mapped"`` (host memory), ``"streamed"`` (the file) or ``"auto"``.
    vram_budget, ram_budget
        Bytes of GPU memory that may be used, and of host memory that may be page-locked for it, or sizes like
        ``"6GiB"``; None: what is free, and nearly all that the machine has.
    profile
        Rates of the GPU (``bigbfs.config.read_profile``), for the choice of directions; None: those of an H200.
    threads
        CPU threads; None: every core that this process may use.
    ranks, transport
        Processes that work on it together, from :func:`ranks`, with the same calls; rank 0 has the arrays. On CPUs, or
        with ``backend="gpu"`` each on a GPU of its own (BFS alone if these are not of one machine). What carries words
        between GPUs: ``"peers"``, ``"nccl"``, ``"mpi"``, or ``"auto"``, as fits.
    work
        Options of what will be run: memory is planned for it; other work may be run in what is left. None: BFS and cc.

    Raises
    ------
    NoDeviceError
        ``backend="gpu"`` and there is no usable GPU.
    DoesNotFitError
        The placement does not fit the memory that it may use.
    UsageError
        A name is unknown, an option of the GPU is given for the CPU, or the work cannot run there.
    FormatError
        The graph's file is damaged: an offset or an id is out of range.
    ForkError
        This process was forked from one that had used the GPU already.
    """
    given, chosen = _gpu_options(residency, vram_budget, ram_budget, profile), choose_backend(backend)
    threads = None if threads is None else integer("threads", threads, 1)
    check_options(backend, chosen, given, threads)
    graph = of_one_process(_opened(graph, ranks, shards=True), ranks, chosen)
    if (ranks := getattr(graph, "group", ranks)) is not None:  # or those that have opened shards
        return of_ranks(graph, ranks, work, backend, strategy, threads, given, transport)
    refuse_transport(transport)
    return _alone(graph, chosen, strategy, work, threads, given)


def _alone(
    graph: Graph, chosen: str, strategy: str, work: Sequence[Work] | None, threads: int | None, given: dict[str, Any]
) -> Engine:
    asked = usual_work(strategy) if work is None else tuple(work)
    placed = _on_cpu(graph, asked, threads) if chosen == "cpu" else _on_gpu(graph, asked, given)
    return Engine(graph, placed, strategy)


def _gpu_options(
    residency: str, vram_budget: int | str | None, ram_budget: int | str | None, profile: DeviceProfile | None
) -> dict[str, Any]:
    """Return the options that are for a GPU alone, by name, those that are given; sizes in bytes."""
    if residency not in RESIDENCIES:
        raise UsageError(f"residency {residency!r} is unknown: choose one of {', '.join(RESIDENCIES)}")
    vram = None if vram_budget is None else byte_count("vram_budget", vram_budget)
    ram = None if ram_budget is None else byte_count("ram_budget", ram_budget)
    values = zip(GPU_OPTIONS, (None if residency == "auto" else residency, vram, ram, profile), strict=True)
    return {name: value for name, value in values if value is not None}


def _on_gpu(graph: Graph, asked: Sequence[Work], given: dict[str, Any]) -> Placed:
    from bigbfs.engines.gpu.engine import GpuEngine

    with forking.of_a_gpu():
        return GpuEngine(graph, work=asked, **given)


def _on_cpu(graph: Graph, asked: Sequence[Work], threads: int | None) -> Placed:
    from bigbfs.engines.cpu.engine import CpuEngine

    for each in asked:
        each.require_backend("cpu", "host")
    start, before = time.perf_counter(), compiling.seconds()
    graph.require_valid()
    spent, compiled = time.perf_counter() - start, compiling.seconds() - before
    placed = CpuEngine(graph, work=asked, threads=threads)
    placed.setup.open, placed.setup.compile = spent - compiled, placed.setup.compile + compiled
    return placed


def bfs(
    graph: Graph | str | Path,
    source: int | str,
    *,
    max_depth: int | None = None,
    want_levels: bool = True,
    want_parents: bool = True,
    verify: bool = False,
    strategy: str = "auto",
    target: int | str | None = None,
    **where: Unpack[Place],
) -> BfsResult:
    """Breadth-first search from the vertex with original id, or name, ``source``.

    Parameters
    ----------
    graph
        From :func:`bigbfs.open` or ``Graph.from_csr``, or the path of a graph file.
    source : an original id, or a name, whose id is its rank in byte order
    max_depth
        Stop after this level; None: go on to the end.
    want_levels, want_parents
        False: that array of the result is all -1, and is not paid for.
    verify
        Check the tree by the Graph500 rules before returning it.
    strategy
        A name from ``bigbfs strategies``.
    target
        Original id: on the CPU the search ends with the level of this vertex; on a GPU it goes on.
        ``result.path_to(target)`` is the path there.
    **where
        ``backend``, ``residency``, ``vram_budget``, ``ram_budget``, ``profile``, ``threads``, ``ranks``,
        ``transport``: see :func:`engine`. To traverse from many sources, place the graph once with :func:`engine`.

    Returns
    -------
    BfsResult
        ``levels`` int32 (-1 unreached) and ``parents`` int64 (original id, -1 none), shape (n,), one entry per vertex
        in ascending order of original id; ``record`` with the time.

    Raises
    ------
    UsageError
        The source is not in the graph, an option is unknown, or what is to be verified is not wanted.
    VerificationError
        The tree breaks a rule.
    """
    if verify and not (want_levels and want_parents):
        raise UsageError("verify checks the tree, so levels and parents are wanted; leave one of the options out")
    graph = _opened(graph, where.get("ranks"), shards=True)
    ends = graph.id_of(source), None if target is None else graph.id_of(target)
    options = BfsOptions(ends[0], max_depth, want_levels, want_parents, strategy, target=ends[1])
    refuse_unknown("bfs", where, (*BfsOptions.__dataclass_fields__, *WHERE))
    options.internal(graph)  # a vertex that is not there is found before anything is placed
    with engine(graph, strategy=strategy, work=(options,), **where) as placed:
        result: BfsResult = placed.measure(options, verify=verify).result
    return result


def connected_components(
    graph: Graph | str | Path,
    *,
    algorithm: str = "afforest",
    rounds: int | None = None,
    skip_giant: bool | None = None,
    single_pass: bool = False,
    verify: bool = False,
    **where: Unpack[Place],
) -> ComponentsResult:
    """Label the connected components (the weak ones of a directed graph), exactly.

    Parameters
    ----------
    algorithm, rounds, skip_giant, single_pass
        Fields of :class:`bigbfs.algorithms.components.options.ComponentsOptions`; whatever they are, the answer is the
        same.
    verify
        Check the labels before returning them.
    **where
        As for :func:`bfs`.

    Returns
    -------
    ComponentsResult
        ``labels`` int64, shape (n,): the smallest original id of each vertex's component, one entry per vertex in
        ascending order of original id; ``record`` with the counts and the time.

    Raises
    ------
    UsageError
        An option is unknown, or is not one of the algorithm's.
    VerificationError
        The labels break a rule.
    """
    options = ComponentsOptions(algorithm, rounds, skip_giant, single_pass)
    refuse_unknown("connected_components", where, WHERE)
    with engine(graph, work=(options,), **where) as placed:
        result: ComponentsResult = placed.measure(options, verify=verify).result
    return result


def topological_order(
    graph: Graph | str | Path, *, hand_over: bool = True, verify: bool = False, **where: Unpack[Place]
) -> np.ndarray:
    """Return the vertices of a directed acyclic graph so that edges point forward: int64 original ids, shape (n,).

    Vertices come by their round (the edges on the longest path to them) and, in a round, ascending, so the order is the
    same on every backend. Parameters and errors as for :func:`topological_rounds`.
    """
    return topological_rounds(graph, hand_over=hand_over, verify=verify, **where).order


def topological_rounds(
    graph: Graph | str | Path, *, hand_over: bool = True, verify: bool = False, **where: Unpack[Place]
) -> TopologicalResult:
    """Return the topological order of a directed acyclic graph, the round of each vertex, and what was measured.

    Parameters
    ----------
    hand_over
        Let a GPU run go on on the CPU where rounds are thin for long and the CPU is expected to be quicker.
    verify
        Check order and rounds before returning them.
    **where
        As for :func:`bfs`; edges that are streamed are refused.

    Returns
    -------
    TopologicalResult
        ``order`` int64 (n,): original ids, by round and in a round ascending; ``rounds`` int32 (n,): the edges on the
        longest path to each vertex, in ascending order of original id; ``record`` with the counts and the time.

    Raises
    ------
    CycleError
        The graph has a cycle; the message and its ``cycle`` name vertices on it. It is a UsageError.
    UsageError
        The graph is undirected, or an option is unknown.
    VerificationError
        The result breaks a rule.
    """
    from bigbfs.algorithms.topological.cycle import require_directed

    options = TopologicalOptions(hand_over)
    refuse_unknown("topological_rounds", where, WHERE)
    graph = _opened(graph)
    require_directed(graph)
    with engine(graph, work=(options,), **where) as placed:
        result: TopologicalResult = placed.measure(options, verify=verify).result
    return result
