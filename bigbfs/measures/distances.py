"""Levels of many sources as one array, in memory or written to a file as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.errors import UsageError, naming
from bigbfs.formats.atomic import replacing, require_writable
from bigbfs.formats.ours import array_header
from bigbfs.formats.tables import results
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names
from bigbfs.measures.ends import farthest
from bigbfs.measures.placing import Sources, Until, check_given, chosen, ended, placed
from bigbfs.measures.proving import prove
from bigbfs.measures.room import HEADER, NARROW, require_room, require_room_for_lines
from bigbfs.sizes import byte_count, file_path

SUFFIXES = (".npy", ".csv")

LEVELS, SWEEP = (ManyOptions(fetch=True),), (ManyOptions(totals=True),)
"""What a graph is placed for: distances that are kept, or counted alone."""


@dataclass(slots=True)
class Distances:
    """Distances from many sources.

    Attributes
    ----------
    sources, targets
        int64, (S,) and (T,): original ids; of a run that was stopped the sources that it came to.
    levels
        int16, or int32 where they are larger, (S, T): edges on a shortest path, -1 where there is none; None where they
        were written to a file.
    reached, depth, far
        int64, (S,): vertices that each source reaches (itself too), distance of the farthest, and its id: the smallest
        of several.
    record
        What was measured, of all searches that were made: more than there are sources here where a run was stopped
        between two rows of a .csv.
    asked
        Sources asked for.
    """

    sources: np.ndarray
    targets: np.ndarray
    levels: np.ndarray | None
    reached: np.ndarray
    depth: np.ndarray
    far: np.ndarray
    record: ManyRecord
    asked: int


class _TooDeep(Exception):
    """A distance does not fit int16."""


def distances(
    graph: Graph | str | Path | Engine,
    sources: Sources,
    targets: Sources | None = None,
    *,
    output: str | Path | None = None,
    max_depth: int | None = None,
    seed: int = 1,
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[[int], object] | None = None,
    memory: int | str | None = None,
    verify: bool = False,
    threads: int | None = None,
    backend: str = "auto",
) -> Distances:
    """Return the distance from each source to each target (to every vertex where none are given).

    Parameters
    ----------
    sources, targets
        Original ids, or names, ``"all"``, or ``"random:K"``.
    output
        A .npy or .csv to write the distances to, as they come; nothing of them is kept then.
    max_depth, seed
        Look no further than this distance; of ``"random:K"``.
    seconds, stop
        End after this time, or when ``stop()`` is true, with the first sources, those searched by then. A batch ends
        first, but of a .csv, whose rows take long to write, only the row in hand does when ``stop()`` is true.
    tell
        Told after each batch how many sources it had.
    memory
        Bytes, ``"2GiB"``, or ``"50%"`` of what is free: of searches on the CPU, beside the graph; None: half of that.
    verify
        Check the result by the edge rule, and by single searches on a sample.
    threads, backend
        CPU threads, None: all that this process may use; ``"auto"``, ``"cpu"`` or ``"gpu"``.

    Raises
    ------
    UsageError
        Sources or targets are not in the graph, or the output is of another kind.
    DoesNotFitError
        The distances do not fit the memory, or the disk of ``output``; not even the narrowest batch fits ``memory``.
    VerificationError
        A check found a difference.
    """
    check_given(seed=seed, max_depth=max_depth, seconds=seconds, stop=stop, tell=tell, verify=verify)
    room = None if memory is None else byte_count("memory", memory, of_free=True)
    with placed(graph, threads, backend, [replace(each, memory=room) for each in LEVELS]) as engine:
        here = engine.graph
        require_memory_of_cpu(engine, room)
        starts = chosen(here, sources, seed)
        tos = chosen(here, "all" if targets is None else targets, seed, "target")
        if not len(starts) or not len(tos):
            raise UsageError(f"{here.path or 'graph'}: no {'sources' if not len(starts) else 'targets'} are given")
        path = None if output is None else checked_output(file_path("output", output))
        until = None if seconds is None and stop is None else Until(seconds, stop)
        asked = ManyOptions(starts, max_depth, tell=tell, memory=room)
        return _narrow_first(engine, asked, tos, path, until, Until(None, stop), verify)


def sweep(
    engine: Engine,
    sources: Sources,
    *,
    max_depth: int | None = None,
    seed: int = 1,
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[[int], object] | None = None,
    memory: int | None = None,
    verify: bool = False,
) -> Distances:
    """Search from ``sources`` and keep no distance, only how many vertices each reaches and the farthest of them.

    Of several farthest it is that of the smallest original id on the CPU; a GPU names one of them.

    Raises
    ------
    UsageError, VerificationError
        As :func:`distances`.
    """
    require_memory_of_cpu(engine, memory)
    starts = chosen(engine.graph, sources, seed)
    options = ManyOptions(starts, max_depth, totals=True, tell=tell, memory=memory, **ended(seconds, stop))
    result: ManyResult = engine.run_internal(options)
    if verify:
        prove(engine, options, result, stop)
    assert result.reached is not None
    sources, far = (np.asarray(engine.graph.original(each)) for each in (result.sources, result.far))
    none = np.zeros(0, np.int64)
    return Distances(sources, none, None, result.reached, result.depth, far, result.record, len(starts))


def require_memory_of_cpu(engine: Engine, memory: int | None) -> None:
    """Refuse a bound of memory where searches run on a GPU, which has bounds of its own.

    Raises
    ------
    UsageError
        There is one.
    """
    if memory is not None and engine.backend == "gpu":
        ways = (("vram_budget", None, "{} bounds that of a GPU"), ("backend", "cpu"))
        raise UsageError("bounds the memory of searches on the CPU", about=(("memory", memory),), remedies=ways)


def checked_output(path: Path) -> Path:
    """Return ``path`` if it can be written and its suffix is known.

    Raises
    ------
    UsageError
        The suffix is another.
    FileAccessError
        It cannot be written.
    """
    if path.suffix not in SUFFIXES:
        better = f"{'D' if path.name == '-' else path.stem}.npy"
        why = f"distances are written, by the suffix, as .npy or .csv; name it {better}"
        raise UsageError(why, about=(("output", path),))
    require_writable(path)
    return path


def _narrow_first(
    engine: Engine,
    asked: ManyOptions,
    tos: np.ndarray,
    path: Path | None,
    until: Until | None,
    stop: Until,
    verify: bool,
) -> Distances:
    """Run with distances of int16, and again with int32 where one is larger; ``stop`` may end the lines of a batch."""
    graph = engine.graph
    if path is not None and path.suffix == ".csv":
        require_room_for_lines(graph, np.asarray(asked.sources), tos, asked.max_depth, path)
    for levels in ("int16", "int32") if graph.n > NARROW else ("int16",):
        dtype = np.dtype(levels)
        if path is None or path.suffix == ".npy":
            require_room(len(asked.sources), len(tos), dtype, path)
        aside = len(tos) * (4 + dtype.itemsize) + graph.n
        options = replace(asked, aside=aside)
        if until is not None:
            options = replace(options, stop=until.after_one(), left=until.left)
        try:
            return _run(engine, options, tos, path, levels, stop, verify)
        except _TooDeep:
            continue
    raise AssertionError("int32 holds every distance")


def _run(
    engine: Engine, asked: ManyOptions, tos: np.ndarray, path: Path | None, levels: str, stop: Until, verify: bool
) -> Distances:
    graph, starts = engine.graph, np.asarray(asked.sources)
    (reached, far), written, cut = np.zeros((2, len(starts)), np.int64), 0, False
    targets = np.asarray(graph.original(tos))
    sources = np.asarray(graph.original(starts))
    with ExitStack() as stack:
        if path is None:
            kept = np.empty((len(starts), len(tos)), levels)
            take = _keeper(kept)
        else:
            kept = None
            take = stack.enter_context(_writer(path, sources, targets, levels, graph.names, stop))

        def visit(first: int, found: np.ndarray) -> None:
            nonlocal written, cut
            if levels == "int16" and found.shape[0] > NARROW and found.max() > NARROW:
                raise _TooDeep
            reached[first : first + found.shape[1]] = (found >= 0).sum(axis=0)
            far[first : first + found.shape[1]] = farthest(graph, found)
            rows = take(first, np.ascontiguousarray(found[tos].T, levels))
            written, cut = first + rows, rows < found.shape[1]

        options = replace(asked, visit=visit, stop=lambda: cut or (asked.stop is not None and asked.stop()))
        result: ManyResult = engine.run_internal(options)
        if verify:
            prove(engine, options, result, stop)
    kept = None if kept is None else kept[:written]
    done = sources[:written], targets, kept, reached[:written], result.depth[:written], far[:written]
    return Distances(*done, result.record, len(starts))


def _keeper(kept: np.ndarray) -> Callable[[int, np.ndarray], int]:
    def take(first: int, rows: np.ndarray) -> int:
        kept[first : first + len(rows)] = rows
        return len(rows)

    return take


@contextmanager
def _writer(
    path: Path, sources: np.ndarray, targets: np.ndarray, dtype: str, names: Names | None, stop: Until
) -> Iterator[Callable[[int, np.ndarray], int]]:
    """Yield what writes the rows of the sources from a first one on, in order, and returns how many it has written.

    The file appears at the end. If there are fewer rows than sources then, its header says how many.
    """
    with naming(output="output"), replacing(path) as stream:
        if path.suffix == ".npy":
            done = 0

            def header(rows: int) -> bytes:
                return array_header(np.broadcast_to(np.zeros(1, dtype), (rows, len(targets))))

            def put(first: int, rows: np.ndarray) -> int:
                nonlocal done
                stream.write(rows.view(np.uint8).data)
                done = first + len(rows)
                return len(rows)

            stream.write(header(len(sources)))
            yield put
            if done < len(sources):
                stream.seek(0)
                stream.write(header(done))
            return

        def lines(first: int, rows: np.ndarray) -> int:
            for number, row in enumerate(rows, first):
                if number > 0 and stop():
                    return number - first
                near = np.flatnonzero(row >= 0)
                ends = {"source": np.broadcast_to(sources[number], len(near)), "target": targets[near]}
                speaks = ("source", "target")
                results.add_lines(stream, ends | {"distance": row[near]}, speaks, names)
            return len(rows)

        stream.write(HEADER)
        yield lines
