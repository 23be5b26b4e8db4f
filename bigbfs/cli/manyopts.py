"""What the commands of many searches share: naming sources, stopping in time, writing columns, the lines on top."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.cli import options, outputs, values
from bigbfs.cli.notes import note, note_fewer, with_notes
from bigbfs.cli.sources import FORMS
from bigbfs.cli.stopping import Stop, stopping
from bigbfs.engines.engine import Work
from bigbfs.graph.graph import Graph
from bigbfs.measures.placing import sampled
from bigbfs.measures.rows_room import Rows
from bigbfs.record import disturbed, switches
from bigbfs.report.jsonout import many_object
from bigbfs.report.progress import Progress
from bigbfs.report.table import labelled
from bigbfs.sizes import counted

F = TypeVar("F", bound=Callable[..., Any])

source_option = click.option("--source", "one", multiple=True, metavar="V", help="Source (id or name); repeatable.")
seed_option = click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random:K.")
seconds_option = click.option(
    "--seconds", type=values.SECONDS, metavar="S", help="Stop after about S seconds, as Ctrl-C does; say what is known."
)
top_option = click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, metavar="K", help="Lines of the table."
)
threads_option = click.option(
    "--threads", type=values.THREADS, help="CPU threads. Default: all that this process may use."
)


def many_option(name: str, words: str) -> Callable[[F], F]:
    """Return the option ``name`` that takes vertices in any of their forms; ``words`` end its help."""
    help = f"Every vertex, K random ones, those in a file, or these. {words}"
    return click.option(f"--{name}", metavar=FORMS, help=help)


def count_of(graph: Graph, named: str | list[int], option: str = "--sources") -> int:
    """Return how many vertices words or ids name; say so where more are to be drawn than there are."""
    if not isinstance(named, str):
        return len(named)
    if named == "all":
        return graph.n
    return note_fewer(option, named, graph.n, ("vertex is there", "vertices are there"), sampled(named) or 0)


@contextmanager
def searching(name: str, sources: int = 0, part: str = "batch") -> Iterator[tuple[Stop, Callable[[int], object]]]:
    """Stop as :func:`stopping`, and say on a terminal how many ``sources`` are done: yield that, and what is told."""
    told = Progress()
    with stopping(part) as stop, told.step(name, sources, "sources"):
        yield stop, stop.hearing(told.advance)


@contextmanager
def opened(
    graph: Path | None, compressed: bool, output: Path | None, dtype: type[np.number[Any]]
) -> Iterator[tuple[Graph, float]]:
    """Open ``graph`` as ``options.opened``, for a result of ``dtype`` of each vertex that goes to ``output``.

    Raises
    ------
    DoesNotFitError
        The disk has surely no room for it; that it may have too little is a note.
    """
    with options.opened(graph, compressed) as (found, seconds):
        outputs.look_at_disk(found, Rows(output, "output", dtype))
        yield found, seconds


@contextmanager
def placed(graph: Graph, work: Sequence[Work], where: dict[str, Any]) -> Iterator[Engine]:
    """Place ``graph`` for ``work`` where ``where`` (of ``options.where_options``) says."""
    options.check_where(where)
    with options.placed(graph, tuple(work), **where) as engine:
        yield engine


def note_unproved(verify: bool, record: Any) -> None:
    """Say that Ctrl-C has come before the proof that was asked for, or in it."""
    if verify and record.verified is None:
        note("stopped before what was found was proved: --verify had not come to its end")


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


def tell_rest(count: int, top: int, noun: str = "") -> None:
    """Say that a table of ``top`` lines has left out the rest of ``count``; nothing where no table was wanted."""
    if 0 < top < count:
        click.echo(f"... and {counted(count - top, f'more {noun}') if noun else f'{count - top:,} more'}")


def head(graph: Graph, engine: Engine) -> None:
    """Print which graph is worked on, and where."""
    click.echo(options.describe(graph))
    click.echo(f"{options.describe_engine(engine)}\n")


def foot(
    engine: Engine,
    opening: float,
    record: Any,
    wrote: Sequence[outputs.Written] = (),
    asked: int | None = None,
    what: str = "",
    rows: int | None = None,
    *,
    apart: bool = True,
) -> None:
    """Print what the searches took, ``record`` as ``ManyRecord``, and what was written.

    ``asked``: sources asked for; ``what`` it means that there are fewer. ``rows``: how many of the searches have theirs
    in the file; None: all. ``apart``: something stands between head and foot, which an empty line sets apart.
    """
    each = 1e3 * record.seconds / max(1, record.sources)
    read = record.edges_read / max(1, engine.graph.m)
    verified = "" if record.verified is None else ", verified"
    if apart:
        click.echo("")
    click.echo(
        f"searches    {record.sources:,} in {counted(record.batches, 'batch', 'batches')} of {record.width} at most, "
        f"{record.seconds:.3f} s, {each:.4g} ms each{verified}"
    )
    click.echo(f"edges       read {read:,.3g} times in all, {read / max(1, record.sources):.3g} times a search")
    click.echo(options.setup_line(engine, opening, None))
    if line := options.lost_line(record.lost):
        click.echo(line)
    for file in wrote:
        click.echo(file.line())
    done = record.sources if rows is None else rows
    if asked not in (None, done):
        cut = f", {counted(done, 'row')} of these written" if done < record.sources else ""
        said = f"{record.sources:,} of {counted(asked or 0, 'source')} searched from{cut}; {what}"
        click.echo(labelled("stopped", said))


def json_object(
    command: str,
    graph: Graph,
    engine: Engine,
    opening: float,
    record: Any,
    wrote: Sequence[outputs.Written] = (),
    *,
    stopped: bool,
) -> dict[str, Any]:
    """Return what the JSON objects of these commands share; ``stopped``: there was more to search."""
    return with_notes(many_object(command, graph, engine, opening)) | {
        "searches": record.sources,
        "batches": record.batches,
        "width": record.width,
        "pairs": record.pairs,
        "edges_read": record.edges_read,
        "seconds": record.seconds,
        "disturbed": disturbed(record.lost),
        "switches": switches(),
        "verified": record.verified,
        "stopped": stopped,
        "wrote": outputs.as_json(list(wrote)),
    }
