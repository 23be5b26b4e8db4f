"""An engine with words on either backend, for tools and tests that work on internal vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bigbfs.engines.backends import GPU_OPTIONS
from bigbfs.graph.graph import Graph

if TYPE_CHECKING:
    from bigbfs.algorithms.cpu_engine import CpuEngine
    from bigbfs.algorithms.gpu_engine import GpuEngine


def internal_engine(graph: Graph, *, backend: str, **where: Any) -> CpuEngine | GpuEngine:
    """Return ``graph`` placed on ``backend``, ``"cpu"`` or ``"gpu"``; other options as the engine's
    own, those that are for the other backend left out.

    Raises
    ------
    FormatError
        The graph's file is damaged.
    NoDeviceError, DoesNotFitError, UsageError
        As the engine's.
    """
    if backend == "gpu":
        from bigbfs.algorithms.gpu_engine import GpuEngine

        return GpuEngine(graph, **{name: value for name, value in where.items() if name != "threads"})
    from bigbfs.algorithms.cpu_engine import CpuEngine

    graph.require_valid()
    return CpuEngine(graph, **{name: value for name, value in where.items() if name not in GPU_OPTIONS})
