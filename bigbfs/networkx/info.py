"""What NetworkX shows of this backend, made without importing NumPy, Numba or NetworkX.

The group ``networkx.backend_info`` of the package's entry points names :func:`get_info`.
"""

from __future__ import annotations

from typing import Any

_ROWS = "Neighbours come in the order of the graph, of a graph file in ascending order of id."
_LENGTHS = "Of a graph file, lengths from or to one node come by length, then by id."
_PARALLEL = "By all threads."
_BOUNDS = "By bounds (Takes and Kosters), exact."
_MANY = "Many searches at once, by all threads or a GPU."
FUNCTIONS = {
    "bfs_edges": _ROWS,
    "bfs_tree": _ROWS,
    "bfs_predecessors": _ROWS,
    "bfs_successors": _ROWS,
    "bfs_layers": _ROWS,
    "descendants_at_distance": "",
    "descendants": "",
    "has_path": "",
    "shortest_path_length": f"{_LENGTHS} Without weights.",
    "single_source_shortest_path_length": _LENGTHS,
    "single_target_shortest_path_length": _LENGTHS,
    "all_pairs_shortest_path_length": "",
    "average_shortest_path_length": f"{_MANY} Without weights.",
    "diameter": f"{_BOUNDS} Without weights.",
    "radius": f"{_BOUNDS} Without weights.",
    "center": f"{_BOUNDS} Without weights.",
    "periphery": f"{_BOUNDS} Without weights.",
    "eccentricity": f"{_BOUNDS} Without weights, and without lengths of paths.",
    "closeness_centrality": f"{_MANY} Without distances on edges.",
    "harmonic_centrality": f"{_MANY} Without distances on edges; sums are equal to rounding.",
    "connected_components": _PARALLEL,
    "number_connected_components": _PARALLEL,
    "is_connected": _PARALLEL,
    "node_connected_component": _PARALLEL,
    "weakly_connected_components": _PARALLEL,
    "number_weakly_connected_components": _PARALLEL,
    "is_weakly_connected": _PARALLEL,
    "topological_generations": "",
}
"""The functions of NetworkX that this backend has, and what there is to say of each."""


def get_info() -> dict[str, Any]:
    """Return name, package, links and functions, as NetworkX asks for them."""
    return {
        "backend_name": "bigbfs",
        "project": "bigbfs",
        "package": "bigbfs",
        "short_summary": "BFS, distances, components and centralities by compiled code; graph files are graphs.",
        "functions": {name: {"additional_docs": notes} if notes else {} for name, notes in FUNCTIONS.items()},
    }
