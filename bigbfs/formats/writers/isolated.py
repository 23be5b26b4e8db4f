"""What a list of edges cannot say of a graph: its vertices without an edge, and whether an edge leads both ways."""

from __future__ import annotations

import numpy as np

from bigbfs.formats.container.describe import degree_blocks
from bigbfs.formats.writers import writers
from bigbfs.graph.graph import Graph


def edge_notes(graph: Graph, what: str) -> tuple[int, tuple[str, ...]]:
    """Return the vertices without an edge, and what to tell of a file of edges, called ``what``, that lacks them.

    Raises
    ------
    FormatError
        The graph is damaged.
    """
    isolated = isolated_vertices(graph)
    notes = []
    if isolated:
        keep = ", ".join(writer.name for writer in writers().values() if writer.numbered_from is not None)
        notes.append(f"{what} cannot express isolated vertices: {isolated:,} are missing ({keep} keep them)")
    if graph.flags.directed:
        notes.append(f"{what} does not say that its edges lead one way: convert it as a directed graph")
    return isolated, tuple(notes)


def isolated_vertices(graph: Graph) -> int:
    """Return how many vertices have no edge."""
    from bigbfs.graph.chunks import chunks

    if not graph.flags.directed:
        return sum(int(np.count_nonzero(degrees == 0)) for degrees in degree_blocks(graph))
    touched = np.concatenate([np.zeros(0, np.bool_), *(degrees > 0 for degrees in degree_blocks(graph))])
    for _, part in chunks(graph.adjacency):
        touched[part.indices] = True
    return graph.n - int(np.count_nonzero(touched))
