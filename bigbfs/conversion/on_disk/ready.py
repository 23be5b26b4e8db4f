"""Rows that come ready (a BVGraph's are sorted): written as they come, without a sort and without temporary files.

The in-neighbours are made by turning the rows round: the input is decoded once more, or a few times, each time for as
many columns as memory holds. Decoding again costs less than writing pairs and sorting them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bigbfs.conversion import cache
from bigbfs.conversion.on_disk.convert import Outcome
from bigbfs.conversion.on_disk.plan import make_plan
from bigbfs.conversion.on_disk.rows import Rows
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.work import NamedSections, Sources, Work, provenance_of
from bigbfs.conversion.on_disk.writing import GraphFile, Shape
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import Stopwatch
from bigbfs.conversion.targets import Targets, temporary
from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.atomic import replacing
from bigbfs.formats.bvgraph.file import BvGraph, Decoded
from bigbfs.formats.bvgraph.properties import parts
from bigbfs.formats.container import csrbin
from bigbfs.formats.readers.bvgraph import opened
from bigbfs.graph.views import frozen
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers, balanced_ranges, ranges, thread_count
from bigbfs.sizes import size_allowed, size_needed

_EDGES_AT_ONCE = 1 << 20
_LEAST_COLUMNS = 1 << 16
"""Bytes of in-neighbours that a pass is worth being made for."""


@njit(cache=True, nogil=True)
def count_columns(indices, low, high, counts):
    """Count the ids from ``low`` to ``high - 1``."""
    for i in range(len(indices)):
        column = np.int64(indices[i])
        if low <= column < high:
            counts[column] += 1


@njit(cache=True, nogil=True)
def place_rows(indices, degrees, first, low, high, cursor, origin, out):
    """Write the row of every id from ``low`` to ``high - 1`` to ``out``, where ``cursor[id - origin]`` says."""
    place = 0
    for row in range(len(degrees)):
        stop = place + degrees[row]
        while place < stop:
            column = np.int64(indices[place])
            if low <= column < high:
                out[cursor[column - origin]] = first + row
                cursor[column - origin] += 1
            place += 1


class _Ready:
    """One conversion of rows that come ready."""

    def __init__(self, work: Work, graph: BvGraph) -> None:
        self._work, self._graph = work, graph
        self._loops = 0

    def rows(self, name: str) -> Iterator[Decoded]:
        """Decode all rows."""
        work, shape = self._work, self._graph.shape
        keep = work.options.keep_self_loops
        self._loops = 0
        with work.told(shape.m, "arcs", name) as told:
            for found in self._graph.rows(work.threads, keep_loops=keep, memory=work.plan.room // 2):
                self._loops += found.loops
                yield found
                told.advance(len(found.indices))

    def write(self, counted: dict[str, int], confirm: Callable[[], object]) -> Outcome:
        """Write the files."""
        work, shape = self._work, self._graph.shape
        twins = work.options.in_edges
        into = np.zeros(shape.n if twins else 0, np.int64)
        if 3 * into.nbytes > work.plan.room:
            raise DoesNotFitError(
                f"the in-neighbours of {shape.n:,} vertices take {size_needed(3 * into.nbytes)} for their offsets "
                f"alone, and {size_allowed(work.plan.room)} may be used",
                remedies=(("in_edges", False), ("memory", None)),
            )
        where = Shape(shape.n, self._graph.ids, 0)
        with ExitStack() as second, ExitStack() as first:
            files, stacks = [], []
            for stack, path, codec in (
                (first, work.targets.plain, "plain"),
                (second, work.targets.compressed, "varint"),
            ):
                if path is not None:
                    stream = stack.enter_context(replacing(path))
                    files.append(GraphFile(stream, codec, where, work.scratch, provenance_of(work, counted, codec)))
                    stacks.append(stack)
            with work.watch.phase("write"):
                for file in files:
                    if work.named is not None:
                        file.add_names(work.named)
            edges = self._write_rows(files, into)
            counted = counted | {"self_loops": self._loops, "duplicates": 0, "reversed": 0}
            symmetric = twins and self._write_twins(files, into)
            flags = csrbin.flag_names(work.options.flags(symmetric=symmetric, self_loops=self._loops))
            confirm()
            with work.watch.phase("write"):
                for stack, file in zip(stacks, files, strict=True):
                    file.finish(edges, flags, provenance_of(work, counted, file.codec))
                    stack.close()  # the compressed file names the plain one as it lies there
        return Outcome(shape.n, edges, counted, 0, 0, tuple(work.notes))

    def _write_rows(self, files: list[GraphFile], into: np.ndarray) -> int:
        """Write the out-neighbours and count the in-neighbours to ``into``; return the edges."""
        work, edges = self._work, 0
        columns = ranges(len(into), work.threads)
        for file in files:
            file.start("", self._graph.shape.m)
        with work.watch.phase("build"):
            for found in self.rows("convert"):
                for file in files:
                    file.add(Rows(found.degrees, found.indices))
                ids = frozen(found.indices)
                work.workers.each(len(columns), lambda i: count_columns(ids, *columns[i], into))
                edges += len(ids)
            for file in files:
                file.close_rows()
        return edges

    def _write_twins(self, files: list[GraphFile], into: np.ndarray) -> bool:
        """Write the in-neighbours; return whether they are the out-neighbours, and then leave them out."""
        work = self._work
        starts = np.zeros(len(into) + 1, np.int64)
        np.cumsum(into, out=starts[1:])
        room = (work.plan.room - 3 * into.nbytes) // self._graph.ids.itemsize
        cuts = _passes(starts, max(_LEAST_COLUMNS, room // 2))
        for file in files:
            file.start("in_", int(starts[-1]))
        with work.watch.phase("build"):
            for low, high in cuts:
                turned = self._turn(starts, low, high)
                bounds = balanced_ranges(starts[low : high + 1], max(1, len(turned) // _EDGES_AT_ONCE))
                for first, last in bounds:
                    part = starts[low + first : low + last + 1]
                    ids = turned[part[0] - starts[low] : part[-1] - starts[low]]
                    for file in files:
                        file.add(Rows(np.diff(part), ids))
                del turned
            for file in files:
                file.close_rows()
            symmetric = files[0].symmetric()
            if symmetric:
                for file in files:
                    file.drop_twins()
        return symmetric

    def _turn(self, starts: np.ndarray, low: int, high: int) -> np.ndarray:
        """Return the in-neighbours of the vertices ``low`` to ``high - 1``, one after another, each ascending."""
        work = self._work
        out = np.empty(int(starts[high] - starts[low]), self._graph.ids)
        cursor = starts[low:high] - starts[low]
        columns = [(low + a, low + b) for a, b in balanced_ranges(starts[low : high + 1], work.threads)]
        for found in self.rows("turn"):
            ids, degrees = frozen(found.indices), frozen(found.degrees)
            work.workers.each(
                len(columns), lambda i: place_rows(ids, degrees, found.first, *columns[i], cursor, low, out)
            )
        return out


def _passes(starts: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Cut the columns into runs of at most ``most`` in-neighbours, a column with more of them alone."""
    cuts, low = [], 0
    while low < len(starts) - 1:
        high = int(np.searchsorted(starts, starts[low] + most, side="right")) - 1
        high = max(low + 1, min(high, len(starts) - 1))
        cuts.append((low, high))
        low = high
    return cuts


def convert_ready(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    watch: Stopwatch,
    named: NamedSections | None = None,
    notes: Sequence[str] = (),
) -> Outcome:
    """Convert the input of which :func:`comes_ready` is true, within ``options.memory`` bytes.

    ``named`` has the names of its vertices; ``notes`` are what there is to tell of them.

    Raises
    ------
    InputError, FileAccessError
        The input is damaged, cannot be read, or changed meanwhile; a file cannot be written. Nothing is left behind.
    DoesNotFitError
        So little memory that nothing can be done.
    """
    assert options.memory is not None
    threads = thread_count(options.threads)
    path = Path(inputs[0])

    def confirm() -> None:
        if cache.identify_sources(inputs) != sources:
            raise InputError(f"{path}: changed while it was read; convert it again")

    tmp = temporary(targets, options)
    with Workers(threads) as workers, Scratch(tmp, output=targets.files[0]) as scratch, opened(path) as graph:
        plan = make_plan(options.memory, graph.shape.m, graph.shape.n)
        job = (inputs, targets, options, sources, watch, workers, threads, list(notes))
        work = Work(*job, plan=plan, scratch=scratch, named=named)
        size = parts(path)[0].stat().st_size
        counted = {"lines": graph.shape.m, "comment_lines": 0, "skipped_lines": 0, "input_bytes": size}
        return _Ready(work, graph).write(counted | {"self_loops": 0}, confirm)
