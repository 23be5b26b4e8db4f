"""Write some of a graph's vertices and the edges between them as a graph file of its own.

The vertices keep their original ids and their order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.formats.atomic import require_writable
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.gatherer import Moved
from bigbfs.formats.container.moved import MovedGraph, save_moved, sides_of
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.graph import Graph
from bigbfs.graph.name_pages import names_of
from bigbfs.jit.workers import thread_count
from bigbfs.sizes import free_memory


def check_target(path: Path) -> None:
    """Refuse, before any work is done, a file that :func:`save_part` cannot write.

    Raises
    ------
    UsageError
        The name ends in neither .csrbin nor .ccsr.
    FileAccessError
        It cannot be written.
    """
    if path.suffix not in csrbin.SUFFIXES.values():
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
    graph.require_whole()
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
    before: dict[str, np.ndarray] = {} if labels is None else {"labels": np.asarray(labels, np.int64)}
    if names is not None:
        before |= names.arrays()
    flags = csrbin.flags_to_save(Graph(graph.adjacency, graph.flags, labels=labels, first_id=first_id))
    what = MovedGraph(before, sides_of(graph), flags, 0 if labels is not None else first_id)
    moved = Moved(kept.astype(graph.ids), numbers)
    threads = thread_count()
    codec = "varint" if path.suffix == csrbin.SUFFIXES["varint"] else "plain"
    save_moved(what, moved, path, codec, threads=threads, room=free_memory() // 2)
