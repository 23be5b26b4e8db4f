"""A graph file whose conversion would give its own rows again: they are taken over, not sorted once more.

So are the rows of one whose vertices only get other numbers (another order, or the original one again where that is
asked for): each row is the row that it was, renumbered. Whether that is so follows from the options, the header and the
labels. Flags and in-neighbours are believed here as every command believes them (``bigbfs check`` looks whether they
are right); whoever writes the rows compares the file's checksums first, and checks offsets, labels and ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bigbfs.conversion.memory import PROGRAM
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT
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
    graph = None if options.reordered and options.order != KEPT else _opened(inputs, options)
    if graph is None:
        return None
    path = Path(inputs[0])
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


def movable_graph(inputs: Sequence[str | Path], options: ConvertOptions) -> Graph | None:
    """Return the graph of the only input, open, if the result is the same one with other numbers, else None.

    Raises
    ------
    FormatError, FileAccessError
        The input is a graph file that cannot be opened.
    """
    graph = _opened(inputs, options)
    if graph is None or (graph.n > 0 and graph.ids == id_dtype(graph.n) and _is_moved(graph, options)):
        return graph
    graph.close()
    return None


def _is_moved(graph: Graph, options: ConvertOptions) -> bool:
    """Tell whether only the numbers of the vertices change, and with what is known of the edges that can be done."""
    if options.keep_ids and (graph.labels is not None or graph.first_id):
        return False
    if not options.reordered or options.order == KEPT:
        return graph.flags.relabelled and _has_these_edges(graph, options)
    if graph.flags.symmetric:  # any order but the original one turns the rows round, and sees that they are the same
        return _is_simple(graph, options)
    return graph.in_adjacency is not None and _has_these_edges(graph, replace(options, in_edges=True))


def _opened(inputs: Sequence[str | Path], options: ConvertOptions) -> Graph | None:
    path = Path(inputs[0])
    if len(inputs) != 1 or options.format not in (None, "csrbin") or not _is_container(path):
        return None
    return Graph.open(path)


def _is_container(path: Path) -> bool:
    if str(path) == STANDARD_INPUT or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return stream.read(len(layout.MAGIC)) == layout.MAGIC
    except OSError:  # whoever reads it next says why not
        return False


def _has_these_edges(graph: Graph, options: ConvertOptions) -> bool:
    """Tell whether the rows are those of the result: no line to drop, to add or to turn round."""
    flags = graph.flags
    if not _is_simple(graph, options):
        return False
    if not options.directed or flags.symmetric:
        return flags.symmetric and (options.in_edges or not options.directed)
    if graph.in_adjacency is None:
        return not options.in_edges
    # a symmetric graph that nobody flagged as one: building would
    return not _same_rows(graph.adjacency, graph.in_adjacency)


def _is_simple(graph: Graph, options: ConvertOptions) -> bool:
    return not options.keep_duplicates and graph.flags.deduplicated and graph.flags.loops_removed


def _same_rows(one: Adjacency, other: Adjacency) -> bool:
    arrays = zip(one.arrays().values(), other.arrays().values(), strict=True)
    return all(np.array_equal(*pair) for pair in arrays)


def _has_these_vertices(graph: Graph, options: ConvertOptions) -> bool:
    """Tell whether the vertices keep their numbers, their ids and the width of these."""
    if graph.n == 0 or graph.ids != id_dtype(graph.n):
        return False
    if graph.labels is None:
        return graph.first_id == 0 or not options.keep_ids
    if options.keep_ids or graph.flags.relabelled:
        return graph.flags.relabelled and options.order == KEPT and not options.keep_ids
    labels = np.asarray(graph.labels)
    return int(labels[-1]) - int(labels[0]) != graph.n - 1  # else they would need no labels


def _fits(graph: Graph, path: Path, options: ConvertOptions) -> bool:
    """Tell whether the mapped file and what is decoded of it stay within the memory that may be used."""
    need = PROGRAM + path.stat().st_size + thread_count(options.threads) * _BUFFERS
    if graph.codec == "varint":
        sides = 1 + (graph.in_adjacency is not None and not graph.flags.symmetric)
        need += sides * (graph.ids.itemsize * graph.m + 3 * 8 * graph.n)
    assert options.memory is not None
    return need <= options.memory
