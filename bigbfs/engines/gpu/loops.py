"""Which classes an engine is made of, and which kernels they launch: those of rows in memory, or those of streamed
rows."""

from __future__ import annotations

from typing import Any

from bigbfs.algorithms.bfs.gpu import loop as bfs
from bigbfs.algorithms.bfs.gpu import streamed as streamed_bfs
from bigbfs.algorithms.bfs.gpu.loop import BfsLoop
from bigbfs.algorithms.bfs.gpu.streamed import StreamedBfs
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.algorithms.components.gpu import loop as cc
from bigbfs.algorithms.components.gpu import streamed as streamed_components
from bigbfs.algorithms.components.gpu.loop import ComponentsLoop
from bigbfs.algorithms.components.gpu.streamed import StreamedComponents
from bigbfs.config import DeviceProfile
from bigbfs.engines.gpu.placement import steps
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.gpu.streamed import placement as streamed_placement
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph

Traversal = BfsLoop | StreamedBfs
Components = ComponentsLoop | StreamedComponents


def kernel_names(strategy: Strategy, residency: str, *, prove: bool = False) -> list[tuple[str, str]]:
    """Return (file, kernel) of every kernel that placement (``prove``: rows too), BFS by ``strategy`` and components
    launch."""
    names = [("kernels/placement/place.cu", "place_rows"), *((cc.FILE, name) for name in cc.KERNELS)]
    if residency == "streamed":
        modules = (streamed_placement, streamed_bfs, streamed_components)
        return names + [(module.FILE, name) for module in modules for name in module.KERNELS]
    names += [(steps.FILE, name) for name in steps.KERNELS]
    if prove:
        names += [(steps.PROOF, name) for name in steps.PROOF_KERNELS]
    return names + [(file, name) for file in strategy.kernels for name in bfs.KERNELS]


def place(
    runtime: Runtime, adjacency: Adjacency, buffers: Buffers | None, *, mapped: bool, prove: bool, **options: Any
) -> PlacedAdjacency:
    """Return ``adjacency`` in place; options as ``PlacedAdjacency``. With ``buffers`` it is streamed through them, and
    not proved."""
    if buffers is not None:
        return StreamedAdjacency(runtime, adjacency, buffers, **options)
    return PlacedAdjacency(runtime, adjacency, mapped=mapped, prove=prove, **options)


def make_loops(
    runtime: Runtime,
    graph: Graph,
    out: PlacedAdjacency,
    incoming: PlacedAdjacency | None,
    strategy: Strategy,
    residency: str,
    scratch: Array,
    profile: DeviceProfile | None,
) -> tuple[Traversal, Components]:
    """Return what runs BFS and components on placed rows; ``scratch`` is the queue of the one, the labels of the
    other."""
    ids, codec = graph.ids, graph.codec
    if isinstance(out, StreamedAdjacency):
        assert incoming is None or isinstance(incoming, StreamedAdjacency)
        streamed = StreamedBfs(runtime, out, incoming, strategy, ids=ids, codec=codec)
        options = {"labels": scratch, "second": streamed.lend_parents, "wanted": streamed.wanted}
        return streamed, StreamedComponents(runtime, out, incoming, ids=ids, codec=codec, **options)
    resident = BfsLoop(
        runtime,
        out,
        incoming,
        strategy,
        ids=ids,
        codec=codec,
        residency=residency,
        queue=scratch,
        profile=profile,
    )
    return resident, ComponentsLoop(
        runtime, out, incoming, ids=ids, codec=codec, labels=scratch, second=resident.lend_parents
    )
