"""A generated graph as a file: text (.txt, .el, also .gz and .zst) or a graph file (.csrbin, .ccsr), by suffix.

A graph file is made in memory where that may hold the graph and is faster, else a slice of its rows at a time: the same
file.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bigbfs.errors import UsageError
from bigbfs.formats.atomic import require_writable
from bigbfs.formats.container.compress import save_compressed
from bigbfs.formats.container.csrbin import save_graph
from bigbfs.formats.ours import GRAPH, require_ours
from bigbfs.generate import PROGRAM, assemble, edge_bytes, generate, made, require_seed
from bigbfs.generate.catalogue import find, resolve
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import thread_count
from bigbfs.report.progress import SILENT, Progress
from bigbfs.sizes import byte_count

if TYPE_CHECKING:
    from bigbfs.conversion.sorting.lines import BuildCounts
    from bigbfs.generate.sliced import Shape
    from bigbfs.graph.edges import EdgeList

LEAST_LINE = len("0 0\n")
TEXT = (".txt", ".el")
PACKED = ("", ".gz", ".zst")
GRAPHS = (".csrbin", ".ccsr")
SLICED_FROM = 1 << 26
"""Edges from which on the order by degree is made sooner in slices than in memory (docs/conversion.md)."""


@dataclass(frozen=True)
class GenerateReport:
    """What was made.

    Attributes
    ----------
    kind, seed, parameters
        What was asked for, with the defaults that were used.
    output, output_bytes
        The file.
    vertices
        Vertices, the isolated ones included.
    edges
        Directed edges stored in a graph file; lines of a text file (each undirected edge is one line).
    self_loops, duplicates
        Dropped on the way into a graph file; None for a text file, which keeps them.
    seconds
        From the call to the closed file.
    edges_per_second
        Edges generated (lines) in a second of that.
    peak_rss_bytes
        Largest resident memory of the process so far.
    notes
        What there is to tell: that a graph of other inputs was replaced.
    """

    kind: str
    seed: int
    parameters: dict[str, Any]
    output: str
    output_bytes: int
    vertices: int
    edges: int
    self_loops: int | None
    duplicates: int | None
    seconds: float
    edges_per_second: float
    peak_rss_bytes: int
    notes: tuple[str, ...] = ()


def write_graph(
    kind: str,
    path: Path,
    *,
    seed: int = 1,
    order: str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    force: bool = False,
    told: Progress = SILENT,
    **parameters: Any,
) -> GenerateReport:
    """Generate a graph and write it to ``path``, in the format that its suffix names; ``told`` names each step.

    Parameters
    ----------
    order
        ``"degree"`` or ``"original"``; for graph files only.
    force
        Also replace a file that bigbfs did not write.
    memory
        Bytes for the process, ``"2GiB"``, or ``"50%"`` of the free ones; None: half. Graphs that take more are sliced.
    seed, threads, **parameters
        As for :func:`bigbfs.generate.generate`.

    Raises
    ------
    UsageError
        The kind is unknown, a parameter does not fit it, the suffix is none of ours, or the file is not.
    DoesNotFitError
        It takes more memory than it may.
    FileAccessError
        The file cannot be written; nothing is left of it.
    """
    from bigbfs.conversion.cache import told_of_generated

    start = time.perf_counter()
    _require(path, order if is_text(path) else None, force)
    memory = None if memory is None else byte_count("memory", memory, of_free=True)
    complete = resolve(find(kind), parameters)
    note = None if is_text(path) else told_of_generated(path)
    told.now(f"generate {kind}")
    counts: BuildCounts | None = None
    if is_text(path):
        lines = stored = _write_lines(kind, seed, complete, path, threads, memory, told)
    elif _fits(kind, complete, order, threads, memory):
        edges = generate(kind, seed=seed, threads=threads, memory=memory, **parameters)
        lines, stored, counts = _write_whole(kind, edges, path, order, threads, memory, told)
    else:
        lines, stored, counts = _write_slices(kind, seed, complete, path, order, threads, memory, told)
    report = _report(kind, seed, complete, path, lines, stored, counts, time.perf_counter() - start)
    return report if note is None else replace(report, notes=(note,))


def _report(
    kind: str,
    seed: int,
    complete: dict[str, Any],
    path: Path,
    lines: int,
    stored: int,
    counts: BuildCounts | None,
    seconds: float,
) -> GenerateReport:
    """Return what is told of the file."""
    return GenerateReport(
        kind=kind,
        seed=seed,
        parameters=shown(kind, complete),
        output=str(path),
        output_bytes=path.stat().st_size,
        vertices=complete["vertices"],
        edges=stored,
        self_loops=None if counts is None else counts.self_loops,
        duplicates=None if counts is None else counts.duplicates,
        seconds=seconds,
        edges_per_second=lines / seconds,
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def _require(path: Path, order: str | None, force: bool) -> None:
    """Refuse, before anything is drawn, an ``order`` for text, and a file that cannot be or must not be written."""
    if order is not None:
        raise UsageError(
            f"for graph files, and {path} is text, which lists edges as they are drawn", about=(("order", order),)
        )
    require_writable(path)
    require_ours(path, force, replaces="" if is_text(path) else GRAPH)


def _fits(kind: str, complete: dict[str, Any], order: str | None, threads: int | None, memory: int | None) -> bool:
    """Tell whether the graph is made in memory: it fits and is not too large, or its edges are not drawn one by one.

    Where it fits in neither way, the one that takes less says what it takes.
    """
    from bigbfs.conversion.memory import build_need, default_allowance, require

    held = edge_bytes(kind, complete)
    lines = held // 2 // id_dtype(complete["vertices"]).itemsize
    both, reordered = not find(kind).directed, order == "degree"
    drawn = find(kind).drawn
    if drawn and reordered and lines >= SLICED_FROM:
        return False
    need = build_need(complete["vertices"], lines, held, both=both, reordered=reordered)
    if memory is not None:
        in_memory = not drawn or need + PROGRAM <= max(memory, _shape(kind, complete, order, threads).need())
        if in_memory:
            require(need + PROGRAM, memory, what=f"a {kind} graph of {complete['vertices']:,} vertices")
        return in_memory
    return (
        not drawn or max(need - held // 2, held) <= default_allowance()
    )  # when it is built, the edges are no longer free


def _shape(kind: str, complete: dict[str, Any], order: str | None, threads: int | None) -> Shape:
    """Return what slices of the graph take."""
    from bigbfs.generate.sliced import Shape

    return Shape(complete["vertices"], find(kind).directed, order == "degree", thread_count(threads))


def _write_whole(
    kind: str,
    edges: EdgeList,
    path: Path,
    order: str | None,
    threads: int | None,
    memory: int | None,
    told: Progress,
) -> tuple[int, int, BuildCounts]:
    """Write a graph file that is made in memory; return lines, edges stored, and what was left out."""
    from bigbfs.conversion import memory as conversion

    told.now("build")
    lines = len(edges.src)
    if memory is not None:  # it fits; building knows how many edges there are, and counts who has read files
        memory += lines + max(0, conversion.PROGRAM - PROGRAM)
    graph, counts = assemble(kind, edges, order=order or "original", threads=threads, memory=memory)
    _save(graph, path, told)
    return lines, graph.m, counts


def _write_slices(
    kind: str,
    seed: int,
    complete: dict[str, Any],
    path: Path,
    order: str | None,
    threads: int | None,
    memory: int | None,
    told: Progress,
) -> tuple[int, int, BuildCounts]:
    """Write a graph file that is not made in memory; return lines, edges stored, and what was left out."""
    from bigbfs.generate.sliced import write_sliced

    workers = thread_count(threads)
    require_seed(seed)
    shape = _shape(kind, complete, order, threads)
    return write_sliced(kind, lambda: made(kind, seed, workers, complete), path, shape, memory=memory, told=told)


def _write_lines(
    kind: str,
    seed: int,
    complete: dict[str, Any],
    path: Path,
    threads: int | None,
    memory: int | None,
    told: Progress,
) -> int:
    """Write text, drawn as it is written where edges are drawn one by one; return lines."""
    from bigbfs.conversion.memory import require
    from bigbfs.formats.shards.room import require_room
    from bigbfs.generate.arrays import Drawn
    from bigbfs.generate.text import text_need, write_text

    n, workers, held = complete["vertices"], thread_count(threads), edge_bytes(kind, complete)
    require_seed(seed)
    guessed = held // 2 // id_dtype(n).itemsize
    need = text_need(path.suffix, n, guessed, workers) + (0 if find(kind).drawn else held)
    program = 0 if memory is None else PROGRAM
    require(need + program, memory, what=f"text of a {kind} graph of {n:,} vertices")
    if path.suffix in TEXT:
        require_room(path, LEAST_LINE * guessed, "it takes at least")
    edges = made(kind, seed, workers, complete)
    lines = edges.edges if isinstance(edges, Drawn) else len(edges[0])
    told.now(f"write {path}", lines, "lines")
    write_text(path, edges, describe(kind, seed, complete, lines), workers, told.advance)
    return lines


def _save(graph: Graph, path: Path, told: Progress) -> None:
    if path.suffix == ".ccsr":
        told.now(f"write {path}", graph.m, "edges")
        save_compressed(graph, path, encoded=told.advance)
    else:
        told.now(f"write {path}", sum(array.nbytes for array in graph.adjacency.arrays().values()), "B")
        save_graph(graph, path, progress=told.advance)


def is_text(path: Path) -> bool:
    """Tell whether the suffix of ``path`` names a text file; else it names a graph file.

    Raises
    ------
    UsageError
        It names neither.
    """
    name = path.name
    if name.endswith(tuple(suffix + packed for suffix in TEXT for packed in PACKED)):
        return True
    if name.endswith(GRAPHS):
        return False
    raise UsageError(
        f"{path}: the suffix says what to write: {', '.join(TEXT)} (text, also with .gz or .zst), .csrbin or .ccsr"
    )


def shown(kind: str, complete: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that people know, without those not used."""
    return {p.name: complete[p.name] for p in find(kind).parameters if complete[p.name] is not None}


def describe(kind: str, seed: int, complete: dict[str, Any], lines: int) -> list[str]:
    """Return the comment lines of a text file: how it was made, vertices and edges."""
    made = [f"{name} {value}" for name, value in shown(kind, complete).items()]
    direction = "directed: say so when it is converted" if find(kind).directed else "undirected, each edge once"
    return [
        f"bigbfs generate {kind}: {', '.join(made)}, seed {seed}",
        direction,
        f"Nodes: {complete['vertices']} Edges: {lines}",
    ]
