"""What the commands of many searches share: naming sources, stopping in time, writing columns, the lines on top."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.cli import options, outputs
from bigbfs.cli.sources import read_ids
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.report.jsonout import many_object

F = TypeVar("F", bound=Callable[..., Any])

seed_option = click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random:K.")
seconds_option = click.option(
    "--seconds", type=click.FloatRange(0), metavar="S", help="Stop after S seconds, as Ctrl-C does; say what is known."
)
top_option = click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, metavar="K", help="Lines of the table."
)
threads_option = click.option(
    "--threads", type=options.THREADS, help="CPU threads. Default: all that this process may use."
)


def sources_of(text: str | None, one: tuple[int, ...] = ()) -> Any:
    """Return what ``--source`` (repeated) or ``--sources`` names, as the measures take it: words or a list of ids.

    Raises
    ------
    UsageError
        Both are given, or the text is none of the forms.
    InputError, FileAccessError
        The file of ``@FILE`` cannot be read, or holds something that is no id.
    """
    if text is not None and one:
        raise UsageError("give the sources with --source V or with --sources, not with both")
    if text is None:
        return list(one) if one else None
    if text.startswith("@") and len(text) > 1:
        return read_ids(Path(text[1:]))
    parts = text.split(",")
    if all(part.strip().isdecimal() and len(part) < 20 for part in parts):
        return [int(part) for part in parts]
    if text != "all" and not text.startswith("random:"):
        raise UsageError(f"{text[:80]!r} names no vertices: write all, random:K, @FILE, or ids with commas")
    return text


def require_numbers(graph: Graph, command: str) -> None:
    """Refuse a graph whose vertices have names for a command that takes and prints ids alone.

    Raises
    ------
    UsageError
        Its vertices have names: a number would be taken for the vertex of that rank.
    """
    if graph.names is not None:
        raise UsageError(
            f"{graph.path}: its vertices have names, and `bigbfs {command}` takes ids alone; names are taken by "
            "`bigbfs bfs --source NAME` and its `--target NAME`"
        )


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Have the first Ctrl-C end the work after the batch under way: yield what says whether it has come.

    The second one ends the run as everywhere.
    """
    asked = False
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        click.echo("bigbfs: stopping after this batch; once more ends at once", err=True)
        signal.signal(signal.SIGINT, before)

    if before != signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def placed(graph: Graph, threads: int | None) -> Iterator[Engine]:
    """Place ``graph`` on the CPU, where many searches run."""
    with options.placed(graph, (ManyOptions(),), backend="cpu", threads=threads) as engine:
        yield engine


def check_values(path: Path | None, force: bool, as_json: bool) -> None:
    """Refuse an output before any work is done.

    Raises
    ------
    UsageError
        Its name is of no known kind, it is there and not ours, without ``force``, or JSON goes there too.
    FileAccessError
        It cannot be written.
    """
    outputs.check_array(path, "output", force)
    outputs.check_streams([path], as_json)


def write_values(
    path: Path | None, column: str, values: np.ndarray, ids: np.ndarray, graph: Graph
) -> list[outputs.Written]:
    """Write ``values``, one for each of ``ids``, original ones of ``graph``: an array, or a table by the suffix.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    if path is None:
        return []
    if path.suffix == ".npy":
        return [outputs.write_array(path, values, "output")]
    found = outputs.write_table(path, "output", {"id": ids, column: values}, "id", graph.names)
    return [] if found is None else [found]


def head(graph: Graph, engine: Engine) -> None:
    """Print which graph is worked on, and where."""
    click.echo(options.describe(graph))
    click.echo(f"{options.describe_engine(engine)}\n")


def foot(engine: Engine, opening: float, record: Any, wrote: Sequence[outputs.Written] = ()) -> None:
    """Print what the searches took, ``record`` as ``ManyRecord``, and what was written."""
    each = 1e3 * record.seconds / max(1, record.sources)
    read = record.edges_read / max(1, engine.graph.m)
    verified = "" if record.verified is None else ", verified"
    click.echo(
        f"\nsearches    {record.sources:,} in {record.batches:,} batches of {record.width} at most, "
        f"{record.seconds:.3f} s, {each:.4g} ms each{verified}"
    )
    click.echo(f"edges       read {read:,.3g} times in all, {read / max(1, record.sources):.3g} times a search")
    click.echo(options.setup_line(engine, opening, None))
    for file in wrote:
        click.echo(file.line())


def json_object(
    command: str,
    graph: Graph,
    engine: Engine,
    opening: float,
    record: Any,
    wrote: Sequence[outputs.Written] = (),
) -> dict[str, Any]:
    """Return what the JSON objects of these commands share."""
    return many_object(command, graph, engine, opening) | {
        "searches": record.sources,
        "batches": record.batches,
        "width": record.width,
        "pairs": record.pairs,
        "edges_read": record.edges_read,
        "seconds": record.seconds,
        "verified": record.verified,
        "wrote": outputs.as_json(list(wrote)),
    }
