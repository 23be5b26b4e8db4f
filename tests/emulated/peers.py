"""Several emulated GPUs as peers: one thread and one device for each rank, whose kernels run at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bigbfs.algorithms.bfs.gpu.hosts.loop import HostSearch
from bigbfs.algorithms.bfs.gpu.peers.loop import PeerSearch
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT, Tuning
from bigbfs.algorithms.bfs.ranks.costs import Forced
from bigbfs.algorithms.components.gpu.hosts.loop import HostForest
from bigbfs.algorithms.components.gpu.hosts.streamed_forest import StreamedForest
from bigbfs.algorithms.components.gpu.peers.loop import Joined, JointForest
from bigbfs.algorithms.components.gpu.peers.prove import prove_labels
from bigbfs.algorithms.components.gpu.peers.whole import WholeForest
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec, Pool, Sizes
from bigbfs.engines.gpu.ranks.own import OwnAdjacency
from bigbfs.engines.gpu.ranks.shares import all_rows, share_of
from bigbfs.engines.gpu.ranks.streamed import OwnStreamed
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.ranks import partition as partitions
from bigbfs.engines.ranks.group import PIECE, Group
from bigbfs.engines.ranks.numbering import whole
from bigbfs.engines.ranks.partition import Partition
from bigbfs.engines.ranks.threads import run
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.runtime import SimtRuntime

SPINS = 1 << 62
"""A device that waits for another is no livelock; whoever waits in vain ends when its patience does."""

PATIENCE = {"plain": 10.0, "preempt": 20.0, "asan": 20.0, "tsan": 25.0}
"""Seconds that an emulated rank waits for another, where every core is busy."""


@dataclass(frozen=True)
class Peers:
    """How many devices there are, and what they are told.

    ``together``: so many words are dealt at a time; ``blocks`` of each device, in turn; ``capacity`` of an inbox, None:
    as in a real run; ``touch`` is called with what each rank has made, before it searches; ``carry``: hosts carry what
    is told, by what this makes of runtime, group and bytes, searches as ``forced`` and in ``parts``; ``stages``: rows
    are streamed, through buffers of so many bytes together; ``whole``: each has all rows, and ``alone`` searches for
    itself; the rest as PeerSearch and OwnAdjacency take it.
    """

    size: int = 2
    kind: str = "words"
    together: int = 1
    mapped: bool = False
    head_groups: int = 1
    hot_bytes: int = 0
    ranked: bool = False
    bottom_up: bool = True
    capacity: int | None = None
    tuning: Tuning = DEFAULT
    blocks: Sequence[int] = (2, 1, 3)
    team: int = 64
    seed: int = 0
    patience: float | None = None
    touch: Callable[[Any], None] | None = field(default=None, compare=False)
    carry: Callable[[Any, Group, int], Any] | None = field(default=None, compare=False)
    forced: Forced | None = None
    parts: int | None = None
    prove: bool = False
    piece: int = PIECE
    hosts: tuple[str, ...] | None = None
    stages: int = 0
    whole: bool = False
    alone: bool = False


@dataclass(frozen=True)
class Searched:
    """One search: levels and parents of all vertices, what each rank measured, and its kernels' own counters."""

    levels: np.ndarray
    parents: np.ndarray
    found: list[Any]


class Told(NamedTuple):
    """What a search by hosts measured, and what its state says of it."""

    found: Any
    reached: int
    edges: int
    rounds: int


class OneAtATime(Pool):
    """A pool of one of several devices in a process: Python's parser, which reads formulas, is not for threads."""

    def lend(self, spec: ArraySpec, holder: object) -> tuple[Any, bool]:
        """Return the array of ``spec``."""
        with _LENDING:
            return super().lend(spec, holder)


_LENDING = threading.Lock()


def cut(graph: Graph, peers: Peers) -> Partition:
    """Return who owns what."""
    if peers.kind == "words":
        return partitions.deal(graph.n, peers.size, peers.together)
    return partitions.cut(np.asarray(graph.adjacency.indptr), peers.size)


def placed_on(
    runtime: SimtRuntime, graph: Graph, partition: Partition, rank: int, peers: Peers, closing: ExitStack
) -> PlacedGraph:
    """Place own rows, until ``closing`` is closed."""
    options: dict[str, Any] = {
        "head_groups": peers.head_groups,
        "hot_bytes": peers.hot_bytes,
        "ranked": peers.ranked,
    }
    buffers: Buffers | None = None
    if peers.stages:
        buffers = Buffers(runtime, peers.stages)
        closing.callback(buffers.close)

    def place(adjacency: Any) -> Any:
        if buffers is None:
            share = all_rows(adjacency) if peers.whole else share_of(adjacency, partition, rank)
            made: Any = OwnAdjacency(runtime, adjacency, partition, rank, mapped=peers.mapped, share=share, **options)
        else:
            made = OwnStreamed(runtime, adjacency, buffers, partition, rank, **options)
        closing.callback(made.close)
        return made

    out = place(graph.adjacency)
    incoming = None
    if graph.in_adjacency is graph.adjacency:
        incoming = out
    elif graph.in_adjacency is not None:
        incoming = place(graph.in_adjacency)
    chunks = max(each.chunks for each in (out, incoming) if each is not None)
    pool = OneAtATime(runtime, Sizes(graph.n, graph.m, chunks, graph.ids.itemsize, graph.n), graph.ids)
    residency = "streamed" if peers.stages else "mapped" if peers.mapped else "vram"
    return PlacedGraph(runtime, graph, out, incoming, residency, pool)


def on_devices(
    graph: Graph, build: str, peers: Peers, work: Callable[[Group, PlacedGraph, Partition], Any]
) -> list[Any]:
    """Return what ``work`` returns on each device, with own rows in place there; all at once."""
    partition = cut(graph, peers)
    machine(build)  # here, or every thread compiles it

    def rank(group: Group) -> Any:
        number = group.rank
        runtime = SimtRuntime(
            build=build,
            device=number,
            sm_count=peers.blocks[number % len(peers.blocks)],
            team=peers.team,
            spin_limit=SPINS,
            seed=peers.seed and peers.seed + number,
        )
        with ExitStack() as closing:
            return work(group, placed_on(runtime, graph, partition, number, peers, closing), partition)

    return run(peers.size, rank, limit=300.0, piece=peers.piece, hosts=peers.hosts)


def search(graph: Graph, build: str, peers: Peers, runs: Sequence[tuple[int, int | None]]) -> list[Searched]:
    """Search from each source, to a depth, on all devices at once; the state is made once."""

    def work(group: Group, placed: PlacedGraph, partition: Partition) -> list[tuple[Any, np.ndarray, np.ndarray]]:
        patience = PATIENCE[build] if peers.patience is None else peers.patience
        how: dict[str, Any] = {"bottom_up": peers.bottom_up, "tuning": peers.tuning, "capacity": peers.capacity}
        state: PeerSearch | HostSearch
        if peers.carry is None:
            how |= {"patience": patience, "whole": peers.whole, "alone": peers.alone}
            state = PeerSearch(placed, group, partition, placed.runtime.shareable, **how)
        else:
            carry = partial(peers.carry, placed.runtime, group)
            how |= {"forced": peers.forced, "parts": peers.parts, "patience": patience}
            state = HostSearch(placed, group, partition, carry, **how)
        state.warm()
        if peers.touch is not None:
            peers.touch(state)
        results = []
        for each in runs:
            found: Any = state.run(*each)
            if isinstance(state, HostSearch):
                found = Told(found, state.reached, state.edges, state.rounds)
                if peers.prove:
                    state.prove(*each)
            results.append((found, state.own_levels(), state.own_parents()))
        state.close()
        return results

    ranks = on_devices(graph, build, peers, work)
    owns = owned(graph, peers)
    searched = []
    for each in zip(*ranks, strict=True):
        levels = whole([levels for _, levels, _ in each], owns, graph.n)
        ids = whole([parents for _, _, parents in each], owns, graph.n)
        parents = ids.astype(np.int64)
        parents[ids == np.iinfo(graph.ids).max] = -1
        searched.append(Searched(levels, parents, [found for found, _, _ in each]))
    return searched


def owned(graph: Graph, peers: Peers) -> list[Any]:
    """Return the words of each rank."""
    partition = cut(graph, peers)
    return [partition.own_words(rank) for rank in range(peers.size)]


def label(
    graph: Graph, build: str, peers: Peers, runs: Sequence[ComponentsOptions], *, prove: bool = True
) -> list[tuple[np.ndarray, list[Joined]]]:
    """Label the components in each way, on all devices at once; the state is made once. Each run is proved."""

    def work(group: Group, placed: PlacedGraph, partition: Partition) -> list[tuple[Joined, np.ndarray]]:
        forest: JointForest | HostForest
        if peers.carry is None:
            patience = PATIENCE[build] if peers.patience is None else peers.patience
            kind = WholeForest if peers.whole else JointForest
            forest = kind(placed, group, partition, placed.runtime.shareable, patience)
        else:
            made = StreamedForest if peers.stages else HostForest
            forest = made(placed, group, partition, partial(peers.carry, placed.runtime, group))
        forest.warm()
        if peers.touch is not None:
            peers.touch(forest)
        results = []
        for how in runs:
            results.append((forest.run(how), forest.own_labels()))
            if prove:
                prove_labels(forest, forest.look_at_edges if isinstance(forest, StreamedForest) else None)
        forest.close()
        return results

    ranks = on_devices(graph, build, peers, work)
    owns = owned(graph, peers)
    return [
        (whole([labels for _, labels in each], owns, graph.n), [found for found, _ in each])
        for each in zip(*ranks, strict=True)
    ]
