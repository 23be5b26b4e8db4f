"""Topological order: every vertex of a directed acyclic graph before those that it points to."""

from bigbfs.algorithms.registry import Algorithm

TOPOLOGICAL = Algorithm(
    name="toposort",
    command="toposort",
    summary="Topological order of a directed acyclic graph, in rounds; a cycle is named.",
    options="bigbfs.algorithms.topological.options:TopologicalOptions",
    result="bigbfs.algorithms.topological.result:TopologicalResult",
    oracle="bigbfs.algorithms.topological.oracle:TopologicalOracle",
    kernels="bigbfs.algorithms.topological.gpu.program:every_kernel",
    source="Kahn, Topological sorting of large networks, Comm. ACM 5 (1962); rounds: report 002, 3.2",
    needs=("directed",),
)
"""The entry of the registry."""
