"""Write some of a graph's vertices and the edges between them as a graph file of its own.

The vertices keep their original ids and their order. Edges are taken in chunks and go to an unnamed file beside the
target until the sections are written, so that memory holds arrays of n entries only.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.formats.atomic import access_error, require_writable
from bigbfs.formats.container.compress import save_compressed
from bigbfs.formats.container.csrbin import SUFFIXES, save_graph
from bigbfs.graph.adjacency import Adjacency, PlainAdjacency, id_dtype
from bigbfs.graph.chunks import chunks
from bigbfs.graph.graph import Graph
from bigbfs.graph.name_pages import names_of


def check_target(path: Path) -> None:
    """Refuse, before any work is done, a file that :func:`save_part` cannot write.

    Raises
    ------
    UsageError
        The name ends in neither .csrbin nor .ccsr.
    FileAccessError
        It cannot be written.
    """
    if path.suffix not in SUFFIXES.values():
        raise UsageError(f"{path}: a graph is written as .csrbin (plain) or .ccsr (compressed); name it so")
    require_writable(path)


def save_part(graph: Graph, keep: np.ndarray, path: Path) -> None:
    """Write the vertices ``keep`` of ``graph`` and the edges between them to ``path``.

    Parameters
    ----------
    keep
        bool, one per vertex (internal). No edge may lead from a vertex in it to one outside: a union of components.
    path
        .csrbin or .ccsr.

    Raises
    ------
    UsageError
        The suffix is another.
    FileAccessError
        It cannot be written; nothing is left behind.
    FormatError
        The graph's file is damaged.
    """
    check_target(path)
    numbers = np.cumsum(keep, dtype=np.uint64) - np.uint64(1)
    kept = np.flatnonzero(keep)
    numbers = numbers.astype(id_dtype(len(kept)))
    labels, first_id, names = graph.labels, graph.first_id, graph.names
    if len(kept) < graph.n:
        labels, first_id = graph.original(kept), 0
        if names is not None:  # the ranks of those that are kept, among themselves
            named = np.zeros(graph.n, bool)
            named[labels] = True
            names = names_of(names.stretches(), named)
            labels = (np.cumsum(named, dtype=np.int64) - 1)[labels] if graph.flags.relabelled else None
    twins = graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency
    with ExitStack() as files:
        parts = []
        for adjacency in (graph.adjacency, graph.in_adjacency) if twins else (graph.adjacency,):
            assert adjacency is not None
            try:
                stream = files.enter_context(tempfile.TemporaryFile(dir=path.parent))
                parts.append(_rows(adjacency, keep, numbers, stream))
            except OSError as error:
                raise access_error(path, error, "write") from error
        backward = parts[1] if twins else None
        part = Graph(parts[0], graph.flags, labels=labels, first_id=first_id, names=names, in_adjacency=backward)
        (save_compressed if path.suffix == SUFFIXES["varint"] else save_graph)(part, path)


def _rows(adjacency: Adjacency, keep: np.ndarray, numbers: np.ndarray, stream: BinaryIO) -> PlainAdjacency:
    """Return the rows ``keep`` with vertices renumbered by ``numbers``; the ids lie in ``stream``, which is mapped."""
    degrees = adjacency.degrees()[keep]
    indptr = np.zeros(len(degrees) + 1, np.uint64)
    np.cumsum(degrees, out=indptr[1:].view(np.int64))
    m = int(indptr[-1])
    indices = np.empty(0, numbers.dtype)
    if m:
        os.posix_fallocate(stream.fileno(), 0, m * numbers.itemsize)  # a map that runs out of disk dies by a signal
        indices = np.memmap(stream, numbers.dtype, "r+", shape=(m,))
    end = 0
    for first, part in chunks(adjacency):
        wanted = np.repeat(keep[first : first + part.n], part.degrees())
        ids = numbers[part.indices[wanted]]
        indices[end : end + len(ids)] = ids
        end += len(ids)
    return PlainAdjacency(indptr, indices)
