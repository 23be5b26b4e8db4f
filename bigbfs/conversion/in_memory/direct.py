"""A graph file whose conversion would give its own rows again: they are taken over, not sorted once more.

Whether that is so follows from the options, the header and the labels. Flags and in-neighbours are believed here as
every command believes them (``bigbfs check`` looks whether they are right); whoever writes the rows compares the file's
checksums first, and checks offsets, labels and ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bigbfs.conversion.memory import PROGRAM
from bigbfs.conversion.options import ConvertOptions
from bigbfs.formats.container import layout
from bigbfs.formats.streams.sources import STANDARD_INPUT
from bigbfs.graph.adjacency import Adjacency, id_dtype
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import thread_count

_BUFFERS = 8 << 20
"""Bytes that each thread takes to encode."""


def finished_graph(inputs: Sequence[str | Path], options: ConvertOptions) -> Graph | None:
    """Return the graph of the only input, open and flagged as the result is, if nothing is to be built, else None.

    Raises
    ------
    FormatError, FileAccessError
        The input is a graph file that cannot be opened.
    """
    path = Path(inputs[0])
    if len(inputs) != 1 or options.format not in (None, "csrbin") or not _is_container(path):
        return None
    graph = Graph.open(path)
    if not (_has_these_edges(graph, options) and _has_these_vertices(graph, options) and _fits(graph, path, options)):
        graph.close()
        return None
    symmetric = graph.flags.symmetric
    flags = options.flags(symmetric=symmetric, self_loops=0)
    return Graph(
        graph.adjacency,
        flags,
        labels=graph.labels,
        first_id=graph.first_id,
        names=graph.names,
        in_adjacency=graph.in_adjacency if options.in_edges and not symmetric else None,
        m=graph.m,
        path=path,
        close=graph.close,
    )


def _is_container(path: Path) -> bool:
    if str(path) == STANDARD_INPUT or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return stream.read(len(layout.MAGIC)) == layout.MAGIC
    except OSError:  # whoever reads it next says why not
        return False


def _has_these_edges(graph: Graph, options: ConvertOptions) -> bool:
    """Tell whether the rows are those of the result: no line to drop, to add or to turn round, no other order."""
    flags = graph.flags
    if options.order != "original" or options.keep_duplicates or not (flags.deduplicated and flags.loops_removed):
        return False
    if not options.directed or flags.symmetric:
        return flags.symmetric and (options.in_edges or not options.directed)
    if graph.in_adjacency is None:
        return not options.in_edges
    # a symmetric graph that nobody flagged as one: building would
    return not _same_rows(graph.adjacency, graph.in_adjacency)


def _same_rows(one: Adjacency, other: Adjacency) -> bool:
    arrays = zip(one.arrays().values(), other.arrays().values(), strict=True)
    return all(np.array_equal(*pair) for pair in arrays)


def _has_these_vertices(graph: Graph, options: ConvertOptions) -> bool:
    """Tell whether the vertices keep their numbers, their ids and the width of these."""
    if graph.n == 0 or graph.ids != id_dtype(graph.n):
        return False
    if graph.labels is None:
        return graph.first_id == 0 or not options.keep_ids
    labels = np.asarray(graph.labels)
    consecutive = int(labels[-1]) - int(labels[0]) == graph.n - 1  # they would need no labels
    return not (graph.flags.relabelled or options.keep_ids or consecutive)


def _fits(graph: Graph, path: Path, options: ConvertOptions) -> bool:
    """Tell whether the mapped file and what is decoded of it stay within the memory that may be used."""
    need = PROGRAM + path.stat().st_size + thread_count(options.threads) * _BUFFERS
    if graph.codec == "varint":
        sides = 1 + (graph.in_adjacency is not None and not graph.flags.symmetric)
        need += sides * (graph.ids.itemsize * graph.m + 3 * 8 * graph.n)
    assert options.memory is not None
    return need <= options.memory
