"""Breadth-first search: levels and parents from one source."""

from bigbfs.algorithms.registry import Algorithm

BFS = Algorithm(
    name="bfs",
    command="bfs",
    summary="Breadth-first search from one or many sources.",
    options="bigbfs.algorithms.bfs.options:BfsOptions",
    result="bigbfs.algorithms.bfs.result:BfsResult",
    oracle="bigbfs.algorithms.bfs.oracle:BfsOracle",
    kernels="bigbfs.algorithms.bfs.gpu.program:every_kernel",
    source="Beamer et al., Direction-Optimizing Breadth-First Search, SC'12",
    table="bigbfs.algorithms.bfs.strategies:STRATEGIES",
)
"""The entry of the registry."""
