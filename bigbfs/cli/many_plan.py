"""``bigbfs plan --searches``: how many searches at once memory holds, and on CPUs what all of them will take."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import click
import numpy as np

from bigbfs import api
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.cpu.widths import Item, ledger, needs, widest
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.cli import options
from bigbfs.cli.notes import note, with_notes
from bigbfs.engines.cpu import memory as cpu_memory
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit import workers
from bigbfs.measures.foresight import SAMPLES, Foreseen, foresee, shapes_of
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps, graph_object
from bigbfs.report.progress import duration
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted, format_size, free_memory, size_allowed, size_needed

COLLECTED = {
    "distances": ManyOptions(visit=lambda first, levels: None),
    "closeness": ManyOptions(sums=True),
    "harmonic": ManyOptions(sums=True, harmonic=True),
    "hops": ManyOptions(columns=True),
    "depths": ManyOptions(),
}
"""What searches are run for, by name."""


def count_of(text: str, graph: Graph) -> int:
    """Return how many searches ``all`` or a number means: one from each vertex at most, which is said.

    Raises
    ------
    UsageError
        It is neither.
    """
    if text == "all":
        return graph.n
    if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text)):
        raise UsageError(f"--searches {text[:80]!r}: write how many, or all")
    if int(text) > graph.n:
        note(f"--searches {text}: only {counted(graph.n, 'vertex', 'vertices')} to search from; all are planned for")
    return min(int(text), graph.n)


def work_on_gpu(graph: Graph, searches: str, collect: str) -> tuple[int, ManyOptions]:
    """Return how many searches there are, and the work of a GPU: as many bits as they need, at most.

    Raises
    ------
    UsageError
        The number of searches is none.
    """
    sources, work = count_of(searches, graph), COLLECTED[collect]
    return sources, replace(work, most=next((width for width in WIDTHS if width >= sources), WIDTHS[-1]))


def batches_on_gpu(work: ManyOptions, sources: int) -> tuple[int, int]:
    """Return how many searches a batch of planned ``work`` has, and how many batches ``sources`` take."""
    width = min(work.bits if work.visit is None else work.kept, max(1, sources))
    return width, -(-sources // width)


def show(graph: Graph, searches: str, collect: str, memory: int | None, threads: int | None, as_json: bool) -> None:
    """Print the plan.

    Raises
    ------
    UsageError
        The number of searches is none.
    DoesNotFitError
        Not even the narrowest batch fits.
    """
    sources, work, threads = count_of(searches, graph), COLLECTED[collect], workers.thread_count(threads)
    ids = np.dtype(np.uint32 if graph.n < 2**32 else np.uint64)
    free = free_memory() // 2 if memory is None else memory
    need = needs(graph.n, ids, threads, work, sources)
    width = widest(need, sources, free)
    if need[width] > free:
        raise DoesNotFitError(
            f"{width} searches at once on {graph.n:,} vertices take {size_needed(need[width])} beside the graph, and "
            f"{size_allowed(free)} may be used",
            remedies=(("memory", None, f"allow at least {size_needed(need[width])} with {{}}"),),
        )
    survey = Item("heads", cpu_memory.survey_bytes(graph.n, ids), "strongest neighbours of every vertex")
    items = [*ledger(graph.n, ids, width, threads, work, sources), survey]
    with api.engine(graph, backend="cpu", threads=threads, work=(BfsOptions(),)) as engine:
        shapes = shapes_of(engine)
        rows = foresee(graph, shapes, sources, need, threads)
        if as_json:
            click.echo(dumps(with_notes(_object(graph, engine, sources, collect, free, width, items, rows))))
        else:
            _print(graph, engine, sources, collect, free, width, items, rows)


def _about(seconds: float) -> str:
    """Return a time of which two digits mean something."""
    return f"{seconds:.2g} s" if seconds < 10 else duration(seconds)


def _print(
    graph: Graph,
    engine: Engine,
    sources: int,
    collect: str,
    free: int,
    width: int,
    items: list[Item],
    rows: list[Foreseen],
) -> None:
    click.echo(options.describe(graph))
    click.echo(options.describe_engine(engine))
    click.echo(labelled("searches", f"{sources:,}, for {collect}; {format_size(free)} of memory may be used"))
    click.echo("")
    click.echo(
        table(("memory", "bytes", "what"), [(each.name, format_size(each.bytes), each.purpose) for each in items])
    )
    click.echo("")
    lines = [(each.width, format_size(each.bytes), each.batches, each.passes, _about(each.seconds)) for each in rows]
    click.echo(table(("at once", "memory", "batches", "edges read, times", "foreseen"), lines))
    mine = next(each for each in rows if each.width == width)
    click.echo("")
    text = f"{width} at once: {counted(mine.batches, 'batch', 'batches')}, about {_about(mine.seconds)}"
    click.echo(labelled("chosen", text))
    text = (
        f"levels of {counted(min(SAMPLES, max(1, graph.n)), 'single search', 'single searches')}, and a time for each "
        "edge as on one machine: take it for the order of magnitude"
    )
    click.echo(labelled("known from", text))


def _object(
    graph: Graph,
    engine: Engine,
    sources: int,
    collect: str,
    free: int,
    width: int,
    items: list[Item],
    rows: list[Foreseen],
) -> dict[str, Any]:
    """Return the object that ``bigbfs plan --searches --json`` prints."""
    return {
        "schema": SCHEMA,
        "command": "plan",
        "graph": graph_object(graph),
        "device": engine.device,
        "searches": sources,
        "collect": collect,
        "memory_limit": free,
        "width": width,
        "memory": [item._asdict() for item in items],
        "widths": [asdict(each) for each in rows],
    }
