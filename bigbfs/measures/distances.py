"""Levels of many sources as one array, in memory or written to a file as they come."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.errors import DoesNotFitError, UsageError, naming
from bigbfs.formats.atomic import replacing, require_writable
from bigbfs.formats.ours import array_header
from bigbfs.graph.graph import Graph
from bigbfs.measures.placing import Sources, chosen, placed
from bigbfs.sizes import counted, format_size, free_memory

NARROW = np.iinfo(np.int16).max
"""The largest distance that int16 holds."""

SUFFIXES = (".npy", ".csv")


@dataclass(slots=True)
class Distances:
    """Distances from many sources.

    Attributes
    ----------
    sources, targets
        int64, (S,) and (T,): original ids.
    levels
        int16, or int32 where they are larger, (S, T): edges on a shortest path, -1 where there is none; None where they
        were written to a file.
    reached, depth, far
        int64, (S,): vertices that each source reaches (itself too), distance of the farthest, and the id of such a one.
    record
        What was measured.
    """

    sources: np.ndarray
    targets: np.ndarray
    levels: np.ndarray | None
    reached: np.ndarray
    depth: np.ndarray
    far: np.ndarray
    record: ManyRecord


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
    verify: bool = False,
    threads: int | None = None,
    backend: str = "auto",
) -> Distances:
    """Return the distance from each source to each target (to every vertex where none are given).

    Parameters
    ----------
    sources, targets
        Original ids, ``"all"``, or ``"random:K"``.
    output
        A .npy or .csv to write the distances to, as they come; nothing of them is kept then.
    max_depth
        Look no further than this distance.
    seed
        Of ``"random:K"``.
    verify
        Check the result by the edge rule, and by single searches on a sample.
    threads
        CPU threads; None: all that this process may use.
    backend
        ``"auto"`` or ``"cpu"``: this does not run on a GPU.

    Raises
    ------
    UsageError
        Sources or targets are not in the graph, or the output is of another kind.
    DoesNotFitError
        The distances do not fit the memory, or the disk of ``output``.
    VerificationError
        A check found a difference.
    """
    with placed(graph, threads, backend) as engine:
        here = engine.graph
        starts = chosen(here, sources, seed)
        tos = chosen(here, "all" if targets is None else targets, seed, "target")
        if not len(starts) or not len(tos):
            raise UsageError(f"{here.path or 'graph'}: no {'sources' if not len(starts) else 'targets'} are given")
        path = None if output is None else checked_output(Path(output))
        for levels in ("int16", "int32") if here.n > NARROW else ("int16",):
            try:
                return _run(engine, starts, tos, path, levels, max_depth, verify)
            except _TooDeep:
                continue
    raise AssertionError("int32 holds every distance")


def sweep(
    engine: Engine, sources: Sources, *, max_depth: int | None = None, seed: int = 1, verify: bool = False
) -> Distances:
    """Search from ``sources`` and keep no distance, only how many vertices each reaches and the farthest of them.

    Raises
    ------
    UsageError, VerificationError
        As :func:`distances`.
    """
    starts = chosen(engine.graph, sources, seed)
    options = ManyOptions(starts, max_depth, columns=True)
    result: ManyResult = engine.run_internal(options)
    if verify:
        engine.verify_internal(options, result)
        result.record.verified = True
    assert result.columns is not None
    original = engine.graph.original
    reached, none = result.columns.sum(axis=0), np.zeros(0, np.int64)
    return Distances(
        np.asarray(original(starts)), none, None, reached, result.depth, np.asarray(original(result.far)), result.record
    )


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
        raise UsageError(f"name it .npy or .csv: {path.name}", about=(("output", path),))
    require_writable(path)
    return path


def _run(
    engine: Engine,
    starts: np.ndarray,
    tos: np.ndarray,
    path: Path | None,
    levels: str,
    max_depth: int | None,
    verify: bool,
) -> Distances:
    graph, reached = engine.graph, np.zeros(len(starts), np.int64)
    targets = np.asarray(graph.original(tos))
    sources = np.asarray(graph.original(starts))
    require_room(len(starts), len(tos), np.dtype(levels), path)
    with ExitStack() as stack:
        if path is None:
            kept = np.empty((len(starts), len(tos)), levels)
            take = _keeper(kept)
        else:
            kept = None
            take = stack.enter_context(_writer(path, sources, targets, levels))

        def visit(first: int, found: np.ndarray) -> None:
            if levels == "int16" and found.shape[0] > NARROW and found.max() > NARROW:
                raise _TooDeep
            reached[first : first + found.shape[1]] = (found >= 0).sum(axis=0)
            take(first, np.ascontiguousarray(found[tos].T, levels))

        options = ManyOptions(starts, max_depth, visit=visit)
        result: ManyResult = engine.run_internal(options)
        if verify:
            engine.verify_internal(options, result)
            result.record.verified = True
    far = np.asarray(graph.original(result.far))
    return Distances(sources, targets, kept, reached, result.depth, far, result.record)


def require_room(sources: int, targets: int, dtype: np.dtype, path: Path | None) -> int:
    """Return the bytes of all distances, once it is known that there is room for them.

    Raises
    ------
    DoesNotFitError
        There is not.
    """
    digits = 30  # of a line of text, at least for ids of seven digits
    size = sources * targets * (dtype.itemsize if path is None or path.suffix == ".npy" else digits)
    free = free_memory() if path is None else shutil.disk_usage(path.parent).free
    if size > free:
        where = "memory" if path is None else f"the disk of {path}"
        raise DoesNotFitError(
            f"{counted(sources, 'source')} x {counted(targets, 'target')} take {format_size(size)}, and "
            f"{format_size(free)} are free in {where}",
            remedies=("name fewer sources", ("targets", None, "or fewer targets ({})")),
        )
    return size


def _keeper(kept: np.ndarray) -> Callable[[int, np.ndarray], None]:
    def take(first: int, rows: np.ndarray) -> None:
        kept[first : first + len(rows)] = rows

    return take


@contextmanager
def _writer(
    path: Path, sources: np.ndarray, targets: np.ndarray, dtype: str
) -> Iterator[Callable[[int, np.ndarray], None]]:
    """Yield what writes the rows of the sources from a first one on, in order; the file appears at the end."""
    with naming(output="output"), replacing(path) as stream:
        if path.suffix == ".npy":
            stream.write(array_header(np.broadcast_to(np.zeros(1, dtype), (len(sources), len(targets)))))
            yield lambda first, rows: (stream.write(rows.view(np.uint8).data), None)[1]
            return
        stream.write(b"source,target,distance\n")

        def lines(first: int, rows: np.ndarray) -> None:
            for number, row in enumerate(rows, first):
                near = row >= 0
                source = int(sources[number])
                pairs = zip(targets[near].tolist(), row[near].tolist(), strict=True)
                stream.write("".join(f"{source},{target},{level}\n" for target, level in pairs).encode())

        yield lines
