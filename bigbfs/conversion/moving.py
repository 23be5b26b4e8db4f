"""A graph file in another order of its vertices: rows are read where they lie, renumbered and written in order.

No edge is sorted among those of other rows, and nothing is written but the result.

Takes arrays of n entries and two buffers. The old rows are mapped: their pages are the system's, which takes them back
when it needs them, and where they do not fit in ``options.memory`` they are read piece by piece and let go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bigbfs.conversion import cache
from bigbfs.conversion.memory import PROGRAM
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT
from bigbfs.conversion.orders.degree import degree_order_by
from bigbfs.conversion.orders.reorder import vertex_order
from bigbfs.conversion.report import Stopwatch
from bigbfs.conversion.targets import Targets
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.checksum import STRETCH
from bigbfs.formats.container.gatherer import Moved
from bigbfs.formats.container.moved import MovedGraph, gathered, save_moved, sides_of, writing_need
from bigbfs.graph import rows
from bigbfs.graph.adjacency import Adjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.graph.transposing import Csr
from bigbfs.graph.views import signed
from bigbfs.jit.workers import Workers, ranges, thread_count
from bigbfs.report.progress import Progress

_AT_ONCE = 1 << 16
"""Rows whose lengths are looked at together: they stay in a cache."""


@dataclass(frozen=True)
class Need:
    """Bytes that it takes: arrays of n entries and the largest row, and rows held in memory for a search over them."""

    arrays: int
    rows: int

    @property
    def least(self) -> int:
        """With the smallest buffers."""
        return PROGRAM + self.arrays + self.rows + 8 * STRETCH


def need(graph: Graph, options: ConvertOptions) -> Need:
    """Return what putting ``graph`` in another order takes."""
    width, n = graph.ids.itemsize, graph.n
    longest = _longest(graph.adjacency)
    kept = options.order == KEPT
    ordering = 2 * width * n if kept else (2 * 8 + 4 * width) * n + 8 * n * graph.flags.relabelled
    arrays = ordering + 8 * n + writing_need(n, longest, width)
    searched = options.order in ("bfs", "rcm") and (graph.flags.relabelled or graph.codec != "plain")
    sides = 1 if graph.flags.symmetric or graph.in_adjacency is None else 2
    return Need(arrays, searched * sides * (width * graph.m + 3 * 8 * n))


def _longest(adjacency: Adjacency) -> int:
    """Return the ids of the longest row; no array of all lengths is made for it."""
    if not isinstance(adjacency, PlainAdjacency):
        return int(adjacency.degrees().max(initial=0))
    parts = ranges(adjacency.n, -(-adjacency.n // _AT_ONCE)) if adjacency.n else []
    return max((int(np.diff(signed(adjacency.indptr)[a : b + 1]).max()) for a, b in parts), default=0)


def write_moved(
    graph: Graph,
    targets: Targets,
    options: ConvertOptions,
    provenance: cache.Provenance,
    watch: Stopwatch,
    confirm: Callable[[], object],
) -> None:
    """Write ``graph``, a file's, in the order of ``options``; ``confirm`` is called before a file gets its name.

    Raises
    ------
    FormatError
        The graph's file is damaged.
    FileAccessError
        A file cannot be written; nothing is left behind.
    """
    threads = thread_count(options.threads)
    told = Progress(options.progress)
    assert graph.path is not None and options.memory is not None
    with watch.phase("read"), told.step("check the checksums"):
        csrbin.require_checksums(graph.path)  # the new file gets checksums of its own: damage must not become sound
        graph.require_structure()
    with watch.phase("build"), told.step("order the vertices"):
        moved = _moved(graph, options, threads, told)
        what = _described(graph, moved, options, provenance)
    room = options.memory - PROGRAM - need(graph, options).arrays
    edges = graph.m * len(what.sides)
    codec = "varint" if targets.plain is None else "plain"
    with watch.phase("write"), told.step(f"write {targets.files[0]} in order", edges, "edges"):
        save_moved(
            what, moved, targets.files[0], codec, threads=threads, room=room, confirm=confirm, advance=told.advance
        )
    if targets.plain is not None and targets.compressed is not None:
        with watch.phase("compress"), told.step(f"compress to {targets.compressed}", edges, "edges"):
            del moved
            with Graph.open(targets.plain) as plain:
                cache.write_compressed(plain, targets.plain, targets.compressed, provenance, told.advance)


def _described(graph: Graph, moved: Moved, options: ConvertOptions, provenance: cache.Provenance) -> MovedGraph:
    """Return what is written beside the rows, and which rows."""
    flags = options.flags(symmetric=graph.flags.symmetric, self_loops=0)
    labels, first_id = graph.original(moved.rows), 0
    before = {"provenance": csrbin.provenance_bytes(provenance)}
    if not options.reordered and int(labels[-1]) - int(labels[0]) == graph.n - 1:
        first_id = int(labels[0])
    else:
        before["labels"] = labels
    if graph.names is not None:
        before |= graph.names.arrays()
    sides = sides_of(graph)
    return MovedGraph(before, sides if options.in_edges else sides[:1], csrbin.flag_names(flags), first_id)


def _moved(graph: Graph, options: ConvertOptions, threads: int, told: Progress) -> Moved:
    """Return the new numbers: the ascending order of the original ids first, and from there on the order asked for.

    Where the order is kept they are the old ones.
    """
    if options.order == KEPT:
        same = np.arange(graph.n, dtype=graph.ids)
        return Moved(same, same)
    by_id = _by_id(graph) if graph.flags.relabelled else None
    if not options.reordered:
        assert by_id is not None
        return by_id
    if options.order == "degree":
        degrees = graph.degrees()
        with Workers(threads) as workers:
            order, rank = degree_order_by(workers, threads, degrees if by_id is None else degrees[by_id.rows])
    else:
        name, into = str(graph.path), None
        out = _in_memory(graph.adjacency, by_id, threads, name)
        if not graph.flags.symmetric and graph.in_adjacency is not None:
            into = _in_memory(graph.in_adjacency, by_id, threads, f"{name} (in-neighbours)")
        assert options.order is not None
        order, rank = vertex_order(options.order, out, into, told)
    return Moved(order, rank) if by_id is None else Moved(by_id.rows[order], rank[by_id.numbers])


def _by_id(graph: Graph) -> Moved:
    """Return the numbers that the vertices have in ascending order of their original ids."""
    order = np.argsort(np.asarray(graph.labels), kind="stable").astype(graph.ids)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(graph.n, dtype=graph.ids)
    return Moved(order, numbers)


def _in_memory(adjacency: Adjacency, by_id: Moved | None, threads: int, name: str) -> Csr:
    """Return sound rows as a search walks them: where they lie if that can be."""
    if by_id is not None:
        plain = gathered(by_id, adjacency, threads, name)
    elif isinstance(adjacency, PlainAdjacency):
        rows.require_ids(adjacency, name)
        plain = adjacency
    else:
        from bigbfs.graph import varint

        plain = varint.decode(adjacency)
    return signed(plain.indptr), plain.indices


def can_be_moved(graph: Graph, options: ConvertOptions) -> bool:
    """Tell whether that stays within the memory that may be used."""
    assert options.memory is not None
    return need(graph, options).least <= options.memory
