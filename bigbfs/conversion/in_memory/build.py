"""From edge lists to a Graph, in memory.

In: EdgeLists (original ids). Out: a plain Graph with sorted rows, and what was counted on the way. An undirected
graph holds each edge both ways; duplicates and self-loops go unless they are kept. A self-loop is stored once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bigbfs.conversion.in_memory.relabel import PASSES, Vertices, find_vertices, number_lines
from bigbfs.conversion.memory import ON_DISK, PROGRAM, SPILLED, build_need, require
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT
from bigbfs.conversion.orders.reorder import renumber, vertex_order
from bigbfs.conversion.sorting.lines import BuildCounts, Lines, rows_from_lines
from bigbfs.conversion.sorting.rule import Meaning, meaning
from bigbfs.errors import RemedyLike
from bigbfs.graph.adjacency import PlainAdjacency, id_dtype
from bigbfs.graph.coming import coming_rows
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.graph import Graph
from bigbfs.graph.transposing import Csr, Loose, transpose
from bigbfs.jit.workers import thread_count
from bigbfs.report.progress import SILENT, Progress


def build_graph(
    src: np.ndarray,
    dst: np.ndarray,
    n: int | None = None,
    *,
    first_id: int = 0,
    options: ConvertOptions | None = None,
) -> tuple[Graph, BuildCounts]:
    """Build a graph of the edges ``src[i] -> dst[i]``; the arrays are left as they are.

    Parameters
    ----------
    src, dst
        uint32 or uint64, shape (lines,): ids.
    n, first_id
        The vertices are ``first_id`` to ``first_id + n - 1``; with None those whose ids occur.
    options
        Undirected, deduplicated and without self-loops by default.

    Raises
    ------
    InputError
        An id is outside the ``n`` declared ones.
    DoesNotFitError
        The build would take more than ``options.memory``.
    """
    edges = EdgeList(src, dst, first_id=first_id, declared_n=n)
    return _build([edges], options or ConvertOptions(), reuse=False)


def build(
    lists: list[EdgeList], options: ConvertOptions, told: Progress = SILENT, *, coming: bool = False
) -> tuple[Graph, BuildCounts]:
    """Build one graph of all edge lists. The list is emptied and its arrays are overwritten or freed on the way.

    With ``coming`` the rows may be a :class:`bigbfs.graph.coming.ComingAdjacency`, of which nothing but a file can be
    made.

    Raises
    ------
    InputError
        An id is outside what its input declares.
    UsageError
        ``keep_duplicates`` with inputs of which some list every edge in both directions and others do not.
    DoesNotFitError
        The build would take more than ``options.memory``.
    """
    return _build(lists, options, reuse=True, told=told, coming=coming)


def expand(lists: list[EdgeList]) -> None:
    """Add the other direction of every edge to the lists whose entries stand for both."""
    for edges in lists:
        if edges.one_way_means_both:
            other = edges.src != edges.dst
            edges.src, edges.dst = (
                np.concatenate((edges.src, edges.dst[other])),
                np.concatenate((edges.dst, edges.src[other])),
            )
            edges.one_way_means_both = False


def _build(
    lists: list[EdgeList], options: ConvertOptions, *, reuse: bool, told: Progress = SILENT, coming: bool = False
) -> tuple[Graph, BuildCounts]:
    threads = thread_count(options.threads)
    shape = meaning(lists, options)
    if shape.expand:
        expand(lists)
    told.now("build: number the vertices", PASSES * sum(2 * len(edges.src) for edges in lists), "ids")
    vertices, numbering = find_vertices(lists, keep_ids=options.keep_ids, threads=threads, told=told)
    held = sum(edges.src.nbytes + edges.dst.nbytes for edges in lists)
    kept = _kept_order(lists, vertices) if options.order == KEPT else None
    options = replace(options, order="original") if options.order == KEPT and kept is None else options
    lines_read, reordered = sum(len(edges.src) for edges in lists), options.reordered
    need = build_need(vertices.n, lines_read, held, both=shape.both, reordered=reordered)
    if options.memory is not None:  # what the whole process may take
        need += PROGRAM
    remedies: tuple[RemedyLike, ...] = (("keep_ids", True),) if options.keep_ids else ()
    if options.order not in SPILLED:
        remedies += (ON_DISK,)
    require(need, options.memory, already_held=held, remedies=remedies)
    lines = number_lines(lists, vertices, numbering, threads, reuse=reuse, told=told)
    del numbering
    loose, counts, spare = _sorted(lines, shape, options, threads, told, reuse=reuse)
    labels = vertices.labels
    if coming and not reordered and isinstance(loose, Loose):
        told.now("build: turn the rows round", int(loose.begins[-1]), "edges")
        rows = coming_rows(loose, threads, spare, told.advance)
        return _graph(rows, rows, vertices, labels, options, counts), counts
    out, into = _both_sides(loose, options, threads, told, spare)
    del loose, spare
    if options.order is not None and reordered:
        order, rank = vertex_order(options.order, out, into, told) if kept is None else kept
        sides = 1 if into is None or into is out else 2
        told.now("build: put the rows in order", 3 * sides * len(out[1]), "edges")
        out, into = renumber(out, into, order, rank, threads, told.advance)
        labels = _labels_in_order(vertices, order)
    forward = _adjacency(out)
    backward = forward if into is out else None if into is None or not options.in_edges else _adjacency(into)
    return _graph(forward, backward, vertices, labels, options, counts), counts


def _graph(
    out: PlainAdjacency,
    into: PlainAdjacency | None,
    vertices: Vertices,
    labels: np.ndarray | None,
    options: ConvertOptions,
    counts: BuildCounts,
) -> Graph:
    """Return the graph; ``into`` is ``out`` where it is symmetric."""
    symmetric = into is out
    flags = options.flags(symmetric=symmetric, self_loops=counts.self_loops)
    first_id = vertices.first_id if labels is None else 0
    return Graph(out, flags, labels=labels, first_id=first_id, in_adjacency=None if symmetric else into)


def _sorted(
    lines: Lines, shape: Meaning, options: ConvertOptions, threads: int, told: Progress, *, reuse: bool
) -> tuple[Csr | Loose, BuildCounts, np.ndarray]:
    """Sort the lines; see :func:`bigbfs.conversion.sorting.lines.rows_from_lines`."""
    told.now("build: sort", len(lines), "lines")
    return rows_from_lines(
        lines,
        threads,
        undirected=shape.both,
        copies=shape.copies,
        keep_loops=options.keep_self_loops,
        advance=told.advance,
        reuse=reuse,
    )


def _both_sides(
    rows: Csr | Loose, options: ConvertOptions, threads: int, told: Progress, spare: np.ndarray
) -> tuple[Csr, Csr | None]:
    """Return out-rows and in-rows: the same object where the graph is symmetric, None where nobody needs them."""
    if isinstance(rows, Loose):
        told.now("build: turn the rows round", int(rows.begins[-1]) + int(rows.before[-1]), "edges")
        out = transpose(rows, threads, head=True, spare=spare, advance=told.advance)
        return out, out
    if not options.in_edges and not options.reordered:
        return rows, None
    told.now("build: turn the rows round", 3 * len(rows[1]), "edges")
    out, into = rows, transpose(rows, threads, spare=spare, advance=told.advance)
    same = np.array_equal(out[0], into[0]) and np.array_equal(out[1], into[1])
    return out, out if same else into


def _kept_order(lists: list[EdgeList], vertices: Vertices) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (order, rank), as ``vertex_order`` does, of the vertices as the only input, a graph file, has them.

    None: it has them in the ascending order of their ids.
    """
    ids = lists[0].order if len(lists) == 1 else None
    if ids is None or len(ids) != vertices.n:
        return None
    place = ids - vertices.first_id if vertices.labels is None else np.searchsorted(vertices.labels, ids)
    order = place.astype(id_dtype(vertices.n))
    rank = np.empty_like(order)
    rank[order] = np.arange(vertices.n, dtype=order.dtype)
    return order, rank


def _labels_in_order(vertices: Vertices, order: np.ndarray) -> np.ndarray:
    if vertices.labels is not None:
        return vertices.labels[order]
    return order.astype(np.int64) + vertices.first_id


def _adjacency(rows: Csr) -> PlainAdjacency:
    """Return the arrays as an adjacency: offsets seen as uint64."""
    indptr, indices = rows
    return PlainAdjacency(indptr.view(np.uint64), indices)
